// A start that leaves out damaged blocks of the checkpoint (recovery_skip_damaged_blocks): what
// lies in other blocks, and what was changed since the checkpoint, is there; what is not is told.
// Never blocks of the catalog.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "tests/crash/verified.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/layout/control_file.h"

namespace pgsilo {
namespace {

constexpr uint32_t system_relation = 1;
constexpr uint32_t first_table = 20'001;
constexpr uint32_t second_table = 20'002;

class SkippedBlocks : public ::testing::Test {
 protected:
  static WalOptions options(bool skip) {
    WalOptions options = LoggedEngine::small_options();
    options.workers = 1;
    options.checkpoint_at_stop = false;
    options.skip_damaged_blocks = skip;
    return options;
  }

  void commit(LoggedEngine& engine, const std::vector<WriteOperation>& operations) {
    std::optional<Epoch> epoch = engine.commit(0, operations);
    ASSERT_TRUE(epoch.has_value());
    apply_writes(content_, operations);
    engine.wal().wait_durable(0, *epoch);
    engine.wal().prepare_segments();
  }

  // Rows of two tables in several blocks, and of the catalog in one; some are changed behind the
  // checkpoint.
  void SetUp() override {
    LoggedEngine engine(disk_, "/data", options(false));
    ASSERT_TRUE(engine.start()) << engine.why();
    ASSERT_NO_FATAL_FAILURE(commit(engine, {{system_relation, "catalog", "row"}}));
    for (uint32_t relation : {first_table, second_table}) {
      for (int i = 10; i < 60; ++i) {
        std::string key = "key" + std::to_string(i);
        ASSERT_NO_FATAL_FAILURE(commit(engine, {{relation, key, std::string(20'000, 'r')}}));
      }
    }
    std::string why;
    ASSERT_TRUE(engine.wal().checkpointer().run_now(CheckpointReason::request, &why)) << why;
    at_checkpoint_ = content_;
    for (int i = 10; i < 60; i += 5) {
      std::string key = "key" + std::to_string(i);
      ASSERT_NO_FATAL_FAILURE(commit(engine, {{first_table, key, "changed"}}));
      ASSERT_NO_FATAL_FAILURE(
          commit(engine, {{first_table, "key" + std::to_string(i + 1), std::nullopt}}));
    }
    disk_.cut_power();
    disk_.restart();
    ASSERT_EQ(read_control_file(disk_, "/data", &control_), ControlRead::ok);
    const CheckpointFile& file = control_.checkpoint.files.at(0);
    path_ = file.path("/data", control_.database);
    footer_ = decode_footer(disk_.content(path_).substr(file.footer_offset, file.footer_bytes),
                            file.identity(control_.database))
                  .value_or(CheckpointFooter{});
  }

  // The number of a block of the relation, which has several.
  size_t block_of(uint32_t relation, size_t which) const {
    for (size_t i = 0; i < footer_.blocks.size(); ++i) {
      if (footer_.blocks[i].relation == RelationId(relation) && which-- == 0) return i;
    }
    ADD_FAILURE();
    return 0;
  }

  void flip(uint64_t at) {
    std::string byte = disk_.content(path_).substr(at, 1);
    byte[0] = static_cast<char>(byte[0] ^ 0x20);
    disk_.corrupt(path_, at, byte);
  }
  void damage(const CheckpointBlock& block) {
    flip(block.offset + checkpoint_format::block_header_bytes + 5);
  }

  static bool holds(const CheckpointBlock& block, uint32_t relation, const std::string& key) {
    return block.relation == RelationId(relation) && block.first_key <= key &&
           key <= block.last_key;
  }

  // Without the rows that only these blocks have.
  Content content_without(const std::vector<CheckpointBlock>& lost) const {
    Content content = content_;
    for (const auto& [key, row] : at_checkpoint_) {
      bool is_lost = std::any_of(lost.begin(), lost.end(), [&](const CheckpointBlock& block) {
        return holds(block, key.first, key.second);
      });
      auto now = content.find(key);
      if (is_lost && now != content.end() && now->second == row) content.erase(now);
    }
    return content;
  }

  std::string refusal(bool skip) {
    disk_.restart();
    Verified verified = verify(disk_, {"wal"});
    LoggedEngine engine(disk_, "/data", options(skip));
    EXPECT_FALSE(engine.start());
    EXPECT_EQ(verified.verdict, Verdict::damaged);
    verified_ = verified.text;
    if (!skip) {
      EXPECT_EQ(verified.why, engine.why());
    }
    std::string why = engine.why();
    disk_.cut_power();
    disk_.restart();
    return why;
  }

  // Starts with the setting, twice, as if the power had failed; then makes the checkpoint that it
  // wants, and starts without.
  std::vector<LostBlock> skip(const Content& expected) {
    std::vector<LostBlock> lost;
    for (int i = 0; i < 2; ++i) {
      LoggedEngine engine(disk_, "/data", options(true));
      EXPECT_TRUE(engine.start()) << engine.why();
      EXPECT_EQ(engine.content(), expected);
      EXPECT_NE(engine.recovered().data_loss.find("blocks of the checkpoint were left out: "),
                std::string::npos);
      lost = engine.recovered().lost_blocks;
      Checkpointer& checkpointer = engine.wal().checkpointer();
      EXPECT_TRUE(checkpointer.is_due());
      for (int step = 0; i == 1 && checkpointer.is_due() && step < 1000; ++step)
        checkpointer.step();
      disk_.cut_power();
      disk_.restart();
    }
    LoggedEngine engine(disk_, "/data", options(false));
    EXPECT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.content(), expected);
    EXPECT_EQ(engine.recovered().data_loss, "");
    disk_.cut_power();
    disk_.restart();
    return lost;
  }

  SimulatedFileSystem disk_{13};
  Content content_;
  Content at_checkpoint_;
  ControlFile control_;
  std::string path_;
  CheckpointFooter footer_;
  std::string verified_;
};

TEST_F(SkippedBlocks, OfTablesAreLeftOutAndTold) {
  std::vector<CheckpointBlock> lost = {footer_.blocks[block_of(first_table, 1)],
                                       footer_.blocks[block_of(second_table, 0)]};
  for (const CheckpointBlock& block : lost) damage(block);
  EXPECT_NE(refusal(false).find("recovery_skip_damaged_blocks=on"), std::string::npos);
  EXPECT_NE(
      verified_.find("DAMAGED: 2 blocks with " + std::to_string(lost[0].records + lost[1].records) +
                     " rows, which recovery_skip_damaged_blocks=on would leave out"),
      std::string::npos)
      << verified_;
  std::vector<LostBlock> told = skip(content_without(lost));
  ASSERT_EQ(told.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(told[i].relation, lost[i].relation);
    EXPECT_EQ(told[i].first_key, lost[i].first_key);
    EXPECT_EQ(told[i].last_key, lost[i].last_key);
    EXPECT_EQ(told[i].records, lost[i].records);
    EXPECT_NE(told[i].words.find("is damaged at offset " + std::to_string(lost[i].offset)),
              std::string::npos);
  }
}

TEST_F(SkippedBlocks, OfTheCatalogAreRefused) {
  damage(footer_.blocks[block_of(system_relation, 0)]);
  for (bool skips : {false, true}) {
    std::string why = refusal(skips);
    EXPECT_NE(why.find("is damaged at offset"), std::string::npos) << why;
    EXPECT_EQ(why.find("recovery_skip_damaged_blocks"), std::string::npos) << why;
    EXPECT_NE(verified_.find("DAMAGED: 1 block of the catalog"), std::string::npos) << verified_;
  }
}

// Each block says what it is: without the footer those are missing only that are damaged, too.
TEST_F(SkippedBlocks, AFooterIsDoneWithout) {
  flip(control_.checkpoint.files[0].footer_offset + 30);
  std::string why = refusal(false);
  EXPECT_NE(why.find("recovery_skip_damaged_blocks=on"), std::string::npos) << why;
  EXPECT_NE(verified_.find("DAMAGED: the lists of blocks of 1 file, whose blocks "
                           "recovery_skip_damaged_blocks=on would search for\n"),
            std::string::npos)
      << verified_;
  EXPECT_EQ(verified_.find("would leave out"), std::string::npos) << verified_;
  std::vector<LostBlock> told = skip(content_);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].relation, RelationId());
  EXPECT_EQ(told[0].blocks, 0u);
}

TEST_F(SkippedBlocks, WithoutTheFooterNobodyKnowsWhoseTheyAre) {
  const CheckpointBlock lost = footer_.blocks[block_of(first_table, 1)];
  flip(control_.checkpoint.files[0].footer_offset + 30);
  damage(lost);
  refusal(false);
  EXPECT_NE(verified_.find("DAMAGED: 1 block with " + std::to_string(lost.records) +
                           " rows, which recovery_skip_damaged_blocks=on would leave out"),
            std::string::npos)
      << verified_;
  std::vector<LostBlock> told = skip(content_without({lost}));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].relation, RelationId());
  EXPECT_EQ(told[0].blocks, 1u);
  EXPECT_EQ(told[0].records, lost.records);
}

TEST_F(SkippedBlocks, AFileThatHadBlocksOfTheCatalogMayNotBeMissing) {
  flip(control_.checkpoint.files[0].footer_offset + 30);
  damage(footer_.blocks[block_of(system_relation, 0)]);
  EXPECT_NE(refusal(true).find("blocks of the catalog may be among those that are lost"),
            std::string::npos);
  ASSERT_TRUE(disk_.remove(path_).ok());
  ASSERT_TRUE(disk_.sync_directory("/data/checkpoint").ok());
  std::string why = refusal(false);
  EXPECT_NE(why.find("could not read checkpoint file"), std::string::npos) << why;
  EXPECT_EQ(why.find("recovery_skip_damaged_blocks"), std::string::npos) << why;
  why = refusal(true);
  EXPECT_NE(why.find("blocks of the catalog may be among those that are lost"), std::string::npos);
}

}  // namespace
}  // namespace pgsilo
