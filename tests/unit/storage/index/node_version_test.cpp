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
  EXPECT_TRUE(version.validates(before));
  version.unlock();
  EXPECT_TRUE(version.try_lock_at(before));
  version.unlock();
}

TEST(AtomicNodeVersion, AChangeInProgressFailsReadersAndValidation) {
  AtomicNodeVersion version(true, true);
  NodeVersion before = version.stable();
  version.lock();
  version.begin_change();
  EXPECT_FALSE(version.unchanged_since(before));
  EXPECT_FALSE(version.validates(before));
  NodeVersion after = version.end_change();
  EXPECT_NE(after, before);
  EXPECT_EQ(version.stable(), after);
  EXPECT_FALSE(version.validates(before));
  EXPECT_TRUE(version.validates(after));
  EXPECT_FALSE(version.try_lock_at(before));
}

TEST(AtomicNodeVersion, FlagsChangeTogetherWithTheCount) {
  AtomicNodeVersion version(true, true);
  NodeVersion before = version.stable();
  version.lock();
  version.begin_change();
  NodeVersion grown = version.end_change_not_root();
  EXPECT_FALSE(grown.is_root());
  EXPECT_GT(grown.bits() >> 5, before.bits() >> 5);
  version.lock();
  version.begin_change();
  NodeVersion gone = version.end_change_deleted();
  EXPECT_TRUE(gone.is_deleted());
  EXPECT_TRUE(gone.is_border());
  EXPECT_FALSE(version.validates(grown));
}

}  // namespace
}  // namespace pgsilo
