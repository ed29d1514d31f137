// Files of an archive, or of the log that is archived, that are damaged or laid there by somebody:
// nothing that is restored is older without a word, and what is whole is not refused.
#include "tests/crash/returning_bed.h"
#include "wal/backup/state_times.h"

namespace pgsilo {
namespace {

class ArchiveDamageTest : public ReturningLogTest {
 protected:
  void zero_from(const std::string& path, uint64_t offset) {
    disk_->corrupt(path, offset, std::string(disk_->content(path).size() - offset, '\0'));
  }
  enum class Harm : uint8_t { damaged, zeroed, gone };
  void harm(const std::string& path, Harm how) {
    if (how == Harm::damaged) damage(path, 40);
    if (how == Harm::zeroed) zero_from(path, 0);
    ASSERT_TRUE(how != Harm::gone || disk_->remove(path).ok());
  }
  // It is lost with the segment that it kept.
  void make_slot_anew() {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(cover_all(engine));
    ASSERT_EQ(slots(engine).drop("archive", 0).outcome, SlotOutcome::ok);
    ASSERT_EQ(slots(engine).create("archive", true, 0).outcome, SlotOutcome::ok);
    engine.wal().stop();
  }
  // The last segment of a log that has a block.
  std::string last_used(const std::string& log) {
    std::string path = end_of(log).path;
    EXPECT_NE(path, "");
    return path;
  }
  uint64_t last_number(const std::string& log) {
    LogDirectory directory(*disk_, log);
    std::vector<uint64_t> numbers;
    EXPECT_TRUE(directory.list_segments(&numbers).ok());
    return numbers.back();
  }

  // The begin block of a start that logged nothing and was not archived.
  void harm_idle_start(Harm is, bool behind_killed) {
    const uint64_t number = last_number("/archive/wal") + 1;
    if (behind_killed) {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      disk_->cut_power();
    }
    if (behind_killed) disk_->restart();
    {
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      engine.wal().stop();
    }
    const std::string path = join_path("/data/wal0", segment_name(number));
    ASSERT_NE(disk_->content(path), "");
    ASSERT_NO_FATAL_FAILURE(harm(path, is));
    for (int start = 0; start < 2; ++start) {
      ASSERT_NO_FATAL_FAILURE(live(1));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }

  // The server's segments that the archive lacks.
  enum class Laid : uint8_t { all, used, empty };
  void lay_missing(const std::string& log, const std::string& archived, Laid which) {
    for (const auto& [path, content] : files_of(log)) {
      const std::string laid = archived + path.substr(log.size());
      const bool is_empty = content.find_first_not_of('\0') == std::string::npos;
      if (!disk_->content(laid).empty() || which == (is_empty ? Laid::used : Laid::empty)) continue;
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, laid, content));
    }
  }
  // A start logs to the second of its logs, and is not archived.
  void take_log_out(bool first) {
    if (!first) {
      ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    }
    LoggedEngine engine(*disk_, "/data", with(3));
    ASSERT_TRUE(engine.start()) << engine.why();
    if (first) {
      ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(3)));
    } else {
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
    }
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 1));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  void follow_without_log(bool first, bool empty) {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    if (first) {
      LogArchive archiver(*disk_, "/archive");
      ASSERT_TRUE(archiver.open(&why_)) << why_;
      ASSERT_FALSE(archive(engine, with(1), archiver));
    }
    ASSERT_NO_FATAL_FAILURE(
        lay_missing("/data/wal0", "/archive/wal", empty ? Laid::empty : Laid::all));
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    for (int turn = 0; turn < 2; ++turn) ASSERT_FALSE(archive(engine, with(1), archiver));
    EXPECT_NE(why_.find("have its directory again until"), std::string::npos) << why_;
    engine.wal().stop();
  }
};

