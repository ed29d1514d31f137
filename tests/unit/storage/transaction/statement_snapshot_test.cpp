// Statements of READ COMMITTED transactions that go on at a snapshot, with the transaction's own
// writes.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/snapshot_fixture.h"

namespace pgsilo {
namespace {

using enum TransactionStatus;

class StatementSnapshotTest : public SnapshotTest {
 protected:
  void begin(Isolation isolation = Isolation::read_committed) {
    reader.transaction.begin(TransactionMode::interactive, isolation);
    reader.statement();
  }
};

TEST_F(StatementSnapshotTest, OneStatementReadsAMomentSinceItBegan) {
  begin();
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  ASSERT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  EXPECT_EQ(reader.transaction.registered_reads(), 0u);
  EXPECT_GE(reader.transaction.newest_epoch(), reader.transaction.snapshot()->boundary());
  writer.store(relation, "a", "new a");
  writer.store(relation, "d", "new d");
  writer.drop(relation, "b");
  clean_up();
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  EXPECT_EQ(reader.read(relation, "d"), "<not_found>");
  EXPECT_EQ(reader.read(relation, "e"), "<not_found>");
  EXPECT_EQ(reader.transaction.registered_reads(), 0u);
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
  reader.statement();
  EXPECT_EQ(reader.scan(relation), "a=new a c=old c d=new d");
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  EXPECT_EQ(reader.commit(), ok);
}

TEST_F(StatementSnapshotTest, SeesWhatItsTransactionHasWritten) {
  begin();
  EXPECT_EQ(reader.put(relation, "a", "own a"), ok);
  EXPECT_EQ(reader.erase(relation, "b"), ok);
  EXPECT_EQ(reader.insert(relation, "d", "own d"), ok);
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  reader.statement();
  Transaction::Mark mark = reader.transaction.mark();
  EXPECT_EQ(reader.put(relation, "c", "unwound"), ok);
  EXPECT_EQ(reader.insert(relation, "e", "unwound"), ok);
  reader.transaction.rollback_to(mark);
  reader.statement();
  ASSERT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  writer.store(relation, "f", "new");
  EXPECT_EQ(reader.scan(relation), "a=own a c=old c d=own d");
  EXPECT_EQ(reader.read(relation, "a"), "own a");
  EXPECT_EQ(reader.read(relation, "b"), "<not_found>");
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  EXPECT_EQ(reader.commit(), ok);
  EXPECT_EQ(writer.peek(relation), "a=own a c=old c d=own d f=new");
}

TEST_F(StatementSnapshotTest, ReadsItsOwnRelationsAsEver) {
  begin();
  Relation* own = reader.transaction.create_relation({});
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(reader.insert(*own, "1", "first"), ok);
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  reader.statement();
  ASSERT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  writer.store(relation, "a", "new a");
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(reader.insert(*own, "2", "second"), ok);
  EXPECT_EQ(reader.scan(*own), "1=first");
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  reader.statement();
  EXPECT_EQ(reader.scan(*own), "1=first 2=second");
  EXPECT_EQ(reader.commit(), ok);
}

// A row that is locked is taken as it is now, and stays so.
TEST_F(StatementSnapshotTest, WhatItLocksIsOfThePresent) {
  begin();
  ASSERT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  writer.store(relation, "a", "new a");
  writer.drop(relation, "b");
  writer.store(relation, "c", "new c");
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(reader.transaction.lock_row(&reader.row, reader.buffer), row_changed);
  EXPECT_EQ(reader.row.row, "new a");
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  EXPECT_EQ(reader.transaction.lock_row(&reader.row, reader.buffer), not_found);
  EXPECT_EQ(reader.get(relation, "c", ReadPurpose::for_update), ok);
  EXPECT_EQ(reader.row.row, "new c");
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  EXPECT_EQ(reader.commit(), ok);
}

TEST_F(StatementSnapshotTest, NotIfWhatItHasReadHasChanged) {
  begin();
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  writer.store(relation, "a", "new a");
  EXPECT_EQ(reader.transaction.begin_statement_snapshot(), conflict_record);
  EXPECT_EQ(reader.transaction.restart_statement(), ok);
  reader.statement();
  EXPECT_EQ(reader.read(relation, "a"), "new a");
  ASSERT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  EXPECT_EQ(reader.transaction.restart_statement(), ok);  // it failed for another reason
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
  reader.statement();
  ASSERT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  reader.transaction.abort();
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
}

TEST_F(StatementSnapshotTest, NotUnderSerializable) {
  begin(Isolation::serializable);
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(reader.transaction.begin_statement_snapshot(), ok);
  EXPECT_EQ(reader.transaction.snapshot(), nullptr);
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  writer.store(relation, "a", "new a");
  EXPECT_EQ(reader.transaction.end_statement(), conflict_record);
  reader.transaction.abort();
}

}  // namespace
}  // namespace pgsilo
