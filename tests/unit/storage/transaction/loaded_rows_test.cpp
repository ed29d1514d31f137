// Rows that lie in their records before their transaction has committed (loaded_rows.h): nobody
// sees them early, and whatever comes between them and the commit, none is lost or doubled.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "storage/transaction/lock_list.h"
#include "tests/unit/catalog/failing_memory.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::RecordingSink;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class LoadedRowsTest : public ::testing::Test {
 protected:
  void begin() {
    loader.begin(TransactionMode::interactive);
    loader.transaction.expect_many_rows();
  }
  TransactionStatus load(int from, int to) {
    for (int i = from; i < to; ++i) {
      TransactionStatus status = loader.insert(relation, key(i), "row " + std::to_string(i));
      if (status != ok) return status;
    }
    return ok;
  }
  static std::string key(int i) { return std::to_string(100000 + i); }
  // How many rows another transaction sees.
  int seen() {
    other.begin();
    int count = 0;
    for (int i = 0; i < many; ++i) count += other.get(relation, key(i)) == ok;
    other.transaction.abort();
    return count;
  }
  void expect_no_lock_left() { EXPECT_TRUE(engine.locks.list().empty()); }

  static constexpr int many = 10000;  // more than are logged at once
  TestEngine engine;
  RecordingSink sink;
  TestSession loader{engine, sink};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(LoadedRowsTest, TheCommitMakesThemPresent) {
  begin();
  ASSERT_EQ(load(0, many), ok);
  EXPECT_EQ(seen(), 0);
  EXPECT_EQ(loader.transaction.written_records(), size_t{many});
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), many);
  EXPECT_EQ(relation.row_count(), many);
  other.begin();
  EXPECT_EQ(other.read(relation, key(7)), "row 7");
  EXPECT_EQ(other.put(relation, key(7), "other"), ok);
  EXPECT_EQ(other.commit(), ok);
  size_t logged = 0;
  for (const auto& unit : sink.log) logged += unit.entries.size();
  EXPECT_EQ(logged, size_t{many});
  EXPECT_TRUE(sink.within_reservation);
}

TEST_F(LoadedRowsTest, AnAbortLeavesNothing) {
  const size_t before = relation.memory_bytes(MemoryKind::rows);
  begin();
  ASSERT_EQ(load(0, many), ok);
  loader.transaction.abort();
  EXPECT_EQ(seen(), 0);
  for (int i = 0; i < many; ++i) loader.worker.housekeep();
  EXPECT_EQ(relation.memory_bytes(MemoryKind::rows), before);
  begin();
  ASSERT_EQ(load(0, many), ok);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), many);
}

TEST_F(LoadedRowsTest, KeysAreUnique) {
  loader.store(relation, key(50), "old");
  begin();
  ASSERT_EQ(load(0, 50), ok);
  EXPECT_EQ(load(20, 21), duplicate_key);
  EXPECT_EQ(load(50, 51), duplicate_key);
  EXPECT_EQ(loader.transaction.find_duplicate(relation, key(20), true), duplicate_key);
  loader.transaction.abort();
  expect_no_lock_left();
}

TEST_F(LoadedRowsTest, TheNextCommandSeesThem) {
  begin();
  ASSERT_EQ(load(0, many), ok);
  EXPECT_EQ(loader.read(relation, key(3)), "<not_found>");  // its own command does not
  loader.statement();
  EXPECT_EQ(loader.read(relation, key(3)), "row 3");
  EXPECT_EQ(loader.put(relation, key(3), "changed"), ok);
  EXPECT_EQ(loader.erase(relation, key(4)), ok);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), many - 1);
  other.begin();
  EXPECT_EQ(other.read(relation, key(3)), "changed");
  other.transaction.abort();
}

TEST_F(LoadedRowsTest, ASavepointKeepsThem) {
  begin();
  ASSERT_EQ(load(0, 100), ok);
  ASSERT_EQ(loader.transaction.settle(), ok);
  Transaction::Mark mark = loader.transaction.mark();
  loader.statement();
  loader.transaction.expect_many_rows();
  ASSERT_EQ(load(100, 200), ok);
  loader.transaction.rollback_to(mark);
  loader.statement();
  ASSERT_EQ(load(200, 300), ok);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), 200);
  expect_no_lock_left();
}

