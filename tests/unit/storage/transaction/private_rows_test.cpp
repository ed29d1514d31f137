// Relations private to a transaction: rows straight into the tree, redo in slices.
#include "storage/transaction/private_rows.h"

#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::RecordingSink;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class PrivateRowsTest : public ::testing::Test {
 protected:
  TestEngine engine;
  RecordingSink sink;
  TestSession session{engine, sink};
  TestSession other{engine};
  Relation& catalog = engine.create_relation();
};

TEST_F(PrivateRowsTest, CommitPublishesWhatWasStreamedBefore) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({});
  EXPECT_EQ(session.insert(catalog, "fresh", std::to_string(fresh.id().value())), ok);
  session.statement();
  constexpr int rows = 10000;
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(session.insert(fresh, std::to_string(100000 + i), "row"), ok);
  size_t streamed = sink.log.size();
  EXPECT_GE(streamed, 2u);  // slices went out while it ran
  EXPECT_EQ(session.commit(), ok);
  size_t entries = 0;
  Tid last;
  for (const RecordingSink::Appended& slice : sink.log) {
    entries += slice.entries.size();
    EXPECT_GT(slice.tid, last);
    last = slice.tid;
  }
  EXPECT_EQ(entries, rows + 1u);
  EXPECT_EQ(sink.log.back().entries, (std::vector<std::string>{"1:fresh=2"}));
  EXPECT_TRUE(sink.within_reservation);
  EXPECT_FALSE(fresh.is_private());
  EXPECT_EQ(fresh.row_count(), rows);
  other.begin();
  EXPECT_EQ(other.read(fresh, "100007"), "row");
  EXPECT_EQ(other.put(fresh, "100007", "new"), ok);
  EXPECT_EQ(other.commit(), ok);
  // Every record has the TID its redo was logged with, or a newer one.
  Record* record = fresh.tree().get("109999").record;
  EXPECT_EQ(record->tid_word().load().tid(), sink.log[sink.log.size() - 2].tid);
}

TEST_F(PrivateRowsTest, AStatementDoesNotSeeItsOwnRows) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({});
  EXPECT_EQ(session.insert(fresh, "a", "1"), ok);
  EXPECT_EQ(session.scan(fresh), "");
  session.statement();
  EXPECT_EQ(session.scan(fresh), "a=1");
  CommandId outer = session.transaction.command();
  EXPECT_EQ(session.insert(fresh, "b", "2"), ok);
  EXPECT_EQ(session.scan(fresh), "a=1");
  session.statement();  // an inner statement
  EXPECT_EQ(session.scan(fresh), "a=1 b=2");
  session.transaction.resume_statement(outer);
  EXPECT_EQ(session.scan(fresh), "a=1");
  EXPECT_EQ(session.read(fresh, "b"), "<not_found>");
  EXPECT_EQ(session.insert(fresh, "b", "2"), duplicate_key);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(fresh), "a=1 b=2");
}

TEST_F(PrivateRowsTest, RowsCanBeChangedInTheSameTransaction) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({});
  for (const char* key : {"a", "b", "c"}) ASSERT_EQ(session.insert(fresh, key, "1"), ok);
  session.statement();
  EXPECT_EQ(session.put(fresh, "a", "2"), ok);
  EXPECT_EQ(session.erase(fresh, "b"), ok);
  EXPECT_EQ(session.scan(fresh), "a=1 b=1 c=1");
  session.statement();
  EXPECT_EQ(session.scan(fresh), "a=2 c=1");
  EXPECT_EQ(session.insert(fresh, "b", "3"), ok);
  EXPECT_EQ(session.insert(fresh, "b", "4"), duplicate_key);
  EXPECT_EQ(session.erase(fresh, "c"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(fresh), "a=2 b=3");
  EXPECT_EQ(fresh.row_count(), 2);
}

