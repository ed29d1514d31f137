// What recovery refuses and what it takes for a torn end (docs/recovery.md), on a
// simulated disk.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "tests/crash/damage_bed.h"

namespace pgsilo {
namespace {

TEST_F(Damage, NothingIsWrong) {
  commit(options(), 10);
  EXPECT_EQ(restart(options()), 10) << why_;
  EXPECT_EQ(restart(options()), 10) << why_;
}

TEST_F(Damage, AHoleIsRefusedWithFileOffsetAndOption) {
  commit(options(), 10);
  damage(4);
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find(log_path(0)), std::string::npos) << why_;
  EXPECT_NE(why_.find("offset 20480"), std::string::npos) << why_;
  EXPECT_NE(why_.find("recovery_accept_data_loss"), std::string::npos) << why_;
}

TEST_F(Damage, AHoleIsAcceptedOnDemandForGood) {
  commit(options(), 10);
  damage(4);
  WalOptions accepting = options();
  accepting.accept_data_loss = true;
  EXPECT_EQ(restart(accepting), 4);
  EXPECT_NE(data_loss_, "");
  // The incarnation has been closed where it broke: nobody asks again, and what lay behind the hole
  // stays gone.
  EXPECT_EQ(restart(options()), 4) << why_;
}

TEST_F(Damage, AHoleInAnEarlierIncarnationTakesTheLaterOnesAlong) {
  commit(options(), 5);
  disk_.restart();
  commit(options(), 8);
  damage(2);
  EXPECT_EQ(restart(options()), -1);
  WalOptions accepting = options();
  accepting.accept_data_loss = true;
  EXPECT_EQ(restart(accepting), 2);
  EXPECT_EQ(restart(options()), 2) << why_;
}

// The last batch cannot be told from one that was torn while it was written (docs/recovery.md); the
// D it made durable is recorded nowhere.
TEST_F(Damage, ALostLastBatchLooksTorn) {
  commit(options(), 10);
  damage(9);
  EXPECT_EQ(restart(options()), 9) << why_;
}

TEST_F(Damage, AfterACleanShutdownEvenTheLastBatchIsMissed) {
  {
    WalOptions without_checkpoint = options();
    without_checkpoint.checkpoint_at_stop = false;
    LoggedEngine engine(disk_, "/data", without_checkpoint);
    ASSERT_TRUE(engine.start());
    for (int i = 0; i < 5; ++i) {
      engine.wal().wait_durable(0, *engine.commit(0, {{1, "key" + std::to_string(i), "row"}}));
    }
    engine.wal().stop();
  }
  disk_.cut_power();
  damage(4);
  EXPECT_EQ(restart(options()), -1);
}

TEST_F(Damage, AMissingSegmentIsNamed) {
  WalOptions small = options();
  {
    LoggedEngine engine(disk_, "/data", small);
    ASSERT_TRUE(engine.start());
    for (int i = 0; i < 60; ++i) {
      engine.wal().wait_durable(
          0, *engine.commit(0, {{1, "key" + std::to_string(i), std::string(12000, 'x')}}));
      engine.wal().prepare_segments();
    }
    disk_.cut_power();
  }
  disk_.restart();
  std::string second = log_path(0, "0000000000000002.segment");
  ASSERT_NE(disk_.content(second), "");
  ASSERT_TRUE(disk_.remove(second).ok());
  EXPECT_EQ(restart(small), -1);
  EXPECT_NE(why_.find("0000000000000002.segment\" is missing"), std::string::npos) << why_;
  // The first one is noticed by the numbers of the blocks.
  disk_.restart();
  ASSERT_TRUE(disk_.remove(log_path(0)).ok());
  EXPECT_EQ(restart(small), -1);
}

// The segment that a clean stop leaves has nothing in it that the checkpoint does not hold.
TEST_F(Damage, AMissingSegmentThatNothingNeedsIsNoDamage) {
  {
    LoggedEngine engine(disk_, "/data", options());
    ASSERT_TRUE(engine.start());
    for (int i = 0; i < 5; ++i)
      engine.wal().wait_durable(0, *engine.commit(0, {{1, "key" + std::to_string(i), "row"}}));
    engine.wal().stop();
    disk_.cut_power();
  }
  disk_.restart();
  ASSERT_NE(disk_.content(log_path(0, "0000000000000002.segment")), "");
  ASSERT_TRUE(disk_.remove(log_path(0)).ok());
  ASSERT_TRUE(disk_.sync_directory("/data/wal0").ok());
  EXPECT_EQ(restart(options()), 5) << why_;
  disk_.restart();
  commit(options(), 7);
  EXPECT_EQ(restart(options()), 7) << why_;
  disk_.restart();
  // The next one is needed now; that number does not come again.
  ASSERT_TRUE(disk_.remove(log_path(0, "0000000000000002.segment")).ok());
  ASSERT_TRUE(disk_.sync_directory("/data/wal0").ok());
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("0000000000000001.segment\" is missing"), std::string::npos) << why_;
  WalOptions accepting = options();
  accepting.accept_data_loss = true;
  EXPECT_EQ(restart(accepting), 5) << why_;
  EXPECT_NE(data_loss_.find("0000000000000001.segment\" is missing"), std::string::npos)
      << data_loss_;
}

