// Two transactions at a time, step by step: the anomalies that must not happen, and those conflicts
// that must not either.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class IsolationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first.store(relation, "a", "0");
    first.store(relation, "c", "0");
  }

  TestEngine engine;
  TestSession first{engine};
  TestSession second{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(IsolationTest, LostUpdate) {
  first.begin();
  second.begin();
  EXPECT_EQ(first.put(relation, "a", "first"), ok);
  EXPECT_EQ(second.put(relation, "a", "second"), ok);
  EXPECT_EQ(first.commit(), ok);
  EXPECT_EQ(second.commit(), conflict_record);
  EXPECT_EQ(first.peek(relation), "a=first c=0");
}

TEST_F(IsolationTest, WriteSkew) {
  first.begin();
  second.begin();
  EXPECT_EQ(first.read(relation, "a"), "0");
  EXPECT_EQ(second.read(relation, "c"), "0");
  EXPECT_EQ(first.put(relation, "c", "1"), ok);
  EXPECT_EQ(second.put(relation, "a", "1"), ok);
  EXPECT_EQ(second.commit(), ok);
  EXPECT_EQ(first.commit(), conflict_record);
}

// Write skew in its narrowest form: the other one is inside commit, has locked what we read and not
// yet installed.
TEST_F(IsolationTest, ARecordLockedByAnotherCommitDoesNotValidate) {
  first.begin();
  EXPECT_EQ(first.read(relation, "a"), "0");
  Record* a = first.row.record;
  EXPECT_EQ(first.put(relation, "c", "1"), ok);
  TidWord seen;
  ASSERT_TRUE(a->tid_word().try_lock(LockPurpose::update, seen));
  EXPECT_EQ(first.commit(), conflict_record);
  first.begin();
  EXPECT_EQ(first.get(relation, "a", ReadPurpose::existence), ok);
  EXPECT_EQ(first.put(relation, "c", "1"), ok);
  EXPECT_EQ(first.commit(), ok);  // an update leaves the row in place
  a->tid_word().unlock();
  first.begin();
  EXPECT_EQ(first.get(relation, "a", ReadPurpose::existence), ok);
  EXPECT_EQ(first.put(relation, "c", "2"), ok);
  ASSERT_TRUE(a->tid_word().try_lock(LockPurpose::remove, seen));
  EXPECT_EQ(first.commit(), conflict_record);  // a delete does not
  a->tid_word().unlock();
}

TEST_F(IsolationTest, ARecordThatStaysLockedIsAConflict) {
  first.begin();
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  Record* a = first.row.record;
  TidWord seen;
  ASSERT_TRUE(a->tid_word().try_lock(LockPurpose::update, seen));
  EXPECT_EQ(first.commit(), conflict_lock);
  a->tid_word().unlock();
  EXPECT_EQ(first.peek(relation), "a=0 c=0");
}

TEST_F(IsolationTest, InconsistentReads) {
  first.begin();
  EXPECT_EQ(first.read(relation, "a"), "0");
  second.begin();
  EXPECT_EQ(second.put(relation, "a", "1"), ok);
  EXPECT_EQ(second.put(relation, "c", "1"), ok);
  EXPECT_EQ(second.commit(), ok);
  EXPECT_EQ(first.read(relation, "c"), "1");
  EXPECT_EQ(first.transaction.validate(), conflict_record);
  EXPECT_EQ(first.commit(), conflict_record);
  EXPECT_EQ(first.worker.aborts().of(conflict_record), 2u);
}

TEST_F(IsolationTest, PhantomInsertedIntoAScan) {
  first.begin();
  EXPECT_EQ(first.scan(relation), "a=0 c=0");
  second.store(relation, "b", "new");
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), conflict_node);
}

TEST_F(IsolationTest, PhantomInsertedWhereNothingWasFound) {
  first.begin();
  EXPECT_EQ(first.read(relation, "b"), "<not_found>");
  second.store(relation, "b", "new");
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), conflict_node);
}

TEST_F(IsolationTest, PhantomInAnEmptyRelation) {
  Relation& empty = engine.create_relation();
  first.begin();
  EXPECT_EQ(first.scan(empty), "");
  second.store(empty, "b", "new");
  EXPECT_EQ(first.commit(), conflict_node);
}

TEST_F(IsolationTest, PhantomThatComesAliveInAnAbsentRecord) {
  second.store(relation, "b", "old");
  second.drop(relation, "b");
  first.begin();
  EXPECT_EQ(first.scan(relation), "a=0 c=0");
  second.store(relation, "b", "new");
  EXPECT_EQ(first.commit(), conflict_record);
}

TEST_F(IsolationTest, PhantomDeletedFromAScan) {
  first.begin();
  EXPECT_EQ(first.scan(relation), "a=0 c=0");
  second.drop(relation, "c");
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), conflict_record);
}

