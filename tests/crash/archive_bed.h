// A server's engine with a backup of it, its log archived beside it, and what can be restored.
#pragma once

#include <bit>

#include "tests/crash/backup_bed.h"
#include "wal/backup/log_archive.h"
#include "wal/backup/log_history.h"
#include "wal/backup/source_logs.h"
#include "wal/checkpoint/log_slots.h"
#include "wal/log/segment_reader.h"

namespace pgsilo {

class ArchiveTest : public BackupTest {
 protected:
  static LogSlots& slots(LoggedEngine& engine) { return engine.wal().checkpointer().slots(); }

  static BackupSource running(const WalOptions& used, const std::string& data = "/data") {
    return {.data_directory = data,
            .log_directories = used.log_directories,
            .checkpoint_directories = {}};
  }

  // A backup in /backup, with a slot from before it.
  void take_backup(LoggedEngine& engine, const WalOptions& used) {
    ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    ASSERT_NO_FATAL_FAILURE(work(engine, 10 + random_.below(20)));
    ASSERT_NO_FATAL_FAILURE(copy_to(engine, used, "/backup"));
  }
  void copy_to(LoggedEngine& engine, const WalOptions& used, const std::string& target) {
    Backup backup(engine.wal().checkpointer(), "test");
    stop(engine, backup);
    BackupLabel label;
    ASSERT_TRUE(read_backup_label(backup.label_file(), &label, &why_)) << why_;
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, running(used), label, target, &report, &why_)) << why_;
  }

  // As `pgsilo-backup follow` does it.
  bool archive(LoggedEngine& engine, const WalOptions& used, LogArchive& archive) {
    return archive_behind(engine, used, archive, engine.wal().status().recorded_epoch);
  }
  // What the server has told to be durable.
  bool archive_behind(LoggedEngine& engine, const WalOptions& used, LogArchive& archive,
                      Epoch durable) {
    for (const SlotStatus& status : slots(engine).status()) {
      if (status.slot.name != "archive") continue;
      if (!archive.copy(running(used), status.slot, &why_, durable)) return false;
      SlotResult moved = slots(engine).advance("archive", durable, 1);
      EXPECT_EQ(moved.outcome, SlotOutcome::ok) << moved.why;
      return true;
    }
    return false;
  }

  // /backup as a database in /copy; the options get its logs.
  void restore_copy(WalOptions* copys) {
    BackupLabel label;
    ASSERT_EQ(read_label_file(*disk_, "/backup", &label, &why_), LabelRead::ok);
    BackupCopyReport report;
    BackupSource source = source_of_backup("/backup", label);
    ASSERT_TRUE(copy_backup(*disk_, source, label, "/copy", &report, &why_)) << why_;
    copys->log_directories = report.log_directories;
  }

  // The copy's present state, as a backup in /other.
  void back_up_copy(const WalOptions& copys, BackupLabel* label) {
    {
      LoggedEngine engine(*disk_, "/copy", copys);
      ASSERT_TRUE(engine.start()) << engine.why();
      Backup backup(engine.wal().checkpointer(), "test");
      stop(engine, backup);
      ASSERT_TRUE(read_backup_label(backup.label_file(), label, &why_)) << why_;
      BackupCopyReport report;
      ASSERT_TRUE(copy_backup(*disk_, running(copys, "/copy"), *label, "/other", &report, &why_));
      disk_->cut_power();
    }
    disk_->restart();
  }

  // The archive does not belong to the backup in /other.
  void expect_refused(BackupLabel label, const std::string& words) {
    BackupSource source = source_of_backup("/other", label);
    SourceLogs logs;
    ASSERT_TRUE(add_archive(*disk_, "/archive", &source, &why_)) << why_;
    std::string loss;
    EXPECT_FALSE(logs.find(*disk_, source, label.control, &why_) && logs.scan(*disk_, &why_) &&
                 extend_label(*disk_, logs, &label, &loss, &why_));
    EXPECT_NE(why_.find(words), std::string::npos) << why_;
  }

  // The backup's label with all that was archived since; `logs` are scanned. False with why_: it
  // cannot be told, or something that was archived is lost.
  bool extend(BackupLabel* label, BackupSource* source, SourceLogs* logs) {
    std::string loss;
    if (read_label_file(*disk_, "/backup", label, &why_) != LabelRead::ok) return false;
    *source = source_of_backup("/backup", *label);
    return add_archive(*disk_, "/archive", source, &why_) &&
           logs->find(*disk_, *source, label->control, &why_) && logs->scan(*disk_, &why_) &&
           extend_label(*disk_, *logs, label, &loss, &why_) && is_whole(loss);
  }
  // What the archive has, or its state at an epoch, as a data directory; the options get its logs.
  void restore_archived(const std::string& data, WalOptions* used,
                        std::optional<Epoch> epoch = {}) {
    BackupLabel label;
    BackupLabel copied;
    BackupSource source;
    SourceLogs logs;
    ASSERT_TRUE(extend(&label, &source, &logs)) << why_;
    ASSERT_EQ(read_label_file(*disk_, "/backup", &copied, &why_), LabelRead::ok);
    if (epoch) end_label_at(*epoch, copied.control.last_incarnation, &label);
    BackupCopyReport report;
    ASSERT_TRUE(copy_backup(*disk_, source, label, data, &report, &why_)) << why_;
    used->log_directories = report.log_directories;
  }
  bool is_whole(const std::string& loss) {
    if (!loss.empty()) why_ = loss;
    return loss.empty();
  }

  // The last state that backup and archive have together.
  std::optional<Content> last_archived(const WalOptions& used, const std::string& target) {
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    if (!extend(&label, &source, &logs)) return std::nullopt;
    return restored(source, label, used, target);
  }

  // What a start of what is restored to `target` finds. Empty: it is refused, with why_.
  std::optional<Content> restored(const BackupSource& source, const BackupLabel& label,
                                  WalOptions used, const std::string& target) {
    BackupCopyReport report;
    if (!copy_backup(*disk_, source, label, target, &report, &why_)) return std::nullopt;
    used.log_directories = report.log_directories;
    LoggedEngine engine(*disk_, target, used);
    if (engine.start()) return engine.content();
    why_ = engine.why();
    return std::nullopt;
  }

  // Whether that was the state at an epoch. One that was found after a power cut and never
  // acknowledged came at some epoch between those of its neighbours.
  bool was_at(Epoch epoch, const Content& content) const {
    auto after = std::ranges::upper_bound(states_, epoch, {}, &State::epoch);
    if (std::prev(after)->content == content) return true;
    return after != states_.end() && after->acknowledged_us == 0 && after->content == content;
  }

  // Some lives of the server, each ended by a stop, or by a power cut at some step of it or of the
  // archiver; the first begins with a backup. `*archived`: how many of states_ there were when an
  // archiver last came to its end.
  void live(const WalOptions& used, int lives, size_t* archived) {
    for (int life = 0; life < lives; ++life) {
      {
        LoggedEngine engine(*disk_, "/data", used);
        ASSERT_TRUE(engine.start()) << engine.why();
        if (life == 0) {
          ASSERT_NO_FATAL_FAILURE(work(engine, 20));
          ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
          ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
        }
        // What was under way when the power failed may be there.
        if (life > 0) {
          Content found = engine.content();
          if (found != states_.back().content)
            states_.push_back({engine.epochs().current(), found, 0});
        }
        bool cut = random_.one_in(2);
        if (cut) disk_->cut_power_at(disk_->steps() + 1 + random_.below(400));
        try {
          ASSERT_NO_FATAL_FAILURE(archive_beside_work(engine, used, archived));
          disk_->cut_power_at(0);
          random_.one_in(2) ? engine.wal().stop() : disk_->cut_power();
        } catch (const SimulatedPowerCut&) {
        }
      }
      disk_->restart();
    }
  }

  void archive_beside_work(LoggedEngine& engine, const WalOptions& used, size_t* archived) {
    for (uint64_t turn = random_.below(4); turn > 0; --turn) {
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      for (uint64_t round = 1 + random_.below(3); round > 0; --round) {
        ASSERT_NO_FATAL_FAILURE(work(engine, random_.below(25)));
        size_t there = states_.size();
        ASSERT_TRUE(archive(engine, used, archiver)) << why_;
        *archived = there;
      }
    }
  }
};

