// What recovery refuses and what it takes for a torn end (durability.md items 1, 3, 4, 10), on a
// simulated disk. Before each start pgsilo-verify must tell the same.
#include <gtest/gtest.h>

#include <cerrno>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/file_simulated.h"
#include "base/random.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "tests/unit/catalog/failing_memory.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/log/log_format.h"

namespace pgsilo {
namespace {

constexpr char first_segment[] = "0000000000000001.segment";

class Damage : public ::testing::Test {
 protected:
  WalOptions options(unsigned logs = 1) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = logs;
    options.log_directories.clear();
    for (unsigned i = 0; i < logs; ++i)
      options.log_directories.push_back("wal" + std::to_string(i));
    return options;
  }

  // `count` durable transactions, round-robin over the workers, one batch each; the last one may
  // stay undurable.
  void commit(const WalOptions& options, int count, bool last_durable = true) {
    LoggedEngine engine(disk_, "/data", options);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (int i = 0; i < count; ++i) {
      unsigned worker = static_cast<unsigned>(i) % options.workers;
      std::optional<Epoch> epoch =
          engine.commit(worker, {{1, "key" + std::to_string(i), "row" + std::to_string(i)}});
      ASSERT_TRUE(epoch.has_value());
      if (i + 1 < count || last_durable) engine.wal().wait_durable(worker, *epoch);
    }
    disk_.cut_power();
  }

  // Restarts; the number of rows, or -1 with why_.
  int restart(const WalOptions& options) {
    disk_.restart();
    verified_ = verify(disk_, options.log_directories);
    LoggedEngine engine(disk_, "/data", options);
    bool started = engine.start();
    why_ = engine.why();
    data_loss_ = engine.recovered().data_loss;
    if (!options.accept_data_loss && verified_like_start_) compare(started, engine.recovered());
    int rows = started ? static_cast<int>(engine.content().size()) : -1;
    disk_.cut_power();
    return rows;
  }

  void compare(bool started, const RecoveryResult& recovered) {
    EXPECT_EQ(verified_.verdict, started ? Verdict::sound : Verdict::damaged) << verified_.why;
    EXPECT_EQ(verified_.why, why_);
    if (!started) return;
    std::string counts = "would replay " + std::to_string(recovered.log_bytes) +
                         " bytes: " + std::to_string(recovered.records) + " records, " +
                         std::to_string(recovered.entries) + " entries; new epochs begin at " +
                         std::to_string(recovered.first_epoch.value());
    EXPECT_NE(verified_.text.find(counts), std::string::npos) << verified_.text << counts;
  }

  static std::string log_path(unsigned log, const std::string& name = first_segment) {
    return "/data/wal" + std::to_string(log) + "/" + name;
  }
  // Of the one that a transaction wrote, behind the first block of all: a byte that is always 0.
  void damage(uint64_t transaction) {
    disk_.corrupt(log_path(0), (1 + transaction) * log_format::block_unit + 108, "?");
  }

  SimulatedFileSystem disk_{11};
  std::string why_;
  std::string data_loss_;
  Verified verified_;
  bool verified_like_start_ = true;
};

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
  // Now it is needed.
  ASSERT_TRUE(disk_.remove(log_path(0)).ok());
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

// --- several logs ---

TEST_F(Damage, AMissingLogDirectoryIsRefused) {
  commit(options(2), 6);
  verified_like_start_ = false;
  EXPECT_EQ(restart(options(1)), -1);
  EXPECT_NE(why_.find("wal1"), std::string::npos) << why_;
  EXPECT_NE(why_.find("is missing"), std::string::npos) << why_;
  // It needs no setting to find a log.
  EXPECT_EQ(verified_.verdict, Verdict::sound) << verified_.why;
  verified_like_start_ = true;
  EXPECT_EQ(restart(options(2)), 6) << why_;
}

TEST_F(Damage, AnEmptiedLogDirectoryIsRefused) {
  commit(options(2), 6);
  disk_.restart();
  std::vector<std::string> names;
  ASSERT_TRUE(disk_.list("/data/wal1", &names).ok());
  for (const std::string& name : names) ASSERT_TRUE(disk_.remove("/data/wal1/" + name).ok());
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find("is missing"), std::string::npos) << why_;
}

