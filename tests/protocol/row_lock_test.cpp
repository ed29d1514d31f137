// SELECT ... FOR between sessions: who waits for whom, and what is seen afterwards. What is
// refused: tests/sql/row_locks.slt.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class RowLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other, &third}) client->start();
    one.ask(query("drop table if exists row_lock_test"));
    one.ask(query("create table row_lock_test (id int primary key, code int unique, v int)"));
    one.ask(query("insert into row_lock_test select i, i, 0 from generate_series(1, 5) i"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other, &third}) client->ask(query("rollback"));
    one.ask(query("drop table if exists row_lock_test"));
  }

  RawClient one, other, third;
};

TEST_F(RowLockTest, EachStrengthHoldsOffWhatItConflictsWith) {
  const std::array<std::string, 4> strengths = {"key share", "share", "no key update", "update"};
  const std::array<std::string, 4> changes = {"update row_lock_test set v = v + 1 where id = 1",
                                              "update row_lock_test set code = 100 where id = 1",
                                              "delete from row_lock_test where id = 1",
                                              "update row_lock_test set id = 100 where id = 1"};
  // Which strengths let the change through.
  constexpr bool passes[4] = {true, false, false, false};
  for (size_t held = 0; held < 4; ++held) {
    one.ask(query("begin"));
    std::string select = "select v from row_lock_test where id = 1 for ";
    EXPECT_EQ(one.column(select + strengths[held]), "0 ");
    for (size_t wanted = 0; wanted < 4; ++wanted) {
      other.ask(query("begin"));
      bool granted = held + wanted < 3;
      EXPECT_EQ(other.column(select + strengths[wanted] + " nowait"), granted ? "0 " : "55P03 ");
      other.ask(query("rollback"));
      EXPECT_EQ(other.column(select + strengths[wanted] + " skip locked"), granted ? "0 " : "");
    }
    other.ask(query("set lock_timeout = '20ms'"));
    for (size_t i = 0; i < changes.size(); ++i) {
      bool granted = i == 0 && passes[held];
      other.ask(query("begin"));
      EXPECT_EQ(other.ask(query(changes[i])), granted ? "CZT" : "E(55P03)ZE") << changes[i];
      other.ask(query("rollback"));
      // As a transaction of its own.
      if (!granted) {
        EXPECT_EQ(other.ask(query(changes[i])), "E(55P03)ZI") << changes[i];
      }
    }
    one.ask(query("commit"));
  }
}