// Lives of which something is lost, or damaged, behind the archiver's back.
class ArchiveEndsTest : public ArchiveTest {
 protected:
  // Of all files of a directory and those in it.
  std::map<std::string, std::string> files_of(const std::string& directory) {
    std::map<std::string, std::string> found;
    std::vector<std::string> names;
    EXPECT_TRUE(disk_->list(directory, &names).ok());
    for (const std::string& name : names) {
      std::string path = join_path(directory, name);
      std::vector<std::string> inside;
      if (disk_->list(path, &inside).ok()) {
        found.merge(files_of(path));
      } else {
        found[path] = disk_->content(path);
      }
    }
    return found;
  }

  void put_back(const std::string& directory, const std::map<std::string, std::string>& before) {
    for (const auto& [path, content] : files_of(directory)) {
      ASSERT_TRUE(disk_->remove(path).ok());
      ASSERT_TRUE(disk_->sync_directory(parent_path(path)).ok());
    }
    for (const auto& [path, content] : before)
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, content));
  }

  // A start with a backup and an archive of it; then the power fails.
  void begin_archive(const WalOptions& used) {
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 20));
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      disk_->cut_power();
    }
    disk_->restart();
  }

  // The same in the midst of the start: no begin block of it is in the archive. `ends_`: where its
  // logs then end.
  void begin_archive_in_the_midst(const WalOptions& used, bool ends_anywhere = false) {
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 400));
      ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      if (ends_anywhere) disk_->cut_power_at(disk_->steps() + 1 + random_.below(200));
      try {
        ASSERT_NO_FATAL_FAILURE(work(engine, 60));
        disk_->cut_power_at(0);
        disk_->cut_power();
      } catch (const SimulatedPowerCut&) {
      }
    }
    disk_->restart();
    for (const auto& [path, content] : files_of("/archive"))
      ASSERT_FALSE(path.ends_with(segment_name(1))) << path;
    for (const std::string& log : used.log_directories)
      ends_[log] = end_of(join_path("/data", log));
  }

  void archive_now(LoggedEngine& engine, const WalOptions& used) {
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  }

  static uint64_t live_segments(LoggedEngine& engine) {
    uint64_t live = 0;
    for (const LogStatus& log : engine.wal().status().logs) live += log.live_segments;
    return live;
  }

  // An archive up to the commit that begins the second segment, and in /copy what a backup from
  // just before it has; the options get the copy's log.
  void archive_one_more_than_copy(const WalOptions& used, WalOptions* copys) {
    std::string backup = "/backup";
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
      for (uint64_t live = live_segments(engine); live_segments(engine) == live;) {
        backup += "s";
        ASSERT_NO_FATAL_FAILURE(copy_to(engine, used, backup));
        const Content copied = states_.back().content;
        while (states_.back().content == copied) ASSERT_NO_FATAL_FAILURE(commit(engine));
      }
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      disk_->cut_power();
    }
    disk_->restart();
    BackupLabel label;
    ASSERT_EQ(read_label_file(*disk_, backup, &label, &why_), LabelRead::ok);
    BackupCopyReport report;
    BackupSource source = source_of_backup(backup, label);
    ASSERT_TRUE(copy_backup(*disk_, source, label, "/copy", &report, &why_)) << why_;
    copys->log_directories = report.log_directories;
  }

  // A start of the server whose last commit is archived, and then lost, as if the archiver had read
  // it before it was durable: its first, or the first of a segment.
  void lose_what_was_archived(const WalOptions& used, bool first_of_start) {
    std::map<std::string, std::string> before;
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      Epoch told;
      for (bool begun = false; !begun;) {
        told = engine.wal().durable_epoch();
        before = files_of("/data");
        uint64_t live = live_segments(engine);
        ASSERT_NO_FATAL_FAILURE(commit(engine));
        begun = first_of_start || live_segments(engine) != live;
      }
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      ASSERT_TRUE(archive_behind(engine, used, archiver, told)) << why_;
      disk_->cut_power();
    }
    disk_->restart();
    ASSERT_NO_FATAL_FAILURE(put_back("/data", before));
    states_.pop_back();
  }

  // Durable transactions of one worker: what one of two logs gets, and the other not.
  void log_to_one(LoggedEngine& engine, unsigned worker = 0) {
    for (int i = 0; i < 6; ++i) {
      std::vector<WriteOperation> rows = {
          {1, "one" + std::to_string(i), "row" + std::to_string(states_.size())}};
      std::optional<Epoch> epoch = engine.commit(worker, rows);
      ASSERT_TRUE(epoch);
      engine.wal().wait_durable(worker, *epoch);
      Content now = states_.back().content;
      apply_writes(now, rows);
      states_.push_back({*epoch, std::move(now), static_cast<uint64_t>(unix_time_us())});
    }
  }

  // A start that logs to its first log only, is archived, and stops behind a checkpoint.
  void live_of_one(const WalOptions& used) {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    engine.wal().stop();
  }

  // The first checkpoint may have begun before.
  static void cover_all(LoggedEngine& engine) {
    for (int turn = 0; turn < 2; ++turn) ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  }
  // Then any log may be taken out, if the archiver has caught up.
  static void stop_with_nothing_to_replay(LoggedEngine& engine) {
    ASSERT_NO_FATAL_FAILURE(cover_all(engine));
    engine.wal().stop();
  }

  // With those of three logs whose bits are set.
  static constexpr unsigned all_logs = 7;
  static WalOptions with(unsigned logs) {
    WalOptions used = options(static_cast<unsigned>(std::popcount(logs)));
    std::vector<std::string> names = LoggedEngine::log_directories(3);
    used.log_directories.clear();
    for (unsigned log = 0; log < names.size(); ++log) {
      if ((logs >> log & 1) != 0) used.log_directories.push_back(names[log]);
    }
    return used;
  }

  // In the place of /backup.
  void take_newer_backup(LoggedEngine& engine, const WalOptions& used) {
    std::string newer = "/backup" + std::to_string(++backups_);
    ASSERT_NO_FATAL_FAILURE(copy_to(engine, used, newer));
    for (const auto& [path, content] : files_of("/backup")) ASSERT_TRUE(disk_->remove(path).ok());
    for (const auto& [path, content] : files_of(newer))
      ASSERT_NO_FATAL_FAILURE(
          write_test_file(*disk_, "/backup" + path.substr(newer.size()), content));
  }

  // A start in the first of three logs, archived, and a backup at its end in the place of the one
  // from before.
  void archive_first_start() {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(1)));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, with(1)));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
    stop_with_nothing_to_replay(engine);
  }

  // Takes out of an archived log what the backup does not need.
  void prune(const std::string& archived) {
    BackupLabel label;
    ASSERT_EQ(read_label_file(*disk_, "/backup", &label, &why_), LabelRead::ok);
    LogDirectory log(*disk_, archived);
    ASSERT_TRUE(log.read_identity(&why_)) << why_;
    std::vector<uint64_t> numbers;
    ASSERT_TRUE(log.list_segments(&numbers).ok());
    const LogCut* cut = label.control.checkpoint.cut_of(log.log());
    for (uint64_t number : numbers) {
      if (cut == nullptr || number >= cut->segment) break;
      ASSERT_TRUE(disk_->remove(log.segment_path(number)).ok());
    }
  }

  // The last segment of a log that holds data, where that begins and where its last block does.
  struct End {
    std::string path;
    uint64_t first = 0;
    uint64_t last = 0;
  };
  End end_of(const std::string& log) {
    LogDirectory directory(*disk_, log);
    EXPECT_TRUE(directory.read_identity(&why_)) << why_;
    std::vector<uint64_t> numbers;
    EXPECT_TRUE(directory.list_segments(&numbers).ok());
    End end;
    for (uint64_t number : numbers) {
      SegmentReader reader(*disk_, directory.segment_path(number), number, directory.log());
      EXPECT_TRUE(reader.open().ok());
      for (uint64_t at = 0;
           std::optional<BlockView> block = reader.next(at, at + log_format::block_unit);) {
        bool data = block->header.kind != BlockKind::begin && block->payload_bytes != 0;
        if (data) end = {.path = directory.segment_path(number), .first = 0, .last = at};
        at += block->bytes;
      }
    }
    return end;
  }

  void damage(const std::string& path, uint64_t offset) {
    char byte = static_cast<char>(disk_->content(path)[offset] ^ 1);
    disk_->corrupt(path, offset, {&byte, 1});
  }

  std::map<std::string, End> ends_;
  int backups_ = 1;
};

}  // namespace pgsilo
