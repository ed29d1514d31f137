// What a statement of a block has read was so already when the block validated last, mostly: then
// its end costs nothing, however much the block has read (docs/commit_protocol.md, Statements).
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class StatementCoverageTest : public ::testing::Test {
 protected:
  void SetUp() override { second.store(witness, "w", "0"); }

  // A block validates, then others do something and change what it has read. True if the end of a
  // statement that then does `act` looks only at what that has read.
  bool is_covered(const std::function<void()>& others_do, const std::function<void()>& act) {
    engine.epochs.advance();
    first.begin(TransactionMode::interactive);
    EXPECT_NE(first.read(witness, "w"), "<not_found>");
    EXPECT_EQ(first.transaction.end_statement(), ok);
    first.statement();
    EXPECT_NE(first.read(witness, "w"), "<not_found>");
    EXPECT_EQ(first.transaction.end_statement(), ok);
    others_do();
    second.store(witness, "w", "changed");
    first.statement();
    act();
    bool covered = first.transaction.end_statement() == ok;
    first.transaction.abort();
    return covered;
  }
  bool is_covered(const std::function<void()>& act) {
    return is_covered([] {}, act);
  }

  void drop_whole(Relation& rows, std::string_view key) {
    second.drop(rows, key);
    engine.make_durable();
    while (!second.worker.unhooks().empty()) second.worker.housekeep();
    EXPECT_EQ(rows.tree().get(key).record, nullptr);
  }

  void exclude_others() {
    EXPECT_EQ(
        first.transaction.lock_relation(relation, LockMode::access_exclusive, WaitPolicy::wait),
        ok);
  }

  TestEngine engine;
  TestSession first{engine};
  TestSession second{engine};
  Relation& witness = engine.create_relation();
  Relation& relation = engine.create_relation();
};

TEST_F(StatementCoverageTest, OfKeysThatWereNeverThere) {
  second.store(relation, "a", "");
  EXPECT_TRUE(is_covered([&] { EXPECT_EQ(first.insert(relation, "b", ""), ok); }));
  EXPECT_TRUE(is_covered([&] { EXPECT_EQ(first.read(relation, "b"), "<not_found>"); }));
  EXPECT_TRUE(is_covered([&] { EXPECT_EQ(first.scan(relation), "a="); }));
}

TEST_F(StatementCoverageTest, OfInsertsIntoANodeThatTheBlockHasScanned) {
  EXPECT_TRUE(is_covered([&] {
    EXPECT_EQ(first.scan(relation), "");
    EXPECT_EQ(first.insert(relation, "b", ""), ok);
  }));
}

TEST_F(StatementCoverageTest, OfInsertsThatOthersGaveUp) {
  auto give_up = [&] {
    second.begin();
    EXPECT_EQ(second.insert(relation, "b", ""), ok);
    second.transaction.abort();
  };
  EXPECT_TRUE(is_covered(give_up, [&] { EXPECT_EQ(first.insert(relation, "b", ""), ok); }));
  EXPECT_TRUE(is_covered(give_up, [&] { EXPECT_EQ(first.scan(relation), ""); }));
}

TEST_F(StatementCoverageTest, OfRowsThatHadGoneBefore) {
  second.store(relation, "b", "");
  drop_whole(relation, "b");
  EXPECT_TRUE(is_covered([&] { EXPECT_EQ(first.insert(relation, "b", ""), ok); }));
  EXPECT_TRUE(is_covered([&] { EXPECT_EQ(first.read(relation, "b"), "<not_found>"); }));
}

TEST_F(StatementCoverageTest, NotOfRowsThatWereMade) {
  EXPECT_FALSE(is_covered([&] { second.store(relation, "b", ""); },
                          [&] { EXPECT_EQ(first.scan(relation), "b="); }));
}

// From now on its reads leave no trace.
TEST_F(StatementCoverageTest, NotOfTheStatementThatExcludesOthersFromARelation) {
  EXPECT_FALSE(is_covered([&] { exclude_others(); }));
}

