// Whatever a session does or waits for, it can be ended from outside: by a cancel request, by
// pg_terminate_backend() and by its own time limits.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

std::string number(int value) { return std::to_string(value); }

// One way to be busy or to wait.
struct Occupation {
  const char* name;
  std::string message;      // what the session is sent
  const char* seen;         // what pg_stat_activity says then
  bool on_postgres = true;  // PostgreSQL can be interrupted there as well
  std::string began = {};   // what it answers before it is ended
  bool answer_is_read = true;
};

std::vector<Occupation> occupations() {
  const char* runs = "state = 'active' and wait_event_type is null";
  return {
      {"Lock", query("update interrupt_test set v = 1 where id = 1"), "wait_event_type = 'Lock'"},
      {"RelationLock", query("alter table interrupt_test add column w int"),
       "wait_event_type = 'Lock'"},
      {"Sleep", query("select pg_sleep(1000)"),
       "wait_event_type = 'Timeout' and wait_event = 'PgSleep'", true, "T"},
      {"PreparedSleep",
       parse("", "select pg_sleep($1)") + bind("", "", {"1000"}) + execute() + sync(),
       "wait_event = 'PgSleep'", true, "12"},
      {"Scan", query("select count(*) from generate_series(1, 1000000000000) g where g < 0"), runs,
       true, "T"},
      {"Join",
       query("select count(*) from generate_series(1, 1000000) a, generate_series(1, 1000000) b "
             "where a + b < 0"),
       runs, true, "T"},
      {"CopyOut",
       query("copy (select g from generate_series(1, 1000000000000) g where g < 0) to stdout"),
       runs, true, "H"},
      {"TableMade",
       query("create table interrupt_made as select g from generate_series(1, 1000000000000) g "
             "where g < 0"),
       runs},
      {"IndexBehindWriters", query("create index interrupt_index on interrupt_test (v)"),
       "wait_event_type = 'Lock'"},
      {"IndexBehindARow", query("create index interrupt_index on interrupt_rows (v)"),
       "wait_event_type = 'Lock'", false},
      {"IndexBuild", query("create index interrupt_index on interrupt_many (v)"), runs, false},
      // It is loaded in bulk, and waits for who helps.
      {"UniqueIndexBuild", query("create unique index interrupt_index on interrupt_many (v)"),
       "state = 'active'", false},
      {"StalledCopyIn", query("copy interrupt_test from stdin"),
       "wait_event = 'ClientRead' and state = 'active'", false, "G"},
      {"StalledInsideOfCopyData",
       query("copy interrupt_test from stdin") + std::string("d\0\0\1\0half", 9),
       "wait_event = 'ClientRead' and state = 'active'", false, "G"},
      {"ClientThatDoesNotRead",
       query("select repeat('x', 1000) from generate_series(1, 1000000000000)"),
       "wait_event = 'ClientWrite'",
       false,
       {},
       false},
  };
}

std::string name_of(const testing::TestParamInfo<Occupation>& info) { return info.param.name; }

