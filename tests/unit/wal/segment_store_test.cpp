// Which segments who has copied the log up to an epoch needs no more.
#include "wal/log/segment_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file_simulated.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

class SegmentStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.create_directory("/log").ok());
    ASSERT_TRUE(store_.open(1, {}).ok());
    while (store_.wants_segments()) ASSERT_TRUE(store_.prepare_one().ok());
  }
  // With the batch that is up to `complete`.
  uint64_t begin_segment(uint64_t complete) {
    return store_.take(next_block_++, Epoch(complete)).number;
  }
  uint64_t first_behind(uint64_t epoch) const { return store_.first_behind(Epoch(epoch)); }

  SimulatedFileSystem disk_{1};
  SegmentStore store_{disk_,
                      {.directory = "/log",
                       .segment_bytes = log_format::min_segment_bytes,
                       .ring_bytes = 1 << 16,
                       .workers = 1,
                       .retired_bytes = 4 * log_format::min_segment_bytes}};
  uint64_t next_block_ = 0;
};

// A batch up to an epoch below the one that was durable was under way by then, and what lies before
// its segment on disk. One up to that epoch itself may have come later.
TEST_F(SegmentStoreTest, FirstBehindIsTheLastThatWasBegunBeforeTheEpoch) {
  EXPECT_EQ(first_behind(100), 0U);
  EXPECT_EQ(begin_segment(0), 1U);
  EXPECT_EQ(first_behind(0), 0U);
  EXPECT_EQ(first_behind(1), 1U);
  EXPECT_EQ(begin_segment(5), 2U);
  EXPECT_EQ(begin_segment(5), 3U);
  EXPECT_EQ(begin_segment(9), 4U);
  EXPECT_EQ(first_behind(5), 1U);
  EXPECT_EQ(first_behind(6), 3U);
  EXPECT_EQ(first_behind(9), 3U);
  EXPECT_EQ(first_behind(10), 4U);
  EXPECT_EQ(first_behind(UINT64_MAX), 4U);
}

// Of those that have been retired none is named.
TEST_F(SegmentStoreTest, FirstBehindIsOneThatIsThere) {
  for (uint64_t complete : {0, 5, 9}) begin_segment(complete);
  ASSERT_TRUE(store_.retire_below(3).ok());
  EXPECT_EQ(first_behind(9), 0U);
  EXPECT_EQ(first_behind(10), 3U);
}

// Whoever put it there: in its new place it would be taken for damage.
TEST_F(SegmentStoreTest, WhatAnotherLogHasWrittenIsNotUsedAgain) {
  for (uint64_t complete : {0, 5, 9}) begin_segment(complete);
  char block[log_format::block_unit] = {};
  seal_block(block, {.log = {1, 2}, .segment = 1, .offset = 0}, {}, 0, nullptr);
  std::string first = "/log/" + segment_name(1);
  disk_.corrupt(first, 0, {block, sizeof block});
  ASSERT_TRUE(store_.retire_below(3).ok());
  while (store_.wants_segments()) ASSERT_TRUE(store_.prepare_one().ok());
  std::vector<std::string> names;
  ASSERT_TRUE(disk_.list("/log", &names).ok());
  EXPECT_EQ(std::count(names.begin(), names.end(), segment_name(1)), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), segment_name(2)), 0);
  for (const std::string& name : names)
    EXPECT_FALSE(is_foreign_block(disk_.content("/log/" + name), Uuid{})) << name;
}

}  // namespace
}  // namespace pgsilo
