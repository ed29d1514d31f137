// LOCK TABLE between sessions, and against the locks that statements take by themselves. What one
// session sees: tests/sql/lock_table.slt.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

const std::array<std::string, 8> modes = {
    "access share", "row share",           "row exclusive", "share update exclusive",
    "share",        "share row exclusive", "exclusive",     "access exclusive"};

// PostgreSQL's table of conflicts: of mode i those from the first to the last, and one between
// them that does not count.
bool conflict(size_t one, size_t other) {
  constexpr size_t first[] = {7, 6, 4, 3, 2, 2, 1, 0};
  if (one == 4 && other == 4) return false;
  return other >= first[one];
}

class LockTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other, &third}) client->start();
    one.ask(query("drop table if exists lock_test, lock_test_two"));
    one.ask(query("create table lock_test (id int primary key, v int)"));
    one.ask(query("create table lock_test_two (id int primary key, v int)"));
    one.ask(query("insert into lock_test values (1, 0), (2, 0)"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other, &third}) {
      client->ask(query("rollback"));
      client->ask(query("discard all"));
    }
    one.ask(query("drop table if exists lock_test, lock_test_two"));
  }
  static std::string lock(const std::string& mode, const std::string& rest = "") {
    return query("lock table lock_test in " + mode + " mode" + rest);
  }
  void await_wait(const RawClient& client) {
    observer.await(client, "wait_event_type = 'Lock' and wait_event = 'relation'");
  }
  // "CZI" or the like when it gets through, else what lock_timeout makes of it.
  static std::string impatient(RawClient& client, const std::string& sql) {
    client.ask(query("set lock_timeout = '20ms'"));
    std::string said = client.ask(query(sql));
    client.ask(query("set lock_timeout = 0"));
    return said;
  }

  RawClient one, other, third;
  Observer observer;
};

TEST_F(LockTableTest, TheTableOfConflictsIsPostgreSQLs) {
  for (size_t held = 0; held < modes.size(); ++held) {
    one.ask(query("begin"));
    EXPECT_EQ(one.ask(lock(modes[held])), "CZT");
    for (size_t wanted = 0; wanted < modes.size(); ++wanted) {
      other.ask(query("begin"));
      EXPECT_EQ(other.ask(lock(modes[wanted], " nowait")),
                conflict(held, wanted) ? "E(55P03)ZE" : "CZT")
          << modes[held] << ", " << modes[wanted];
      other.ask(query("rollback"));
    }
    one.ask(query("commit"));
  }
}

TEST_F(LockTableTest, AViewStandsForTheTablesItReads) {
  EXPECT_EQ(one.ask(query("begin; lock table pg_stat_database in exclusive mode")), "CCZT");
  EXPECT_EQ(observer.client().first_value(
                "select count(*) from pg_locks where relation = 'pg_database'::regclass and mode = "
                "'ExclusiveLock' and granted and pid = " +
                std::to_string(one.process)),
            "1");
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(query("lock table pg_locks in share mode nowait")), "CZT");  // no table
  other.send(query("lock table pg_stat_activity in share mode nowait"));
  std::vector<Message> answer = other.read_answer();
  ASSERT_GE(answer.size(), 2u);
  const Message& error = answer[answer.size() - 2];
  EXPECT_EQ(field(error, 'C'), "55P03");
  EXPECT_EQ(field(error, 'M'), "could not obtain lock on relation \"pg_database\"");
  one.ask(query("rollback"));
}

// What statements take by themselves: outside of a block, and in one.
TEST_F(LockTableTest, HoldsOffStatements) {
  struct Statement {
    std::string sql, answer;
    size_t mode;
  };
  const std::vector<Statement> statements = {
      {"select v from lock_test", "TDDC", 0},
      {"select v from lock_test where id = 1 for key share", "TDC", 1},
      {"select v from lock_test where id = 1 for update", "TDC", 1},
      {"insert into lock_test values (3, 3)", "C", 2},
      {"update lock_test set v = 1 where id = 1", "C", 2},
      {"delete from lock_test where id = 3", "C", 2},
      {"copy lock_test to stdout", "H", 0},
      {"alter table lock_test add w int", "C", 7},
      {"truncate lock_test", "C", 7},
  };
  for (size_t held = 0; held < modes.size(); ++held) {
    for (const Statement& statement : statements) {
      bool waits = conflict(held, statement.mode);
      // A row that others see locked.
      for (const char* begin : {"", "begin"}) {
        if (!waits && (statement.mode == 7 || statement.answer == "H")) continue;
        one.ask(query("begin"));
        EXPECT_EQ(one.ask(lock(modes[held])), "CZT");
        if (*begin != '\0') other.ask(query(begin));
        std::string status = *begin == '\0' ? "ZI" : "ZT";
        std::string said = impatient(other, statement.sql);
        if (waits) {
          EXPECT_TRUE(said.ends_with(*begin == '\0' ? "E(55P03)ZI" : "E(55P03)ZE"))
              << said << " " << modes[held] << ", " << begin << " " << statement.sql;
        } else {
          EXPECT_EQ(said, statement.answer + status)
              << modes[held] << ", " << begin << " " << statement.sql;
        }
        other.ask(query("rollback"));
        one.ask(query("rollback"));
        third.ask(query("delete from lock_test where id > 2"));
      }
    }
  }
}