// Where the server ended at a start that logged nothing nothing else tells how far the one before
// had got.
TEST_F(ArchiveDamageTest, BeforeAnIdleStartIsTold) {
  for (unsigned logs : {1U, 3U}) {
    for (bool whole_start : {false, true}) {
      SCOPED_TRACE(std::to_string(logs) + std::to_string(whole_start));
      begin(600);
      ASSERT_NO_FATAL_FAILURE(live(logs, /*backed_up=*/true));
      ASSERT_NO_FATAL_FAILURE(live(logs));
      ASSERT_NO_FATAL_FAILURE(live_idle(with(logs)));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
      const End end = end_of("/archive/wal");
      const std::string whole = disk_->content(end.path);
      zero_from(end.path, whole_start ? log_format::block_unit : end.last);
      EXPECT_FALSE(last_archived(with(logs), "/damaged"));
      EXPECT_NE(why_.find("was archived once"), std::string::npos) << why_;
      disk_->corrupt(end.path, 0, whole);
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// Who repairs an archive with the server's segments lays the prepared ones there, too.
TEST_F(ArchiveDamageTest, SegmentsThatWereLaidAheadAreNoEnd) {
  for (bool empty : {true, false}) {
    begin(601);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    const std::string content = disk_->content(last_used("/archive/wal"));
    const uint64_t number = last_number("/archive/wal");
    for (uint64_t ahead = number + 1; ahead < number + 3; ++ahead)
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_,
                                              join_path("/archive/wal", segment_name(ahead)),
                                              empty ? std::string(content.size(), '\0') : content));
    for (int start = 0; start < 4; ++start) {
      ASSERT_NO_FATAL_FAILURE(live(1));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// Nor are those with blocks, where the archive's own last one is a part yet, or gone.
TEST_F(ArchiveDamageTest, SegmentsThatWereLaidBehindAHoleAreNoEnd) {
  for (bool emptied : {false, true}) {
    for (uint64_t ahead : {1U, 2U}) {
      SCOPED_TRACE(std::to_string(emptied) + std::to_string(ahead));
      begin(604);
      ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
      const uint64_t number = last_number("/archive/wal");
      LoggedEngine engine(*disk_, "/data", with(1));
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(work(engine, 600));
      ASSERT_GT(last_number("/data/wal0"), number + 2);
      if (emptied) {
        for (const auto& [path, content] : files_of("/archive/wal")) {
          const bool is_segment = path.ends_with(".segment");
          ASSERT_TRUE(!is_segment || disk_->remove(path).ok());
        }
      }
      const std::string laid = segment_name(number + ahead);
      std::string content = disk_->content(join_path("/data/wal0", laid));
      if (emptied) content.assign(content.size(), '\0');
      ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, join_path("/archive/wal", laid), content));
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// No start needs it behind a clean stop, and the archive has it.
TEST_F(ArchiveDamageTest, OfTheServersLastSegmentIsHarmlessBehindACleanStop) {
  for (Harm is : {Harm::damaged, Harm::zeroed, Harm::gone}) {
    begin(602);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    ASSERT_NO_FATAL_FAILURE(live(1));
    const std::string path = last_used("/data/wal0");
    ASSERT_NO_FATAL_FAILURE(harm(path, is));
    if (is == Harm::gone) {
      ASSERT_NO_FATAL_FAILURE(make_slot_anew());
    }
    for (int start = 0; start < 3; ++start) {
      ASSERT_NO_FATAL_FAILURE(live(1));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// Nor is the begin block of a start that logged nothing, which nobody has archived yet, missed.
TEST_F(ArchiveDamageTest, OfAnIdleStartIsWrittenOver) {
  for (Harm is : {Harm::damaged, Harm::zeroed, Harm::gone}) {
    begin(607);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    ASSERT_NO_FATAL_FAILURE(harm_idle_start(is, /*behind_killed=*/false));
  }
}

// One that was killed before it is known yet.
TEST_F(ArchiveDamageTest, OfAnIdleStartBehindAKilledOneIsWrittenOver) {
  for (Harm is : {Harm::damaged, Harm::zeroed}) {
    begin(608);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    ASSERT_NO_FATAL_FAILURE(harm_idle_start(is, /*behind_killed=*/true));
  }
}

// Of a start some of whose logs were not archived before they were taken out: whatever is laid
// there, that is missed. `first`: nothing was archived before.
TEST_F(ArchiveDamageTest, SegmentsThatWereLaidHideNoLogThatIsOut) {
  for (bool first : {false, true}) {
    for (bool empty : {false, true}) {
      if (first && empty) continue;
      SCOPED_TRACE(std::to_string(first) + std::to_string(empty));
      begin(609);
      ASSERT_NO_FATAL_FAILURE(take_log_out(first));
      ASSERT_NO_FATAL_FAILURE(follow_without_log(first, empty));
      ASSERT_NO_FATAL_FAILURE(live(3));
      ASSERT_NO_FATAL_FAILURE(expect_last_state());
    }
  }
}

// What was copied of an idle start gave way in the server, and what came behind it was laid there.
TEST_F(ArchiveDamageTest, SegmentsThatWereLaidBehindWhatGaveWayAreNoEnd) {
  begin(611);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(lay_missing("/data/wal0", "/archive/wal", Laid::used));
    engine.wal().stop();
  }
  for (int starts = 0; starts < 2; ++starts) {
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  ASSERT_NO_FATAL_FAILURE(lay_missing("/data/wal0", "/archive/wal", Laid::used));
  ASSERT_NO_FATAL_FAILURE(live(1));
  ASSERT_NO_FATAL_FAILURE(expect_last_state());
}

// Nor does a start begin before the place of one that logged nothing, in a segment that was lost
// before.
TEST_F(ArchiveDamageTest, OfAnIdleStartBehindALostSegmentIsWrittenOver) {
  begin(612);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  ASSERT_NO_FATAL_FAILURE(live(1));
  const uint64_t number = last_number("/archive/wal");
  ASSERT_NO_FATAL_FAILURE(harm(join_path("/data/wal0", segment_name(number)), Harm::zeroed));
  ASSERT_NO_FATAL_FAILURE(live_idle(with(1), /*backed_up=*/false, /*makes_checkpoint=*/false));
  ASSERT_NO_FATAL_FAILURE(harm(join_path("/data/wal0", segment_name(number + 1)), Harm::damaged));
  for (int start = 0; start < 2; ++start) {
    ASSERT_NO_FATAL_FAILURE(live(1));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// Where a later start's segment is damaged at its beginning, or was cut.
TEST_F(ArchiveDamageTest, LeavesTheStatesBeforeIt) {
  for (bool cut : {false, true}) {
    begin(605);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    const State before = states_.back();
    ASSERT_NO_FATAL_FAILURE(live(1));
    const std::string path = last_used("/archive/wal");
    const std::string content = disk_->content(path);
    ASSERT_TRUE(disk_->remove(path).ok());
    ASSERT_NO_FATAL_FAILURE(write_test_file(*disk_, path, content.substr(0, cut ? 174 : SIZE_MAX)));
    if (!cut) damage(path, 40);
    BackupLabel label;
    BackupSource source;
    SourceLogs logs;
    EXPECT_FALSE(extend(&label, &source, &logs));
    EXPECT_NE(why_, "");
    end_label_at(before.epoch, 1, &label);
    std::optional<Content> found = restored(source, label, with(1), "/before");
    ASSERT_TRUE(found) << why_;
    EXPECT_TRUE(*found == before.content);
  }
}

// Behind the last block of a start that can be read nobody knows what there was, until the next.
TEST_F(ArchiveDamageTest, HidesNoTimesOfAnEarlierStart) {
  begin(603);
  ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
  const State before = states_.back();
  ASSERT_NO_FATAL_FAILURE(live(1));
  const State hidden = states_.back();
  const End end = end_of("/archive/wal");
  ASSERT_NO_FATAL_FAILURE(live(1));
  zero_from(end.path, log_format::block_unit);
  BackupLabel label;
  BackupLabel own;
  BackupSource source;
  SourceLogs logs;
  StateTimes times;
  ASSERT_TRUE(extend(&label, &source, &logs)) << why_;
  ASSERT_EQ(read_label_file(*disk_, "/backup", &own, &why_), LabelRead::ok) << why_;
  ASSERT_TRUE(times.read(logs, label, earliest_stop(own), &why_)) << why_;
  Epoch found;
  EXPECT_FALSE(times.find(hidden.acknowledged_us, &found, &why_));
  EXPECT_NE(why_.find("a log is damaged behind "), std::string::npos) << why_;
  EXPECT_TRUE(times.find(times.last_us(), &found, &why_)) << why_;
  ASSERT_TRUE(times.find(times.first_us(), &found, &why_)) << why_;
  EXPECT_LE(found, before.epoch);
}

// Behind a sync that failed the page cache has what the disk may never get: that is what counts.
TEST_F(ArchiveDamageTest, OfASyncIsNotReadBack) {
  int failed = 0;
  for (uint64_t call = 1; call < 60; ++call) {
    SCOPED_TRACE(call);
    begin(606);
    ASSERT_NO_FATAL_FAILURE(live(1, /*backed_up=*/true));
    LoggedEngine engine(*disk_, "/data", with(1));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(1)));
    ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    const LogSlot slot = slots(engine).status().front().slot;
    const Epoch told = engine.wal().status().recorded_epoch;
    disk_->fail_at(disk_->steps() + call, {FileStatus::failed, EIO});
    const bool done = archiver.copy(running(with(1)), slot, &why_, told);
    disk_->fail_at(0, {});
    if (done || why_.find("could not sync file") == std::string::npos) continue;
    ++failed;
    ASSERT_TRUE(archiver.copy(running(with(1)), slot, &why_, told)) << why_;
    disk_->cut_power();
    disk_->restart();
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace pgsilo
