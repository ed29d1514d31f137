// What pgsilo-verify tells beyond what a start does; that it says the same of damage is shown by
// damage_test and log_fuzz_test, before each of their starts.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "wal/layout/log_directory.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

constexpr char segment[] = "/data/wal/0000000000000001.segment";

class Verify : public ::testing::Test {
 protected:
  // Three durable rows, a block each, and one that is written by nobody.
  void commit() {
    LoggedEngine engine(disk_, "/data", LoggedEngine::small_options());
    ASSERT_TRUE(engine.start()) << engine.why();
    for (const char* key : {"a", "b", "c"})
      engine.wal().wait_durable(0, *engine.commit(0, {{1, key, "row"}}));
    ASSERT_TRUE(engine.commit(0, {{1, "undurable", "row"}}).has_value());
    disk_.cut_power();
  }

  void restart() {
    LoggedEngine engine(disk_, "/data", LoggedEngine::small_options());
    ASSERT_TRUE(engine.start()) << engine.why();
    disk_.cut_power();
    disk_.restart();
  }

  void expect_line(const Verified& verified, const std::string& line) {
    EXPECT_NE(verified.text.find(line), std::string::npos)
        << verified.text << "not in it: " << line;
  }

  SimulatedFileSystem disk_{3};
};

TEST_F(Verify, TellsOfEachIncarnation) {
  commit();
  disk_.restart();
  restart();
  commit();
  disk_.restart();
  Verified verified = verify(disk_, {"wal"});
  EXPECT_EQ(verified.verdict, Verdict::sound) << verified.why;
  expect_line(verified, ", last start 3\n");
  expect_line(verified, "start 1, epochs from 1: ended without a shutdown, recovered since; D = ");
  // The second one wrote nothing; nobody knows that for sure, for its log could have lost it.
  expect_line(verified, "start 2, epochs from ");
  expect_line(verified, "ended without a shutdown, not recovered since; D = ");
  expect_line(verified, "): 4 blocks, 16384 bytes, complete to epoch ");
  expect_line(verified, std::string("    ends in \"") + segment + "\" at offset 16384\n");
  expect_line(verified, "    to replay: 3 records, 3 entries\n");
  expect_line(verified, "recovery would replay 24576 bytes: 6 records, 6 entries; ");
}

TEST_F(Verify, ATornEndIsNormal) {
  commit();
  disk_.restart();
  disk_.corrupt(segment, 3 * 4096 + 108, "?");
  Verified verified = verify(disk_, {"wal"});
  EXPECT_EQ(verified.verdict, Verdict::sound) << verified.why;
  expect_line(verified, std::string("    ends in \"") + segment +
                            "\" at offset 12288, before a block that is not whole: "
                            "the torn end of a batch, normal\n");
  expect_line(verified, "    to replay: 2 records, 2 entries\n");
}

TEST_F(Verify, TellsWhatIsLeftOfDamage) {
  commit();
  disk_.restart();
  disk_.corrupt(segment, 2 * 4096 + 108, "?");
  Verified verified = verify(disk_, {"wal"});
  EXPECT_EQ(verified.verdict, Verdict::damaged);
  EXPECT_NE(
      verified.why.find(std::string("log file \"") + segment + "\" is damaged at offset 8192\n"),
      std::string::npos)
      << verified.why;
  expect_line(verified, "  DAMAGED: epochs up to ");
  expect_line(verified, std::string("    ends in \"") + segment +
                            "\" at offset 8192, before a block that is not whole; whole blocks "
                            "come behind the gap\n");
  expect_line(verified,
              "recovery with recovery_accept_data_loss=on would replay 4096 bytes: 1 record, "
              "1 entry; ");
}

