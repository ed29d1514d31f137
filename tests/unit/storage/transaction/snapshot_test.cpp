// Every kind of change against a snapshot that is older (docs/snapshots.md).
#include "storage/transaction/snapshot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class SnapshotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* key : {"a", "b", "c"}) writer.store(relation, key, std::string("old ") + key);
    engine.make_durable();
  }
  void open(TestSession& session) {
    ASSERT_EQ(session.transaction.begin_snapshot(), ok);
    session.statement();
  }
  void open() { open(reader); }
  // Everything that may be taken away is.
  void clean_up() {
    for (int i = 0; i < 3; ++i) {
      engine.make_durable();
      while (writer.worker.housekeep() || reader.worker.housekeep()) {
      }
    }
  }
  size_t records() {
    IndexTree::Shape shape;
    EXPECT_EQ(relation.tree().check(&shape), "");
    return shape.records;
  }

  TestEngine engine;
  TestSession writer{engine};
  TestSession reader{engine};
  Relation& relation = engine.create_relation();
  OldVersions& kept = engine.snapshots.versions();
};

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

TEST_F(SnapshotTest, OneIsSharedByTransactions) {
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

TEST_F(SnapshotTest, AOneShotGoesOnInOneFromTheMiddleOfAScan) {
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

TEST_F(SnapshotTest, ScansThatWereOpenRegisterNothingAnyMore) {
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

TEST_F(SnapshotTest, AOneShotDoesNotGoOnIfWhatItReadHasChanged) {
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

TEST_F(SnapshotTest, EntriesLeadToTheRowsOfThatMoment) {
  Relation& index = engine.create_relation();
  writer.begin();
  ASSERT_EQ(writer.insert(index, "blue", "a"), ok);
  ASSERT_EQ(writer.insert(index, "green", "b"), ok);
  ASSERT_EQ(writer.commit(), ok);
  auto follow = [&](TestSession& session, std::string_view colour) {
    RowBuffer entry_buffer(session.arena);
    RowRef entry;
    TransactionStatus status = session.transaction.get(index, colour, entry_buffer, &entry);
    if (status == ok)
      status = session.transaction.get_via_entry(relation, entry, session.buffer, &session.row);
    return status == ok ? std::string(session.row.row) : std::string(name_of(status));
  };
  writer.begin();
  EXPECT_EQ(follow(writer, "blue"), "old a");  // leaves a link
  ASSERT_EQ(writer.commit(), ok);
  open();
  writer.begin();  // "green" moves from b to c, a goes
  ASSERT_EQ(writer.put(index, "green", "c"), ok);
  ASSERT_EQ(writer.erase(index, "blue"), ok);
  ASSERT_EQ(writer.erase(relation, "a"), ok);
  ASSERT_EQ(writer.commit(), ok);
  clean_up();
  EXPECT_EQ(follow(reader, "blue"), "old a");
  EXPECT_EQ(follow(reader, "green"), "old b");
  EXPECT_EQ(reader.scan(index), "blue=a green=b");
  EXPECT_EQ(reader.commit(), ok);
  writer.begin();
  EXPECT_EQ(follow(writer, "green"), "old c");
  EXPECT_EQ(follow(writer, "blue"), "not_found");
  ASSERT_EQ(writer.commit(), ok);
}

TEST_F(SnapshotTest, ADroppedRelationStaysUntilItIsClosed) {
  RelationId id = relation.id();
  open();
  writer.begin();
  ASSERT_EQ(writer.transaction.drop_relation(relation), ok);
  ASSERT_EQ(writer.commit(), ok);
  clean_up();
  ASSERT_EQ(engine.relations.find(id), &relation);
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.commit(), ok);
  open();  // knows of it already
  clean_up();
  EXPECT_EQ(engine.relations.find(id), nullptr);
  EXPECT_EQ(reader.commit(), ok);
}

// What TRUNCATE and rewrites do: a new relation, filled before its commit, takes the place of the
// old one.
TEST_F(SnapshotTest, ARelationThatIsReplacedIsReadAsItWas) {
  Relation& catalog = engine.create_relation();
  writer.store(catalog, "table", std::to_string(relation.id().value()));
  auto table = [&](TestSession& session) -> Relation& {
    std::string id = session.read(catalog, "table");
    return *engine.relations.find(RelationId(static_cast<uint32_t>(std::stoul(id))));
  };
  engine.epochs.advance();
  writer.begin();
  Relation& fresh = *writer.transaction.create_relation({});
  ASSERT_EQ(writer.insert(fresh, "z", "loaded before the snapshot"), ok);
  writer.statement();  // streams the row: its epoch is not after the boundary
  open();
  ASSERT_EQ(writer.transaction.drop_relation(relation), ok);
  ASSERT_EQ(writer.put(catalog, "table", std::to_string(fresh.id().value())), ok);
  ASSERT_EQ(writer.commit(), ok);
  clean_up();
  EXPECT_EQ(reader.scan(table(reader)), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.commit(), ok);
  open();
  EXPECT_EQ(reader.scan(table(reader)), "z=loaded before the snapshot");
}

TEST_F(SnapshotTest, NothingIsKeptOfRelationsThatItCannotKnow) {
  writer.begin();
  Relation& fresh = *writer.transaction.create_relation({});
  ASSERT_EQ(writer.insert(fresh, "z", "1"), ok);
  writer.statement();
  open();
  ASSERT_EQ(writer.put(fresh, "z", "2"), ok);
  ASSERT_EQ(writer.put(relation, "a", "new a"), ok);
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(kept.count(), 1u);
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(writer.peek(fresh), "z=2");
}

TEST_F(SnapshotTest, DescriptorsAreThoseOfThatMoment) {
  writer.begin();
  ASSERT_EQ(writer.get(relation, "a"), ok);
  Tid before = writer.row.tid;
  const Record* record = writer.row.record;
  ASSERT_EQ(writer.commit(), ok);
  open();
  EXPECT_EQ(reader.transaction.use_descriptor(record, before), ok);
  writer.store(relation, "a", "changed");
  Tid after = record->tid_word().load().tid();
  EXPECT_EQ(reader.transaction.use_descriptor(record, before), ok);
  EXPECT_EQ(reader.transaction.use_descriptor(record, after), conflict_record);
}

TEST_F(SnapshotTest, DdlNeitherWaitsForItNorHoldsItUp) {
  open();
  ASSERT_EQ(reader.transaction.share_relation(relation), ok);
  writer.begin(TransactionMode::interactive);
  ASSERT_EQ(writer.transaction.lock_relation_exclusively(relation), ok);
  ASSERT_EQ(reader.transaction.share_relation(relation), ok);
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(writer.commit(), ok);
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

TEST_F(SnapshotTest, WaitsForACommitThatIsUnderWay) {
  CommitSlot& slot = writer.worker.slot();
  slot.enter();
  std::atomic<bool> opened = false;
  std::thread waiting([&] {
    EXPECT_EQ(reader.transaction.begin_snapshot(), ok);
    opened = true;
    EXPECT_EQ(reader.commit(), ok);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(opened);
  slot.leave();
  waiting.join();
  EXPECT_TRUE(opened);
}

TEST_F(SnapshotTest, TheWaitCanBeCancelled) {
  std::atomic<bool> cancelled = true;
  reader.settings.cancelled = &cancelled;
  writer.worker.slot().enter();
  EXPECT_EQ(reader.transaction.begin_snapshot(), TransactionStatus::cancelled);
  writer.worker.slot().leave();
  EXPECT_FALSE(reader.transaction.is_open());
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
}

// A commit that saw the boundary before it was closed adds its version when the sweep has been
// ordered.
TEST_F(SnapshotTest, TheSweepWaitsForCommitsThatAreUnderWay) {
  open();
  Epoch boundary = reader.transaction.snapshot()->boundary();
  writer.worker.slot().enter();
  EXPECT_EQ(reader.commit(), ok);
  while (reader.worker.housekeep()) {
  }
  OldVersion* late = kept.create(relation.tree().get("b").record, 0, 0);
  late->tid = Tid(boundary, 0);
  late->replaced_in = next(boundary);
  kept.add(late);
  writer.worker.slot().leave();
  clean_up();
  EXPECT_EQ(kept.count(), 0u);
}

TEST_F(SnapshotTest, ASweepLeavesWhatALaterSnapshotMayNeed) {
  Record* record = relation.tree().get("b").record;
  OldVersion* version = kept.create(record, 0, 0);
  version->tid = Tid(Epoch(10), 0);
  version->replaced_in = Epoch(20);
  kept.add(version);
  auto sweep = [&](uint64_t until, std::vector<Epoch> boundaries) {
    for (size_t i = 0; i < OldVersions::shard_count; ++i)
      kept.sweep(i, Epoch(until), boundaries, 0);
    return kept.count();
  };
  EXPECT_EQ(sweep(19, {}), 1u);
  EXPECT_EQ(sweep(20, {Epoch(9), Epoch(10)}), 1u);
  EXPECT_EQ(sweep(20, {Epoch(9), Epoch(19)}), 1u);
  EXPECT_EQ(kept.find(record, Epoch(19)), version);
  EXPECT_EQ(kept.find(record, Epoch(9)), nullptr);
  EXPECT_EQ(kept.find(record, Epoch(20)), nullptr);
  EXPECT_EQ(sweep(20, {Epoch(9), Epoch(20)}), 0u);
}

TEST_F(SnapshotTest, ThousandsOfVersionsAreFoundAndFreed) {
  constexpr int rows = 20000;
  writer.begin();
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(writer.insert(relation, "k" + std::to_string(i), std::to_string(i)), ok);
  ASSERT_EQ(writer.commit(), ok);
  open();
  writer.begin();
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(writer.put(relation, "k" + std::to_string(i), "changed"), ok);
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(kept.count(), static_cast<size_t>(rows));
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(reader.read(relation, "k" + std::to_string(i)), std::to_string(i));
  EXPECT_EQ(reader.commit(), ok);
  clean_up();
  EXPECT_EQ(kept.count(), 0u);
  EXPECT_EQ(kept.bytes(), 0u);
}

}  // namespace
}  // namespace pgsilo