class InterruptTest : public testing::TestWithParam<Occupation> {
 protected:
  void SetUp() override {
    if (runs_on_postgres() && !GetParam().on_postgres) GTEST_SKIP();
    client().ask(query(drop));
    for (const char* table : {"interrupt_test", "interrupt_rows"}) {
      std::string name = table;
      ASSERT_EQ(client().ask(query("create table " + name + " (id int primary key, v int)")),
                "CZI");
      ASSERT_EQ(client().ask(query("insert into " + name + " values (1, 0)")), "CZI");
    }
    if (GetParam().message.find("interrupt_many") != std::string::npos) {
      // In no order, so that it takes long.
      ASSERT_EQ(
          client().ask(query("create table interrupt_many as select g * 7919::bigint % 1000003 "
                             "as v from generate_series(1, 1000000) g")),
          "CZI");
    }
    holder.start();
    ASSERT_EQ(holder.ask(query("begin")), "CZT");
    ASSERT_EQ(holder.ask(query("select v from interrupt_rows for update")), "TDCZT");
    ASSERT_EQ(holder.ask(query("update interrupt_test set v = 5 where id = 1")), "CZT");
    victim.start();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    // Nothing of what was begun is left.
    EXPECT_EQ(client().first_value("select count(*) from pg_class where relname in "
                                   "('interrupt_made', 'interrupt_index')"),
              "0");
    holder.ask(query("rollback"));
    client().ask(query(drop));
  }
  const std::string drop =
      "drop table if exists interrupt_test, interrupt_rows, interrupt_many, interrupt_made";
  RawClient& client() { return observer.client(); }
  void begin() {
    victim.send(GetParam().message);
    observer.await(victim, GetParam().seen);
  }
  // It was ended with what it had begun to answer, if it had got so far.
  void expect_end(const std::string& error) {
    std::string answer = victim.answer();
    EXPECT_TRUE(answer.ends_with(error) &&
                GetParam().began.starts_with(answer.substr(0, answer.size() - error.size())))
        << answer;
  }

  Observer observer;
  RawClient holder;
  RawClient victim;
};

TEST_P(InterruptTest, IsCancelled) {
  begin();
  EXPECT_EQ(observer.cancel(victim), "t");
  if (!GetParam().answer_is_read) {
    // The statement has ended, its rows are on their way all the same.
    observer.await(victim, "state = 'idle'");
    return;
  }
  expect_end("E(57014)ZI");
  // What is left of a message comes, and means nothing.
  if (std::string_view(GetParam().name) == "StalledInsideOfCopyData")
    victim.send(std::string(252 - 4, 'x'));
  EXPECT_EQ(victim.ask(query("select 1")), "TDCZI");
}

TEST_P(InterruptTest, IsTerminated) {
  begin();
  EXPECT_EQ(observer.terminate(victim), "t");
  observer.await_end(victim.process);
  if (!GetParam().answer_is_read) return;
  expect_end("E(57P01)(end)");
}

TEST_P(InterruptTest, IsTerminatedAndWaitedFor) {
  begin();
  EXPECT_EQ(
      client().first_value("select pg_terminate_backend(" + number(victim.process) + ", 60000)"),
      "t");
  EXPECT_EQ(client().first_value("select count(*) from pg_stat_activity where pid = " +
                                 number(victim.process)),
            "0");
}

TEST_P(InterruptTest, RunsOutOfTime) {
  ASSERT_EQ(victim.ask(query("set statement_timeout = '50ms'")), "CZI");
  victim.send(GetParam().message);
  if (!GetParam().answer_is_read) {
    observer.await(victim, "state = 'idle' and wait_event = 'ClientWrite'");
    return;
  }
  expect_end("E(57014)ZI");
}

TEST_P(InterruptTest, ExceedsTheTransactionsTime) {
  if (runs_on_postgres()) GTEST_SKIP() << "transaction_timeout came with PostgreSQL 17";
  ASSERT_EQ(victim.ask(query("set transaction_timeout = '50ms'")), "CZI");
  victim.send(GetParam().message);
  observer.await_end(victim.process);
  if (!GetParam().answer_is_read) return;
  expect_end("E(25P04)(end)");
}

INSTANTIATE_TEST_SUITE_P(Everywhere, InterruptTest, testing::ValuesIn(occupations()), name_of);

class TimeLimitTest : public testing::Test {
 protected:
  void SetUp() override { client.start(); }
  // The FATAL error that the session says of itself, and its end. Rows may come before it.
  std::string last_words() {
    Message message = client.read();
    while (message.type == 'T' || message.type == 'D') message = client.read();
    std::string words = field(message, 'C') + " " + field(message, 'M');
    EXPECT_EQ(field(message, 'V'), "FATAL");
    EXPECT_EQ(client.read().type, '\0');
    return words;
  }
  static void block_a_row(RawClient& block) {
    block.start();
    block.ask(query("drop table if exists interrupt_test"));
    ASSERT_EQ(block.ask(query("create table interrupt_test (id int primary key, v int)")), "CZI");
    ASSERT_EQ(block.ask(query("insert into interrupt_test values (1, 0)")), "CZI");
    ASSERT_EQ(block.ask(query("begin; update interrupt_test set v = 1")), "CCZT");
  }
  Observer observer;
  RawClient client;
};

