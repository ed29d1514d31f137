// The book of one session's advisory locks: scopes, counts, attempts that are undone.
#include "storage/transaction/advisory_lock.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/base/counted_pauses.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using enum TransactionStatus;
using Scope = AdvisoryLocks::Scope;
constexpr LockMode share = LockMode::share, exclusive = LockMode::exclusive;

struct Holder {
  explicit Holder(LockTable& table) : table(table), owner(table.take_owner()) {}
  ~Holder() {
    book.release_all();
    table.return_owner(owner);
  }
  TransactionStatus lock(LockTag tag, LockMode mode = exclusive, Scope scope = Scope::session) {
    return book.lock(tag, mode, scope, WaitPolicy::wait, settings);
  }
  TransactionStatus try_lock(LockTag tag, LockMode mode = exclusive) {
    return book.lock(tag, mode, Scope::session, WaitPolicy::no_wait, settings);
  }
  LockModes granted(LockTag tag) const { return table.modes_held(owner, tag); }

  LockTable& table;
  LockOwner& owner;
  AdvisoryLocks book{table, owner};
  ThreadParker parker;
  WaitSettings settings{&parker};
};

class AdvisoryLocksTest : public ::testing::Test {
 protected:
  // Whether `other` gets it now.
  bool is_free(LockTag tag) {
    if (other.try_lock(tag) != ok) return false;
    EXPECT_TRUE(other.book.unlock(tag, exclusive));
    other.book.settle();
    return true;
  }

  LockTable table{4};
  Holder main{table};
  Holder other{table};
  const LockTag one = LockTag::advisory(1);
  const LockTag two = LockTag::advisory(2);
};

// Others run meanwhile, and whoever waits for the first of them has it soon.
TEST_F(AdvisoryLocksTest, ManyAreLetGoOfInPieces) {
  CountedPauses pauses;
  constexpr int64_t locks = 10000;
  run_with(pauses, [&] {
    for (int64_t key = 1; key <= locks; ++key) ASSERT_EQ(main.lock(LockTag::advisory(key)), ok);
    main.book.settle();
    pauses.ways_given = 0;
    main.book.unlock_all();
    main.book.settle();
  });
  EXPECT_GE(pauses.ways_given, 50);
  EXPECT_TRUE(is_free(one));
}

TEST_F(AdvisoryLocksTest, TagsOfOneAndOfTwoKeysDiffer) {
  EXPECT_NE(LockTag::advisory(1), LockTag::advisory(0, 1));
  EXPECT_EQ(LockTag::advisory(-1, -2).value, 0xffffffff'fffffffeu);
  EXPECT_NE(LockTag::advisory(1, 0), LockTag::advisory(0, 1));
}

TEST_F(AdvisoryLocksTest, AnUnlockIsForOthersWhenItsAttemptIsSettled) {
  ASSERT_EQ(main.lock(one), ok);
  main.book.settle();
  EXPECT_TRUE(main.book.unlock(one, exclusive));
  EXPECT_FALSE(main.book.unlock(one, exclusive));
  EXPECT_FALSE(is_free(one));
  main.book.settle();
  EXPECT_TRUE(is_free(one));
}

TEST_F(AdvisoryLocksTest, WhatIsUndoneCountsAsBefore) {
  ASSERT_EQ(main.lock(one), ok);
  ASSERT_EQ(main.lock(one), ok);
  main.book.settle();
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(main.book.unlock(one, exclusive));
    EXPECT_TRUE(main.book.unlock(one, exclusive));
    EXPECT_FALSE(main.book.unlock(one, exclusive));
    EXPECT_EQ(main.lock(two), ok);
    EXPECT_EQ(main.lock(two, share, Scope::transaction), ok);
    EXPECT_TRUE(main.book.can_undo());
    main.book.undo();
    EXPECT_FALSE(is_free(one));
    EXPECT_FALSE(is_free(two));  // kept for the next run
  }
  main.book.settle();
  EXPECT_TRUE(is_free(two));
  EXPECT_TRUE(main.book.unlock(one, exclusive));
  EXPECT_TRUE(main.book.unlock(one, exclusive));
  EXPECT_FALSE(main.book.unlock(one, exclusive));
}

TEST_F(AdvisoryLocksTest, AnUnlockBeforeAWaitIsForGood) {
  ASSERT_EQ(main.lock(one), ok);
  main.book.settle();
  ASSERT_EQ(other.lock(two), ok);
  EXPECT_TRUE(main.book.unlock(one, exclusive));
  std::thread thread([&] { EXPECT_EQ(main.lock(two), ok); });
  EXPECT_EQ(other.lock(one), ok);  // while main waits
  EXPECT_TRUE(other.book.unlock(two, exclusive));
  other.book.settle();
  thread.join();
  EXPECT_FALSE(main.book.can_undo());
  main.book.settle();
  EXPECT_TRUE(main.book.can_undo());
  EXPECT_TRUE(main.book.unlock(two, exclusive));
}

TEST_F(AdvisoryLocksTest, MarksAndTransactionsTakeTheirScopeWithThem) {
  ASSERT_EQ(main.lock(one, exclusive, Scope::transaction), ok);
  AdvisoryLocks::Mark mark = main.book.mark();
  ASSERT_EQ(main.lock(one, exclusive, Scope::transaction), ok);
  ASSERT_EQ(main.lock(one, share, Scope::transaction), ok);
  ASSERT_EQ(main.lock(two, exclusive, Scope::transaction), ok);
  ASSERT_EQ(main.lock(two, share), ok);
  main.book.settle();
  EXPECT_EQ(main.granted(two), LockModes(share) | exclusive);
  main.book.rollback_to(mark);
  main.book.settle();
  EXPECT_EQ(main.granted(one), LockModes(exclusive));
  EXPECT_EQ(main.granted(two), LockModes(share));
  EXPECT_EQ(other.try_lock(two, share), ok);
  main.book.end_transaction();
  main.book.settle();
  EXPECT_TRUE(is_free(one));
  EXPECT_TRUE(main.book.held_before());
  EXPECT_TRUE(main.book.unlock(two, share));
  EXPECT_TRUE(main.book.held_before());
  main.book.settle();
  EXPECT_FALSE(main.book.held_before());
}

TEST_F(AdvisoryLocksTest, AFailedWaitLeavesNothing) {
  ASSERT_EQ(other.lock(one, share), ok);
  ASSERT_EQ(main.lock(one, share), ok);
  main.settings.lock_timeout_us = 2000;
  EXPECT_EQ(main.lock(one), lock_timeout);
  EXPECT_EQ(main.try_lock(one), lock_not_available);
  EXPECT_FALSE(main.book.unlock(one, exclusive));
  EXPECT_TRUE(main.book.unlock(one, share));
  main.book.settle();
  EXPECT_TRUE(main.granted(one).empty());
}

}  // namespace
}  // namespace pgsilo
