// Old segments that are taken out of an archive at odd moments: it goes on.
#include "tests/crash/returning_bed.h"

namespace pgsilo {
namespace {

class ArchivePruneTest : public ReturningLogTest {
 protected:
  // Killed, or its device is full, at a call. False: it came to its end before.
  bool archive_and_fail(LoggedEngine& engine, const WalOptions& used, uint64_t call) {
    LogArchive archiver(*disk_, "/archive");
    EXPECT_TRUE(archiver.open(&why_)) << why_;
    disk_->fail_at(disk_->steps() + call, {FileStatus::no_space, ENOSPC});
    const LogSlot slot = slots(engine).status().front().slot;
    const bool done =
        archiver.copy(running(used), slot, &why_, engine.wal().status().recorded_epoch);
    disk_->fail_at(0, {});
    return !done;
  }

  // A start that is not archived, and the next, of which the archiver comes to some call.
  void live_and_fail(const WalOptions& used, uint64_t call, bool* failed) {
    ASSERT_NO_FATAL_FAILURE(live(3, /*backed_up=*/true));
    {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      ASSERT_NO_FATAL_FAILURE(log_to_all(engine));
      disk_->cut_power();
    }
    disk_->restart();
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    ASSERT_NO_FATAL_FAILURE(make_checkpoint(engine));
    *failed = archive_and_fail(engine, used, call);
    ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, used));
    for (const char* log : {"/archive/wal", "/archive/wal2"}) ASSERT_NO_FATAL_FAILURE(prune(log));
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
    engine.wal().stop();
  }
};

// To a backup that is ahead of it: what it lacks of the starts before nobody needs.
TEST_F(ArchivePruneTest, GoesOnWhereItsArchiverWasCutShort) {
  bool failed = true;
  for (uint64_t call = 1; failed; ++call) {
    SCOPED_TRACE(call);
    begin(700);
    ASSERT_NO_FATAL_FAILURE(live_and_fail(with(3), call, &failed));
    ASSERT_NO_FATAL_FAILURE(live(3));
    ASSERT_NO_FATAL_FAILURE(expect_last_state());
  }
}

// Of a start whose second log lost its beginning: what the first one lacks is missed.
TEST_F(ArchivePruneTest, MissesWhatALogLacksThatWasTakenOut) {
  begin(702);
  {
    LoggedEngine engine(*disk_, "/data", with(3));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(take_backup(engine, with(3)));
    while (!end_of("/data/wal1").path.ends_with(segment_name(2)))
      ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 1));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, with(3)));
    ASSERT_NO_FATAL_FAILURE(take_newer_backup(engine, with(3)));
    ASSERT_TRUE(disk_->remove(join_path("/archive/wal2", segment_name(1))).ok());
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 0));
    ASSERT_NO_FATAL_FAILURE(stop_with_nothing_to_replay(engine));
  }
  {
    LoggedEngine engine(*disk_, "/data", with(2));
    ASSERT_TRUE(engine.start()) << engine.why();
    LogArchive archiver(*disk_, "/archive");
    ASSERT_TRUE(archiver.open(&why_)) << why_;
    ASSERT_FALSE(archive(engine, with(2), archiver));
    engine.wal().stop();
  }
}

}  // namespace
}  // namespace pgsilo
