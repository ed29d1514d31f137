// An archive of the log behind a backup: with it each state up to the last that was archived can be
// had, over restarts and power cuts of both; what does not belong together is refused by name.
#include "wal/backup/log_archive.h"

#include "tests/crash/archive_bed.h"
#include "wal/backup/state_times.h"
#include "wal/tool/log_places.h"

namespace pgsilo {
namespace {

class LogArchiveTest : public ArchiveTest {};

TEST_F(LogArchiveTest, EachStateUpToTheLastThatWasArchivedCanBeHad) {
  uint64_t beyond_starts = 0;
  for (uint64_t round = 0; round < 12; ++round) {
    begin(round);
    WalOptions used = options(1 + static_cast<unsigned>(round) % 3);
    size_t archived = 0;
    ASSERT_NO_FATAL_FAILURE(live(used, 5, &archived));
    if (archived == 0) continue;
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    ASSERT_TRUE(extend(&label, &source, &logs)) << "round " << round << ": " << why_;
    BackupLabel own;
    ASSERT_EQ(read_label_file(*disk_, "/backup", &own, &why_), LabelRead::ok) << why_;
    ASSERT_LE(states_[archived - 1].epoch, label.stop) << "round " << round;
    uint64_t copied = own.control.incarnations.back().number;
    beyond_starts += label.control.incarnations.back().number - copied;

    std::vector<Epoch> targets = {label.stop, own.stop, earliest_stop(own)};
    for (int i = 0; i < 3; ++i) {
      Epoch target = states_[random_.below(states_.size())].epoch;
      if (target >= earliest_stop(own) && target <= label.stop)
        targets.push_back(Epoch(std::min(target.value() + random_.below(2), label.stop.value())));
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      BackupLabel chosen = label;
      end_label_at(targets[i], copied, &chosen);
      std::optional<Content> found =
          restored(source, chosen, used, "/restored" + std::to_string(i));
      ASSERT_TRUE(found) << "round " << round << ": " << why_;
      ASSERT_TRUE(was_at(targets[i], *found))
          << "round " << round << ", epoch " << targets[i].value();
    }
    StateTimes times;
    ASSERT_TRUE(times.read(logs, label, earliest_stop(own), &why_)) << why_;
    for (const State& state : states_) {
      Epoch found;
      if (state.acknowledged_us < times.first_us() || state.acknowledged_us > times.last_us())
        continue;
      ASSERT_TRUE(times.find(state.acknowledged_us, &found, &why_)) << why_;
      ASSERT_TRUE(was_at(found, state.content)) << "round " << round;
    }
  }
  EXPECT_GT(beyond_starts, 10U);
}

// A backup's copy of the segment that was being written when it was taken: it may be torn behind
// the backup's end, with the last of its blocks whole.
TEST_F(LogArchiveTest, WhatIsTornInTheBackupIsTakenFromTheArchive) {
  begin(41);
  WalOptions used = options(1);
  std::map<std::string, std::string> at_stop;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
    for (int i = 0; i < 6; ++i) ASSERT_NO_FATAL_FAILURE(commit(engine));
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_TRUE(archive(engine, used, archiver)) << why_;
    disk_->cut_power();
  }
  disk_->restart();
  size_t torn = 0;
  WalOptions copys = used;
  copys.log_directories = {copied_log_name(0)};
  for (const auto& [path, copied] : segments("/backup", copys)) {
    const std::string archived = disk_->content(join_path("/archive", path));
    auto differs = std::ranges::mismatch(copied, archived);
    if (differs.in1 == copied.end()) continue;
    auto at = static_cast<size_t>(differs.in1 - copied.begin()) / log_format::block_unit *
              log_format::block_unit;
    std::string holed = archived;
    holed.replace(at, log_format::block_unit, std::string(log_format::block_unit, '\0'));
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, join_path("/backup", path), holed));
    ++torn;
  }
  ASSERT_EQ(torn, 1u);
  std::optional<Content> found = last_archived(used, "/restored");
  ASSERT_TRUE(found) << why_;
  EXPECT_EQ(*found, states_.back().content);
}

// Segments that nobody kept cannot be archived, and what is archived does not end in silence.
TEST_F(LogArchiveTest, AGapIsRefusedByName) {
  begin(1);
  WalOptions used = options(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_NO_FATAL_FAILURE(work(engine, 20));
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  ASSERT_EQ(slots(engine).drop("archive", 1).outcome, SlotOutcome::ok);
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(work(engine, 200));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  }
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(work(engine, 200));
  EXPECT_FALSE(archive(engine, used, archiver));
  EXPECT_NE(why_.find("log segment \"/data/wal"), std::string::npos) << why_;
  EXPECT_NE(why_.find("is missing, and not in the archive whole"), std::string::npos) << why_;

  // And one that was taken out of it.
  BackupLabel label;
  BackupSource source;
  SourceLogs logs;
  ASSERT_TRUE(extend(&label, &source, &logs)) << why_;
  ASSERT_TRUE(restored(source, label, used, "/whole")) << why_;
  uint64_t taken = logs.logs()[0].segments.rbegin()->first;
  ASSERT_TRUE(disk_->remove(logs.logs()[0].segments.at(taken)).ok());
  EXPECT_FALSE(restored(source, label, used, "/lacking"));
}