// Whole blocks may still hold what is no record: nothing but the records themselves shows that.
TEST_F(Verify, RecordsAreReadAsRecoveryReadsThem) {
  commit();
  disk_.restart();
  LogDirectory directory(disk_, "/data/wal");
  std::string why;
  ASSERT_TRUE(directory.read_identity(&why));
  BlockPlace place{.log = directory.log(), .segment = 1, .offset = 8192};
  std::string block = disk_.content(segment).substr(8192, 4096);
  std::optional<BlockView> view = open_block(block, place);
  ASSERT_TRUE(view && view->trailer);
  BatchTrailer trailer = *view->trailer;
  ++block[log_format::block_header_bytes + 4];  // entries of the record
  seal_block(block.data(), place, view->header, view->stored.size(), &trailer);
  disk_.corrupt(segment, 8192, block);
  Verified verified = verify(disk_, {"wal"});
  EXPECT_EQ(verified.verdict, Verdict::damaged);
  LoggedEngine engine(disk_, "/data", LoggedEngine::small_options());
  EXPECT_FALSE(engine.start());
  EXPECT_EQ(verified.why, engine.why());
  EXPECT_NE(verified.why.find("offset 8192"), std::string::npos) << verified.why;
  disk_.cut_power();
}

// Two logs, of which one batch was written and the other was not.
TEST_F(Verify, RecordsAboveDAreToldApart) {
  WalOptions options = LoggedEngine::small_options();
  options.workers = 2;
  options.log_directories = {"wal0", "wal1"};
  {
    LoggedEngine engine(disk_, "/data", options);
    ASSERT_TRUE(engine.start()) << engine.why();
    engine.wal().wait_durable(0, *engine.commit(0, {{1, "durable", "row"}}));
    std::optional<Epoch> epoch = engine.commit(1, {{1, "other", "row"}});
    ASSERT_TRUE(engine.commit(0, {{1, "ahead", "row"}}).has_value());
    engine.step(0, *epoch);
    disk_.cut_power();
  }
  disk_.restart();
  Verified verified = verify(disk_, options.log_directories);
  EXPECT_EQ(verified.verdict, Verdict::sound) << verified.why;
  expect_line(verified, "    does not count, for it is above D: 1 record\n");
}

TEST_F(Verify, ARunningServerKeepsItOut) {
  LoggedEngine engine(disk_, "/data", LoggedEngine::small_options());
  ASSERT_TRUE(engine.start()) << engine.why();
  Verified verified = verify(disk_, {"wal"});
  EXPECT_EQ(verified.verdict, Verdict::unreadable);
  EXPECT_NE(verified.why.find("data directory \"/data\" is in use by another server (process "),
            std::string::npos)
      << verified.why;
  disk_.cut_power();
}

// Starts a server while it is verified.
class Intruder final : public RecoveryListener {
 public:
  explicit Intruder(SimulatedFileSystem& disk) : disk_(disk) {}
  void on_progress(const RecoveryProgress&) override {
    LoggedEngine engine(disk_, "/data", LoggedEngine::small_options());
    EXPECT_FALSE(engine.start());
    why = engine.why();
  }
  std::string why;

 private:
  SimulatedFileSystem& disk_;
};

TEST_F(Verify, ItKeepsAServerOut) {
  commit();
  disk_.restart();
  Intruder intruder(disk_);
  MonotonicClock clock;
  std::string why;
  VerifyOptions options{
      .data_directory = "/data", .log_directories = {}, .checkpoint_directories = {}, .threads = 1};
  EXPECT_EQ(verify_data_directory(disk_, clock, options, &intruder, nullptr, &why), Verdict::sound);
  EXPECT_NE(intruder.why.find("data directory \"/data\" is in use"), std::string::npos)
      << intruder.why;
}

TEST_F(Verify, NoDatabaseIsNoDamage) {
  EXPECT_EQ(verify(disk_, {}).verdict, Verdict::unreadable);
  ASSERT_TRUE(disk_.create_directory("/data").ok());
  Verified verified = verify(disk_, {});
  EXPECT_EQ(verified.verdict, Verdict::unreadable);
  EXPECT_EQ(verified.why, "directory \"/data\" holds no database");
}

TEST_F(Verify, ALogWithoutItsControlFileIsDamage) {
  commit();
  disk_.restart();
  ASSERT_TRUE(disk_.remove("/data/pgsilo.control").ok());
  Verified verified = verify(disk_, {});
  EXPECT_EQ(verified.verdict, Verdict::damaged);
  EXPECT_NE(verified.why.find("has no control file"), std::string::npos) << verified.why;
}

