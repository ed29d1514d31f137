// One transaction at a time: what it sees, what commit leaves behind, what abort leaves behind.
#include "storage/transaction/transaction.h"

#include <gtest/gtest.h>

#include "storage/limits.h"
#include "storage/relation/system_relations.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::RecordingSink;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class TransactionTest : public ::testing::Test {
 protected:
  size_t records_in_tree() {
    IndexTree::Shape shape;
    EXPECT_EQ(relation.tree().check(&shape), "");
    return shape.records;
  }

  TestEngine engine;
  RecordingSink sink;
  TestSession session{engine, sink};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(TransactionTest, CommittedRowsAreSeenByOthers) {
  session.begin();
  EXPECT_EQ(session.insert(relation, "a", "1"), ok);
  EXPECT_EQ(session.insert(relation, "b", "2"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation), "a=1 b=2");
  EXPECT_EQ(relation.row_count(), 2);

  session.begin();
  EXPECT_EQ(session.put(relation, "a",
                        "a longer row than the one before, by far: it moves out of its record"),
            ok);
  EXPECT_EQ(session.erase(relation, "b"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation),
            "a=a longer row than the one before, by far: it moves out of its record");
  EXPECT_EQ(relation.row_count(), 1);
}

TEST_F(TransactionTest, UncommittedRowsAreNot) {
  session.begin();
  EXPECT_EQ(session.insert(relation, "a", "1"), ok);
  EXPECT_EQ(other.peek(relation), "");
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation), "a=1");
}

TEST_F(TransactionTest, RedoHoldsTheNetChangesWithinTheReservation) {
  Relation& unlogged = engine.create_relation(/*logged=*/false);
  session.store(relation, "x", "0");
  session.begin();
  EXPECT_EQ(session.insert(relation, "a", "1"), ok);
  EXPECT_EQ(session.insert(relation, "b", "2"), ok);
  EXPECT_EQ(session.insert(unlogged, "u", "3"), ok);
  EXPECT_EQ(session.erase(relation, "x"), ok);
  session.statement();
  EXPECT_EQ(session.put(relation, "a", "11"), ok);
  EXPECT_EQ(session.erase(relation, "b"), ok);
  EXPECT_EQ(session.commit(), ok);
  ASSERT_EQ(sink.log.size(), 2u);
  std::vector<std::string> entries = sink.log[1].entries;
  std::sort(entries.begin(), entries.end());
  EXPECT_EQ(entries, (std::vector<std::string>{"1:a=11", "1:x deleted"}));
  EXPECT_TRUE(sink.within_reservation);
  EXPECT_EQ(sink.log[1].tid, session.transaction.commit_tid());
  EXPECT_GT(sink.log[1].tid, sink.log[0].tid);
  EXPECT_EQ(session.transaction.newest_epoch(), sink.log[1].tid.epoch());
}

TEST_F(TransactionTest, AStatementSeesWritesOfEarlierOnesOnly) {
  session.store(relation, "a", "0");
  session.begin();
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  EXPECT_EQ(session.insert(relation, "b", "1"), ok);
  EXPECT_EQ(session.scan(relation), "a=0");
  EXPECT_EQ(session.read(relation, "b"), "<not_found>");
  session.statement();
  EXPECT_EQ(session.scan(relation), "a=1 b=1");
  EXPECT_EQ(session.put(relation, "a", "2"), ok);
  EXPECT_EQ(session.put(relation, "a", "3"), self_modified);
  EXPECT_EQ(session.erase(relation, "b"), ok);
  EXPECT_EQ(session.scan(relation), "a=1 b=1");
  session.statement();
  EXPECT_EQ(session.scan(relation), "a=2");
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation), "a=2");
}

TEST_F(TransactionTest, AnOuterStatementKeepsItsViewAcrossAnInnerOne) {
  session.store(relation, "a", "0");
  session.begin();
  CommandId outer = session.transaction.command();
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  session.statement();
  EXPECT_EQ(session.insert(relation, "b", "inner"), ok);
  session.transaction.resume_statement(outer);
  EXPECT_EQ(session.scan(relation), "a=0");
  session.statement();
  EXPECT_EQ(session.scan(relation), "a=1 b=inner");
  EXPECT_EQ(session.commit(), ok);
}

