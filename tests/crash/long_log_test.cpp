// Logs of many segments, of which a start scans only some before it replays the rest on trust
// (docs/recovery.md). It must find the same damage, and say the same, as pgsilo-verify, which
// scans all of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/file_simulated.h"
#include "storage/relation/system_relations.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

constexpr uint32_t user = first_user_relation.value();
constexpr uint32_t system = 1;

class LongLog : public ::testing::Test {
 protected:
  static WalOptions options(unsigned logs = 1) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = logs;
    options.log_directories = LoggedEngine::log_directories(logs);
    // The log is all there is.
    options.checkpoints.max_log_bytes = size_t{64} << 20;
    options.checkpoint_at_stop = false;
    return options;
  }

  // Another start of the server, whose transactions, each a batch, are of `rows` rows of `bytes`.
  void write(const WalOptions& options, int transactions, int rows = 2, size_t bytes = 12'000,
             uint32_t relation = user) {
    LoggedEngine engine(disk_, "/data", options);
    ASSERT_TRUE(engine.start()) << engine.why();
    for (int i = 0; i < transactions; ++i) {
      unsigned worker = static_cast<unsigned>(i) % options.workers;
      commit(engine, worker, relation, rows, bytes);
    }
    end();
  }

  void commit(LoggedEngine& engine, unsigned worker, uint32_t relation, int rows, size_t bytes) {
    std::vector<WriteOperation> operations;
    operations.reserve(static_cast<size_t>(rows));
    for (int i = 0; i < rows; ++i) {
      char letter = static_cast<char>('a' + written_ % 26);
      operations.push_back(
          {relation, "key" + std::to_string(written_++ % 50), std::string(bytes, letter)});
    }
    std::optional<Epoch> epoch = engine.commit(worker, operations);
    ASSERT_TRUE(epoch.has_value());
    engine.wal().wait_durable(worker, *epoch);
    engine.wal().prepare_segments();
    apply_writes(content_, operations);
  }

  void end() {
    disk_.cut_power();
    disk_.restart();
  }

  // Whether a start finds everything; else why_. Its words are those of pgsilo-verify.
  bool restart(const WalOptions& options) {
    Verified verified = verify(disk_, options.log_directories);
    LoggedEngine engine(disk_, "/data", options);
    bool started = engine.recover();
    why_ = engine.why();
    trusted_ = engine.recovered().trusted_segments;
    if (!options.accept_data_loss) {
      EXPECT_EQ(verified.verdict, started ? Verdict::sound : Verdict::damaged) << why_;
      EXPECT_EQ(verified.why, why_);
    }
    if (started && !options.accept_data_loss) {
      const RecoveryResult& recovered = engine.recovered();
      std::string counts = "would replay " + std::to_string(recovered.log_bytes) +
                           " bytes: " + std::to_string(recovered.records) + " records, " +
                           std::to_string(recovered.entries) + " entries; new epochs begin at " +
                           std::to_string(recovered.first_epoch.value());
      EXPECT_NE(verified.text.find(counts), std::string::npos) << verified.text << counts;
    }
    found_ = started ? engine.content() : Content{};
    return started;
  }

  // One after the other, and restarts each time.
  void damage_each_block(const WalOptions& options) {
    int refused = 0;
    int taken = 0;
    for (unsigned log = 0; log < options.workers; ++log) {
      for (uint64_t segment = 1; !disk_.content(path(log, segment)).empty(); ++segment) {
        std::string name = path(log, segment);
        for (size_t block : blocks_of(name)) {
          std::string before = disk_.content(name).substr(block, 8);
          disk_.corrupt(name, block, "damaged!");
          bool started = restart(options);
          ++(started ? taken : refused);
          EXPECT_EQ(started, why_.find("recovery_accept_data_loss") == std::string::npos) << why_;
          disk_.restart();
          disk_.corrupt(name, block, before);
        }
      }
    }
    // The torn end of a log.
    EXPECT_LE(taken, 2 * static_cast<int>(options.workers));
    EXPECT_GT(refused, 90);
    EXPECT_TRUE(restart(options)) << why_;
    EXPECT_EQ(found_, content_);
  }

  // The blocks of a segment, by offset.
  std::vector<size_t> blocks_of(const std::string& path) {
    std::string content = disk_.content(path);
    std::vector<size_t> blocks;
    for (size_t at = 0; at + log_format::block_unit <= content.size();) {
      size_t bytes = claimed_bytes(std::string_view(content).substr(at));
      if (bytes != 0) blocks.push_back(at);
      at += std::max(bytes, log_format::block_unit);
    }
    return blocks;
  }

  static std::string path(unsigned log, uint64_t segment) {
    return "/data/wal" + std::to_string(log) + "/" + segment_name(segment);
  }

  SimulatedFileSystem disk_{5};
  Content content_;
  Content found_;
  int written_ = 0;
  std::string why_;
  uint64_t trusted_ = 0;
};

