// Every kind of change of rows against a snapshot that is older (docs/snapshots.md).
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/snapshot_fixture.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using enum TransactionStatus;

TEST_F(SnapshotTest, ReadsWhatWasCommittedBefore) {
  open();
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(reader.read(relation, "nothing"), "<not_found>");
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.commit(), ok);
}

TEST_F(SnapshotTest, AnswersRestOnTheBoundary) {
  Epoch before = engine.epochs.current();
  open();
  EXPECT_GE(reader.transaction.newest_epoch(), before);
  EXPECT_EQ(reader.transaction.newest_epoch(), reader.transaction.snapshot()->boundary());
  EXPECT_LT(reader.transaction.newest_epoch(), engine.epochs.current());
  EXPECT_LE(reader.transaction.newest_epoch(), engine.epochs.completed());
}

TEST_F(SnapshotTest, AnUpdateLeavesTheOldRow) {
  open();
  writer.store(relation, "b", "new b");
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(writer.peek(relation), "a=old a b=new b c=old c");
  EXPECT_EQ(reader.commit(), ok);
  open();
  EXPECT_EQ(reader.read(relation, "b"), "new b");
}

TEST_F(SnapshotTest, OnlyTheVersionThatItSeesIsKept) {
  open();
  for (int i = 0; i < 10; ++i) writer.store(relation, "b", std::to_string(i));
  EXPECT_EQ(kept.count(), 1u);
  EXPECT_EQ(reader.read(relation, "b"), "old b");
}

TEST_F(SnapshotTest, NothingIsKeptWhileNoneIsOpen) {
  writer.store(relation, "b", "new b");
  EXPECT_EQ(kept.count(), 0u);
  open();
  writer.store(relation, "b", "newer b");
  writer.drop(relation, "c");
  EXPECT_EQ(kept.count(), 2u);
  EXPECT_GT(kept.bytes(), 0u);
  EXPECT_EQ(reader.commit(), ok);
  clean_up();
  EXPECT_EQ(kept.count(), 0u);
  EXPECT_EQ(kept.bytes(), 0u);
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
  writer.store(relation, "b", "newest b");
  EXPECT_EQ(kept.count(), 0u);
}

TEST_F(SnapshotTest, ARowThatGrowsIsReadAsItWas) {
  open();
  writer.store(relation, "b", std::string(3000, 'x'));
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  EXPECT_EQ(reader.commit(), ok);
  open();
  writer.store(relation, "b", "short");
  EXPECT_EQ(reader.read(relation, "b"), std::string(3000, 'x'));
  writer.store(relation, "b", std::string(100000, 'y'));
  EXPECT_EQ(reader.read(relation, "b"), std::string(3000, 'x'));
}

TEST_F(SnapshotTest, ADeletedRowIsThereUntilTheSnapshotIsClosed) {
  open();
  writer.drop(relation, "b");
  clean_up();
  EXPECT_EQ(records(), 3u);
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(writer.peek(relation), "a=old a c=old c");
  EXPECT_EQ(reader.commit(), ok);
  clean_up();
  EXPECT_EQ(records(), 2u);
}

TEST_F(SnapshotTest, WhatWasDeletedBeforeItIsUnhooked) {
  writer.drop(relation, "b");
  open();
  clean_up();
  EXPECT_EQ(records(), 2u);
  EXPECT_EQ(reader.scan(relation), "a=old a c=old c");
  EXPECT_EQ(reader.read(relation, "b"), "<not_found>");
}

TEST_F(SnapshotTest, AnInsertedRowIsNotThere) {
  open();
  writer.store(relation, "aa", "new");
  EXPECT_EQ(reader.read(relation, "aa"), "<not_found>");
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  writer.store(relation, "aa", "changed");  // the version between is nobody's
  EXPECT_EQ(reader.read(relation, "aa"), "<not_found>");
  EXPECT_EQ(kept.count(), 0u);
}

