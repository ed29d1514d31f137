// Rows that are referred to (foreign keys): who may take them away meanwhile.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/two_sessions.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using testing::TwoSessionsTest;
using enum TransactionStatus;

class ReferenceTest : public TwoSessionsTest {
 protected:
  void SetUp() override { main.store(parents, "p", "0"); }

  static TransactionStatus refer(TestSession& session, Relation& parents) {
    return session.transaction.get(parents, "p", session.buffer, &session.row,
                                   ReadPurpose::referenced, {LockMode::key_share});
  }
  static TransactionStatus lock(TestSession& session, Relation& parents, LockMode mode) {
    return session.transaction.get(parents, "p", session.buffer, &session.row,
                                   ReadPurpose::for_update, {mode, WaitPolicy::no_wait});
  }

  Relation& parents = engine.create_relation();
  Relation& children = engine.create_relation();
};

TEST_F(ReferenceTest, AnUpdateOfTheRowDoesNotDisturb) {
  main.begin();
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  other.begin();
  ASSERT_EQ(other.put(parents, "p", "1"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(ReferenceTest, ADeleteDoes) {
  main.begin();
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  other.begin();
  ASSERT_EQ(other.erase(parents, "p"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_EQ(main.commit(), conflict_record);
  main.begin();
  EXPECT_EQ(refer(main, parents), not_found);
  main.transaction.abort();
}

// The one who has locked the row has looked for rows that refer to it, and has found none.
TEST_F(ReferenceTest, AOneShotWaitsForWhoHasLockedTheRowAgainstIt) {
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(other, parents, LockMode::update), ok);
  main.begin();
  EXPECT_EQ(refer(main, parents), must_wait);
  main.transaction.abort();
  ASSERT_EQ(other.commit(), ok);

  main.begin();
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(lock(other, parents, LockMode::update), ok);
  EXPECT_EQ(main.commit(), must_wait);  // although the row is as it was
  other.transaction.abort();
  EXPECT_EQ(main.transaction.wait_for_intent(), ok);
  main.begin();
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(lock(other, parents, LockMode::update), lock_not_available);  // it is main's turn
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  EXPECT_EQ(main.commit(), ok);
  other.transaction.abort();
}

// Who has locked the row alone holds nothing that keeps others from having the table to themselves.
TEST_F(ReferenceTest, ABlockFailsIfAnotherHasTheTableToHimself) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.lock_relation_exclusively(parents), ok);
  EXPECT_EQ(main.commit(), conflict_relation);
  other.transaction.abort();
}

TEST_F(ReferenceTest, WeakerLocksAreNoneOfItsBusiness) {
  for (LockMode mode : {LockMode::key_share, LockMode::share, LockMode::no_key_update}) {
    other.begin(TransactionMode::interactive);
    ASSERT_EQ(lock(other, parents, mode), ok);
    main.begin();
    ASSERT_EQ(refer(main, parents), ok);
    EXPECT_EQ(main.commit(), ok);
    main.begin();
    ASSERT_EQ(refer(main, parents), ok);
    ASSERT_EQ(main.put(children, "c", "p"), not_found);
    ASSERT_EQ(main.insert(children, std::to_string(static_cast<int>(mode)), "p"), ok);
    EXPECT_EQ(main.commit(), ok);
    other.transaction.abort();
  }
}

TEST_F(ReferenceTest, AnInteractiveTransactionLocksTheRow) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(refer(main, parents), ok);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(lock(other, parents, LockMode::no_key_update), ok);
  EXPECT_EQ(lock(other, parents, LockMode::update), lock_not_available);
  other.transaction.abort();
  other.begin();
  EXPECT_EQ(other.erase(parents, "p"), must_wait);
  other.transaction.abort();
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(ReferenceTest, NobodyWaitsForARowThatIsBeingInserted) {
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.erase(parents, "p"), ok);
  ASSERT_EQ(other.commit(), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.insert(parents, "p", "2"), ok);
  for (TransactionMode mode : {TransactionMode::one_shot, TransactionMode::interactive}) {
    main.begin(mode);
    EXPECT_EQ(refer(main, parents), not_found);
    EXPECT_EQ(main.transaction.validate(), ok);
    main.transaction.abort();
  }
  other.transaction.abort();
}

TEST_F(ReferenceTest, OnesOwnNewestVersionCounts) {
  main.begin();
  ASSERT_EQ(main.erase(parents, "p"), ok);
  EXPECT_EQ(refer(main, parents), not_found);
  ASSERT_EQ(main.transaction.continue_statement(), ok);
  ASSERT_EQ(main.insert(parents, "p", "3"), ok);
  EXPECT_EQ(refer(main, parents), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(ReferenceTest, AStatementThatGoesOnSeesWhatItHasWrittenAndIsUnwoundAsOne) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(parents, "p", "1"), ok);
  EXPECT_EQ(main.read(parents, "p"), "0");
  ASSERT_EQ(main.transaction.continue_statement(), ok);
  EXPECT_EQ(main.read(parents, "p"), "1");
  ASSERT_EQ(main.put(parents, "p", "2"), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  ASSERT_EQ(main.transaction.restart_statement(), ok);
  main.statement();
  EXPECT_EQ(main.read(parents, "p"), "0");
  EXPECT_EQ(main.get(children, "c"), not_found);
  EXPECT_EQ(main.commit(), ok);
}

// Who has the relation to itself takes no locks on its rows.
TEST_F(ReferenceTest, ARelationThatAnotherHasToItselfIsWaitedFor) {
  main.begin();
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.insert(children, "c", "p"), ok);
  other.begin(TransactionMode::interactive);
  ASSERT_EQ(other.transaction.lock_relation_exclusively(parents), ok);
  ASSERT_EQ(other.erase(parents, "p"), ok);
  EXPECT_EQ(main.commit(), must_wait);
  other.transaction.abort();
  EXPECT_EQ(main.transaction.wait_for_intent(), ok);
  main.begin();
  main.transaction.abort();
}

TEST_F(ReferenceTest, AOneShotThatBecomesInteractiveLocksWhatItHasReferredTo) {
  main.begin();
  ASSERT_EQ(refer(main, parents), ok);
  ASSERT_EQ(main.transaction.become_interactive(), ok);
  other.begin(TransactionMode::interactive);
  EXPECT_EQ(lock(other, parents, LockMode::update), lock_not_available);
  other.transaction.abort();
  main.transaction.abort();
}

// What is looked for may move; what was seen is forgotten once it was true at one moment.
TEST_F(ReferenceTest, APartOfAStatementIsTrueAtOneMomentAndForgotten) {
  main.begin(TransactionMode::interactive);
  Transaction::Part part = main.transaction.begin_part();
  EXPECT_EQ(main.read(parents, "p"), "0");
  EXPECT_EQ(main.get(children, "c"), not_found);
  other.begin();
  ASSERT_EQ(other.insert(children, "c", "p"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_NE(main.transaction.end_part(part), ok);
  part = main.transaction.begin_part();
  ASSERT_EQ(main.get(children, "c"), ok);
  EXPECT_EQ(main.transaction.end_part(part), ok);
  other.begin();
  ASSERT_EQ(other.erase(children, "c"), ok);
  ASSERT_EQ(other.put(parents, "p", "1"), ok);
  ASSERT_EQ(other.commit(), ok);
  ASSERT_EQ(main.insert(children, "d", ""), ok);
  EXPECT_EQ(main.commit(), ok);
}

}  // namespace
}  // namespace pgsilo