TEST_F(Damage, ALogDirectoryWithoutSegmentsIsRefused) {
  commit(options(2), 6);
  disk_.restart();
  std::vector<std::string> names;
  ASSERT_TRUE(disk_.list("/data/wal1", &names).ok());
  for (const std::string& name : names) {
    if (!parse_segment_name(name)) continue;
    ASSERT_TRUE(disk_.remove("/data/wal1/" + name).ok());
  }
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find("holds no segments"), std::string::npos) << why_;
}

TEST_F(Damage, LogDirectoriesAreKnownByTheirIdentityNotTheirPlace) {
  commit(options(2), 6);
  WalOptions swapped = options(2);
  std::swap(swapped.log_directories[0], swapped.log_directories[1]);
  EXPECT_EQ(restart(swapped), 6) << why_;
  EXPECT_EQ(restart(options(2)), 6) << why_;
}

TEST_F(Damage, SwappedSegmentsAreNoticed) {
  commit(options(2), 8);
  std::string one = disk_.content(log_path(0));
  std::string other = disk_.content(log_path(1));
  disk_.corrupt(log_path(0), 0, other);
  disk_.corrupt(log_path(1), 0, one);
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find("holds blocks of another log"), std::string::npos) << why_;
}

TEST_F(Damage, AForeignLogDirectoryIsRefused) {
  commit(options(1), 3);
  disk_.restart();
  {
    LoggedEngine other(disk_, "/other", options(1));
    ASSERT_TRUE(other.start());
    disk_.cut_power();
  }
  WalOptions mixed = options(1);
  mixed.log_directories.push_back("/other/wal0");
  EXPECT_EQ(restart(mixed), -1);
  EXPECT_NE(why_.find("belongs to another database"), std::string::npos) << why_;
}

TEST_F(Damage, TheSameDirectoryTwiceIsRefused) {
  WalOptions twice = options(1);
  twice.log_directories.push_back("wal0");
  verified_like_start_ = false;  // there is no directory yet
  EXPECT_EQ(restart(twice), -1);
  EXPECT_NE(why_.find("are the same"), std::string::npos) << why_;
}

TEST_F(Damage, ADirectoryMayJoin) {
  commit(options(1), 3);
  EXPECT_EQ(restart(options(2)), 3) << why_;
  disk_.restart();
  commit(options(2), 8);
  EXPECT_EQ(restart(options(2)), 8) << why_;
}

TEST_F(Damage, ALostTailOfOneLogIsNoticedByTheOther) {
  commit(options(2), 9);  // batches alternate; log 1's last is recorded by log 0's last
  std::string path = log_path(1);
  for (uint64_t block = 3; block < 5; ++block) {
    disk_.corrupt(path, block * log_format::block_unit, std::string(log_format::block_unit, '\0'));
  }
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find(path), std::string::npos) << why_;
  EXPECT_EQ(why_.find(log_path(0)), std::string::npos) << why_;
}

TEST_F(Damage, ASecondServerIsRefused) {
  LoggedEngine first(disk_, "/data", options());
  ASSERT_TRUE(first.start());
  LoggedEngine second(disk_, "/data", options());
  EXPECT_FALSE(second.start());
  EXPECT_NE(second.why().find("in use by another server"), std::string::npos) << second.why();
  LoggedEngine elsewhere(disk_, "/elsewhere", [&] {
    WalOptions wal = options();
    wal.log_directories = {"/data/wal0"};
    return wal;
  }());
  EXPECT_FALSE(elsewhere.start());
  EXPECT_NE(elsewhere.why().find("in use by another server"), std::string::npos) << elsewhere.why();
}

// --- failing calls ---

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

class FullDevice : public Damage, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Compression, FullDevice, ::testing::Bool());

TEST_P(FullDevice, WritersAreRefusedWithoutSpaceAndReadersGoOn) {
  WalOptions small = options();
  small.compress = GetParam();
  LoggedEngine engine(disk_, "/data", small);
  ASSERT_TRUE(engine.start());
  disk_.set_capacity(1);  // no segment more
  int committed = 0;
  std::optional<Epoch> epoch;
  Random random(1);
  do {
    // Some can be compressed and some cannot: no promise may rest on which.
    std::string row(8000, 'x');
    if (random.one_in(2)) {
      for (char& byte : row) byte = static_cast<char>(random.next());
    }
    epoch = engine.commit(0, {{1, "key" + std::to_string(committed), row}});
    if (!epoch) break;
    ++committed;
    engine.wal().wait_durable(0, *epoch);
    engine.wal().prepare_segments();
  } while (committed < 1000);
  EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
  EXPECT_GT(committed, 5);
  EXPECT_EQ(engine.content().size(), static_cast<size_t>(committed));  // nothing half-done
  disk_.set_capacity(UINT64_MAX);
  engine.wal().prepare_segments();
  epoch = engine.commit(0, {{1, "after", "row"}});
  ASSERT_TRUE(epoch.has_value());
  engine.wal().wait_durable(0, *epoch);
  disk_.cut_power();
  EXPECT_EQ(restart(small), committed + 1) << why_;
}