TEST_F(RowLockTest, ASelectForUpdateWaitsForAWriterAndSeesWhatItWrote) {
  one.ask(query("begin; update row_lock_test set v = 7 where id = 1"));
  other.send(query("select v from row_lock_test where id = 1 for update"));
  third.send(query("select v from row_lock_test where id = 1 for share"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_EQ(one.column("select v from row_lock_test where id = 1"), "7 ");
  one.ask(query("commit"));
  EXPECT_EQ(first_column(other.read_answer()), "7 ");
  EXPECT_EQ(first_column(third.read_answer()), "7 ");
}

TEST_F(RowLockTest, TheConditionIsCheckedAgainAfterAWait) {
  one.ask(query("begin; update row_lock_test set v = 7 where id in (1, 2)"));
  one.ask(query("delete from row_lock_test where id = 3"));
  for (RawClient* client : {&other, &third}) client->ask(query("begin"));
  other.send(query("select id from row_lock_test where v = 0 for no key update"));
  third.send(
      query("select id from row_lock_test where code between 1 and 3 and v = 7 for key share"));
  EXPECT_TRUE(other.is_silent());
  one.ask(query("commit"));
  EXPECT_EQ(first_column(other.read_answer()), "4 5 ");
  std::string seen = first_column(third.read_answer());
  // PostgreSQL's READ COMMITTED does not look for rows its snapshot did not match.
  EXPECT_TRUE(seen == "1 2 " || seen.empty()) << seen;
}

TEST_F(RowLockTest, AKeyWhoseRowIsOnlyLockedIsADuplicateAtOnce) {
  const std::string of_key = "insert into row_lock_test values (1, 100, 9)";
  const std::string of_code = "insert into row_lock_test values (100, 1, 9)";
  one.ask(query("begin; select v from row_lock_test where id = 1 for update"));
  third.send(query("delete from row_lock_test where id = 1"));
  EXPECT_TRUE(third.is_silent());
  for (const std::string& insert : {of_key, of_code}) {
    EXPECT_EQ(other.ask(query(insert)), "E(23505)ZI") << insert;
    EXPECT_EQ(other.ask(query(insert + " on conflict do nothing")), "CZI") << insert;
    other.ask(query("begin"));
    EXPECT_EQ(other.ask(query(insert)), "E(23505)ZE") << insert;
    other.ask(query("rollback"));
  }
  EXPECT_TRUE(third.is_silent());
  one.ask(query("commit"));
  EXPECT_EQ(summary(third.read_answer()), "CZI");
}

TEST_F(RowLockTest, AKeyWhoseRowIsBeingRemovedIsWaitedFor) {
  const std::array<std::string, 3> removals = {"delete from row_lock_test where id = 1",
                                               "update row_lock_test set id = 200 where id = 1",
                                               "select v from row_lock_test where id = 1 for "
                                               "update; delete from row_lock_test where id = 1"};
  for (const std::string& removal : removals) {
    for (const char* begin : {"", "begin; "}) {
      one.ask(query("begin; " + removal));
      other.send(query(begin + std::string("insert into row_lock_test values (1, 100, 9)")));
      EXPECT_TRUE(other.is_silent()) << removal;
      one.ask(query("rollback"));
      EXPECT_NE(summary(other.read_answer()).find("E(23505)"), std::string::npos) << removal;
      other.ask(query("rollback"));
    }
  }
  one.ask(query("begin; " + removals[2]));
  other.send(query("insert into row_lock_test values (1, 100, 9)"));
  third.send(query("insert into row_lock_test values (100, 1, 9)"));
  EXPECT_TRUE(other.is_silent());
  EXPECT_TRUE(third.is_silent());
  one.ask(query("commit"));
  EXPECT_EQ(summary(other.read_answer()), "CZI");
  EXPECT_EQ(summary(third.read_answer()), "CZI");
}

TEST_F(RowLockTest, NoWaitAndSkipLockedSeeOnlyFreeRows) {
  one.ask(query("begin; select 1 from row_lock_test where id in (1, 3) for update"));
  EXPECT_EQ(other.column("select id from row_lock_test order by id for update skip locked"),
            "2 4 5 ");
  EXPECT_EQ(
      other.column("select id from row_lock_test order by v, id limit 2 for share skip locked"),
      "2 4 ");
  EXPECT_EQ(other.column("select id from row_lock_test where code = 1 for update skip locked"), "");
  EXPECT_EQ(other.column("select id from row_lock_test where code > 3 for update nowait"), "4 5 ");
  other.send(query("select id from row_lock_test order by id for update nowait"));
  std::vector<Message> answer = other.read_answer();
  ASSERT_FALSE(answer.empty());
  const Message& error = answer[answer.size() - 2];
  EXPECT_EQ(field(error, 'C'), "55P03");
  EXPECT_EQ(field(error, 'M'), "could not obtain lock on row in relation \"row_lock_test\"");
}

TEST_F(RowLockTest, ARowThatTheFilterRejectsIsNotLocked) {
  one.ask(query("begin; select 1 from row_lock_test where id = 1 for update"));
  EXPECT_EQ(other.column("select id from row_lock_test where id = 1 and v = 1 for update nowait"),
            "");
  EXPECT_EQ(one.column("select id from row_lock_test where id = 2 and v = 1 for update"), "");
  EXPECT_EQ(other.column("select id from row_lock_test where id = 2 for update nowait"), "2 ");
}

TEST_F(RowLockTest, ARowOfOnesOwnIsLockedMoreStronglyWhenAsked) {
  one.ask(query("begin; update row_lock_test set v = 1 where id = 1"));
  other.ask(query("set lock_timeout = '50ms'"));
  EXPECT_EQ(other.column("select id from row_lock_test where id = 1 for key share"), "1 ");
  EXPECT_EQ(one.column("select id from row_lock_test where id = 1 for update"), "1 ");
  EXPECT_EQ(other.column("select id from row_lock_test where id = 1 for key share"), "55P03 ");
}

TEST_F(RowLockTest, ALimitLocksWhatItReturns) {
  one.ask(query("begin; select 1 from row_lock_test order by id limit 2 for update"));
  EXPECT_EQ(other.column("select id from row_lock_test order by id for update skip locked"),
            "3 4 5 ");
  one.ask(query("select 1 from row_lock_test order by v, id desc limit 1 for update"));
  EXPECT_EQ(other.column("select id from row_lock_test order by id for update skip locked"),
            "3 4 ");
}

TEST_F(RowLockTest, RowsOfAJoinAreLockedAsTold) {
  one.ask(
      query("begin; select 1 from row_lock_test a join row_lock_test b on b.id = a.id + 1 "
            "where a.id = 1 for update of a for share of b"));
  EXPECT_EQ(other.column("select id from row_lock_test order by id for key share skip locked"),
            "2 3 4 5 ");
  EXPECT_EQ(other.column("select id from row_lock_test order by id for no key update skip locked"),
            "3 4 5 ");
}

// Consumers take jobs off a table, each in a block of its own or in one statement.
TEST_F(RowLockTest, ConsumersOfAQueueMeetNoErrorAndTakeEachJobOnce) {
  constexpr int consumers = 4, jobs = 200;
  one.ask(query("drop table if exists row_lock_jobs"));
  one.ask(query("create table row_lock_jobs (id int primary key, state int, at int)"));
  one.ask(query("create index on row_lock_jobs (state, at)"));
  one.ask(query("insert into row_lock_jobs select i, 0, i / 3 from generate_series(1, " +
                std::to_string(jobs) + ") i"));
  std::atomic<int> taken = 0, empty_handed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < consumers; ++i) {
    threads.emplace_back([&, i] {
      RawClient client;
      client.start();
      for (int idle = 0; idle < 50 && taken < jobs;) {
        std::string id;
        if (i % 2 == 0) {
          client.ask(query("begin"));
          id = client.first_value(
              "select id from row_lock_jobs where state = 0 order by at limit 1 "
              "for update skip locked");
          if (!id.empty()) {
            EXPECT_EQ(client.ask(query("delete from row_lock_jobs where id = " + id)), "CZT");
          }
          EXPECT_EQ(client.ask(query("commit")), "CZI");
        } else {
          id = client.first_value(
              "delete from row_lock_jobs where id = (select id from row_lock_jobs where state = 0 "
              "order by at limit 1 for update skip locked) returning id");
        }
        EXPECT_LE(id.size(), 4u) << id;  // a number, no SQLSTATE
        if (id.empty()) {
          ++empty_handed;
          ++idle;
        } else {
          ++taken;
        }
      }
    });
  }
  // A producer does not disturb them.
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(
        one.ask(query("insert into row_lock_jobs values (" + std::to_string(1000 + i) + ", 1, 0)")),
        "CZI");
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, jobs);
  EXPECT_EQ(one.first_value("select count(*) from row_lock_jobs"), "50");
  one.ask(query("drop table row_lock_jobs"));
}

}  // namespace
}  // namespace pgsilo::protocol_test
