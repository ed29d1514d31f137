// READ COMMITTED: the locks that go with a savepoint, and those on rows that turn out to be gone.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class SavepointLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other}) {
      client->start();
      client->ask(query("set default_transaction_isolation = 'read committed'"));
    }
    other.ask(query("set lock_timeout = '20ms'"));
    drop();
    one.ask(query("create table lock_other (id int)"));
    one.ask(query("create table lock_parent (id int primary key)"));
    one.ask(
        query("create table lock_test (id int primary key, code int unique, v int, "
              "p int references lock_parent deferrable)"));
    one.ask(query("insert into lock_parent select i from generate_series(1, 3) i"));
    one.ask(query("insert into lock_test select i, i, 0 from generate_series(1, 4) i"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other}) client->ask(query("rollback"));
    drop();
  }
  void drop() {
    one.ask(query("drop table if exists lock_made, lock_other, lock_test, lock_parent"));
  }
  void run(const std::vector<std::string>& statements) {
    for (const std::string& statement : statements)
      EXPECT_EQ(one.ask(query(statement)), "CZT") << statement;
  }
  // What the other session is told of a transaction with this statement, which is taken back.
  std::string attempt(const std::string& statement) {
    other.ask(query("begin"));
    std::string told = other.ask(query(statement));
    other.ask(query("rollback"));
    return told;
  }
  std::string rows() { return other.column("select v from lock_test order by id"); }

  static constexpr const char* granted = "CZT";
  static constexpr const char* refused = "E(55P03)ZE";
  RawClient one, other;
};

TEST_F(SavepointLockTest, RollbackToLetsGoOfRows) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"update lock_test set v = 1 where id = 1", "update lock_test set v = 2 where id = 1"},
      {"update lock_test set code = 9 where id = 1", "insert into lock_test values (9, 9)"},
      {"delete from lock_test where id = 1", "delete from lock_test where id = 1"},
      {"insert into lock_test values (9, 9)", "insert into lock_test values (9, 10)"},
      {"insert into lock_test values (9, 9, 0, 1)", "delete from lock_parent where id = 1"},
  };
  for (const auto& [taken, wanted] : cases) {
    run({"begin", "savepoint a", taken});
    EXPECT_EQ(attempt(wanted), refused) << taken;
    run({"rollback to a"});
    EXPECT_EQ(attempt(wanted), granted) << taken;
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
}

TEST_F(SavepointLockTest, RollbackToLetsGoOfRowsThatWereOnlyLocked) {
  run({"begin", "savepoint a"});
  EXPECT_EQ(one.column("select id from lock_test where id = 1 for update"), "1 ");
  EXPECT_EQ(attempt("delete from lock_test where id = 1"), refused);
  run({"rollback to a"});
  EXPECT_EQ(attempt("delete from lock_test where id = 1"), granted);
}

TEST_F(SavepointLockTest, WhoWaitsGoesOn) {
  other.ask(query("reset lock_timeout"));
  run({"begin", "update lock_test set v = 1 where id = 2", "savepoint a",
       "update lock_test set v = 1 where id = 1"});
  other.send(query("update lock_test set v = 2 where id = 1"));
  EXPECT_TRUE(other.is_silent());
  run({"rollback to a"});
  ASSERT_FALSE(other.is_silent(2000));
  EXPECT_EQ(other.answer(), "CZI");
  EXPECT_EQ(one.column("select v from lock_test where id = 1"), "2 ");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(rows(), "2 1 0 0 ");
}

// Before its client has said anything.
TEST_F(SavepointLockTest, AStatementThatFailsLetsGo) {
  run({"begin", "savepoint a", "update lock_test set v = 1 where id = 1"});
  EXPECT_EQ(one.ask(query("update lock_test set v = 1 / (3 - id)")), "E(22012)ZE");
  EXPECT_EQ(attempt("update lock_test set v = 2"), granted);
  EXPECT_EQ(other.ask(query("update lock_test set v = 2")), "CZI");
  run({"rollback to a"});
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(rows(), "2 2 2 2 ");
}

