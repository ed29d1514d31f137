// Rows that were deleted leave their trees at any moment (docs/commit_protocol.md): a block that
// has seen that they are not there need not be told, but what comes in their place it must.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class UnhookingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first.store(relation, "a", "0");
    first.store(relation, "c", "0");
  }
  void unhook_what_was_dropped() {
    engine.make_durable();
    while (!second.worker.unhooks().empty()) second.worker.housekeep();
  }
  static std::string key(int i) { return "key " + std::to_string(1000 + i); }

  TestEngine engine;
  TestSession first{engine};
  TestSession second{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(UnhookingTest, AScanOutlivesThatOfWhatItMet) {
  second.store(relation, "b", "old");
  second.drop(relation, "b");
  first.begin(TransactionMode::interactive);
  EXPECT_EQ(first.scan(relation), "a=0 c=0");
  unhook_what_was_dropped();
  EXPECT_EQ(relation.tree().get("b").record, nullptr);
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), ok);
}

// Nor does it notice that sparse nodes become one.
TEST_F(UnhookingTest, AScanOutlivesTheMergeOfNodes) {
  auto drop_most = [this] {
    for (int i = 0; i < 300; ++i) second.store(relation, key(i), "row");
    for (int i = 0; i < 300; ++i) {
      if (i % 10 != 0) second.drop(relation, key(i));
    }
  };
  drop_most();
  first.begin(TransactionMode::interactive);
  std::string seen = first.scan(relation);
  size_t bytes = relation.tree().memory_bytes(MemoryKind::nodes);
  unhook_what_was_dropped();
  EXPECT_LT(relation.tree().memory_bytes(MemoryKind::nodes), bytes / 2);
  EXPECT_EQ(first.scan(relation), seen);
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), ok);

  drop_most();
  first.begin(TransactionMode::interactive);
  first.scan(relation);
  unhook_what_was_dropped();
  second.store(relation, key(155), "new");
  EXPECT_EQ(first.put(relation, "a", "2"), ok);
  EXPECT_EQ(first.commit(), TransactionStatus::conflict_node);
}

TEST_F(UnhookingTest, ALookupOutlivesThatOfWhatItMet) {
  second.store(relation, "b", "old");
  second.drop(relation, "b");
  for (TransactionStatus expected : {ok, TransactionStatus::conflict_node}) {
    first.begin(TransactionMode::interactive);
    EXPECT_EQ(first.read(relation, "b"), "<not_found>");
    unhook_what_was_dropped();
    if (expected != ok) second.store(relation, "b", "new");
    EXPECT_EQ(first.put(relation, "a", "1"), ok);
    EXPECT_EQ(first.commit(), expected);
    if (expected == ok) {
      second.store(relation, "b", "old");
      second.drop(relation, "b");
    }
  }
}

TEST_F(UnhookingTest, WhatComesBehindItIsAPhantom) {
  second.store(relation, "b", "old");
  second.drop(relation, "b");
  first.begin(TransactionMode::interactive);
  EXPECT_EQ(first.scan(relation), "a=0 c=0");
  unhook_what_was_dropped();
  second.store(relation, "b", "new");
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), TransactionStatus::conflict_node);
}

// A block has found rows, and finds them gone: not both are told.
TEST_F(UnhookingTest, WhatIsGoneNowWasThereBefore) {
  engine.epochs.advance();
  for (bool by_key : {true, false}) {
    second.store(relation, "b", "old");
    first.begin(TransactionMode::interactive);
    EXPECT_EQ(first.scan(relation), "a=0 b=old c=0");
    ASSERT_EQ(first.transaction.end_statement(), ok);
    second.drop(relation, "b");
    unhook_what_was_dropped();
    first.statement();
    if (by_key) {
      EXPECT_EQ(first.read(relation, "b"), "<not_found>");
    } else {
      EXPECT_EQ(first.scan(relation), "a=0 c=0");
    }
    EXPECT_NE(first.transaction.end_statement(), ok) << by_key;
    first.transaction.abort();
  }
}

// Nor does a scan that has copied the node before.
TEST_F(UnhookingTest, WhatGoesBeforeAScanComesToItWasThereBefore) {
  engine.epochs.advance();
  second.store(relation, "b", "old");
  first.begin(TransactionMode::interactive);
  EXPECT_EQ(first.scan(relation), "a=0 b=old c=0");
  ASSERT_EQ(first.transaction.end_statement(), ok);
  first.statement();
  TransactionScan scan(first.transaction, relation, {}, ScanDirection::forward, first.buffer);
  ASSERT_EQ(scan.next(&first.row), ok);
  second.drop(relation, "b");
  unhook_what_was_dropped();
  ASSERT_EQ(scan.next(&first.row), ok);
  EXPECT_EQ(first.row.record->key(), "c");
  EXPECT_EQ(scan.next(&first.row), not_found);
  EXPECT_NE(first.transaction.end_statement(), ok);
}