// What came before is looked at when the rows are there, and they are taken back with it.
TEST_F(LoadedRowsTest, AStatementOfABlockLoadsToo) {
  loader.store(relation, key(0), "old");
  loader.begin(TransactionMode::interactive);
  EXPECT_EQ(loader.put(relation, key(0), "new"), ok);
  loader.statement();
  loader.transaction.expect_many_rows();
  ASSERT_EQ(load(1, many), ok);
  EXPECT_EQ(load(0, 1), duplicate_key);
  // All of them at once: no entry of a set for each.
  EXPECT_LT(loader.transaction.bookkeeping_bytes(), many * Transaction::bytes_per_write);
  EXPECT_EQ(seen(), 1);
  ASSERT_EQ(loader.transaction.end_statement(), ok);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), many);
  expect_no_lock_left();
}

TEST_F(LoadedRowsTest, ReadsBeforeThemAreValidated) {
  loader.store(relation, key(0), "old");
  loader.begin(TransactionMode::interactive);
  EXPECT_EQ(loader.read(relation, key(0)), "old");
  loader.statement();
  loader.transaction.expect_many_rows();
  ASSERT_EQ(load(1, 10), ok);
  other.store(relation, key(0), "changed");
  EXPECT_EQ(loader.transaction.end_statement(), conflict_record);
  loader.transaction.abort();
  EXPECT_EQ(seen(), 1);
}

// An older statement that goes on, a cursor's, meets them: they stay those of the later one.
TEST_F(LoadedRowsTest, OlderStatementsDoNotSeeThem) {
  loader.begin(TransactionMode::interactive);
  CommandId first = loader.transaction.command();
  loader.statement();
  CommandId second = loader.transaction.command();
  loader.statement();
  loader.transaction.expect_many_rows();
  ASSERT_EQ(load(0, 10), ok);
  ASSERT_EQ(loader.transaction.end_statement(), ok);
  for (CommandId older : {first, second}) {
    loader.transaction.resume_statement(older);
    EXPECT_EQ(loader.read(relation, key(3)), "<not_found>");
  }
  loader.statement();
  EXPECT_EQ(loader.read(relation, key(3)), "row 3");
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), 10);
}

// Behind a savepoint their COPY has told that there was no such row, which must stay true when it
// is taken back; READ COMMITTED does not promise that.
TEST_F(LoadedRowsTest, WhatASavepointTakesBackStaysTrue) {
  for (Isolation isolation : {Isolation::serializable, Isolation::read_committed}) {
    loader.transaction.begin(TransactionMode::interactive, isolation);
    Transaction::Mark mark = loader.transaction.mark();
    loader.statement();
    loader.transaction.expect_many_rows();
    ASSERT_EQ(load(0, 10), ok);
    ASSERT_EQ(loader.transaction.end_statement(), ok);
    loader.transaction.rollback_to(mark);
    loader.transaction.release_locks_since(mark);
    EXPECT_EQ(seen(), 0);
    other.store(relation, key(5), "other's");
    loader.statement();
    ASSERT_EQ(loader.insert(relation, key(20), "mine"), ok);
    bool promises = isolation == Isolation::serializable;
    EXPECT_EQ(loader.commit(), promises ? conflict_unique : ok);
    expect_no_lock_left();
    other.drop(relation, key(5));
  }
}

TEST_F(LoadedRowsTest, TheyComeToWhoHasLookedForThem) {
  other.begin();
  EXPECT_EQ(other.get(relation, key(9)), not_found);
  EXPECT_EQ(other.insert(relation, "other", "row"), ok);
  begin();
  ASSERT_EQ(load(0, 10), ok);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(other.commit(), conflict_node);
}

// Rows of others come, and nodes go, between two of them.
TEST_F(LoadedRowsTest, OthersChangeTheTreeMeanwhile) {
  constexpr int each = 40;  // more than a node's
  begin();
  for (int from = 0; from < many; from += each) {
    ASSERT_EQ(load(from, from + each / 2), ok);
    for (int i = from + each / 2; i < from + each; ++i) other.store(relation, key(i), "other's");
    for (int i = from + each / 2; i < from + each; ++i) other.drop(relation, key(i));
    engine.make_durable();
    while (other.worker.housekeep()) {
    }
  }
  EXPECT_EQ(relation.tree().check(), "");
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), many / 2);
  EXPECT_EQ(relation.row_count(), many / 2);
}

// A row whose key has a record already goes the ordinary way: nothing stays of the relation then.
TEST_F(LoadedRowsTest, RelationsThatGotNoneAreForgotten) {
  loader.store(relation, key(1), "old");
  begin();
  ASSERT_EQ(loader.erase(relation, key(1)), ok);
  loader.statement();
  loader.transaction.expect_many_rows();
  ASSERT_EQ(load(1, 2), ok);
  ASSERT_EQ(loader.commit(), ok);
  // Who keeps writers out of it does not stop a load elsewhere.
  Relation& elsewhere = engine.create_relation();
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.lock_relation(relation, LockMode::share), ok);
  begin();
  ASSERT_EQ(loader.insert(elsewhere, "k", "row"), ok);
  EXPECT_EQ(loader.commit(), ok);
  other.transaction.abort();
}

