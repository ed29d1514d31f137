// The log of a running server, copied into a directory as it is written (docs/backup.md): for each
// log a directory with its identity and its segments, each as long as in the server, with the
// blocks that were there when it was copied last. What was archived is not looked at again but for
// the segment that grows.
//
// Invariants: the segments of a log in the archive follow each other without a gap, and of all but
// the last every block is there; behind a start's end that holds for all that its successor went on
// from. Cut short anywhere, even by a power failure or an error, the next one goes on. What the
// file of ends says is there. Thread safety: none; one owner. A second archiver of the directory is
// refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/file.h"
#include "wal/backup/archive_directory.h"
#include "wal/backup/archived_starts.h"
#include "wal/backup/backup_copy.h"
#include "wal/backup/first_blocks.h"
#include "wal/layout/log_directory.h"
#include "wal/layout/log_format.h"
#include "wal/layout/slot_file.h"
#include "wal/log/log_begin.h"

namespace pgsilo {

class ServerChain;
class UnfinishedStarts;

class LogArchive {
 public:
  LogArchive(FileSystem& files, std::string directory);

  // Makes the directory unless it is there, and finds out what it holds. False: `why`.
  bool open(std::string* why);
  // Copies all whole blocks that are found behind what is archived; of a log that is new here, from
  // where the slot keeps it. Durable when it returns. `durable`: what the server had told to be,
  // before; 0: it was not asked. False: `why`; what is there is right.
  bool copy(const BackupSource& source, const LogSlot& slot, std::string* why,
            Epoch durable = Epoch());
  // Whether the last failure was a call's, which may go better, not what the logs hold.
  bool may_be_tried_again() const { return call_failed_; }

  // What copy() has left beside, of starts that the server never had; each is told once.
  std::vector<std::string> take_left() { return std::exchange(left_, {}); }

  uint64_t copied_bytes() const { return copied_bytes_; }

 private:
  // One log, and where it ends in the archive.
  struct Log {
    Log(FileSystem& files, LogDirectory from)
        : directory(std::move(from)), first_blocks(files, directory) {}

    void forget_end() {
      segment = offset = next_number = 0;
      first = {};
      file.reset();
    }

    LogDirectory directory;
    FirstBlocks first_blocks;
    uint64_t segment = 0;  // 0: none is there
    uint64_t offset = 0;
    uint64_t next_number = 0;  // of the block that would come there
    BlockHeader first;         // of the segment's first block
    // Of the start that wrote that: the largest epochs of its records that are here, and of those
    // that the server told to be durable, as far as they were met.
    Epoch logged;
    Epoch durable;
    std::unique_ptr<File> file;
    bool ended = false;                 // the next segment is another start's
    std::optional<LogBegin> successor;  // ... which says so
  };
  // A segment that is no part of the server's history.
  struct Left {
    Log* log = nullptr;
    uint64_t segment = 0;
    BlockHeader first;
  };
  // From a start to one that a log has behind it, by their tags.
  using Passages = std::set<std::pair<uint64_t, uint64_t>>;
  struct Passage {
    BlockHeader from;
    LogBegin to;
  };
  // Blocks that are to come behind a log's end.
  struct Found {
    size_t bytes = 0;
    uint64_t next_number = 0;
    BlockHeader first;
    std::optional<LogBegin> begin;  // what that says
    Epoch logged;                   // of records
    Epoch durable;                  // and durable
  };

