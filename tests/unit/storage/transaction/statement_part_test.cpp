// Reads that are forgotten before the commit: those of a part of a statement (foreign keys'
// actions) and, under READ COMMITTED, those of a statement. Nothing may go with them that something
// else rests on.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class StatementPartTest : public ::testing::Test {
 protected:
  // A node that the next key splits.
  void SetUp() override {
    for (char key = 'a'; key < 'a' + 15; ++key) main.store(relation, std::string(1, key), "0");
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
  Relation& second = engine.create_relation();
};

TEST_F(StatementPartTest, APartThatWasDisturbedSaysSo) {
  main.begin(TransactionMode::interactive);
  Transaction::Part part = main.transaction.begin_part();
  main.scan(relation);
  other.store(relation, "n1", "new");
  EXPECT_EQ(main.transaction.end_part(part), conflict_node);
  part = main.transaction.begin_part();
  main.read(relation, "a");
  other.store(relation, "a", "1");
  EXPECT_EQ(main.transaction.end_part(part), conflict_record);
  part = main.transaction.begin_part();
  EXPECT_EQ(main.read(relation, "a"), "1");
  EXPECT_EQ(main.transaction.end_part(part), ok);
  // Forgotten: what comes now is no business of ours.
  other.store(relation, "a", "2");
  EXPECT_EQ(main.insert(second, "x", "1"), ok);
  EXPECT_EQ(main.commit(), ok);
}

// What the older node covered is covered by nodes of the part now: they must not be forgotten.
TEST_F(StatementPartTest, APartThatSplitsANodeReadBeforeItIsNotForgotten) {
  main.begin(TransactionMode::interactive);
  main.scan(relation);
  Transaction::Part part = main.transaction.begin_part();
  ASSERT_EQ(main.insert(relation, "aa", "1"), ok);
  EXPECT_EQ(main.transaction.end_part(part), ok);
  other.store(relation, "z", "phantom");  // into the new node
  EXPECT_EQ(main.commit(), conflict_node);
  // And so it cannot be read again when it was disturbed.
  main.begin(TransactionMode::interactive);
  main.scan(second);
  part = main.transaction.begin_part();
  ASSERT_EQ(main.insert(second, "x", "1"), ok);
  main.read(relation, "a");
  other.store(relation, "a", "1");
  EXPECT_EQ(main.transaction.end_part(part), conflict_lock);
  main.transaction.abort();
}

TEST_F(StatementPartTest, APartThatSplitsOnlyWhatItReadItselfIs) {
  main.begin(TransactionMode::interactive);
  Transaction::Part part = main.transaction.begin_part();
  main.scan(relation);
  ASSERT_EQ(main.insert(relation, "aa", "1"), ok);
  EXPECT_EQ(main.transaction.end_part(part), ok);
  other.store(relation, "z", "1");
  EXPECT_EQ(main.commit(), ok);
}

// A one-shot holds no locks on what it has written when it becomes interactive in the middle of a
// statement: what that has read must be true at the commit, at whatever level.
TEST_F(StatementPartTest, WhatBeganAsAOneShotIsNotForgottenUnderReadCommitted) {
  for (bool begins_interactive : {false, true}) {
    main.transaction.begin(
        begins_interactive ? TransactionMode::interactive : TransactionMode::one_shot,
        Isolation::read_committed);
    main.statement();
    main.read(relation, "a");
    ASSERT_EQ(main.insert(second, begins_interactive ? "y" : "x", "1"), ok);
    ASSERT_EQ(main.transaction.become_interactive(), ok);
    ASSERT_EQ(main.transaction.end_statement(), ok);
    other.store(relation, "a", begins_interactive ? "2" : "1");
    EXPECT_EQ(main.commit(), begins_interactive ? ok : conflict_record);
  }
}

}  // namespace
}  // namespace pgsilo