// And the other way round: a block that has used the table holds off LOCK TABLE.
TEST_F(LockTableTest, StatementsOfABlockHoldItOff) {
  const std::vector<std::pair<std::string, size_t>> statements = {
      {"select v from lock_test", 0},
      {"select v from lock_test where id = 1 for share", 1},
      {"insert into lock_test values (3, 3)", 2},
      {"update lock_test set v = 1 where id = 1", 2},
      {"delete from lock_test where id = 1", 2},
  };
  for (const auto& [sql, mode] : statements) {
    one.ask(query("begin"));
    one.ask(query(sql));
    for (size_t wanted = 0; wanted < modes.size(); ++wanted) {
      other.ask(query("begin"));
      EXPECT_EQ(other.ask(lock(modes[wanted], " nowait")),
                conflict(mode, wanted) ? "E(55P03)ZE" : "CZT")
          << sql << ", " << modes[wanted];
      other.ask(query("rollback"));
    }
    one.ask(query("rollback"));
  }
}

TEST_F(LockTableTest, ADefinitionThatChangesNothingHoldsItOff) {
  ASSERT_EQ(one.ask(query("alter table lock_test add constraint positive check (v >= 0)")), "CZI");
  for (const char* definition :
       {"validate constraint positive", "alter v set statistics 10", "alter v set storage plain"}) {
    EXPECT_EQ(one.ask(query(std::string("begin; alter table lock_test ") + definition)), "CCZT");
    EXPECT_EQ(impatient(other, "alter table lock_test drop constraint positive"), "E(55P03)ZI")
        << definition;
    one.ask(query("rollback"));
  }
}

TEST_F(LockTableTest, WaitersGoInTheirOrder) {
  one.ask(query("begin"));
  one.ask(query("select v from lock_test"));
  other.ask(query("begin"));
  other.send(lock("access exclusive"));
  await_wait(other);
  // A reader that comes later waits behind it; who was there before goes on.
  third.send(query("select v from lock_test"));
  await_wait(third);
  EXPECT_EQ(one.ask(query("update lock_test set v = 5 where id = 1")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZT");
  EXPECT_TRUE(third.is_silent());
  EXPECT_EQ(other.ask(query("update lock_test set v = v + 1 where id = 1")), "CZT");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
  std::vector<Message> rows = third.read_answer();
  EXPECT_EQ(one.first_value("select v from lock_test where id = 1"), "6");
}

// A definition that waits for a block does not fail it.
TEST_F(LockTableTest, WhoIsWaitedForCommits) {
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(query("insert into lock_test values (3, 3)")), "CZT");
  other.send(query("alter table lock_test add w int"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("insert into lock_test values (4, 3)")), "CZT");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZI");
  EXPECT_EQ(one.first_value("select count(*) from lock_test where w is null"), "4");
}

TEST_F(LockTableTest, OnesOwnLocksNeverConflict) {
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(lock("share")), "CZT");
  other.send(query("update lock_test set v = 9 where id = 2"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("update lock_test set v = 1 where id = 1")), "CZT");
  for (const std::string& mode : modes) EXPECT_EQ(one.ask(lock(mode)), "CZT") << mode;
  EXPECT_EQ(one.ask(query("insert into lock_test values (3, 3)")), "CZT");
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZI");
}

TEST_F(LockTableTest, TwoReadersWhoWantToWriteAreADeadlock) {
  one.ask(query("set deadlock_timeout = '100ms'"));
  other.ask(query("set deadlock_timeout = '1min'"));
  one.ask(query("begin"));
  other.ask(query("begin"));
  EXPECT_EQ(one.ask(lock("share")), "CZT");
  EXPECT_EQ(other.ask(lock("share")), "CZT");
  other.send(query("update lock_test set v = 1 where id = 1"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("update lock_test set v = 2 where id = 1")), "E(40P01)ZE");
  EXPECT_EQ(other.answer(), "CZT");
}

