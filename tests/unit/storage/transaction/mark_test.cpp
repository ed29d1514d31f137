// What goes with a rollback to a mark under READ COMMITTED: what was read and locked since, all of
// it or nothing.
#include <thread>

#include "storage/relation/relation.h"
#include "tests/unit/storage/transaction/two_sessions.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using enum TransactionStatus;

class MarkTest : public testing::TwoSessionsTest {
 protected:
  void SetUp() override {
    for (std::string_view key : {"a", "b", "c"}) main.store(relation, key, "0");
    other.settings.lock_timeout_us = 2000;
  }
  static void begin(TestSession& session, Isolation isolation = Isolation::read_committed) {
    session.transaction.begin(TransactionMode::interactive, isolation);
    session.statement();
  }
  // Ends the running statement as DDL, whose reads stay, or as any other.
  void end_statement(bool changes_catalog = false) {
    ASSERT_EQ(main.transaction.end_statement(changes_catalog), ok);
  }
  Transaction::Mark mark_and_begin() {
    Transaction::Mark mark = main.transaction.mark();
    main.statement();
    return mark;
  }
  void go_back(const Transaction::Mark& mark) {
    main.transaction.rollback_to(mark);
    main.transaction.forget_since(mark);
  }
  TransactionStatus change(std::string_view key) {
    begin(other);
    TransactionStatus status = other.put(relation, key, "other");
    if (status == ok) return other.commit();
    other.transaction.abort();
    return status;
  }

  Relation& relation = engine.create_relation();
};

TEST_F(MarkTest, LocksSinceGoAndOlderOnesStay) {
  begin(main);
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement();
  Transaction::Mark mark = mark_and_begin();
  ASSERT_EQ(main.put(relation, "a", "2"), ok);
  ASSERT_EQ(main.put(relation, "b", "2"), ok);
  ASSERT_EQ(main.insert(relation, "d", "2"), ok);
  end_statement();
  EXPECT_EQ(change("b"), lock_timeout);
  go_back(mark);
  EXPECT_EQ(change("a"), lock_timeout);
  EXPECT_EQ(change("b"), ok);
  other.store(relation, "d", "other");
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(main.peek(relation), "a=1 b=other c=0 d=other");
}

