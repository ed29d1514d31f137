// One-shots that go on in a snapshot, and transactions that share one.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/snapshot_fixture.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using enum TransactionStatus;

class SnapshotSharingTest : public SnapshotTest {};

TEST_F(SnapshotSharingTest, OneIsSharedByTransactions) {
  TestSession second(engine);
  open();
  writer.store(relation, "b", "new b");
  second.transaction.begin_snapshot(reader.transaction.snapshot());
  second.statement();
  EXPECT_EQ(reader.commit(), ok);
  clean_up();
  EXPECT_EQ(second.read(relation, "b"), "old b");
  EXPECT_EQ(second.commit(), ok);
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
}

TEST_F(SnapshotSharingTest, AOneShotGoesOnInOneFromTheMiddleOfAScan) {
  for (int i = 0; i < 100; ++i) writer.store(relation, "d" + std::to_string(100 + i), "old");
  reader.begin();
  TransactionScan scan(reader.transaction, relation, {}, ScanDirection::forward, reader.buffer);
  RowRef row;
  ASSERT_EQ(scan.next(&row), ok);
  ASSERT_EQ(scan.next(&row), ok);
  ASSERT_EQ(reader.transaction.become_snapshot(), ok);
  EXPECT_EQ(reader.transaction.newest_epoch(), reader.transaction.snapshot()->boundary());
  writer.store(relation, "a", "new a");  // behind the scan
  writer.store(relation, "c", "new c");  // before it
  for (int i = 0; i < 100; i += 2) writer.drop(relation, "d" + std::to_string(100 + i));
  writer.store(relation, "bb", "new");
  clean_up();
  ASSERT_EQ(scan.next(&row), ok);
  EXPECT_EQ(row.row, "old c");
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(scan.next(&row), ok);
    EXPECT_EQ(row.key(), "d" + std::to_string(100 + i));
    EXPECT_EQ(row.row, "old");
  }
  EXPECT_EQ(scan.next(&row), not_found);
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(reader.commit(), ok);
}

TEST_F(SnapshotSharingTest, ScansThatWereOpenRegisterNothingAnyMore) {
  for (int i = 0; i < 100; ++i) writer.store(relation, "d" + std::to_string(100 + i), "old");
  reader.begin();
  RowBuffer other_buffer(reader.arena);
  TransactionScan first(reader.transaction, relation, {}, ScanDirection::forward, reader.buffer);
  TransactionScan second(reader.transaction, relation, {}, ScanDirection::forward, other_buffer);
  RowRef row;
  ASSERT_EQ(first.next(&row), ok);
  ASSERT_EQ(second.next(&row), ok);
  ASSERT_EQ(reader.transaction.become_snapshot(), ok);
  size_t count = 1;
  while (first.next(&row) == ok) ++count;
  EXPECT_EQ(count, 103u);
  for (int i = 0; i < 100; ++i) writer.store(relation, "d1" + std::to_string(i) + "x", "new");
  count = 1;
  TransactionStatus status;
  while ((status = second.next(&row)) == ok) ++count;
  EXPECT_EQ(status, not_found);
  EXPECT_EQ(count, 103u);
  EXPECT_EQ(reader.commit(), ok);
}

TEST_F(SnapshotSharingTest, AOneShotDoesNotGoOnIfWhatItReadHasChanged) {
  reader.begin();
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  writer.store(relation, "a", "new a");
  EXPECT_EQ(reader.transaction.become_snapshot(), conflict_record);
  reader.transaction.abort();
  reader.begin();
  EXPECT_EQ(reader.scan(relation), "a=new a b=old b c=old c");
  writer.store(relation, "d", "new d");
  EXPECT_EQ(reader.transaction.become_snapshot(), conflict_node);
  reader.transaction.abort();
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
}

}  // namespace
}  // namespace pgsilo