TEST_F(SavepointLockTest, WhatIsOlderStays) {
  run({"begin", "update lock_test set v = 1 where id = 1", "insert into lock_test values (9, 9)",
       "insert into lock_test values (10, 10, 0, 2)"});
  EXPECT_EQ(one.column("select id from lock_test where id = 2 for share"), "2 ");
  run({"savepoint a", "update lock_test set code = 11 where id = 1",
       "delete from lock_test where id = 9", "insert into lock_test values (11, 12, 0, 2)",
       "update lock_test set v = 1 where id = 2", "rollback to a"});
  for (const char* statement :
       {"update lock_test set v = 2 where id = 1", "insert into lock_test values (9, 20)",
        "insert into lock_test values (20, 9)", "delete from lock_parent where id = 2",
        "update lock_test set v = 2 where id = 2"})
    EXPECT_EQ(attempt(statement), refused) << statement;
  // Weaker again.
  EXPECT_EQ(attempt("insert into lock_test values (21, 11)"), granted);
  other.ask(query("begin"));
  EXPECT_EQ(other.column("select id from lock_test where id = 2 for share"), "2 ");
  EXPECT_EQ(other.column("select id from lock_test where id = 1 for key share"), "1 ");
  other.ask(query("rollback"));
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(rows(), R"(1 0 0 0 \N 0 )");
}

TEST_F(SavepointLockTest, WhatARowIsWrittenAgainForIsLockedAgain) {
  run({"begin", "savepoint a", "update lock_test set v = 1 where id = 1", "rollback to a",
       "update lock_test set v = 3 where id = 1"});
  EXPECT_EQ(attempt("update lock_test set v = 2 where id = 1"), refused);
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(rows(), "3 0 0 0 ");
}

TEST_F(SavepointLockTest, SavepointsInEachOther) {
  run({"begin", "savepoint a", "update lock_test set v = 1 where id = 1", "savepoint b",
       "update lock_test set v = 1 where id = 2", "savepoint c",
       "update lock_test set v = 1 where id = 3", "release c", "rollback to b"});
  EXPECT_EQ(attempt("update lock_test set v = 2 where id = 1"), refused);
  EXPECT_EQ(attempt("update lock_test set v = 2 where id = 2"), granted);
  EXPECT_EQ(attempt("update lock_test set v = 2 where id = 3"), granted);
  run({"update lock_test set v = 1 where id = 2", "release b"});
  EXPECT_EQ(attempt("update lock_test set v = 2 where id = 2"), refused);
  run({"rollback to a"});
  EXPECT_EQ(attempt("update lock_test set v = 2 where id < 3"), granted);
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

TEST_F(SavepointLockTest, TablesInEveryMode) {
  for (const char* mode : {"row share", "row exclusive", "share update exclusive", "share",
                           "share row exclusive", "exclusive", "access exclusive"}) {
    run({"begin", "savepoint a", std::string("lock lock_test in ") + mode + " mode"});
    EXPECT_EQ(attempt("lock lock_test in access exclusive mode"), refused) << mode;
    run({"rollback to a"});
    EXPECT_EQ(attempt("lock lock_test in access exclusive mode"), granted) << mode;
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
  run({"begin", "lock lock_test in row share mode", "savepoint a",
       "lock lock_test in access exclusive mode", "rollback to a"});
  EXPECT_EQ(attempt("lock lock_test in exclusive mode"), refused);
  EXPECT_EQ(attempt("lock lock_test in share row exclusive mode"), granted);
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

// What a definition has read need not stay true once it is taken back.
TEST_F(SavepointLockTest, DefinitionsGoWithTheirLocks) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"create table lock_made as select * from lock_test", "update lock_test set v = v + 1"},
      {"create index on lock_test (v)", "update lock_test set v = v + 1"},
      {"alter table lock_test add check (v < 100)", "update lock_test set v = v + 1"},
      {"alter table lock_test add w int", "alter table lock_test add w int"},
      {"drop table lock_test", "alter table lock_test drop w"},
      {"truncate lock_test", "insert into lock_test values (30, 30, 0)"},
      {"create table lock_made (id int references lock_parent)",
       "alter table lock_parent add w int"},
  };
  for (const auto& [definition, change] : cases) {
    run({"begin", "insert into lock_other values (1)", "savepoint a", definition, "rollback to a"});
    EXPECT_EQ(other.ask(query(change)), "CZI") << definition;
    EXPECT_EQ(one.ask(query("commit")), "CZI") << definition;
  }
  EXPECT_EQ(rows(), "3 3 3 3 0 ");
}