  bool fail(const std::string& what, const std::string& path, const FileResult& result);
  bool fail_to_read(const ReadFailure& failure);
  bool is_its_own();
  bool lock();
  bool see_if_replaced();
  bool is_still_there();
  bool is_named(const File* file, const std::string& path, bool* is);
  bool has_its_name(const Log& log);
  bool find_logs_anew();
  bool is_servers(const Uuid& log) const;
  bool has_its_length(const Log& log);
  static bool reaches(const Log& log, const ArchivedEnd& end);
  bool find_logs();
  bool find_end(Log& log);
  bool find_end_among(Log& log, const std::vector<uint64_t>& numbers);
  bool find_end_in(Log& log, uint64_t segment);
  bool mend_ends();
  bool mend_end(Log& log, const ArchivedEnd& noted);
  bool mend_hole(Log& log, const LogDirectory& server, uint64_t segment);
  bool has_all_of(const Log& log, const LogDirectory& server, uint64_t segment, bool* has);
  bool find_passages(Log& log, uint64_t segment);
  bool are_passages_whole();
  bool read_notes(const LogSlot& slot);
  bool look_at_slot(const LogSlot& slot);
  void find_kept(const LogSlot& slot);
  bool is_behind_had(const LogSlot& slot) const;
  ArchivedHad had_up_to(Epoch epoch) const;
  ArchivedHad noted_had() const;
  bool note_ends();
  bool note(ArchiveProgress progress);
  void note_durable();
  bool find_tip();
  void raise_tip(const std::optional<ArchivedTip>& found);
  bool find_source(const BackupSource& source);
  bool find_restored(const std::string& data_directory);
  bool find_control(const std::string& data_directory);
  bool is_of_one_history();
  bool goes_on_from_tip();
  bool bypasses_tip();
  bool are_all_same();
  bool are_same_before(const FirstBlocks& source, const Log& log);
  bool goes_on_behind(const LogDirectory& source, Log& log);
  bool judge_ends(const std::optional<std::vector<ArchivedEnd>>& ends);
  bool judge_end(Log& log, UnfinishedStarts& starts);
  bool judge_beginless(const Log& log, UnfinishedStarts& starts);
  bool holds_others(const LogDirectory* archived, uint64_t start);
  bool leave_strays(const std::optional<std::vector<ArchivedEnd>>& ends);
  bool is_in_the_way(const Log& log) const;
  bool take_back_had(const std::set<uint64_t>& strays);
  bool find_strays(std::set<uint64_t>* strays);
  bool find_ancestry(ReadFailure* failure);
  bool is_own(uint64_t tag) const;
  bool are_empty(const std::set<uint64_t>& strays,
                 const std::optional<std::vector<ArchivedEnd>>& ends);
  bool goes_on_from_own(const LogBegin& begin, const std::set<uint64_t>& strays) const;
  static bool rests_on_any(const std::vector<FirstBlocks*>& logs, const std::set<uint64_t>& strays);
  bool step_back(Log& log);
  bool set_aside();
  Log* log_of(const LogDirectory& source);
  Log* add_log(const LogDirectory& source);
  bool is_that_of(const LogDirectory& source, const Log& log);
  bool copy_all(const LogSlot& slot);
  bool copy_log(const LogDirectory& source, const LogSlot& slot);
  bool begin_next_start(const LogDirectory& source, Passages* judged);
  static void begin_segment(Log& log, uint64_t next_number);
  std::vector<FirstBlocks*> archived_logs() const;
  std::vector<FirstBlocks*> server_logs() const;
  ArchivedStarts& starts();
  ServerChain chain() const;
  bool rests_on_what_was_had(const LogBegin& start);
  bool is_whole(const BlockHeader& start, const LogBegin& successor);
  bool has_what_was_told(const BackupSource& source);
  bool never_archived(const std::string& what);
  bool lacks_directory(const std::string& what);
  bool find_next(const LogDirectory& source, Log& log, std::optional<BlockHeader>* next);
  bool read_first(const LogDirectory& source, uint64_t segment, std::optional<BlockHeader>* first,
                  std::optional<LogBegin>* begin);
  bool begin_behind_slot(const LogDirectory& source, const LogSlot& slot,
                         const std::vector<uint64_t>& numbers, Log& log);
  bool lacks(const LogDirectory& source, uint64_t segment);
  bool follows(const LogDirectory& source, const Log& log, const BlockHeader& next);
  bool append(const LogDirectory& source, Log& log);
  bool is_same(const LogDirectory& source, Log& log);
  bool is_needed(const Log& log, uint64_t start, const LogBegin& now);
  bool gave_way(const Log& log, uint64_t start, const LogBegin& now);
  bool is_others(const LogDirectory& source, const Log& log);
  bool is_others(const LogDirectory& source, const Log& log, uint64_t segment);
  bool is_had(const LogDirectory& source, const Log& log, const LogBegin& successor);
  bool holds_nothing_up_to(const Log& log, Epoch epoch);
  bool copy_blocks(const std::string& path, Log& log, File& from, uint64_t bytes);
  bool write(Log& log, size_t bytes, uint64_t segment_bytes);
  bool create(Log& log, size_t bytes, uint64_t segment_bytes);
  Found whole_blocks(std::string_view bytes, const Log& log) const;

  FileSystem& files_;
  const std::string directory_;
  std::unique_ptr<File> lock_;
  std::vector<std::unique_ptr<Log>> logs_;
  bool known_ = false;             // logs_ are as they are on disk
  bool are_ends_mended_ = false;   // of logs_
  std::vector<Passage> passages_;  // behind the noted ends, when they were mended
  // Where the archive was another one lies, of which it is not known yet that all is there; and its
  // notes may be others than noted_.
  bool was_moved_ = false;
  bool notes_may_differ_ = false;
  std::vector<std::unique_ptr<LogDirectory>> source_;
  std::vector<std::unique_ptr<FirstBlocks>> source_blocks_;
  std::optional<ArchivedStarts> starts_;  // of logs_ and source_
  std::optional<ArchiveProgress> noted_;  // on disk
  std::optional<ArchivedTip> tip_;
  Epoch durable_;                         // the server told so, before this turn
  std::optional<HistoryPoint> restored_;  // the state that the server was restored to, if it was
  ControlFile control_;                   // the server's; empty if it is damaged
  std::set<uint64_t> ancestry_;        // of its present start, by tag, as far as it was looked for
  std::optional<Uuid> judged_for_;     // its start for which logs_ were judged as they are
  std::optional<Uuid> tip_found_for_;  // its start before which the tip was looked for
  Epoch had_;             // what was committed up to there was archived once, or before
  bool has_all_ = false;  // that the server had when this turn began
  std::vector<Left> to_leave_;
  std::vector<std::string> left_;
  uint64_t copied_bytes_ = 0;
  bool call_failed_ = false;
  AlignedBytes buffer_;
  std::string why_;
};

}  // namespace pgsilo
