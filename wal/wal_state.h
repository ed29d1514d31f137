// The parts of a Wal, for the files that implement it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/checkpoint_directory.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"
#include "wal/layout/slot_file.h"
#include "wal/log/group_commit.h"
#include "wal/log/logger.h"
#include "wal/log/progress_marks.h"
#include "wal/log/segment_keeper.h"
#include "wal/log/segment_store.h"
#include "wal/log/worker_log.h"
#include "wal/recovery/checkpoint_loader.h"
#include "wal/recovery/log_analyzer.h"
#include "wal/recovery/recovery_meter.h"
#include "wal/recovery/restored_relations.h"
#include "wal/recovery/scrubber.h"
#include "wal/wal.h"

namespace pgsilo {

struct ReplayCounts;
struct SegmentStart;

// One log directory with its logger.
struct LogUnit {
  std::unique_ptr<LogDirectory> directory;
  std::unique_ptr<SegmentStore> segments;
  std::unique_ptr<Logger> logger;
};

struct Wal::State {
  State(FileSystem& files, const Clock& clock, std::string directory, WalOptions options)
      : files(files), clock(clock), directory(std::move(directory)), options(std::move(options)) {}

  FileSystem& files;
  const Clock& clock;
  std::string directory;
  WalOptions options;
  std::unique_ptr<File> lock;
  ControlFile control;
  bool new_database = false;
  bool from_backup = false;   // the control file is a backup label's
  bool forgotten = false;     // by a version that does not tell whose the starts are
  bool restored = false;      // an earlier start has taken a backup label
  Uuid copy;                  // which one of the database this is, if it is a restored backup
  bool nameless = false;      // its data directory does not say which
  bool marks_copy = false;    // its directories may not tell so yet
  bool clean_before = false;  // the last start ended with a clean shutdown
  std::vector<std::unique_ptr<CheckpointDirectory>> checkpoint_directories;
  std::vector<OpenedCheckpointFile> checkpoint_files;
  uint64_t others_number = 0;        // the largest of a checkpoint whose files are left to others
  std::optional<ProgressMark> mark;  // of the last incarnation, as it was found
  std::string mark_given_up;         // why there is none, if that was accepted
  std::vector<LogSlot> slots;        // as they were found
  std::vector<LostBlock> lost_blocks;
  LogAnalysis analysis;
  uint64_t replayed_entries = 0;
  Epoch first_epoch;
  uint64_t begun_us = 0;  // when this incarnation began, since 1970
  RelationDirectory* relations = nullptr;
  Reclaimer* reclaimer = nullptr;

  EpochManager* epochs = nullptr;
  DurableEpoch* durable = nullptr;
  // In the order in which they are built; logs outlive loggers.
  std::vector<LogUnit> units;
  std::vector<std::unique_ptr<LogDirectory>> read_logs;  // those of earlier starts alone
  std::vector<std::unique_ptr<WorkerLog>> logs;
  std::unique_ptr<GroupCommit> commit;
  std::unique_ptr<ProgressFile> progress;
  std::unique_ptr<ProgressMarks> marks;
  std::unique_ptr<SegmentKeeper> keeper;
  std::unique_ptr<Checkpointer> checkpointer;
  std::unique_ptr<Scrubber> scrubber;
  bool threads = false;

  Logger& logger_of(unsigned worker) { return *units[worker % units.size()].logger; }
  std::vector<LogDirectory*> log_directories() const;
  unsigned recovery_threads() const;
  bool take_directory(std::string* why);
  bool find_control(std::string* why);
  bool find_starts_of_copy(std::string* why);
  bool find_copy(std::string* why);
  bool name_copy(std::string* why);
  bool is_own_log(const LogDirectory& log, std::optional<bool>* own, std::string* why) const;
  std::optional<bool> is_own_start(const SegmentStart& start) const;
  bool holds_others(const LogDirectory& log, std::string* which) const;
  bool is_anothers_start(const SegmentStart& start) const;
  bool may_use_log(const LogDirectory& log, const Uuid& marked, bool* may, std::string* why) const;
  bool are_this_copys_logs(std::string* why);
  std::string way_out(const std::string& log, const Uuid& marked) const;
  bool mark_copy(std::string* why);
  bool is_marked(const std::string& path) const;
  bool mark_directory(const std::string& path, std::string* why);
  bool hold_directories(std::string* why);
  bool open_logs(std::string* why);
  bool find_named_logs(std::string* why);
  bool are_backups_logs(std::string* why) const;
  void leave_logs_to_read();
  bool save_control(std::string* why);
  bool write_small(const std::string& what, const std::string& where,
                   const std::function<FileResult()>& write, std::string* why);
  bool make_room(const std::string& where);
  bool remove_last_empty(const LogUnit& unit, std::vector<uint64_t>& empty) const;
  bool prepare_stores(std::string* why);
  void build_loggers();
  bool begin_logs(std::string* why);
  void build_checkpointer();
  void build_scrubber(const std::vector<CheckpointedLog>& checkpointed);
  bool open_checkpoint_directories(std::string* why);
  void remove_stale_checkpoints();
  void leave_to_others(const std::string& path, const std::vector<std::string>& names);
  bool open_for_inspection(std::vector<OpenedCheckpointFile>* opened, CheckpointReport* report,
                           std::string* refusal) const;
  bool find_slots(std::string* why);
  bool read_slot_file(std::vector<LogSlot>* found, std::string* why) const;
  void lose_slots_without_log();
  void retire_segments(const LogUnit& unit) const;
  bool make_control_durable(std::string* why);
  bool leave_backup_label(std::string* why);
  bool restore(const LiveRelations& live, unsigned threads, RecoveryMeter& meter,
               RecoveryResult* result, std::string* why);
  bool restore_pass(const RestoredRelations& restored, unsigned threads, RecoveryMeter& meter,
                    RecoveryResult* result, ReplayCounts* counts, std::string* why);
  // Null: none may be lost.
  std::vector<LostBlock>* losable() { return options.skip_damaged_blocks ? &lost_blocks : nullptr; }
  std::string data_loss() const;
  bool find_mark(std::string* why);
  bool analyze(unsigned threads, RecoveryMeter& meter, std::string* why);
  void blame_backup(std::string* why) const;
  void explain(ControlFile before, unsigned threads, std::string* why);
  Incarnation next_incarnation() const;
};

}  // namespace pgsilo
