// The file of marks: whichever way it goes on, the mark before stays until the next but one.
#include "wal/layout/progress_file.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/file_simulated.h"

namespace pgsilo {
namespace {

class ProgressFileTest : public ::testing::Test {
 protected:
  ProgressFileTest() {
    EXPECT_TRUE(disk_.create_directory("/data").ok());
    EXPECT_TRUE(disk_.sync_directory("/").ok());
  }

  ProgressMark mark(uint64_t incarnation, uint64_t blocks) const {
    return {.sequence = 0,
            .incarnation = incarnation,
            .id = {incarnation, 1},
            .recorded = Epoch(blocks),
            .logs = {{.log = {7, 7}, .segment = 1, .blocks = blocks}}};
  }
  // What a start finds when the power has gone: blocks, newest first.
  std::vector<uint64_t> blocks() {
    disk_.cut_power();
    disk_.restart();
    std::vector<uint64_t> blocks;
    marks_.clear();
    FileResult failure;
    EXPECT_EQ(read_progress(disk_, "/data", database_, &marks_, &failure), ProgressRead::ok);
    for (const ProgressMark& mark : marks_) blocks.push_back(mark.logs.front().blocks);
    return blocks;
  }

  SimulatedFileSystem disk_{3};
  const Uuid database_{1, 2};
  std::vector<ProgressMark> marks_;
};

TEST_F(ProgressFileTest, GoesOnWithTheMarkBefore) {
  for (uint64_t written : {0, 1, 2}) {
    ProgressFile first(disk_, "/data", database_);
    ASSERT_TRUE(first.create(mark(1, 10), nullptr).ok());
    for (uint64_t i = 1; i <= written; ++i) ASSERT_TRUE(first.write(mark(1, 10 + i)).ok());
    ASSERT_EQ(blocks().front(), 10 + written);
    const ProgressMark before = marks_.front();
    ProgressFile second(disk_, "/data", database_);
    ASSERT_TRUE(second.go_on(mark(2, 1), before).ok());
    EXPECT_EQ(blocks(), (std::vector<uint64_t>{1, 10 + written}));
    // A start that came no further: once more.
    ProgressFile third(disk_, "/data", database_);
    ASSERT_TRUE(third.go_on(mark(3, 2), before).ok());
    EXPECT_EQ(blocks(), (std::vector<uint64_t>{2, 10 + written}));
    ProgressFile fourth(disk_, "/data", database_);
    ASSERT_TRUE(fourth.go_on(mark(4, 3), marks_.front()).ok());
    ASSERT_TRUE(fourth.write(mark(4, 4)).ok());
    EXPECT_EQ(blocks(), (std::vector<uint64_t>{4, 3}));
  }
}

TEST_F(ProgressFileTest, IsMadeAnewWhereTheMarkBeforeIsNotInIt) {
  ProgressFile first(disk_, "/data", database_);
  ASSERT_TRUE(first.create(mark(1, 10), nullptr).ok());
  ASSERT_EQ(blocks().size(), 1u);
  const ProgressMark before = marks_.front();
  disk_.corrupt("/data/pgsilo.progress", 0, std::string(100, 'x'));
  ProgressFile second(disk_, "/data", database_);
  ASSERT_TRUE(second.go_on(mark(2, 1), before).ok());
  EXPECT_EQ(blocks(), (std::vector<uint64_t>{1, 10}));
}

}  // namespace
}  // namespace pgsilo
