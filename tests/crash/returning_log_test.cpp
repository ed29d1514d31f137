// A log directory that is taken out of the server, and comes back when the control file has
// forgotten the starts that it knows: what was archived of it stays, and what follows is archived.
#include "tests/crash/archive_bed.h"

namespace pgsilo {
namespace {

// The other log has none but begin blocks of some starts, is taken out, and comes back when the
// control file has forgotten these: what was archived of it stays what its segments are.
TEST_F(ArchiveEndsTest, ALogThatComesBackGoesOnBehindItsSegments) {
  for (size_t starts : {1, 2, 3}) {
    for (bool next_logs : {true, false}) {
      begin(94);
      const WalOptions used = options(2);
      ASSERT_NO_FATAL_FAILURE(begin_archive(used));
      std::vector<WalOptions> lives(starts, used);
      lives.push_back(options(1));
      for (const WalOptions& now : lives) ASSERT_NO_FATAL_FAILURE(live_of_one(now));
      const auto archived = files_of("/archive/wal2");
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (next_logs) {
        ASSERT_NO_FATAL_FAILURE(work(engine, 10));
      }
      ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
      for (const auto& [path, content] : archived)
        EXPECT_TRUE(disk_->content(path) == content) << path;
      EXPECT_GT(files_of("/archive/wal2").size(), archived.size());
      std::optional<Content> found = last_archived(used, "/restored");
      ASSERT_TRUE(found) << why_;
      EXPECT_EQ(*found, states_.back().content) << starts << next_logs;
    }
  }
}

// The start with which it comes back dies before anything knows of it, and the next one, which has
// its number, logs to the other log only.
TEST_F(ArchiveEndsTest, AStartThatDiedWhenALogCameBackHidesNone) {
  for (uint64_t steps = 1; steps <= 60; ++steps) {
    begin(98);
    const WalOptions used = options(2);
    WalOptions other = options(1);
    other.log_directories = {used.log_directories.back()};
    ASSERT_NO_FATAL_FAILURE(begin_archive(used));
    for (const WalOptions& now : {used, other}) ASSERT_NO_FATAL_FAILURE(live_of_one(now));
    disk_->cut_power_at(disk_->steps() + steps);
    try {
      LoggedEngine engine(*disk_, "/data", used);
      ASSERT_TRUE(engine.start()) << engine.why();
      disk_->cut_power_at(0);
      disk_->cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    disk_->restart();
    LoggedEngine engine(*disk_, "/data", used);
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(log_to_one(engine, 1));
    ASSERT_NO_FATAL_FAILURE(archive_now(engine, used));
    std::optional<Content> found = last_archived(used, "/restored");
    ASSERT_TRUE(found) << steps << ": " << why_;
    EXPECT_EQ(*found, states_.back().content) << steps;
  }
}

}  // namespace
}  // namespace pgsilo
