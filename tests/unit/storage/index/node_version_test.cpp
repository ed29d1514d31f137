#include "storage/index/node_version.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

TEST(AtomicNodeVersion, ALockAloneChangesNothing) {
  AtomicNodeVersion version(/*border=*/true, /*root=*/true);
  NodeVersion before = version.stable();
  EXPECT_TRUE(before.is_border());
  EXPECT_TRUE(before.is_root());
  version.lock();
  EXPECT_EQ(version.stable(), before);
  EXPECT_TRUE(version.unchanged_since(before));
  EXPECT_EQ(version.for_validation(), before);
  version.unlock();
  EXPECT_TRUE(version.try_lock_at(before));
  version.unlock();
}

TEST(AtomicNodeVersion, AChangeInProgressFailsReaders) {
  AtomicNodeVersion version(true, true);
  NodeVersion before = version.stable();
  version.lock();
  version.begin_change();
  EXPECT_FALSE(version.unchanged_since(before));
  NodeVersion after = version.end_change();
  EXPECT_NE(after, before);
  EXPECT_EQ(version.stable(), after);
  EXPECT_EQ(version.for_validation(), after);
  EXPECT_FALSE(after.is_as_grown_as(before));
  EXPECT_FALSE(version.try_lock_at(before));
}

NodeVersion removed_from(AtomicNodeVersion& version) {
  version.lock();
  version.begin_change();
  return version.end_removal();
}

TEST(AtomicNodeVersion, ARemovalIsAChangeButNoGrowth) {
  AtomicNodeVersion version(true, false);
  NodeVersion before = version.stable();
  NodeVersion after = removed_from(version);
  EXPECT_FALSE(version.unchanged_since(before));
  EXPECT_TRUE(after.is_as_grown_as(before));
  version.lock();
  version.begin_change();
  NodeVersion grown = version.end_change();
  EXPECT_FALSE(grown.is_as_grown_as(after));
}

// However many: what is as grown as another version has lost keys at most.
TEST(AtomicNodeVersion, RemovalsWithoutEndCountAsGrowthsAndLoseNothing) {
  AtomicNodeVersion version(true, false);
  NodeVersion last = version.stable();
  for (int i = 0; i < 5000000; ++i) {
    NodeVersion next = removed_from(version);
    ASSERT_GT(next.bits(), last.bits());
    ASSERT_GE(next.growths(), last.growths());
    ASSERT_TRUE(next.is_border());
    ASSERT_FALSE(next.is_root() || next.is_deleted() || next.is_heir());
    last = next;
  }
}

TEST(AtomicNodeVersion, WhatComesOfAnHeirIsAnHeir) {
  AtomicNodeVersion heir(true, false), other(true, false);
  heir.lock();
  heir.begin_change();
  NodeVersion taken_over = heir.end_removal_heir();
  EXPECT_TRUE(taken_over.is_heir());
  EXPECT_FALSE(other.stable().is_heir());
  other.inherit(taken_over);
  EXPECT_TRUE(other.stable().is_heir());
  heir.lock();
  heir.begin_change();
  EXPECT_TRUE(heir.end_change().is_heir());
}

TEST(AtomicNodeVersion, FlagsChangeTogetherWithTheCount) {
  AtomicNodeVersion version(true, true);
  NodeVersion before = version.stable();
  version.lock();
  version.begin_change();
  NodeVersion grown = version.end_change_not_root();
  EXPECT_FALSE(grown.is_root());
  EXPECT_GT(grown.growths(), before.growths());
  version.lock();
  version.begin_change();
  NodeVersion gone = version.end_removal_deleted();
  EXPECT_TRUE(gone.is_deleted());
  EXPECT_TRUE(gone.is_border());
  EXPECT_TRUE(gone.is_as_grown_as(grown));
}

}  // namespace
}  // namespace pgsilo
