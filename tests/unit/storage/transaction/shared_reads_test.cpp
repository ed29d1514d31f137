// Transaction::share_reads and scans that register rows only: what index builds rest on.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class SharedReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* key : {"a", "b", "c"}) main.store(rows, key, "0");
  }
  // Reads all rows and is about to insert an entry.
  void read_and_write(const char* entry) {
    main.begin();
    ASSERT_EQ(main.transaction.share_reads(rows), ok);
    TransactionScan scan(main.transaction, rows, {}, ScanDirection::forward, main.buffer,
                         ReadPurpose::rows);
    while (scan.next(&main.row) == ok) {
    }
    ASSERT_EQ(main.insert(entries, entry, "a"), ok);
  }
  TransactionStatus lock(const char* key, LockMode mode) {
    return other.transaction.get(rows, key, other.buffer, &other.row, ReadPurpose::for_update,
                                 {mode, WaitPolicy::no_wait});
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  Relation& rows = engine.create_relation();
  Relation& entries = engine.create_relation();
};

TEST_F(SharedReadsTest, WhoHasLockedARowComesFirst) {
  for (bool before : {true, false}) {
    for (LockMode mode : {LockMode::no_key_update, LockMode::update}) {
      if (!before) read_and_write("e");
      other.begin(TransactionMode::interactive);
      ASSERT_EQ(lock("b", mode), ok);
      if (before) read_and_write("e");
      EXPECT_EQ(main.commit(), must_wait);
      other.transaction.abort();
      EXPECT_EQ(main.transaction.wait_for_intent(), ok);
      main.begin();
      other.begin(TransactionMode::interactive);
      EXPECT_EQ(lock("b", mode), lock_not_available);  // it is main's turn
      other.transaction.abort();
      main.transaction.abort();
    }
  }
}

TEST_F(SharedReadsTest, WeakerLocksDoNotDisturb) {
  for (LockMode mode : {LockMode::key_share, LockMode::for_share}) {
    other.begin(TransactionMode::interactive);
    ASSERT_EQ(lock("b", mode), ok);
    read_and_write(mode == LockMode::key_share ? "e" : "f");
    EXPECT_EQ(main.commit(), ok);
    other.transaction.abort();
  }
}

TEST_F(SharedReadsTest, NorDoNewNeighbours) {
  read_and_write("e");
  other.begin();
  ASSERT_EQ(other.insert(rows, "bb", "0"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(SharedReadsTest, AChangedRowIsAConflict) {
  read_and_write("e");
  other.begin();
  ASSERT_EQ(other.put(rows, "b", "1"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_EQ(main.commit(), conflict_record);
}

// Who has the relation to himself locks no rows.
TEST_F(SharedReadsTest, TheGateIsLookedAt) {
  read_and_write("e");
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.lock_relation_exclusively(rows), ok);
  EXPECT_EQ(main.commit(), must_wait);
  other.transaction.abort();
  EXPECT_EQ(main.transaction.wait_for_intent(), ok);
  main.begin();
  main.transaction.abort();
}

// The next transaction of the session is an ordinary one.
TEST_F(SharedReadsTest, LastsOneTransaction) {
  read_and_write("e");
  ASSERT_EQ(main.commit(), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(lock("b", LockMode::update), ok);
  main.begin();
  ASSERT_EQ(main.transaction.get(rows, "b", main.buffer, &main.row), ok);
  ASSERT_EQ(main.insert(entries, "f", "b"), ok);
  EXPECT_EQ(main.commit(), ok);
  other.transaction.abort();
}

}  // namespace
}  // namespace pgsilo