// Nor one that finds a layer gone to which a node led that was found true already.
TEST_F(UnhookingTest, ALayerThatGoesBeforeAScanComesToItWasThereBefore) {
  for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
    Relation& rows = engine.create_relation();
    for (std::string_view key : {"0", "8 bytes.a", "8 bytes.b", "9"})
      second.store(rows, key, "old");
    engine.epochs.advance();
    first.begin(TransactionMode::interactive);
    TransactionScan scan(first.transaction, rows, {}, direction, first.buffer);
    ASSERT_EQ(scan.next(&first.row), ok);
    std::string begin(first.row.record->key());
    ASSERT_EQ(first.transaction.end_statement(), ok);
    second.begin();
    EXPECT_EQ(second.erase(rows, "8 bytes.a"), ok);
    EXPECT_EQ(second.erase(rows, "8 bytes.b"), ok);
    EXPECT_EQ(second.put(rows, begin, "new"), ok);
    ASSERT_EQ(second.commit(), ok);
    unhook_what_was_dropped();
    ASSERT_EQ(scan.next(&first.row), ok);
    EXPECT_EQ(first.row.record->key(), begin == "0" ? "9" : "0");
    EXPECT_NE(first.transaction.end_statement(), ok);
    first.transaction.abort();
  }
}

// Whole nodes go, and their heirs get rows of the transaction itself: of all ranges and in any
// order of what was looked at.
TEST_F(UnhookingTest, NodesThatGoDoNotBeatWhoInsertsNearThem) {
  for (int looked_at = 0; looked_at < 200; looked_at += 7) {
    Relation& rows = engine.create_relation();
    for (int i = 0; i < 200; ++i) second.store(rows, key(i), "old");
    for (int i = 0; i < 200; ++i) second.drop(rows, key(i));
    first.begin(TransactionMode::interactive);
    EXPECT_EQ(first.read(rows, key(looked_at)), "<not_found>");
    ASSERT_EQ(first.transaction.end_statement(), ok);
    unhook_what_was_dropped();
    for (int i = 0; i < 40; ++i) {
      first.statement();
      ASSERT_EQ(first.insert(rows, key(looked_at + i), "new"), ok) << looked_at << " " << i;
      ASSERT_EQ(first.transaction.end_statement(), ok) << looked_at << " " << i;
    }
    EXPECT_EQ(first.commit(), ok) << looked_at;
  }
}

// Wherever it lies beside the transaction's own rows, and in whatever node by then.
TEST_F(UnhookingTest, WhatComesToTheHeirOfANodeIsAPhantom) {
  for (int looked_at = 0; looked_at < 150; looked_at += 7) {
    for (int place : {0, 20, 41}) {
      Relation& rows = engine.create_relation();
      for (int i = 0; i < 200; ++i) second.store(rows, key(i), "old");
      for (int i = 0; i < 200; ++i) second.drop(rows, key(i));
      first.begin(TransactionMode::interactive);
      EXPECT_EQ(first.read(rows, key(looked_at + place)), "<not_found>");
      unhook_what_was_dropped();
      for (int i = 1; i < 41; ++i) {
        if (i == place) continue;
        ASSERT_EQ(first.insert(rows, key(looked_at + i), "new"), ok) << looked_at << " " << i;
      }
      second.store(rows, key(looked_at + place), "phantom");
      EXPECT_NE(first.commit(), ok) << looked_at << " " << place;
    }
  }
}

// What a block has inserted there is what tells it that nobody else has: the statement cannot be
// taken back alone.
TEST_F(UnhookingTest, AStatementThatInsertedIntoTheHeirCannotBeUnwound) {
  for (bool removed : {false, true}) {
    Relation& rows = engine.create_relation();
    for (int i = 0; i < 200; ++i) second.store(rows, key(i), "old");
    for (int i = 0; i < 200; ++i) second.drop(rows, key(i));
    first.begin(TransactionMode::interactive);
    EXPECT_EQ(first.read(rows, key(100)), "<not_found>");
    ASSERT_EQ(first.transaction.end_statement(), ok);
    if (removed) unhook_what_was_dropped();
    first.statement();
    ASSERT_EQ(first.insert(rows, key(100), "new"), ok);
    if (removed) {
      EXPECT_NE(first.transaction.restart_statement(), ok);
    }
    first.transaction.abort();
  }
}

// A one-shot, which runs again, does without a guard.
TEST_F(UnhookingTest, ARecordThatWasLookedUpWithoutItsNodeMustNotGo) {
  for (const char* key : {"b", "d"}) {
    second.store(relation, key, "old");
    second.drop(relation, key);
    first.begin();
    EXPECT_EQ(first.read(relation, key), "<not_found>");
    unhook_what_was_dropped();
    second.store(relation, key, "new");
    EXPECT_EQ(first.put(relation, "a", "1"), ok);
    EXPECT_EQ(first.commit(), conflict_record);
  }
}

// So does a scan to which only the rows that it finds matter.
TEST_F(UnhookingTest, ARecordThatWasScannedWithoutItsNodeMustNotGo) {
  second.store(relation, "b", "old");
  second.drop(relation, "b");
  first.begin(TransactionMode::interactive);
  TransactionScan scan(first.transaction, relation, {}, ScanDirection::forward, first.buffer,
                       ReadPurpose::rows);
  while (scan.next(&first.row) == ok) {
  }
  unhook_what_was_dropped();
  second.store(relation, "b", "new");
  EXPECT_EQ(first.put(relation, "a", "1"), ok);
  EXPECT_EQ(first.commit(), conflict_record);
}

}  // namespace
}  // namespace pgsilo