class VerifyCopy : public Verify {
 protected:
  // What is there of /data's files, into a directory of that name.
  void copy_to(const std::string& directory) {
    for (const char* inside : {"", "/wal", "/checkpoint"}) {
      ASSERT_TRUE(disk_.create_directory(directory + inside).ok());
      std::vector<std::string> names;
      ASSERT_TRUE(disk_.list(std::string("/data") + inside, &names).ok());
      for (const std::string& name : names) {
        std::string path = std::string(inside) + "/" + name;
        std::string content = disk_.content("/data" + path);
        if (content.empty()) continue;
        ASSERT_TRUE(replace_file(disk_, directory + path, content).ok());
      }
    }
    ASSERT_TRUE(disk_.sync_directory("/").ok());
  }

  // Without a word of where logs lie; then a start must say the same.
  Verdict verdict(const std::string& directory) {
    MonotonicClock clock;
    std::string why;
    VerifyOptions options{.data_directory = directory,
                          .log_directories = {},
                          .checkpoint_directories = {"checkpoint"},
                          .threads = 1};
    Verdict verdict = verify_data_directory(disk_, clock, options, nullptr, nullptr, &why);
    LoggedEngine engine(disk_, directory, LoggedEngine::small_options());
    EXPECT_EQ(engine.recover(), verdict == Verdict::sound) << engine.why();
    EXPECT_EQ(engine.why(), why);
    return verdict;
  }

  void remove_all(const std::string& directory) {
    std::vector<std::string> names;
    ASSERT_TRUE(disk_.list(directory, &names).ok());
    for (const std::string& name : names) ASSERT_TRUE(disk_.remove(directory + "/" + name).ok());
  }
};

// Its logs are those that lie in it, wherever the control file says that they are.
TEST_F(VerifyCopy, IsItself) {
  commit();
  disk_.restart();
  copy_to("/copy");
  disk_.corrupt(segment, 108, "?");
  EXPECT_EQ(verdict("/copy"), Verdict::sound);
  EXPECT_EQ(verdict("/data"), Verdict::damaged);
}

TEST_F(VerifyCopy, IsNotTheOriginal) {
  commit();
  disk_.restart();
  copy_to("/damaged");
  disk_.corrupt("/damaged/wal/0000000000000001.segment", 108, "?");
  EXPECT_EQ(verdict("/damaged"), Verdict::damaged);
  copy_to("/empty");
  remove_all("/empty/wal");
  EXPECT_EQ(verdict("/empty"), Verdict::damaged);
  copy_to("/missing");
  remove_all("/missing/wal");
  ASSERT_TRUE(disk_.remove("/missing/wal").ok());
  EXPECT_EQ(verdict("/missing"), Verdict::damaged);
  copy_to("/nobodys");
  ASSERT_TRUE(disk_.remove("/nobodys/wal/log.identity").ok());
  EXPECT_EQ(verdict("/nobodys"), Verdict::damaged);
}

// After a clean stop the checkpoint holds everything.
TEST_F(VerifyCopy, MayLackALogThatNothingNeeds) {
  {
    LoggedEngine engine(disk_, "/data", LoggedEngine::small_options());
    ASSERT_TRUE(engine.start()) << engine.why();
    engine.wal().wait_durable(0, *engine.commit(0, {{1, "key", "row"}}));
    engine.wal().stop();
    disk_.cut_power();
  }
  disk_.restart();
  copy_to("/empty");
  remove_all("/empty/wal");
  EXPECT_EQ(verdict("/empty"), Verdict::sound);
  // Whose segments these are nobody knows.
  copy_to("/nobodys");
  ASSERT_TRUE(disk_.remove("/nobodys/wal/log.identity").ok());
  EXPECT_EQ(verdict("/nobodys"), Verdict::damaged);
  copy_to("/bare");
  remove_all("/bare/checkpoint");
  EXPECT_EQ(verdict("/bare"), Verdict::damaged);
}

}  // namespace
}  // namespace pgsilo