TEST_F(SnapshotTest, PlaceholdersAreNoRows) {
  open();
  writer.begin();
  ASSERT_EQ(writer.insert(relation, "aa", "new"), ok);
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  writer.transaction.abort();
  EXPECT_EQ(reader.read(relation, "aa"), "<not_found>");
  EXPECT_EQ(records(), 3u);
}

TEST_F(SnapshotTest, ADeletedRowThatComesBackIsTheOldOne) {
  open();
  writer.drop(relation, "b");
  writer.store(relation, "b", "another b");  // adopts the absent record
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(writer.peek(relation), "a=old a b=another b c=old c");
  writer.begin();  // both in one transaction
  ASSERT_EQ(writer.erase(relation, "c"), ok);
  ASSERT_EQ(writer.insert(relation, "c", "another c"), ok);
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(reader.read(relation, "c"), "old c");
}

TEST_F(SnapshotTest, ARowThatWasAbsentAndCameBackIsNotThere) {
  writer.drop(relation, "b");
  open();
  writer.store(relation, "b", "another b");
  EXPECT_EQ(reader.read(relation, "b"), "<not_found>");
  EXPECT_EQ(reader.scan(relation), "a=old a c=old c");
}

TEST_F(SnapshotTest, EachReadsItsOwnMoment) {
  TestSession second(engine);
  open();
  writer.store(relation, "b", "1");
  open(second);
  writer.store(relation, "b", "2");
  writer.drop(relation, "c");
  TestSession third(engine);
  open(third);
  writer.store(relation, "b", "3");
  writer.store(relation, "c", "back");
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(second.scan(relation), "a=old a b=1 c=old c");
  EXPECT_EQ(third.scan(relation), "a=old a b=2");
  EXPECT_EQ(writer.peek(relation), "a=old a b=3 c=back");
  EXPECT_EQ(second.commit(), ok);
  clean_up();
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(third.scan(relation), "a=old a b=2");
  EXPECT_EQ(reader.commit(), ok);
  clean_up();
  EXPECT_EQ(third.scan(relation), "a=old a b=2");
  EXPECT_EQ(third.commit(), ok);
  clean_up();
  EXPECT_EQ(kept.count(), 0u);
}

TEST_F(SnapshotTest, SplitsDoNotDisturbAScan) {
  open();
  TransactionScan scan(reader.transaction, relation, {}, ScanDirection::forward, reader.buffer);
  RowRef row;
  ASSERT_EQ(scan.next(&row), ok);
  EXPECT_EQ(row.key(), "a");
  for (int i = 0; i < 1000; ++i) writer.store(relation, "a" + std::to_string(i), "new");
  writer.drop(relation, "c");
  ASSERT_EQ(scan.next(&row), ok);
  EXPECT_EQ(row.key(), "b");
  ASSERT_EQ(scan.next(&row), ok);
  EXPECT_EQ(row.key(), "c");
  EXPECT_EQ(row.row, "old c");
  EXPECT_EQ(scan.next(&row), not_found);
  EXPECT_EQ(reader.scan(relation, {}, ScanDirection::backward), "c=old c b=old b a=old a");
  EXPECT_EQ(reader.transaction.validate(), ok);
  EXPECT_EQ(reader.transaction.end_statement(), ok);
  EXPECT_EQ(reader.commit(), ok);
}

TEST_F(SnapshotTest, RowsUnderIntentLocksAreRead) {
  writer.begin(TransactionMode::interactive);
  ASSERT_EQ(writer.put(relation, "b", "new b"), ok);
  open();
  EXPECT_EQ(reader.read(relation, "b"), "old b");
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(reader.read(relation, "b"), "old b");
}

TEST_F(SnapshotTest, AGroupOfChangesIsSeenWholeOrNotAtAll) {
  writer.begin();
  ASSERT_EQ(writer.put(relation, "a", "1"), ok);
  ASSERT_EQ(writer.erase(relation, "b"), ok);
  ASSERT_EQ(writer.insert(relation, "d", "4"), ok);
  open();
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.commit(), ok);
  open();
  EXPECT_EQ(reader.scan(relation), "a=1 c=old c d=4");
}

}  // namespace
}  // namespace pgsilo