TEST_F(PrivateRowsTest, AbortDropsTheRelation) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({});
  RelationId id = fresh.id();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(session.insert(fresh, std::to_string(i), "row"), ok);
  EXPECT_EQ(engine.relations.find(id), &fresh);
  session.transaction.abort();
  EXPECT_EQ(engine.relations.find(id), nullptr);
  while (session.worker.housekeep()) {
  }
  EXPECT_EQ(engine.relations.dropped_count(), 0u);
  EXPECT_EQ(engine.reclaimer.pending_bytes(), 0u);
  session.begin();
  EXPECT_GT(session.transaction.create_relation({})->id(), id);  // never used again
}

TEST_F(PrivateRowsTest, MarksUnwindPrivateRelationsAndTheirRows) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({});
  ASSERT_EQ(session.insert(fresh, "a", "1"), ok);
  Transaction::Mark mark = session.transaction.mark();
  session.statement();
  Relation& inner = *session.transaction.create_relation({});
  RelationId inner_id = inner.id();
  ASSERT_EQ(session.insert(inner, "x", "1"), ok);
  ASSERT_EQ(session.insert(fresh, "b", "2"), ok);  // through the write set, for it may be unwound
  session.statement();
  EXPECT_EQ(session.scan(fresh), "a=1 b=2");
  EXPECT_EQ(session.scan(inner), "x=1");
  session.transaction.rollback_to(mark);
  session.statement();
  EXPECT_EQ(session.scan(fresh), "a=1");
  EXPECT_EQ(engine.relations.find(inner_id), nullptr);
  ASSERT_EQ(session.insert(fresh, "b", "3"), ok);
  session.transaction.release(mark);
  session.statement();
  ASSERT_EQ(session.insert(fresh, "c", "4"), ok);
  ASSERT_EQ(session.insert(fresh, "b", "5"), duplicate_key);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(fresh), "a=1 b=3 c=4");
  EXPECT_EQ(fresh.row_count(), 3);
}

// A released mark's relation is not that of a later mark of the same depth.
TEST_F(PrivateRowsTest, AMarkUnwindsRowsOfARelationCreatedUnderAReleasedOne) {
  session.begin();
  Transaction::Mark first = session.transaction.mark();
  Relation& fresh = *session.transaction.create_relation({});
  session.transaction.release(first);
  Transaction::Mark second = session.transaction.mark();
  session.statement();
  ASSERT_EQ(session.insert(fresh, "a", "1"), ok);
  session.transaction.rollback_to(second);
  session.statement();
  EXPECT_EQ(session.scan(fresh), "");
  session.transaction.release(second);
  EXPECT_EQ(session.commit(), ok);
}

TEST_F(PrivateRowsTest, DropsHappenAtCommitOnly) {
  Relation& old = engine.create_relation();
  other.store(old, "a", "1");
  session.begin();
  EXPECT_EQ(session.transaction.drop_relation(old), ok);
  EXPECT_EQ(engine.relations.find(old.id()), &old);
  session.transaction.abort();
  EXPECT_EQ(engine.relations.find(old.id()), &old);
  RelationId id = old.id();
  session.begin();
  Transaction::Mark mark = session.transaction.mark();
  EXPECT_EQ(session.transaction.drop_relation(old), ok);
  session.transaction.rollback_to(mark);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(engine.relations.find(id), &old);
  session.begin();
  EXPECT_EQ(session.transaction.drop_relation(old), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(engine.relations.find(id), nullptr);
}

TEST_F(PrivateRowsTest, AFullLogEndsTheLoad) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({});
  ASSERT_EQ(session.insert(fresh, "a", "1"), ok);
  sink.answer = ReserveResult::no_space;
  EXPECT_EQ(session.transaction.begin_statement(), no_log_space);
  session.transaction.abort();
  EXPECT_TRUE(sink.log.empty());
}

TEST_F(PrivateRowsTest, UnloggedRowsAreNotStreamed) {
  session.begin();
  Relation& fresh = *session.transaction.create_relation({.logged = false});
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(session.insert(fresh, std::to_string(i), "row"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_TRUE(sink.log.empty());
  other.begin();
  EXPECT_EQ(other.read(fresh, "4999"), "row");
}

}  // namespace
}  // namespace pgsilo
