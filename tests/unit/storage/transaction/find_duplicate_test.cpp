// What ON CONFLICT looks at before it inserts.
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/storage/transaction/two_sessions.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using enum TransactionStatus;

class FindDuplicateTest : public testing::TwoSessionsTest {
 protected:
  void SetUp() override { main.store(relation, "a", "0"); }
  TransactionStatus find(TestSession& session, const char* key, bool answers = true) {
    return session.transaction.find_duplicate(relation, key, answers);
  }
  void wait_for_a_waiter(const char* key) {
    LockTag tag = LockTag::of(relation.tree().get(key).record);
    while (engine.locks.waiters(tag) != 1) std::this_thread::yield();
  }

  Relation& relation = engine.create_relation();
};

TEST_F(FindDuplicateTest, TellsOfRowsAndOwnWrites) {
  for (TransactionMode mode : {TransactionMode::one_shot, TransactionMode::interactive}) {
    main.begin(mode);
    EXPECT_EQ(find(main, "a"), duplicate_key);
    EXPECT_EQ(find(main, "b"), ok);
    EXPECT_EQ(main.insert(relation, "b", "1"), ok);
    EXPECT_EQ(find(main, "b"), duplicate_key);
    main.statement();
    EXPECT_EQ(main.erase(relation, "a"), ok);
    EXPECT_EQ(find(main, "a"), ok);
    main.transaction.abort();
  }
}

// That there is a row is an answer, and holds whatever becomes of its columns; that there is none
// is not.
TEST_F(FindDuplicateTest, ReadsOnlyWhatItAnswers) {
  for (bool answers : {true, false}) {
    main.begin(TransactionMode::interactive);
    size_t before = main.transaction.registered_reads();
    EXPECT_EQ(find(main, "b", answers), ok);
    EXPECT_EQ(main.transaction.registered_reads(), before);
    EXPECT_EQ(find(main, "a", answers), duplicate_key);
    EXPECT_EQ(main.transaction.registered_reads(), before + (answers ? 1 : 0));
    other.store(relation, "a", "1");
    other.store(relation, "b", "1");
    EXPECT_EQ(main.transaction.validate(), ok);
    other.drop(relation, "a");
    EXPECT_EQ(main.transaction.validate(), answers ? conflict_record : ok);
    main.transaction.abort();
    other.store(relation, "a", "0");
    other.drop(relation, "b");
  }
}

TEST_F(FindDuplicateTest, WaitsForWhoMakesOrRemovesTheRowAndKeepsNoLock) {
  for (bool removes : {false, true}) {
    for (bool commits : {false, true}) {
      const char* key = removes ? "a" : "b";
      other.begin(TransactionMode::interactive);
      EXPECT_EQ(removes ? other.erase(relation, key) : other.insert(relation, key, "1"), ok);
      main.begin();
      EXPECT_EQ(find(main, key), must_wait);  // holding nothing
      main.transaction.abort();
      if (removes) {
        main.begin(TransactionMode::interactive);
        EXPECT_EQ(find(main, key, /*answers=*/false), duplicate_key);
        main.transaction.abort();
      }
      std::thread waiting([&] {
        main.begin(TransactionMode::interactive);
        EXPECT_EQ(find(main, key), removes == commits ? ok : duplicate_key);
        EXPECT_FALSE(main.transaction.lock_owner().holds_any());
      });
      wait_for_a_waiter(key);
      if (commits) {
        EXPECT_EQ(other.commit(), ok);
      } else {
        other.transaction.abort();
      }
      waiting.join();
      EXPECT_TRUE(engine.locks.list().empty());
      main.transaction.abort();
      if (commits) removes ? main.store(relation, "a", "0") : main.drop(relation, "b");
    }
  }
}

// What was inserted and taken back is still locked, by nobody but oneself.
TEST_F(FindDuplicateTest, DoesNotWaitForOwnLocks) {
  main.begin(TransactionMode::interactive);
  Transaction::Mark mark = main.transaction.mark();
  EXPECT_EQ(main.insert(relation, "b", "1"), ok);
  main.transaction.rollback_to(mark);
  EXPECT_EQ(find(main, "b"), ok);
  EXPECT_EQ(main.transaction.lock_owner().lock_count(), 1u);
  EXPECT_EQ(main.commit(), ok);
}

}  // namespace
}  // namespace pgsilo