TEST_F(TransactionTest, AnInsertSelectDoesNotFeedItself) {
  session.store(relation, "1", "x");
  session.begin();
  TransactionScan scan(session.transaction, relation, {}, ScanDirection::forward, session.buffer);
  RowRef row;
  int inserted = 0;
  while (scan.next(&row) == ok && inserted < 100) {
    std::string key = std::string(row.key()) + "1";
    ASSERT_EQ(session.insert(relation, key, row.row), ok);
    ++inserted;
  }
  EXPECT_EQ(inserted, 1);
  EXPECT_EQ(session.commit(), ok);
}

TEST_F(TransactionTest, ChangesOfOneKeyInOneTransactionAddUp) {
  session.store(relation, "a", "0");
  session.begin();
  EXPECT_EQ(session.erase(relation, "a"),
            ok);  // DELETE, INSERT in one statement, as an UPDATE of a key may do
  EXPECT_EQ(session.insert(relation, "a", "1"), ok);
  EXPECT_EQ(session.insert(relation, "a", "2"), duplicate_key);
  session.statement();
  EXPECT_EQ(session.read(relation, "a"), "1");
  EXPECT_EQ(session.insert(relation, "b", "1"),
            ok);  // INSERT, UPDATE, DELETE, INSERT over statements
  session.statement();
  EXPECT_EQ(session.put(relation, "b", "2"), ok);
  session.statement();
  EXPECT_EQ(session.erase(relation, "b"), ok);
  session.statement();
  EXPECT_EQ(session.read(relation, "b"), "<not_found>");
  EXPECT_EQ(session.insert(relation, "b", "3"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation), "a=1 b=3");
  EXPECT_EQ(relation.row_count(), 2);
}

TEST_F(TransactionTest, AnInsertThatIsDeletedAgainLeavesNothing) {
  session.begin();
  EXPECT_EQ(session.insert(relation, "a", "1"), ok);
  session.statement();
  EXPECT_EQ(session.erase(relation, "a"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(records_in_tree(), 0u);
  EXPECT_TRUE(sink.log.empty());
}

TEST_F(TransactionTest, AnAbortedTransactionLeavesNoTrace) {
  session.store(relation, "a", "0");
  session.begin();
  EXPECT_EQ(session.insert(relation, "b", "1"), ok);
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  session.transaction.abort();
  EXPECT_EQ(other.peek(relation), "a=0");
  EXPECT_EQ(records_in_tree(), 1u);
  EXPECT_EQ(sink.log.size(), 1u);
}

TEST_F(TransactionTest, RollbackToAMarkUnwindsWrites) {
  session.store(relation, "a", "0");
  session.begin();
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  Transaction::Mark outer = session.transaction.mark();
  session.statement();
  EXPECT_EQ(session.put(relation, "a", "2"), ok);
  EXPECT_EQ(session.insert(relation, "b", "2"), ok);
  Transaction::Mark inner = session.transaction.mark();
  session.statement();
  EXPECT_EQ(session.erase(relation, "a"), ok);
  session.transaction.rollback_to(inner);
  session.statement();
  EXPECT_EQ(session.scan(relation), "a=2 b=2");
  session.transaction.release(inner);
  session.transaction.rollback_to(outer);
  session.statement();
  EXPECT_EQ(session.scan(relation), "a=1");
  EXPECT_EQ(session.insert(relation, "b", "3"), ok);
  session.transaction.rollback_to(outer);
  session.transaction.release(outer);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation), "a=1");
  EXPECT_EQ(records_in_tree(), 1u);
}

TEST_F(TransactionTest, LocksOutliveARollbackToAMarkUnlessTheyAreLetGo) {
  session.store(relation, "a", "0");
  session.store(relation, "b", "0");
  session.begin(TransactionMode::interactive);
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  Transaction::Mark mark = session.transaction.mark();
  session.statement();
  EXPECT_EQ(session.put(relation, "b", "1"), ok);
  session.transaction.rollback_to(mark);
  other.settings.lock_timeout_us = 2000;
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(other.put(relation, "b", "2"), TransactionStatus::lock_timeout);
  other.transaction.abort();
  session.transaction.release_locks_since(mark);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(other.put(relation, "a", "2"), TransactionStatus::lock_timeout);
  other.transaction.abort();
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(other.put(relation, "b", "2"), ok);
  EXPECT_EQ(other.commit(), ok);
  // What the transaction has read of it is no longer true.
  EXPECT_EQ(session.commit(), TransactionStatus::conflict_record);
  EXPECT_EQ(other.peek(relation), "a=0 b=2");
}