// Any call may fail with which a segment is prepared: a new one, or a retired one that is used
// again.
TEST_F(Damage, WritersAreRefusedWhileNoSegmentCanBePreparedAndReadersGoOn) {
  WalOptions small = options();
  int committed = 0;
  auto commit_row = [&](LoggedEngine& engine) {
    std::string key = "key" + std::to_string(committed);
    std::optional<Epoch> epoch = engine.commit(0, {{1, key, std::string(8000, 'x')}});
    if (!epoch) return false;
    ++committed;
    engine.wal().wait_durable(0, *epoch);
    return true;
  };
  for (bool retired : {false, true}) {
    int refused = 0;
    for (uint64_t step = 1;; ++step) {
      disk_.restart();
      LoggedEngine engine(disk_, "/data", small);
      ASSERT_TRUE(engine.start()) << engine.why();
      if (retired) {
        while (!engine.wal().checkpointer().step()) {
        }
      }
      auto space = [&] { return engine.wal().status().logs[0].space; };
      while (space() == "ample") ASSERT_TRUE(commit_row(engine));
      uint64_t failing = disk_.steps() + step;
      disk_.fail_at(failing, {FileStatus::failed, EIO});
      engine.wal().prepare_segments();
      if (disk_.steps() < failing) break;
      if (space() == "ample") continue;  // it did not matter
      ++refused;
      EXPECT_EQ(space(), "exhausted") << step;
      if (space() != "exhausted") break;  // or it waits for ever
      EXPECT_FALSE(commit_row(engine)) << step;
      EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
      EXPECT_EQ(engine.content().size(), static_cast<size_t>(committed));
      engine.wal().prepare_segments();
      ASSERT_TRUE(commit_row(engine)) << step;
      disk_.cut_power();
      ASSERT_EQ(restart(small), committed) << step << ": " << why_;
    }
    EXPECT_GE(refused, retired ? 2 : 5);
  }
}

TEST_F(Damage, WritersAreRefusedWhileThereIsNoMemoryForASegment) {
  WalOptions small = options();
  bool failed = true;
  int committed = 0;
  int refused = 0;
  auto commit_row = [&](LoggedEngine& engine) {
    std::string key = "key" + std::to_string(committed);
    std::optional<Epoch> epoch = engine.commit(0, {{1, key, std::string(8000, 'x')}});
    if (!epoch) return false;
    ++committed;
    engine.wal().wait_durable(0, *epoch);
    return true;
  };
  for (size_t successes = 0; failed; successes += 1 + successes / 8) {
    disk_.restart();
    LoggedEngine engine(disk_, "/data", small);
    ASSERT_TRUE(engine.start()) << engine.why();
    auto space = [&] { return engine.wal().status().logs[0].space; };
    // More than are kept will be retired.
    for (int i = 0; i < 150; ++i) ASSERT_TRUE(commit_row(engine));
    while (!engine.wal().checkpointer().step()) {
    }
    while (space() == "ample") ASSERT_TRUE(commit_row(engine));
    {
      testing::FailingMemory memory(successes, testing::FailingMemory::Fails::for_good);
      engine.wal().prepare_segments();
      failed = memory.has_failed();
    }
    if (space() != "ample") {
      ++refused;
      ASSERT_EQ(space(), "exhausted") << successes;
      EXPECT_FALSE(commit_row(engine)) << successes;
      EXPECT_EQ(engine.status(), TransactionStatus::no_log_space);
    }
    engine.wal().prepare_segments();
    ASSERT_TRUE(commit_row(engine)) << successes;
    disk_.cut_power();
    ASSERT_EQ(restart(small), committed) << successes << ": " << why_;
  }
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace pgsilo