TEST_F(LongLog, MostOfItIsReadOnce) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 100));  // ten transactions fill a segment
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_GE(trusted_, 7u);
  EXPECT_EQ(found_, content_);
  // So are those of the starts before.
  ASSERT_NO_FATAL_FAILURE(write(options(), 50));
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_GE(trusted_, 10u);
  EXPECT_EQ(found_, content_);
}

TEST_F(LongLog, OfSeveralLogsToo) {
  ASSERT_NO_FATAL_FAILURE(write(options(2), 100));
  EXPECT_TRUE(restart(options(2))) << why_;
  EXPECT_GE(trusted_, 5u);
  EXPECT_EQ(found_, content_);
}

TEST_F(LongLog, CompressedToo) {
  WalOptions compressed = options();
  compressed.compress = true;
  ASSERT_NO_FATAL_FAILURE(write(compressed, 600, 4));
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_GE(trusted_, 5u);
  EXPECT_EQ(found_, content_);
}

// Records in pieces, which begin and end anywhere.
TEST_F(LongLog, LongRecordsArePutTogether) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 30, 1, 150'000));
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_GE(trusted_, 10u);
  EXPECT_EQ(found_, content_);
}

// What the catalog's pass reads is found before.
TEST_F(LongLog, SegmentsWithCatalogRowsAreScanned) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  for (int i = 0; i < 100; ++i) {
    bool catalog = i == 15 || i == 50 || i == 55;
    size_t bytes = i == 50 ? 150'000 : 12'000;
    ASSERT_NO_FATAL_FAILURE(commit(engine, 0, catalog ? system : user, 2, bytes));
  }
  end();
  EXPECT_TRUE(restart(options())) << why_;
  uint64_t segments = 0;
  uint64_t marked = 0;
  for (; !blocks_of(path(0, segments + 1)).empty(); ++segments) {
    std::string content = disk_.content(path(0, segments + 1));
    std::vector<size_t> blocks = blocks_of(path(0, segments + 1));
    marked += std::any_of(blocks.begin(), blocks.end(),
                          [&](size_t block) { return (content[block + 13] & 1) != 0; });
  }
  EXPECT_GE(marked, 2u);
  EXPECT_EQ(trusted_, segments - marked - 1);
  EXPECT_EQ(found_, content_);
}

TEST_F(LongLog, DamageOfEachBlockIsFoundAndToldAsIfAllWereScanned) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 60));
  ASSERT_NO_FATAL_FAILURE(write(options(), 40));
  damage_each_block(options());
}

TEST_F(LongLog, OfSmallBlocksToo) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 250, 2, 600));
  damage_each_block(options());
}

TEST_F(LongLog, OfSeveralLogsDamageOfEachBlockIsFoundAndToldAsIfAllWereScanned) {
  ASSERT_NO_FATAL_FAILURE(write(options(2), 60));
  ASSERT_NO_FATAL_FAILURE(write(options(2), 40));
  damage_each_block(options(2));
}

// The choice is recorded, and the later ones scan what they must to find the same.
TEST_F(LongLog, AHoleIsAcceptedOnDemandForGood) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 100));
  size_t hole = blocks_of(path(0, 5))[3];
  disk_.corrupt(path(0, 5), hole, "damaged!");
  EXPECT_FALSE(restart(options()));
  disk_.restart();
  WalOptions accepting = options();
  accepting.accept_data_loss = true;
  Content left;
  {
    LoggedEngine engine(disk_, "/data", accepting);
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.recovered().trusted_segments, 0u);
    left = engine.content();
    EXPECT_NE(left, content_);
    content_ = left;
  }
  end();
  ASSERT_NO_FATAL_FAILURE(write(options(), 50));
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_GE(trusted_, 4u);
  EXPECT_EQ(found_, content_);
}