// So that it has the room for them when they commit.
TEST_F(LoadedRowsTest, TheLogIsToldOfThemEarly) {
  begin();
  ASSERT_EQ(load(0, many), ok);
  EXPECT_EQ(sink.expected_entries, 0U);
  ASSERT_EQ(load(many, 70000), ok);
  EXPECT_GT(sink.expected_entries, 60000U);
  EXPECT_GT(sink.expected_bytes, sink.expected_entries * 10);
  loader.transaction.abort();
  EXPECT_EQ(sink.expected_entries, 0U);
}

TEST_F(LoadedRowsTest, TheLogHearsWhenTheyHaveGone) {
  loader.transaction.begin(TransactionMode::interactive, Isolation::read_committed);
  loader.statement();
  auto savepoint = loader.transaction.mark();
  loader.statement();
  loader.transaction.expect_many_rows();
  ASSERT_EQ(load(0, 70000), ok);
  EXPECT_GT(sink.expected_entries, 0U);
  loader.transaction.rollback_to(savepoint);
  EXPECT_EQ(sink.expected_entries, 0U);
  ASSERT_EQ(loader.commit(), ok);
}

TEST_F(LoadedRowsTest, AnotherInserterWaits) {
  for (bool commits : {true, false}) {
    begin();
    ASSERT_EQ(load(0, 10), ok);
    TransactionStatus status = ok;
    std::thread rival([&] {
      other.begin(TransactionMode::interactive);
      status = other.insert(relation, key(5), "rival");
      other.transaction.abort();
    });
    while (engine.locks.list().size() < 2) std::this_thread::yield();  // he and whom he waits for
    if (commits) {
      ASSERT_EQ(loader.commit(), ok);
    } else {
      loader.transaction.abort();
    }
    rival.join();
    EXPECT_EQ(status, commits ? duplicate_key : ok);
    expect_no_lock_left();
    if (commits) {
      EXPECT_EQ(seen(), 10);
      for (int i = 0; i < 10; ++i) other.drop(relation, key(i));
    }
  }
}

// Of some the lock is in the table when the next command comes.
TEST_F(LoadedRowsTest, WhatOthersHaveAskedForIsSettledToo) {
  begin();
  ASSERT_EQ(load(0, 100), ok);
  TestSession rival(engine);
  for (int i = 0; i < 100; i += 3) {
    rival.begin();
    EXPECT_EQ(rival.insert(relation, key(i), "rival"), must_wait);
    rival.transaction.abort();
    Record* record = relation.tree().get(key(i)).record;
    EXPECT_EQ(engine.locks.acquire(rival.transaction.lock_owner(), record, LockMode::key_share,
                                   WaitPolicy::no_wait, {}),
              lock_not_available);
  }
  EXPECT_EQ(load(3, 4), duplicate_key);
  loader.statement();
  EXPECT_EQ(loader.put(relation, key(3), "mine"), ok);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), 100);
  expect_no_lock_left();
}

TEST_F(LoadedRowsTest, LargeRowsGoTheOrdinaryWay) {
  begin();
  ASSERT_EQ(load(0, 10), ok);
  const std::string large(100000, 'l');
  ASSERT_EQ(loader.insert(relation, key(10), large), ok);
  EXPECT_EQ(loader.insert(relation, key(10), "again"), duplicate_key);
  ASSERT_EQ(loader.commit(), ok);
  EXPECT_EQ(seen(), 11);
}

TEST_F(LoadedRowsTest, NothingIsLostWithoutMemory) {
  for (int succeed = 0;; ++succeed) {
    begin();
    bool failed = false;
    TransactionStatus status = ok;
    {
      testing::FailingMemory memory(succeed, testing::FailingMemory::Fails::once);
      status = load(0, 40);
      if (status == ok) status = loader.transaction.begin_statement();
      if (status == ok) status = loader.put(relation, key(1), "changed");
      failed = memory.has_failed();
    }
    if (status != ok) {
      EXPECT_EQ(status, out_of_memory);
      loader.transaction.abort();
      EXPECT_EQ(seen(), 0);
      expect_no_lock_left();
      continue;
    }
    ASSERT_EQ(loader.commit(), ok);
    EXPECT_EQ(seen(), 40);
    for (int i = 0; i < 40; ++i) other.drop(relation, key(i));
    if (!failed) break;
  }
}

}  // namespace
}  // namespace pgsilo
