// Locks that lie in their records: what is seen of them, and that they come into the table as soon
// as somebody else, or the record, needs that. Interleavings: tests/model.
#include <gtest/gtest.h>

#include <string>

#include "storage/transaction/lock_list.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class InRecordLockTest : public ::testing::Test {
 protected:
  InRecordLockTest() {
    one.store(relation, "a", "1");
    one.begin();
    EXPECT_EQ(one.get(relation, "a"), ok);
    record = one.row.record;
    one.transaction.abort();
  }
  ~InRecordLockTest() override {
    for (LockOwner* each : {&first, &second}) {
      engine.locks.release_locks(*each);
      engine.locks.return_owner(*each);
    }
  }
  TransactionStatus lock(LockOwner& owner, LockMode mode) {
    return engine.locks.acquire(owner, record, mode, WaitPolicy::no_wait, {});
  }
  bool has_intent() const { return record->tid_word().load().has_intent(); }
  bool is_in_table() { return !engine.locks.list().empty(); }

  TestEngine engine;
  TestSession one{engine};
  Relation& relation = engine.create_relation();
  Record* record = nullptr;
  LockOwner& first = engine.locks.take_owner();
  LockOwner& second = engine.locks.take_owner();
};

TEST_F(InRecordLockTest, TheTableLearnsOfItWhenAnotherComes) {
  ASSERT_EQ(lock(first, LockMode::no_key_update), ok);
  EXPECT_TRUE(has_intent());
  EXPECT_FALSE(is_in_table());
  EXPECT_FALSE(engine.locks.admits(second, record, LockMode::no_key_update));
  EXPECT_TRUE(engine.locks.admits(second, record, LockMode::key_share));
  EXPECT_TRUE(engine.locks.admits(first, record, LockMode::no_key_update));
  EXPECT_FALSE(is_in_table());
  EXPECT_EQ(lock(second, LockMode::update), lock_not_available);
  EXPECT_TRUE(is_in_table());
  EXPECT_EQ(lock(second, LockMode::key_share), ok);
  engine.locks.release_locks(first);
  EXPECT_TRUE(has_intent());
  engine.locks.release_locks(second);
  EXPECT_FALSE(has_intent());
  EXPECT_FALSE(is_in_table());
}

TEST_F(InRecordLockTest, WhatCameLastGoesFirst) {
  ASSERT_EQ(lock(first, LockMode::no_key_update), ok);
  const size_t weak = first.lock_count();
  ASSERT_EQ(lock(first, LockMode::update), ok);
  EXPECT_EQ(lock(first, LockMode::key_share), ok);  // it has as much
  EXPECT_EQ(first.lock_count(), weak + 1);
  EXPECT_FALSE(engine.locks.admits(second, record, LockMode::key_share));
  engine.locks.release_locks(first, weak);
  EXPECT_TRUE(engine.locks.admits(second, record, LockMode::key_share));
  EXPECT_FALSE(is_in_table());
  engine.locks.release_locks(first);
  EXPECT_FALSE(has_intent());
}

TEST_F(InRecordLockTest, ARemovalIsSeenInBothPlaces) {
  ASSERT_EQ(lock(first, LockMode::update), ok);
  engine.locks.note_removal(first, record);
  EXPECT_TRUE(engine.locks.removal_pending(second, record));
  EXPECT_FALSE(engine.locks.removal_pending(first, record));
  EXPECT_EQ(lock(second, LockMode::update), lock_not_available);
  EXPECT_TRUE(is_in_table());
  EXPECT_TRUE(engine.locks.removal_pending(second, record));
}

// A weaker lock than the one that is removed under is none that says so.
TEST_F(InRecordLockTest, ARemovalGoesWithItsLock) {
  ASSERT_EQ(lock(first, LockMode::no_key_update), ok);
  const size_t weak = first.lock_count();
  ASSERT_EQ(lock(first, LockMode::update), ok);
  engine.locks.note_removal(first, record);
  engine.locks.release_locks(first, weak);
  EXPECT_FALSE(engine.locks.removal_pending(second, record));
}

// The payload takes the room that the lock has had.
TEST_F(InRecordLockTest, AHoldersRowGrows) {
  TestSession writer(engine);
  writer.begin(TransactionMode::interactive);
  ASSERT_EQ(writer.put(relation, "a", std::string(10000, 'x')), ok);
  EXPECT_FALSE(is_in_table());
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_FALSE(has_intent());
  one.begin();
  EXPECT_EQ(one.read(relation, "a"), std::string(10000, 'x'));
  one.transaction.abort();
  // Where there is a payload, the lock lies in the table.
  ASSERT_EQ(lock(first, LockMode::update), ok);
  EXPECT_TRUE(is_in_table());
}

TEST_F(InRecordLockTest, ManyTakeNothingOfTheTable) {
  constexpr int count = 10000;
  TestSession writer(engine);
  writer.begin(TransactionMode::interactive);
  for (int i = 0; i < count; ++i) ASSERT_EQ(writer.insert(relation, std::to_string(i), "r"), ok);
  LockOwner& owner = writer.transaction.lock_owner();
  EXPECT_EQ(owner.lock_count(), size_t{count});
  EXPECT_LE(owner.lock_bytes(), size_t{16} * count);
  EXPECT_FALSE(is_in_table());
  ASSERT_EQ(writer.commit(), ok);
}

}  // namespace
}  // namespace pgsilo