TEST_F(IsolationTest, ScanOfAnotherRangeIsNotDisturbed) {
  for (int i = 0; i < 100; ++i) first.store(relation, "m" + std::to_string(i), "0");
  first.begin();
  EXPECT_EQ(first.scan(relation, {KeyBound::none(), KeyBound::exclusive("b")}), "a=0");
  second.store(relation, "z", "new");
  EXPECT_EQ(first.commit(), ok);
}

TEST_F(IsolationTest, OneOfTwoInsertsOfAKeyWins) {
  first.begin();
  second.begin();
  EXPECT_EQ(first.insert(relation, "b", "first"), ok);
  EXPECT_EQ(second.insert(relation, "b", "second"), ok);
  EXPECT_EQ(second.commit(), ok);
  EXPECT_EQ(first.commit(), conflict_unique);
  EXPECT_EQ(first.peek(relation), "a=0 b=second c=0");
}

TEST_F(IsolationTest, AnAdopterOfAnAbortedPlaceholderRunsAgain) {
  first.begin();
  second.begin();
  EXPECT_EQ(first.insert(relation, "b", "first"), ok);
  EXPECT_EQ(second.insert(relation, "b", "second"), ok);
  first.transaction.abort();  // unhooks the placeholder under the adopter
  EXPECT_EQ(second.commit(), conflict_unique);
  second.store(relation, "b", "second");
  EXPECT_EQ(first.peek(relation), "a=0 b=second c=0");
}

TEST_F(IsolationTest, ADuplicateIsTrueOrNotReported) {
  first.begin();
  EXPECT_EQ(first.insert(relation, "a", "1"), duplicate_key);
  second.store(relation, "a", "updated");  // still a duplicate
  EXPECT_EQ(first.transaction.validate(), ok);
  second.drop(relation, "a");
  EXPECT_EQ(first.transaction.validate(), conflict_record);
}

TEST_F(IsolationTest, AnExistenceReadIgnoresUpdatesOfTheParent) {
  Relation& children = engine.create_relation();
  first.begin();
  EXPECT_EQ(first.get(relation, "a", ReadPurpose::existence), ok);
  EXPECT_EQ(first.insert(children, "child", "a"), ok);
  second.store(relation, "a", "updated");
  EXPECT_EQ(first.commit(), ok);
  first.begin();
  EXPECT_EQ(first.get(relation, "a", ReadPurpose::existence), ok);
  EXPECT_EQ(first.insert(children, "child 2", "a"), ok);
  second.drop(relation, "a");
  EXPECT_EQ(first.commit(), conflict_record);
  first.begin();
  EXPECT_EQ(first.get(relation, "a", ReadPurpose::existence), not_found);
  second.store(relation, "a", "back");
  EXPECT_EQ(first.commit(), conflict_record);
}

TEST_F(IsolationTest, AReadOnlyTransactionNamesTheEpochItRestsOn) {
  engine.epochs.advance();
  second.store(relation, "a", "1");
  Epoch written = engine.epochs.current();
  engine.epochs.advance();
  first.begin();
  EXPECT_EQ(first.read(relation, "a"), "1");
  EXPECT_EQ(first.commit(), ok);
  EXPECT_EQ(first.transaction.newest_epoch(), written);
}

TEST_F(IsolationTest, TidsGrowAlongDependenciesBetweenWorkers) {
  for (int i = 0; i < 10; ++i) {
    TestSession& writer = i % 2 == 0 ? first : second;
    TestSession& reader = i % 2 == 0 ? second : first;
    writer.store(relation, "a", std::to_string(i));
    Tid written = writer.transaction.commit_tid();
    reader.begin();
    EXPECT_EQ(reader.read(relation, "a"), std::to_string(i));
    EXPECT_EQ(reader.put(relation, "c", "seen"), ok);
    EXPECT_EQ(reader.commit(), ok);
    EXPECT_GT(reader.transaction.commit_tid(), written);
  }
}

TEST_F(IsolationTest, ADescriptorThatChangedAborts) {
  Relation& catalog = engine.create_relation();
  second.store(catalog, "table a", "v1");
  first.begin();
  ASSERT_EQ(first.get(catalog, "table a"), ok);
  Record* descriptor = first.row.record;
  Tid version = first.row.tid;
  EXPECT_EQ(first.commit(), ok);
  first.begin();
  EXPECT_EQ(first.transaction.use_descriptor(descriptor, version), ok);
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  second.store(catalog, "table a", "v2");
  EXPECT_EQ(first.commit(), conflict_record);
  first.begin();
  EXPECT_EQ(first.transaction.use_descriptor(descriptor, version), conflict_record);
}

}  // namespace
}  // namespace pgsilo