// A data directory, a backup, a log; and one in which a server's log lies.
TEST_F(LogArchiveTest, WhatIsSomethingElseIsNoArchive) {
  begin(98);
  WalOptions used = options(1);
  used.log_directories = {"/logs/wal"};
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 10));
  ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
  for (const char* directory : {"/data", "/backup", "/logs/wal", "/logs"}) {
    LogArchive archiver(*disk_, directory);
    EXPECT_FALSE(archiver.open(&why_)) << directory;
    bool told = why_.find("is no archive") != std::string::npos ||
                why_.find("in use by another server") != std::string::npos;
    EXPECT_TRUE(told) << why_;
    EXPECT_FALSE(archiver.may_be_tried_again()) << directory;
  }
}

TEST_F(LogArchiveTest, OnlyOneArchivesAtATime) {
  begin(2);
  LogArchive one(*disk_, "/archive");
  ASSERT_TRUE(one.open(&why_)) << why_;
  LogArchive other(*disk_, "/archive");
  EXPECT_FALSE(other.open(&why_));
  EXPECT_EQ(why_, "archive \"/archive\" is in use by another process");
}

// No server may take them for logs of its own.
TEST_F(LogArchiveTest, ItsLogsAreLockedFromTheFirstTurnOn) {
  begin(5);
  WalOptions used = options(2);
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;
  for (const char* name : {"/archive/wal", "/archive/wal2"}) {
    LogDirectory log(*disk_, name);
    EXPECT_FALSE(log.open(&why_)) << name;
    EXPECT_NE(why_.find("is in use"), std::string::npos) << why_;
  }
}

// The archive's starts have other numbers than the backup's, and rest on one that it does not know.
TEST_F(LogArchiveTest, OneThatDoesNotGoOnFromTheBackupIsRefused) {
  begin(4);
  WalOptions used = options(1);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
    ASSERT_EQ(slots(engine).drop("archive", 1).outcome, SlotOutcome::ok);
    disk_->cut_power();
  }
  disk_->restart();
  WalOptions copys = used;
  ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
  ASSERT_NO_FATAL_FAILURE(live_on("/copy", copys));
  BackupLabel label;
  ASSERT_NO_FATAL_FAILURE(back_up_copy(copys, &label));
  // The archive begins behind all starts whose numbers the copy has had.
  for (int life = 0; life < 2; ++life) ASSERT_NO_FATAL_FAILURE(live_on("/data", used));
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(commit(engine));
  ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
  ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
  ASSERT_NO_FATAL_FAILURE(work(engine, 8));
  LogArchive archiver(*disk_, "/archive");
  ASSERT_TRUE(archiver.open(&why_)) << why_;
  ASSERT_TRUE(archive(engine, used, archiver)) << why_;

  expect_refused(label, "the archive does not go on from the backup");
}

// The restored one has the original's database, logs and numbers of starts and segments.
TEST_F(LogArchiveTest, TheLogOfAnotherCopyIsRefused) {
  begin(3);
  WalOptions used = options(1);
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 20));
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, used));
    disk_->cut_power();
  }
  disk_->restart();
  WalOptions copys = used;
  ASSERT_NO_FATAL_FAILURE(restore_copy(&copys));
  ASSERT_NO_FATAL_FAILURE(live_on("/copy", copys));

  LogSlot whole;
  whole.name = "archive";
  whole.reserved = true;
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    // For longer than the copy: what ends before a backup begins is not looked at.
    ASSERT_NO_FATAL_FAILURE(work(engine, 80));
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_TRUE(archive(engine, used, archiver)) << why_;
    EXPECT_FALSE(archiver.copy(running(copys, "/copy"), whole, &why_));
    EXPECT_NE(why_.find("/copy/wal/"), std::string::npos) << why_;
    EXPECT_NE(why_.find("another copy of this database"), std::string::npos) << why_;
    disk_->cut_power();
  }
  disk_->restart();

  // A backup of the copy's later life, and the original's archive.
  BackupLabel label;
  ASSERT_NO_FATAL_FAILURE(back_up_copy(copys, &label));
  expect_refused(label, "another copy of this database");
}

// A start of which nothing is copied had its logs elsewhere, as its paths still say.
TEST_F(LogArchiveTest, LogsOfOtherNamesAreFoundInABackup) {
  begin(51);
  WalOptions used = options(2);
  used.log_directories = {"second", "first"};
  {
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(work(engine, 5));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    disk_->cut_power();
  }
  disk_->restart();
  LoggedEngine engine(*disk_, "/data", used);
  ASSERT_TRUE(engine.start()) << engine.why();
  ASSERT_NO_FATAL_FAILURE(work(engine, 5));
  ASSERT_NO_FATAL_FAILURE(copy_to(engine, used, "/backup"));
  BackupLabel label;
  ASSERT_EQ(read_label_file(*disk_, "/backup", &label, &why_), LabelRead::ok);
  ASSERT_EQ(label.control.incarnations.size(), 2U);
  for (LogIdentity& log : label.control.incarnations.front().logs) log.path += "_before";
  std::vector<LogIdentity> elsewhere;
  EXPECT_EQ(find_log_directories(*disk_, "/backup", label.control, {}, &elsewhere),
            (std::vector<std::string>{"wal", "wal2"}));
  EXPECT_TRUE(elsewhere.empty());
}

}  // namespace
}  // namespace pgsilo