TEST_F(TransactionTest, WithoutWritesItStandsWhereItsReadsWereTrue) {
  session.store(relation, "a", "0");
  session.begin(TransactionMode::interactive);
  EXPECT_EQ(session.read(relation, "a"), "0");
  EXPECT_EQ(session.read(relation, "b"), "<not_found>");
  ASSERT_EQ(session.transaction.end_statement(), ok);
  other.store(relation, "a", "1");
  other.store(relation, "b", "1");
  EXPECT_EQ(session.commit(), ok);
  // What was read after the last statement's end must still be true.
  session.begin(TransactionMode::interactive);
  ASSERT_EQ(session.transaction.end_statement(), ok);
  EXPECT_EQ(session.read(relation, "a"), "1");
  other.store(relation, "a", "2");
  EXPECT_EQ(session.commit(), TransactionStatus::conflict_record);
  // And with writes, everything.
  session.begin(TransactionMode::interactive);
  EXPECT_EQ(session.read(relation, "a"), "2");
  ASSERT_EQ(session.transaction.end_statement(), ok);
  other.store(relation, "a", "3");
  EXPECT_EQ(session.insert(relation, "c", "1"), ok);
  EXPECT_EQ(session.commit(), TransactionStatus::conflict_record);
}

// ON CONFLICT DO UPDATE: what an insert met is no answer yet, and is locked before it is read.
TEST_F(TransactionTest, WhatAnInsertMetIsLookedAtUnderItsLock) {
  session.store(relation, "a", "0");
  session.begin(TransactionMode::interactive);
  EXPECT_EQ(session.transaction.insert(relation, "a", "1", /*answers=*/false),
            TransactionStatus::duplicate_key);
  other.drop(relation, "a");
  EXPECT_EQ(session.get(relation, "a", ReadPurpose::conflicting), TransactionStatus::not_found);
  other.store(relation, "b", "1");  // in the node that was looked at
  EXPECT_EQ(session.transaction.insert(relation, "a", "1", /*answers=*/false), ok);
  EXPECT_EQ(session.get(relation, "a", ReadPurpose::conflicting), TransactionStatus::self_modified);
  EXPECT_EQ(session.get(relation, "a", ReadPurpose::peek), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(other.peek(relation), "a=1 b=1");

  session.begin(TransactionMode::interactive);
  EXPECT_EQ(session.get(relation, "a", ReadPurpose::peek), ok);
  other.store(relation, "a", "2");
  EXPECT_EQ(session.get(relation, "a", ReadPurpose::conflicting), ok);
  EXPECT_EQ(session.row.row, "2");
  other.begin(TransactionMode::interactive);
  other.settings.lock_timeout_us = 2000;
  EXPECT_EQ(other.get(relation, "a", ReadPurpose::for_update), TransactionStatus::lock_timeout);
  other.transaction.abort();
  EXPECT_EQ(session.commit(), ok);
}

TEST_F(TransactionTest, MarksWorkInLargeWriteSets) {
  session.begin();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(session.insert(relation, std::to_string(1000 + i), "kept"), ok);
  Transaction::Mark mark = session.transaction.mark();
  session.statement();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(session.put(relation, std::to_string(1000 + i), "changed"), ok);
  for (int i = 100; i < 500; ++i)
    ASSERT_EQ(session.insert(relation, std::to_string(1000 + i), "new"), ok);
  session.transaction.rollback_to(mark);
  session.statement();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(session.read(relation, std::to_string(1000 + i)), "kept");
  for (int i = 100; i < 500; ++i)
    ASSERT_EQ(session.read(relation, std::to_string(1000 + i)), "<not_found>");
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(records_in_tree(), 100u);
}

TEST_F(TransactionTest, ScansGoBothWaysWithinTheirBounds) {
  for (char key = 'a'; key <= 'f'; ++key) session.store(relation, std::string(1, key), "0");
  session.begin();
  KeyRange range{KeyBound::inclusive("b"), KeyBound::exclusive("e")};
  EXPECT_EQ(session.scan(relation, range), "b=0 c=0 d=0");
  EXPECT_EQ(session.scan(relation, range, ScanDirection::backward), "d=0 c=0 b=0");
  EXPECT_EQ(session.erase(relation, "c"), ok);
  EXPECT_EQ(session.insert(relation, "bb", "1"), ok);
  session.statement();
  EXPECT_EQ(session.scan(relation, range), "b=0 bb=1 d=0");
  EXPECT_EQ(session.scan(relation, range, ScanDirection::backward), "d=0 bb=1 b=0");
  EXPECT_EQ(session.commit(), ok);
}

TEST_F(TransactionTest, OwnInsertsDoNotInvalidateOwnScans) {
  for (int i = 0; i < 20; ++i) session.store(relation, std::to_string(1000 + 10 * i), "0");
  session.begin();
  EXPECT_NE(session.scan(relation), "");
  for (int i = 0; i < 200; ++i) {  // splits the scanned nodes several times
    if (i % 10 == 0) continue;
    ASSERT_EQ(session.insert(relation, std::to_string(1000 + i), "1"), ok);
  }
  for (int i = 0; i < 50; ++i) {  // and makes a new layer
    ASSERT_EQ(session.insert(relation, "1000layer" + std::to_string(i), "1"), ok);
  }
  EXPECT_EQ(session.commit(), ok);
}

TEST_F(TransactionTest, DeletedRecordsAreUnhookedWhenDurable) {
  session.store(relation, "a", "0");
  session.store(relation, "b", "0");
  session.drop(relation, "a");
  session.worker.housekeep();
  EXPECT_EQ(records_in_tree(), 2u);  // absent, but its epoch is not durable
  session.begin();
  EXPECT_EQ(session.read(relation, "a"), "<not_found>");
  EXPECT_EQ(session.commit(), ok);
  EXPECT_GT(session.transaction.newest_epoch(), engine.durable.get());  // so the answer has to wait
  engine.make_durable();
  EXPECT_TRUE(session.worker.housekeep());
  EXPECT_EQ(records_in_tree(), 1u);
  EXPECT_TRUE(session.worker.unhooks().empty());
}

TEST_F(TransactionTest, AnAdoptedRecordStays) {
  session.store(relation, "a", "0");
  session.drop(relation, "a");
  other.store(relation, "a", "1");
  engine.make_durable();
  session.worker.housekeep();
  EXPECT_EQ(other.peek(relation), "a=1");
  other.drop(relation, "a");
  engine.make_durable();
  other.worker.housekeep();
  EXPECT_EQ(records_in_tree(), 0u);
  session.worker.housekeep();
}

TEST_F(TransactionTest, AStaleUnhookItemTouchesNoFreedRecord) {
  session.store(relation, "a", "0");
  session.drop(relation, "a");  // queued by this worker ...
  other.store(relation, "a", "1");
  other.drop(relation, "a");
  engine.make_durable();
  other.worker.housekeep();  // ... but unhooked by that one
  for (int i = 0; i < 5; ++i) other.worker.housekeep();
  EXPECT_EQ(engine.reclaimer.pending_bytes(), 0u);
  session.worker.housekeep();  // AddressSanitizer looks on
  EXPECT_EQ(records_in_tree(), 0u);
}

TEST_F(TransactionTest, ManyDeletesPassThroughTheUnhookQueue) {
  for (int round = 0; round < 3; ++round) {
    session.begin();
    for (int i = 0; i < 3000; ++i)
      ASSERT_EQ(session.insert(relation, "key " + std::to_string(i), "row"), ok);
    ASSERT_EQ(session.commit(), ok);
    for (int part = 0; part < 3; ++part) {
      session.begin();
      for (int i = part * 1000; i < (part + 1) * 1000; ++i) {
        ASSERT_EQ(session.erase(relation, "key " + std::to_string(i)), ok);
      }
      ASSERT_EQ(session.commit(), ok);
    }
    EXPECT_EQ(session.worker.unhooks().size(), 3000u);
    engine.make_durable();
    while (session.worker.housekeep()) {
    }
    EXPECT_TRUE(session.worker.unhooks().empty());
    EXPECT_EQ(records_in_tree(), 0u);
  }
}

TEST_F(TransactionTest, AnExhaustedEpochIsLeft) {
  session.store(relation, "a", "0");
  Epoch before = engine.epochs.current();
  session.worker.set_last_tid(Tid(before, Tid::max_sequence));
  session.begin();
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(session.transaction.commit_tid(), Tid(next(before), 0));
  EXPECT_EQ(other.peek(relation), "a=1");
  EXPECT_FALSE(session.worker.slot().inside());
}

TEST_F(TransactionTest, SixtyFiveThousandCommitsOfOneEpochRunOver) {
  Epoch before = engine.epochs.current();
  session.store(relation, "a", "0");
  Tid last = session.transaction.commit_tid();
  for (uint32_t i = 0; i < Tid::max_sequence + 10; ++i) {
    session.begin();
    ASSERT_EQ(session.put(relation, "a", i % 2 == 0 ? "even" : "odd"), ok);
    ASSERT_EQ(session.commit(), ok);
    ASSERT_GT(session.transaction.commit_tid(), last);
    last = session.transaction.commit_tid();
  }
  EXPECT_EQ(engine.epochs.current(), next(before));
}

TEST_F(TransactionTest, WithoutLogSpaceNothingHappens) {
  session.store(relation, "a", "0");
  sink.answer = ReserveResult::no_space;
  session.begin();
  EXPECT_EQ(session.put(relation, "a", "1"), ok);
  EXPECT_EQ(session.insert(relation, "b", "1"), ok);
  EXPECT_EQ(session.commit(), no_log_space);
  EXPECT_FALSE(session.transaction.is_open());
  EXPECT_EQ(other.peek(relation), "a=0");
  EXPECT_EQ(session.worker.aborts().of(no_log_space), 1u);
  sink.answer = ReserveResult::must_wait;  // wait_for_buffer() helps
  session.store(relation, "a", "2");
  EXPECT_EQ(other.peek(relation), "a=2");
}

// What the last room of a full device is for.
TEST_F(TransactionTest, WhatFreesSpaceSaysSo) {
  engine.relations.raise_id_floor(first_user_relation);
  Relation& users = engine.create_relation();
  Relation& other_table = engine.create_relation();
  auto commits_for = [&](auto change) {
    sink.reserved_for = RedoPurpose::growth;
    session.begin();
    change();
    EXPECT_EQ(session.commit(), ok);
    return sink.reserved_for;
  };
  for (const char* key : {"a", "b", "c"}) session.store(users, key, "0");
  session.store(relation, "catalog", "0");
  auto erase = [&] { EXPECT_EQ(session.erase(users, "a"), ok); };
  auto put = [&] { EXPECT_EQ(session.put(users, "b", "1"), ok); };
  auto note = [&] { EXPECT_EQ(session.put(relation, "catalog", "1"), ok); };
  auto drop = [&] { EXPECT_EQ(session.transaction.drop_relation(other_table), ok); };
  EXPECT_EQ(commits_for(put), RedoPurpose::growth);
  EXPECT_EQ(commits_for(note), RedoPurpose::growth);
  EXPECT_EQ(commits_for([&] { erase(), note(); }), RedoPurpose::relief);
  session.store(users, "a", "0");
  EXPECT_EQ(commits_for([&] { erase(), put(); }), RedoPurpose::growth);
  EXPECT_EQ(commits_for([&] { drop(), note(); }), RedoPurpose::relief);
  EXPECT_EQ(commits_for([&] { note(), session.transaction.frees_space(); }), RedoPurpose::relief);
  EXPECT_EQ(commits_for(note), RedoPurpose::growth);
}

TEST_F(TransactionTest, KeysHaveALimit) {
  session.begin();
  EXPECT_EQ(session.insert(relation, std::string(max_key_bytes + 1, 'k'), "1"), key_too_long);
  EXPECT_EQ(session.insert(relation, std::string(max_key_bytes, 'k'), "1"), ok);
  EXPECT_EQ(session.insert(relation, "", "empty key"), ok);
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(records_in_tree(), 2u);
}

TEST_F(TransactionTest, EveryStatusHasAName) {
  EXPECT_EQ(name_of(ok), "ok");
  EXPECT_EQ(name_of(conflict_relation), "conflict_relation");
  EXPECT_EQ(name_of(row_too_long), "row_too_long");
  EXPECT_TRUE(is_conflict(must_wait) && is_conflict(conflict_record) && is_conflict(deadlock));
  EXPECT_FALSE(is_conflict(cancelled) || is_conflict(row_changed) || is_conflict(ok));
}

}  // namespace
}  // namespace pgsilo