TEST_F(TimeLimitTest, IdleSession) {
  ASSERT_EQ(client.ask(query("set idle_session_timeout = '20ms'")), "CZI");
  EXPECT_EQ(last_words(), "57P05 terminating connection due to idle-session timeout");
}

TEST_F(TimeLimitTest, IdleInATransaction) {
  ASSERT_EQ(client.ask(query("set idle_in_transaction_session_timeout = '20ms'")), "CZI");
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(last_words(), "25P03 terminating connection due to idle-in-transaction timeout");
}

TEST_F(TimeLimitTest, AdministratorsCommand) {
  EXPECT_EQ(observer.terminate(client), "t");
  EXPECT_EQ(last_words(), "57P01 terminating connection due to administrator command");
}

TEST_F(TimeLimitTest, OwnEnd) {
  client.send(query("select pg_terminate_backend(pg_backend_pid())"));
  EXPECT_EQ(last_words(), "57P01 terminating connection due to administrator command");
}

TEST_F(TimeLimitTest, NobodyToSignal) {
  for (const char* function : {"pg_cancel_backend", "pg_terminate_backend"}) {
    client.send(query(std::string("select ") + function + "(-5)"));
    std::vector<Message> answer = client.read_answer();
    EXPECT_EQ(summary(answer), "TDCZI");
    bool warned = false;
    for (const Message& message : answer) {
      if (message.type == 'D') {
        EXPECT_EQ(row_values(message).front(), "f");
      }
      if (message.type != 'N') continue;
      warned = true;
      EXPECT_EQ(field(message, 'S'), "WARNING");
      EXPECT_EQ(field(message, 'C'), "01000");
      EXPECT_EQ(field(message, 'M'), "PID -5 is not a PostgreSQL backend process");
    }
    EXPECT_TRUE(warned);
  }
}

TEST_F(TimeLimitTest, SignalsOverAView) {
  ASSERT_EQ(client.ask(query("set application_name = 'to be ended'")), "CZI");
  EXPECT_EQ(observer.client().first_value("select pg_terminate_backend(pid) from pg_stat_activity "
                                          "where application_name = 'to be ended'"),
            "t");
  EXPECT_EQ(last_words(), "57P01 terminating connection due to administrator command");
}

TEST_F(TimeLimitTest, ABlockWhoseAnswersAreNotRead) {
  if (runs_on_postgres()) GTEST_SKIP() << "PostgreSQL waits for ever";
  ASSERT_EQ(client.ask(query("set idle_in_transaction_session_timeout = '50ms'")), "CZI");
  client.send(query("begin; select repeat('x', 1000) from generate_series(1, 4000)"));
  observer.await_end(client.process);
}

class TransactionTimeoutTest : public TimeLimitTest {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "transaction_timeout came with PostgreSQL 17";
    TimeLimitTest::SetUp();
  }
  // A table of one row, which `block` holds.
  static constexpr const char* words = "25P04 terminating connection due to transaction timeout";
};

TEST_F(TransactionTimeoutTest, OfABlockWhoseClientIsSilent) {
  ASSERT_EQ(client.ask(query("set transaction_timeout = '30ms'")), "CZI");
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(last_words(), words);
}

TEST_F(TransactionTimeoutTest, OfABlockThatIsBusy) {
  ASSERT_EQ(client.ask(query("set transaction_timeout = '100ms'")), "CZI");
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  Message message;
  while (message.type != 'E') {
    client.send(query("select 1"));
    do {
      message = client.read();
    } while (message.type != 'Z' && message.type != 'E');
  }
  EXPECT_EQ(field(message, 'C'), "25P04");
  EXPECT_EQ(client.read().type, '\0');
}