TEST_F(StatementCoverageTest, NotOfOneThatReadsTheRelationBesides) {
  EXPECT_FALSE(is_covered([&] {
    exclude_others();
    EXPECT_EQ(first.read(relation, "b"), "<not_found>");
  }));
}

// What it has registered stays, and is not registered again.
TEST_F(StatementCoverageTest, NotBehindAStatementThatHasFailed) {
  auto fail = [&] {
    EXPECT_EQ(first.scan(relation), "");
    first.statement();
  };
  auto drop = [&] { drop_whole(relation, "b"); };
  second.store(relation, "b", "");
  EXPECT_FALSE(is_covered(drop, [&] {
    fail();
    EXPECT_EQ(first.read(relation, "b"), "<not_found>");
  }));
  EXPECT_FALSE(is_covered([&] { second.store(relation, "c", ""); },
                          [&] {
                            EXPECT_EQ(first.read(relation, "c"), "");
                            first.statement();
                          }));
}

// Of rows that go: in whatever node their keys lie by the time somebody looks.
class GoneRowsTest : public StatementCoverageTest,
                     public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr int count = 120;
  // With a common beginning or two: in layers of the tree below the first.
  std::string key(int i) { return GetParam() + std::to_string(1000 + i); }
  std::string between(int i, int place) { return key(i) + " " + std::to_string(1000 + place); }

  Relation& filled() {
    Relation& rows = engine.create_relation();
    for (int i = 0; i < count; ++i) second.store(rows, key(i), "");
    return rows;
  }
  void expect_not_covered(const std::function<void(Relation&, int)>& others_do) {
    for (int i = 0; i < count; i += 7) {
      Relation& rows = filled();
      EXPECT_FALSE(is_covered([&] { others_do(rows, i); },
                              [&] { EXPECT_EQ(first.insert(rows, key(i), ""), ok); }))
          << i;
      Relation& others = filled();
      EXPECT_FALSE(is_covered([&] { others_do(others, i); },
                              [&] { EXPECT_EQ(first.read(others, key(i)), "<not_found>"); }))
          << i;
    }
  }
};

TEST_P(GoneRowsTest, OneAlone) {
  expect_not_covered([&](Relation& rows, int i) { drop_whole(rows, key(i)); });
}

TEST_P(GoneRowsTest, WithAllItsNeighbours) {
  expect_not_covered([&](Relation& rows, int) {
    for (int k = 0; k < count; ++k) drop_whole(rows, key(k));
  });
  expect_not_covered([&](Relation& rows, int) {
    for (int k = count; k-- > 0;) drop_whole(rows, key(k));
  });
}

// Its left neighbour, from which nothing has gone, is the heir.
TEST_P(GoneRowsTest, WithAllOfItsNode) {
  expect_not_covered([&](Relation& rows, int i) {
    auto node_of = [&](int k) { return rows.tree().get(key(k)).node.node; };
    int first = i, last = i;
    while (first > 0 && node_of(first - 1) == node_of(i)) --first;
    while (last + 1 < count && node_of(last + 1) == node_of(i)) ++last;
    for (int k = first; k <= last; ++k) drop_whole(rows, key(k));
  });
}

TEST_P(GoneRowsTest, ThenItsNodeSplits) {
  expect_not_covered([&](Relation& rows, int i) {
    drop_whole(rows, key(i));
    for (int place = 0; place < 40; ++place) {
      if (i > 0) second.store(rows, between(i - 1, place), "");
      second.store(rows, between(i, place), "");
    }
  });
}

TEST_P(GoneRowsTest, ThenItsNodeGoesWithAllAndOthersCome) {
  expect_not_covered([&](Relation& rows, int i) {
    for (int k = 0; k < count; ++k) drop_whole(rows, key(k));
    for (int place = 0; place < 40; ++place) second.store(rows, between(i, place), "");
  });
}

INSTANTIATE_TEST_SUITE_P(Layers, GoneRowsTest,
                         ::testing::Values("", "8 bytes.", "8 bytes.and more, of two more layers"));

}  // namespace
}  // namespace pgsilo