// But for the first, prepared segments are looked at where they begin, new ones and such as were
// used before.
TEST_F(LongLog, PreparedSegmentsAreNotReadToTheirEnd) {
  WalOptions many = options();
  many.spare_segments = 20;
  for (bool used_before : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(write(many, 100));
    if (used_before) {
      LoggedEngine engine(disk_, "/data", many);
      ASSERT_TRUE(engine.start()) << engine.why();
      std::string why;
      ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
      engine.wal().prepare_segments();
      engine.wal().stop();
      end();
    }
    uint64_t before = disk_.bytes_read();
    LoggedEngine engine(disk_, "/data", many);
    ASSERT_TRUE(engine.start()) << engine.why();
    uint64_t read = disk_.bytes_read() - before;
    uint64_t replayed = engine.recovered().log_bytes + engine.recovered().checkpoint_bytes;
    EXPECT_GE(engine.wal().status().logs[0].prepared_segments, 10u);
    EXPECT_LT(read, 2 * replayed + 10 * many.segment_bytes) << used_before;
    EXPECT_EQ(engine.content(), content_);
    end();
  }
}

// If a segment's beginning is lost so that it looks like a prepared one, what lies behind it is
// still found.
TEST_F(LongLog, ASegmentThatLooksUnusedHidesNothing) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 100));
  const std::string zeros(64 << 10, '\0');
  int refused = 0;
  for (uint64_t segment = 1; !blocks_of(path(0, segment)).empty(); ++segment) {
    std::string before = disk_.content(path(0, segment)).substr(0, zeros.size());
    disk_.corrupt(path(0, segment), 0, zeros);
    EXPECT_FALSE(restart(options())) << segment;
    EXPECT_NE(why_.find("is damaged at offset"), std::string::npos) << why_;
    ++refused;
    disk_.restart();
    disk_.corrupt(path(0, segment), 0, before);
  }
  EXPECT_GT(refused, 8);
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_EQ(found_, content_);
}

// Whatever is read, by whichever pass: the start ends with the reason, is not tried again in
// silence, and does not call for giving anything up.
TEST_F(LongLog, AReadThatFailsOnceIsTold) {
  ASSERT_NO_FATAL_FAILURE(write(options(), 60));
  int refused = 0;
  for (uint64_t read = 1;; ++read) {
    disk_.fail_read(read);
    LoggedEngine engine(disk_, "/data", options());
    bool started = engine.start();
    bool failed = !disk_.read_failure_waits();
    end();
    if (!failed) break;
    EXPECT_FALSE(started) << read;
    EXPECT_NE(engine.why().find("could not read "), std::string::npos) << engine.why();
    EXPECT_NE(engine.why().find(": Input/output error"), std::string::npos) << engine.why();
    EXPECT_EQ(engine.why().find("recovery_accept_data_loss"), std::string::npos) << engine.why();
    ++refused;
  }
  EXPECT_GT(refused, 15);
  EXPECT_TRUE(restart(options())) << why_;
  EXPECT_EQ(found_, content_);
}

// A mark that is wrong would hide catalog rows from the pass that is there for them.
TEST_F(LongLog, CatalogRowsWhereNoneShouldBeAreDamage) {
  LoggedEngine engine(disk_, "/data", options());
  ASSERT_TRUE(engine.start()) << engine.why();
  for (int i = 0; i < 100; ++i)
    ASSERT_NO_FATAL_FAILURE(commit(engine, 0, i == 35 ? system : user, 2, 12'000));
  end();
  for (uint64_t segment = 3; segment < 6; ++segment) {
    std::string first = disk_.content(path(0, segment)).substr(0, 8 * log_format::block_unit);
    if ((first[13] & 2) == 0) continue;
    first[13] = static_cast<char>(first[13] & ~2);
    size_t bytes = log_format::block_header_bytes + load_le32(&first[48]) + load_le32(&first[52]);
    ASSERT_LE(bytes, first.size());
    store_le64(first.data(), checksum64(first.data() + 8, bytes - 8));
    disk_.corrupt(path(0, segment), 0, first);
    LoggedEngine again(disk_, "/data", options());
    EXPECT_FALSE(again.recover());
    EXPECT_NE(again.why().find("is damaged at offset"), std::string::npos) << again.why();
    return;
  }
  FAIL() << "no segment is marked";
}

}  // namespace
}  // namespace pgsilo