// A name that was taken is free for who waits for it.
TEST_F(SavepointLockTest, NamesToo) {
  other.ask(query("reset lock_timeout"));
  run({"begin", "savepoint a", "create table lock_made (id int)"});
  other.send(query("create table lock_made (id int, v int)"));
  EXPECT_TRUE(other.is_silent());
  run({"rollback to a"});
  ASSERT_FALSE(other.is_silent(2000));
  EXPECT_EQ(other.answer(), "CZI");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

// A row of before the savepoint is checked behind it, and that is taken back.
TEST_F(SavepointLockTest, AReferenceThatWasSettledWaitsAgain) {
  run({"begin", "set constraints all deferred", "insert into lock_test values (9, 9, 0, 1)",
       "savepoint a", "set constraints all immediate"});
  EXPECT_EQ(attempt("delete from lock_parent where id = 1"), refused);
  run({"rollback to a"});
  EXPECT_EQ(other.ask(query("delete from lock_parent where id = 1")), "CZI");
  EXPECT_EQ(one.ask(query("commit")), "E(23503)ZI");
  EXPECT_EQ(rows(), "0 0 0 0 ");
}

TEST_F(SavepointLockTest, CommitAsksForNoLockThatHasGone) {
  run({"begin", "update lock_test set v = 1 where id = 1", "savepoint a",
       "insert into lock_test values (9, 9, 0, 1)", "rollback to a"});
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(query("lock lock_parent in access exclusive mode")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
}

// --- rows that have gone ---

// A session deletes a row, the other one waits for it, and then it is gone: nothing is left that a
// third one would have to wait for.
class GoneRowTest : public SavepointLockTest {
 protected:
  void SetUp() override {
    SavepointLockTest::SetUp();
    third.start();
    third.ask(query("set lock_timeout = '20ms'"));
    other.ask(query("reset lock_timeout"));
  }
  std::string wait_for_gone(const std::string& statement) {
    run({"begin", "delete from lock_test where id = 1"});
    other.ask(query("begin"));
    other.send(query(statement));
    EXPECT_TRUE(other.is_silent()) << statement;
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    std::string told = other.answer();
    EXPECT_EQ(third.ask(query("insert into lock_test values (1, 1, 0)")), "CZI") << statement;
    EXPECT_EQ(other.ask(query("commit")), "CZI");
    return told;
  }

  RawClient third;
};

TEST_F(GoneRowTest, LeavesNoLock) {
  for (const char* statement :
       {"update lock_test set v = 7 where id = 1", "delete from lock_test where id = 1",
        "update lock_test set v = 7 where code = 1", "update lock_test set v = 7 where id < 2",
        "update lock_test set v = 7 where id = 1 and v = 0",
        "update lock_test set code = 17 where id = 1",
        "update lock_test set v = 7 from lock_parent where lock_test.id = lock_parent.id "
        "and lock_parent.id = 1"})
    EXPECT_EQ(wait_for_gone(statement), "CZT") << statement;
  for (const char* statement : {"select v from lock_test where id = 1 for update",
                                "select v from lock_test where id = 1 for key share",
                                "select v from lock_test where code = 1 for share",
                                "select v from lock_test where id < 2 for no key update",
                                "select v from lock_test where id < 2 order by v for update"})
    EXPECT_EQ(wait_for_gone(statement), "TCZT") << statement;
  EXPECT_EQ(rows(), "0 0 0 0 ");
}

// Nor does an insert that does nothing, of the row that it waited for.
TEST_F(GoneRowTest, OnConflictDoNothingLeavesNoLockEither) {
  for (const char* end : {"commit", "rollback"}) {
    bool commits = std::string_view(end) == "commit";
    run({"begin",
         commits ? "insert into lock_parent values (9)" : "delete from lock_parent where id = 9"});
    other.ask(query("begin"));
    other.send(query("insert into lock_parent values (9) on conflict do nothing"));
    EXPECT_TRUE(other.is_silent());
    EXPECT_EQ(one.ask(query(end)), "CZI");
    EXPECT_EQ(other.answer(), "CZT");
    EXPECT_EQ(third.ask(query("begin")), "CZT");
    EXPECT_EQ(third.ask(query("delete from lock_parent where id = 9")), "CZT");
    EXPECT_EQ(third.ask(query("rollback")), "CZI");
    EXPECT_EQ(other.ask(query("commit")), "CZI");
  }
}

// Who has locked it before has kept it from being deleted, and keeps it.
TEST_F(GoneRowTest, ARowThatIsThereStaysLocked) {
  run({"begin", "update lock_test set v = 1 where id = 1"});
  other.ask(query("begin"));
  other.send(query("update lock_test set v = 7 where id = 1 and v = 0"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZT");
  EXPECT_EQ(third.ask(query("delete from lock_test where id = 1")), "E(55P03)ZI");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