TEST_F(Damage, UnreadableSegmentsAreRefused) {
  commit(options(), 3);
  disk_.fail_reads_of(log_path(0));
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("could not read log segment"), std::string::npos) << why_;
  EXPECT_NE(why_.find("copy the file to a sound one"), std::string::npos) << why_;
  EXPECT_EQ(why_.find("recovery_accept_data_loss"), std::string::npos) << why_;
}

// The server makes its directory before it opens the log; and it may be killed before the sync.
TEST_F(Damage, AFoundDirectoryIsKept) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SimulatedFileSystem disk(seed);
    ASSERT_TRUE(disk.create_directory("/data").ok());
    {
      LoggedEngine engine(disk, "/data", options());
      ASSERT_TRUE(engine.start()) << engine.why();
      engine.wal().wait_durable(0, *engine.commit(0, {{1, "key", "row"}}));
      disk.cut_power();
    }
    disk.restart();
    LoggedEngine engine(disk, "/data", options());
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.content().size(), 1u) << seed;
  }
}

TEST_F(Damage, DamagedControlFileIsRefused) {
  commit(options(), 3);
  disk_.corrupt("/data/pgsilo.control", 40, "?");
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("pgsilo.control\" is damaged"), std::string::npos) << why_;
}

TEST_F(Damage, AControlFileThatCannotBeReadIsToldWithTheReason) {
  commit(options(), 3);
  disk_.fail_reads_of("/data/pgsilo.control");
  EXPECT_EQ(restart(options()), -1);
  EXPECT_EQ(why_, "could not read control file \"/data/pgsilo.control\": Input/output error");
}

TEST_F(Damage, APostgresDirectoryIsRefused) {
  ASSERT_TRUE(disk_.create_directory("/data").ok());
  ASSERT_TRUE(disk_.sync_directory("/").ok());
  ASSERT_TRUE(replace_file(disk_, "/data/PG_VERSION", "15\n").ok());
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("PostgreSQL"), std::string::npos) << why_;
}

TEST_F(Damage, AnotherVersionIsRefused) {
  commit(options(), 3);
  disk_.corrupt("/data/pgsilo.control", 12, "\x63");
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("has format version 99"), std::string::npos) << why_;
}

// Feature bits of a build that is not this one; its checksum is right.
TEST_F(Damage, AControlFileWithUnknownFeaturesIsNamedAndMayBeLookedAt) {
  commit(options(), 3);
  auto set_bit = [&](size_t at) {
    std::string control = disk_.content("/data/pgsilo.control");
    control[at] = static_cast<char>(control[at] ^ 0x40);
    store_le64(control.data(), checksum64(control.data() + 8, control.size() - 8));
    disk_.corrupt("/data/pgsilo.control", 0, control);
  };
  set_bit(28);
  verified_like_start_ = false;
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("may only look at"), std::string::npos) << why_;
  EXPECT_EQ(verified_.verdict, Verdict::sound) << verified_.why;
  set_bit(36);
  verified_like_start_ = true;
  EXPECT_EQ(restart(options()), -1);
  EXPECT_NE(why_.find("needs features (0x40)"), std::string::npos) << why_;
  EXPECT_NE(why_.find("written by pgsilo"), std::string::npos) << why_;
}

TEST_F(Damage, AFailedWriteOrSyncOfTheLogStopsTheProcess) {
  for (bool direct : {true, false}) {
    disk_.refuse_direct(!direct);
    LoggedEngine engine(disk_, direct ? "/direct" : "/cached", options());
    ASSERT_TRUE(engine.start());
    std::optional<Epoch> epoch = engine.commit(0, {{1, "key", "row"}});
    EXPECT_DEATH(
        {
          disk_.fail_at(disk_.steps() + 1, {FileStatus::failed, EIO});
          engine.wal().wait_durable(0, *epoch);
        },
        "could not write log segment");
    if (direct) continue;
    EXPECT_DEATH(
        {
          disk_.fail_at(disk_.steps() + 2, {FileStatus::failed, EIO});
          engine.wal().wait_durable(0, *epoch);
        },
        "could not sync log segment");
  }
}

// Every call of a start may fail: then it says why, be it in the log because it goes on, and the
// next start finds everything.
TEST_F(Damage, EveryCallOfAStartMayFail) {
  commit(options(2), 6);
  int failures = 0;
  for (uint64_t step = 1; step < 200; ++step) {
    disk_.restart();
    uint64_t before = disk_.steps();
    disk_.fail_at(before + step, step % 2 == 0 ? FileResult{FileStatus::no_space, ENOSPC}
                                               : FileResult{FileStatus::failed, EIO});
    ::testing::internal::CaptureStderr();
    std::string said;
    {
      LoggedEngine engine(disk_, "/data", options(2));
      if (!engine.start()) {
        ++failures;
        EXPECT_NE(engine.why(), "");
      }
      said = engine.why() + ::testing::internal::GetCapturedStderr();
      disk_.cut_power();
    }
    if (disk_.steps() < before + step) break;  // nothing failed any more
    EXPECT_NE(said.find("could not "), std::string::npos) << step;
    ASSERT_EQ(restart(options(2)), 6) << why_ << " step " << step;
  }
  EXPECT_GT(failures, 5);
}

}  // namespace
}  // namespace pgsilo
