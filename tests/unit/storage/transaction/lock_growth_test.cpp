// How long it takes to find one of many locks, and that nothing is left of them
// (docs/lock_table.md).
#include <gtest/gtest.h>

#include "storage/transaction/lock_list.h"
#include "storage/transaction/record_lock.h"
#include "tests/unit/catalog/failing_memory.h"

namespace pgsilo {
namespace {

using enum TransactionStatus;

constexpr size_t shards = 16;
constexpr int64_t many = 200000;  // of the whole table's shards that would be 800 million

class LockGrowthTest : public ::testing::Test {
 protected:
  LockGrowthTest() : owner(table.take_owner()) {}
  ~LockGrowthTest() override {
    table.release_locks(owner);
    table.return_owner(owner);
  }
  TransactionStatus lock(int64_t key) {
    return table.acquire(owner, LockTag::advisory(key), LockMode::exclusive, WaitPolicy::no_wait,
                         {});
  }
  bool holds(int64_t key) { return !table.modes_held(owner, LockTag::advisory(key)).empty(); }

  LockTable table{shards};
  LockOwner& owner;
};

TEST_F(LockGrowthTest, AFewLocksNeedNoArray) {
  ASSERT_EQ(lock(1), ok);
  EXPECT_EQ(table.chains().count, shards);
}

// A lock of a million is found among as many as one of a hundred.
TEST_F(LockGrowthTest, ChainsStayShort) {
  constexpr size_t longest = 12;
  for (int64_t key = 0; key < many; ++key) {
    ASSERT_EQ(lock(key), ok);
    if ((key & (key - 1)) != 0) continue;
    ASSERT_LE(table.chains().longest, longest) << key;
  }
  EXPECT_LE(table.chains().longest, longest);
  EXPECT_LE(table.chains().count, size_t{4} * many);
  for (int64_t key = 0; key < many; ++key) ASSERT_TRUE(holds(key)) << key;
  EXPECT_FALSE(holds(many));
  EXPECT_EQ(table.list().size(), size_t{many});
}

TEST_F(LockGrowthTest, ItShrinksWithThem) {
  for (int64_t key = 0; key < many; ++key) ASSERT_EQ(lock(key), ok);
  size_t most = table.chains().count;
  for (int64_t kept : {many / 2, many / 20, many / 200, many / 2000}) {
    table.release_locks(owner, static_cast<size_t>(kept));
    EXPECT_LE(table.chains().count, size_t{16} * kept + shards) << kept;
    for (int64_t key = 0; key < kept; ++key) ASSERT_TRUE(holds(key)) << key;
    EXPECT_FALSE(holds(kept));
  }
  EXPECT_LT(table.chains().count, most);
  table.release_locks(owner);
  EXPECT_EQ(table.chains().count, shards);
}

// As at the edge of a size.
TEST_F(LockGrowthTest, ItGrowsAgain) {
  for (int round = 0; round < 100; ++round) {
    for (int64_t key = 0; key < 1000; ++key) ASSERT_EQ(lock(key), ok);
    table.release_locks(owner, round % 2 == 0 ? 0 : 10);
    EXPECT_EQ(table.list().size(), round % 2 == 0 ? 0u : 10u);
    table.release_locks(owner);
  }
  EXPECT_EQ(table.chains().count, shards);
}

// Who always releases last gets the queues that the other began.
TEST_F(LockGrowthTest, WhoReleasesLastKeepsFew) {
  LockOwner& last = table.take_owner();
  const LockTag tag = LockTag::advisory(1);
  for (int turn = 0; turn < 10000; ++turn) {
    for (LockOwner* each : {&owner, &last})
      ASSERT_EQ(table.acquire(*each, tag, LockMode::share, WaitPolicy::no_wait, {}), ok);
    table.release_locks(owner);
    table.release_locks(last);
  }
  EXPECT_LT(LockTable::spares(last), 1000U);
  for (int64_t key = 0; key < many; ++key) ASSERT_EQ(lock(key), ok);
  table.release_locks(owner);
  EXPECT_LT(LockTable::spares(owner), 1000U);
  table.return_owner(last);
}

// Nobody is refused a lock, or keeps it, for want of an array.
TEST_F(LockGrowthTest, ItWorksWithoutMemory) {
  LockTable one(1);
  LockOwner& other = one.take_owner();
  auto lock_in_one = [&](int64_t key) {
    return one.acquire(other, LockTag::advisory(key), LockMode::exclusive, WaitPolicy::no_wait, {});
  };
  constexpr int64_t some = 250;  // what an owner keeps spares for
  // Leaves the owner what it needs of queues and holders, and room in its list.
  for (int64_t key = 0; key < some; ++key) ASSERT_EQ(lock_in_one(key), ok);
  one.release_locks(other);
  ASSERT_EQ(one.chains().count, 1u);
  {
    testing::FailingMemory memory(0, testing::FailingMemory::Fails::for_good);
    for (int64_t key = 0; key < some; ++key) ASSERT_EQ(lock_in_one(key), ok);
    EXPECT_TRUE(memory.has_failed());
    EXPECT_EQ(one.chains().count, 1u);
  }
  ASSERT_EQ(lock_in_one(some), ok);  // catches up, step by step
  for (int64_t key = some; key < some + 4; ++key) ASSERT_EQ(lock_in_one(key), ok);
  EXPECT_GT(one.chains().count, 64u);
  {
    testing::FailingMemory memory(0, testing::FailingMemory::Fails::for_good);
    one.release_locks(other);
    EXPECT_TRUE(memory.has_failed());
  }
  EXPECT_EQ(one.chains().count, 1u);
  one.return_owner(other);
}

}  // namespace
}  // namespace pgsilo