TEST_F(LockTableTest, DeadlocksThroughRowsAndAdvisoryLocksAreFound) {
  one.ask(query("set deadlock_timeout = '100ms'"));
  other.ask(query("set deadlock_timeout = '1min'"));
  one.ask(query("select pg_advisory_lock(1)"));
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(lock("exclusive")), "CZT");
  other.send(query("select pg_advisory_lock(1)"));
  observer.await(other, "wait_event = 'advisory'");
  // Outside of a block.
  EXPECT_EQ(one.ask(query("update lock_test set v = 2 where id = 1")), "E(40P01)ZI");
  one.ask(query("select pg_advisory_unlock(1)"));
  EXPECT_EQ(other.answer(), "TDCZT");
  other.ask(query("commit"));
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(query("update lock_test set v = 3 where id = 1")), "CZT");
  other.ask(query("begin"));
  EXPECT_EQ(other.ask(query("lock lock_test_two")), "CZT");
  other.send(query("update lock_test set v = 4 where id = 1"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.column("select v from lock_test_two"), "40P01 ");
  EXPECT_EQ(other.answer(), "CZT");
}

TEST_F(LockTableTest, WaitsEndAndAreSeen) {
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(lock("share row exclusive")), "CZT");
  other.ask(query("begin"));
  other.send(lock("row exclusive"));
  await_wait(other);
  std::string seen =
      "select concat_ws(' ', locktype, mode, granted) from pg_locks where relation ="
      " 'lock_test'::regclass order by granted desc, mode";
  EXPECT_EQ(third.column(seen), "relation ShareRowExclusiveLock t relation RowExclusiveLock f ");
  EXPECT_EQ(third.first_value("select pg_blocking_pids(" + std::to_string(other.process) + ")"),
            "{" + std::to_string(one.process) + "}");
  EXPECT_EQ(observer.cancel(other), "t");
  EXPECT_EQ(other.answer(), "E(57014)ZE");
  other.ask(query("rollback"));
  other.ask(query("set statement_timeout = '30ms'"));
  EXPECT_EQ(other.ask(query("update lock_test set v = 1")), "E(57014)ZI");
  other.ask(query("set statement_timeout = 0"));
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.ask(query("update lock_test set v = 1")), "CZI");
  EXPECT_EQ(third.column(seen), "");
}

TEST_F(LockTableTest, TheNameIsLookedUpAgainAfterTheWait) {
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(query("alter table lock_test rename to lock_test_gone")), "CZT");
  EXPECT_EQ(one.ask(query("create table lock_test (id int primary key, v int)")), "CZT");
  other.ask(query("begin"));
  other.send(lock("share"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZT");
  EXPECT_EQ(impatient(third, "insert into lock_test values (1, 1)"), "E(55P03)ZI");
  other.ask(query("commit"));
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(query("drop table lock_test")), "CZT");
  other.ask(query("begin"));
  other.send(lock("share"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "E(42P01)ZE");
  one.ask(query("drop table lock_test_gone"));
}

TEST_F(LockTableTest, ACatalogMayBeLockedAgainstDefinitions) {
  one.ask(query("begin"));
  EXPECT_EQ(one.ask(query("lock table pg_class in share mode")), "CZT");
  EXPECT_EQ(impatient(other, "alter table lock_test add w int"), "E(55P03)ZI");
  other.ask(query("begin"));
  other.send(query("create table lock_test_new (id int)"));
  await_wait(other);
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZT");
  EXPECT_EQ(other.ask(query("drop table lock_test_new")), "CZT");
  EXPECT_EQ(other.ask(query("commit")), "CZI");
}

// Writers of all kinds beside sessions that want to be alone: what they read stays.
TEST_F(LockTableTest, NobodyWritesBesideALock) {
  constexpr int writers = 4, lockers = 3, rounds = 40;
  const std::array<std::string, 4> locks = {"share", "share row exclusive", "exclusive",
                                            "access exclusive"};
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i) {
    threads.emplace_back([i] {
      RawClient client;
      client.start();
      for (int round = 0; round < rounds; ++round) {
        if (i % 2 == 0) {
          EXPECT_EQ(client.ask(query("update lock_test set v = v + 1 where id = 1")), "CZI");
          continue;
        }
        client.ask(query("begin isolation level read committed"));
        EXPECT_EQ(client.ask(query("update lock_test set v = v + 1 where id = 1")), "CZT");
        EXPECT_EQ(client.ask(query("commit")), "CZI");
      }
    });
  }
  for (int i = 0; i < lockers; ++i) {
    threads.emplace_back([i, &locks] {
      RawClient client;
      client.start();
      for (int round = 0; round < rounds; ++round) {
        client.ask(query("begin isolation level read committed"));
        EXPECT_EQ(client.ask(lock(locks[static_cast<size_t>(i + round) % locks.size()])), "CZT");
        std::string before = client.first_value("select v from lock_test where id = 1");
        std::this_thread::yield();
        EXPECT_EQ(client.first_value("select v from lock_test where id = 1"), before);
        EXPECT_EQ(client.ask(query("commit")), "CZI");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(one.first_value("select v from lock_test where id = 1"),
            std::to_string(writers * rounds));
}

}  // namespace
}  // namespace pgsilo::protocol_test