// A statement that failed has not ended.
TEST_F(MarkTest, WhatAFailedStatementHasReadGoes) {
  begin(main);
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement();
  Transaction::Mark mark = mark_and_begin();
  EXPECT_EQ(main.scan(relation), "a=1 b=0 c=0");
  ASSERT_EQ(main.put(relation, "c", "1"), ok);
  go_back(mark);
  EXPECT_EQ(main.transaction.registered_reads(), 0u);
  EXPECT_EQ(change("c"), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(MarkTest, WhatDdlHasReadGoes) {
  begin(main);
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement();
  Transaction::Mark mark = mark_and_begin();
  EXPECT_EQ(main.scan(relation), "a=1 b=0 c=0");
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  end_statement(/*changes_catalog=*/true);
  EXPECT_NE(main.transaction.registered_reads(), 0u);
  go_back(mark);
  EXPECT_EQ(main.transaction.registered_reads(), 0u);
  EXPECT_EQ(change("b"), ok);
  main.statement();
  EXPECT_EQ(main.read(relation, "b"), "other");
  end_statement();
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(MarkTest, WhatAStatementHasReadThatFailedBehindDdlGoes) {
  begin(main);
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement();
  Transaction::Mark mark = mark_and_begin();
  EXPECT_EQ(main.scan(relation), "a=1 b=0 c=0");
  end_statement(/*changes_catalog=*/true);
  main.statement();
  EXPECT_EQ(main.scan(relation), "a=1 b=0 c=0");
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  go_back(mark);
  EXPECT_EQ(change("b"), ok);
  EXPECT_EQ(main.commit(), ok);
}

// Older DDL that has nothing to do with it holds up nobody.
TEST_F(MarkTest, WhatAFailedStatementHasReadBesideOlderDdlGoes) {
  Relation& second = engine.create_relation();
  begin(main);
  EXPECT_EQ(main.scan(second), "");
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement(/*changes_catalog=*/true);
  Transaction::Mark mark = mark_and_begin();
  EXPECT_EQ(main.scan(relation), "a=1 b=0 c=0");
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  go_back(mark);
  EXPECT_EQ(change("b"), ok);
  EXPECT_EQ(main.commit(), ok);
}

// DDL of before the mark has found no "bb", and that rests on what was inserted beside it since.
TEST_F(MarkTest, WhatOlderDdlHasReadStays) {
  begin(main);
  EXPECT_EQ(main.scan(relation), "a=0 b=0 c=0");
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement(/*changes_catalog=*/true);
  size_t reads = main.transaction.registered_reads();
  Transaction::Mark mark = mark_and_begin();
  ASSERT_EQ(main.insert(relation, "bb", "1"), ok);
  end_statement();
  go_back(mark);
  EXPECT_GT(main.transaction.registered_reads(), reads);
  begin(other);
  EXPECT_EQ(other.insert(relation, "bb", "other"), lock_timeout);
  other.transaction.abort();
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(MarkTest, UnderSerializableEverythingStays) {
  begin(main, Isolation::serializable);
  Transaction::Mark mark = mark_and_begin();
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  end_statement();
  go_back(mark);
  EXPECT_NE(main.transaction.registered_reads(), 0u);
  EXPECT_EQ(change("b"), lock_timeout);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(MarkTest, RelationsGoInEveryMode) {
  Relation& second = engine.create_relation();
  begin(main);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  Transaction::Mark mark = mark_and_begin();
  ASSERT_EQ(main.transaction.lock_relation_exclusively(second), ok);
  ASSERT_EQ(main.transaction.lock_relation(relation, LockMode::share), ok);
  EXPECT_EQ(main.scan(second), "");
  end_statement();
  go_back(mark);
  EXPECT_EQ(uses(second), 0u);
  EXPECT_EQ(uses(relation), 1u);
  EXPECT_FALSE(main.transaction.lock_owner().excludes_any());
  other.store(second, "a", "0");
  // What is read of it from here on is registered again.
  main.statement();
  EXPECT_EQ(main.scan(second), "a=0");
  EXPECT_NE(main.transaction.registered_reads(), 0u);
  end_statement();
  EXPECT_EQ(main.commit(), ok);
}

// Commit asks for the locks of what rows refer to; these rows have gone.
TEST_F(MarkTest, WhatWasReferredToNeedsNoLockAnyMore) {
  Relation& parent = engine.create_relation();
  main.store(parent, "p", "0");
  begin(main);
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  end_statement();
  Transaction::Mark mark = mark_and_begin();
  ASSERT_EQ(main.transaction.lock_relation(parent, LockMode::row_share), ok);
  ASSERT_EQ(main.transaction.get(parent, "p", main.buffer, &main.row, ReadPurpose::referenced,
                                 {LockMode::key_share}),
            ok);
  end_statement();
  go_back(mark);
  begin(other);
  ASSERT_EQ(other.transaction.lock_relation_exclusively(parent), ok);
  EXPECT_EQ(main.commit(), ok);
  other.transaction.abort();
}

// --- rows that have gone while somebody waited for them ---

class GoneRowTest : public MarkTest {
 protected:
  // `main` deletes "a" while `other` does `wait`; whether a third one can insert it then.
  template <typename Wait>
  TransactionStatus insert_after(Isolation isolation, Wait wait) {
    begin(main);
    EXPECT_EQ(main.erase(relation, "a"), ok);
    end_statement();
    other.settings.lock_timeout_us = 0;
    begin(other, isolation);
    RowRef seen;
    RowBuffer buffer(other.arena);
    EXPECT_EQ(other.transaction.get(relation, "a", buffer, &seen), ok);
    std::thread waiter([&] { EXPECT_EQ(wait(seen), not_found); });
    LockTag tag = LockTag::of(seen.record);
    while (engine.locks.waiters(tag) == 0) std::this_thread::yield();
    EXPECT_EQ(main.commit(), ok);
    waiter.join();
    TestSession third(engine);
    third.settings.lock_timeout_us = 2000;
    begin(third);
    TransactionStatus status = third.insert(relation, "a", "third");
    if (status == ok) status = third.commit();
    other.transaction.abort();
    return status;
  }
};

TEST_F(GoneRowTest, IsNotLockedUnderReadCommitted) {
  auto get = [this](const RowRef&) { return other.get(relation, "a", ReadPurpose::for_update); };
  auto lock = [this](const RowRef& seen) {
    RowRef row = seen;
    return other.transaction.lock_row(&row, other.buffer, {LockMode::no_key_update});
  };
  ASSERT_EQ(insert_after(Isolation::read_committed, get), ok);
  ASSERT_EQ(insert_after(Isolation::read_committed, lock), ok);
  EXPECT_EQ(insert_after(Isolation::serializable, get), lock_timeout);
}

}  // namespace
}  // namespace pgsilo