TEST_F(TransactionTimeoutTest, CountsFromTheSettingInsideOfABlock) {
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  ASSERT_EQ(client.ask(query("set local transaction_timeout = '30ms'")), "CZT");
  EXPECT_EQ(last_words(), words);
}

TEST_F(TransactionTimeoutTest, MayBeTakenBack) {
  ASSERT_EQ(client.ask(query("set transaction_timeout = '1s'")), "CZI");
  ASSERT_EQ(client.ask(query("begin; set transaction_timeout = 0")), "CCZT");
  EXPECT_EQ(client.ask(query("select pg_sleep(1.5)")), "TDCZT");
  EXPECT_EQ(client.ask(query("commit")), "CZI");
}

TEST_F(TransactionTimeoutTest, DoesNotConcernWhatEndedOrFailed) {
  ASSERT_EQ(client.ask(query("set transaction_timeout = '1s'")), "CZI");
  ASSERT_EQ(client.ask(query("begin; select 1; commit")), "CTDCCZI");
  ASSERT_EQ(client.ask(query("begin; select 1/0")), "CE(22012)ZE");
  EXPECT_TRUE(client.is_silent(1500));
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST_F(TransactionTimeoutTest, GoesOnUnderASavepoint) {
  ASSERT_EQ(client.ask(query("set transaction_timeout = '1s'")), "CZI");
  ASSERT_EQ(client.ask(query("begin; savepoint s")), "CCZT");
  ASSERT_EQ(client.ask(query("select 1/0")), "E(22012)ZE");
  EXPECT_EQ(last_words(), words);
}

TEST_F(TransactionTimeoutTest, EndsWithAOneShotThatGaveUpWaiting) {
  RawClient block;
  block_a_row(block);
  ASSERT_EQ(client.ask(query("set transaction_timeout = '1s'; set lock_timeout = '20ms'")), "CCZI");
  EXPECT_EQ(client.ask(query("update interrupt_test set v = 2")), "E(55P03)ZI");
  observer.await(client, "state = 'idle' and xact_start is null and pin_start is null");
  EXPECT_TRUE(client.is_silent(1500));
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
  EXPECT_EQ(block.ask(query("rollback; drop table interrupt_test")), "CCZI");
}

// The lock that it has waited for is its own by then, kept for the next run.
TEST_F(TimeLimitTest, AOneShotBetweenItsWaitAndItsNextRun) {
  RawClient block;
  block_a_row(block);
  std::string me = number(client.process);
  for (int round = 0; round < 100; ++round) {
    if (round > 0) block.ask(query("begin; update interrupt_test set v = 1"));
    client.send(query("update interrupt_test set v = 0"));
    observer.await(client, "wait_event_type = 'Lock'");
    EXPECT_EQ(block.ask(query("commit; select pg_cancel_backend(" + me + ")")), "CTDCZI");
    client.answer();  // an error, unless it has been quick
    observer.await(client, "state = 'idle'");
    EXPECT_EQ(block.first_value("select count(*) from pg_locks where pid = " + me), "0");
  }
  EXPECT_EQ(block.ask(query("drop table interrupt_test")), "CZI");
}

TEST_F(TransactionTimeoutTest, CountsFromTheFirstRunOfAOneShot) {
  RawClient block;
  block_a_row(block);
  ASSERT_EQ(client.ask(query("set transaction_timeout = '2s'")), "CZI");
  // It meets the block's lock, waits, runs again and sleeps: each part is shorter than the limit.
  client.send(query("update interrupt_test set v = 2; select pg_sleep(1.2)"));
  observer.await(client, "wait_event_type = 'Lock'");
  EXPECT_TRUE(client.is_silent(1200));
  ASSERT_EQ(block.ask(query("commit")), "CZI");
  EXPECT_EQ(client.answer(), "CTE(25P04)(end)");
  EXPECT_EQ(block.first_value("select v from interrupt_test"), "1");
  EXPECT_EQ(block.ask(query("drop table interrupt_test")), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
