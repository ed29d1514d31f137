// Temporary objects, seen by several sessions: each has its own, and they end with it.
#include <gtest/gtest.h>

#include <thread>

#include "tests/protocol/raw_client.h"
#include "tests/protocol/session_move_support.h"

namespace pgsilo::protocol_test {
namespace {

class TemporaryObjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    one.start();
    other.start();
    one.ask(query("drop table if exists shared"));
  }
  void TearDown() override { other.ask(query("drop table if exists shared")); }
  // A client that goes is not awaited by the server's answer to it.
  std::string soon(const std::string& statement, const std::string& expected) {
    std::string found;
    for (int i = 0; i < 500 && found != expected; ++i) {
      if (i != 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      found = other.first_value(statement);
    }
    return found;
  }

  RawClient one;
  RawClient other;
};

TEST_F(TemporaryObjectTest, TablesOfOneNameInEachSession) {
  ASSERT_EQ(one.ask(query("create temp table mine (a int)")), "CZI");
  ASSERT_EQ(other.ask(query("create temp table mine (a int)")), "CZI");
  ASSERT_EQ(one.ask(query("insert into mine values (1)")), "CZI");
  ASSERT_EQ(other.ask(query("insert into mine values (2), (3)")), "CZI");
  // The same text, twice, on whatever worker.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(one.first_value("select count(*) from mine"), "1");
    EXPECT_EQ(other.first_value("select count(*) from mine"), "2");
  }
  EXPECT_EQ(other.ask(query("drop table mine")), "CZI");
  EXPECT_EQ(other.first_value("select count(*) from mine"), "42P01");
  EXPECT_EQ(one.first_value("select count(*) from mine"), "1");
}

TEST_F(TemporaryObjectTest, RowsOfAnotherSessionAreNobodysBusiness) {
  ASSERT_EQ(one.ask(query("create temp table theirs (a int); create temp sequence s")), "CCZI");
  std::string schema = one.first_value(
      "select nspname from pg_namespace where oid = "
      "pg_my_temp_schema()");
  EXPECT_EQ(other.first_value("select count(*) from theirs"), "42P01");
  std::string table = schema + ".theirs";
  EXPECT_EQ(other.ask(query("insert into " + table + " values (1)")), "E(0A000)ZI");
  EXPECT_EQ(other.ask(query("truncate " + table)), "E(0A000)ZI");
  EXPECT_EQ(other.ask(query("alter table " + table + " add b int")), "E(0A000)ZI");
  EXPECT_EQ(other.ask(query("create table " + schema + ".more (a int)")), "E(42P16)ZI");
  EXPECT_EQ(other.first_value("select pg_is_other_temp_schema('" + schema + "'::regnamespace)"),
            "t");
  EXPECT_EQ(other.ask(query("drop table " + table)), "CZI");
  EXPECT_EQ(one.first_value("select count(*) from theirs"), "42P01");
}

TEST_F(TemporaryObjectTest, APreparedStatementUsesTheTableThatCameBeforeItsOwn) {
  ASSERT_EQ(one.ask(query("create table shared as select 1 as a")), "CZI");
  ASSERT_EQ(one.ask(parse("count", "select count(*) from shared") + sync()), "1ZI");
  auto run = [&] {
    one.send(bind("", "count") + execute() + sync());
    return first_column(one.read_answer());
  };
  EXPECT_EQ(run(), "1 ");
  ASSERT_EQ(one.ask(query("create temp table shared (a int)")), "CZI");
  EXPECT_EQ(run(), "0 ");
  ASSERT_EQ(one.ask(query("drop table shared")), "CZI");
  EXPECT_EQ(run(), "1 ");
}

// A plan that all share is found valid for the catalog as it is by one, whose table hides nothing.
TEST_F(TemporaryObjectTest, APlanThatOthersFoundValidIsNotValidWhereATableHidesIt) {
  ASSERT_EQ(one.ask(query("create table shared as select 1 as a")), "CZI");
  std::vector<RawClient> clients(4);  // some of them on one worker
  auto run = [&](RawClient& client) {
    client.send(bind("", "count") + execute() + sync());
    return first_column(client.read_answer());
  };
  for (RawClient& client : clients) {
    client.start();
    ASSERT_EQ(client.ask(parse("count", "select count(*) from shared") + sync()), "1ZI");
    EXPECT_EQ(run(client), "1 ");
  }
  for (size_t i = 0; i < clients.size(); ++i) {
    ASSERT_EQ(clients[i].ask(query("create temp table shared (a int)")), "CZI");
    for (size_t j = clients.size(); j-- > 0;) EXPECT_EQ(run(clients[j]), j > i ? "1 " : "0 ");
  }
}

TEST_F(TemporaryObjectTest, TheEndOfASessionDropsThem) {
  {
    RawClient brief;
    brief.start();
    ASSERT_EQ(brief.ask(query("create temp table gone (id serial primary key, b text); "
                              "create type pg_temp.gone_type as enum ('a'); "
                              "create temp table of_type (v gone_type); "
                              "create temp view gone_view as select * from gone")),
              "CCCCZI");
    ASSERT_EQ(brief.ask(query("insert into gone (b) values ('x')")), "CZI");
  }
  EXPECT_EQ(soon("select count(*) from pg_class where relname ~ '^(gone|of_type)'", "0"), "0");
  EXPECT_EQ(soon("select count(*) from pg_type where typname = 'gone_type'", "0"), "0");
}

TEST_F(TemporaryObjectTest, ABlockThatItsClientLeavesTakesThemAlong) {
  {
    RawClient brief;
    brief.start();
    ASSERT_EQ(brief.ask(query("create temp table kept_until_now (a int)")), "CZI");
    ASSERT_EQ(brief.ask(query("begin; create temp table never_there (a int)")), "CCZT");
  }
  EXPECT_EQ(soon("select count(*) from pg_class where relname in "
                 "('kept_until_now', 'never_there')",
                 "0"),
            "0");
}

// What ended the last statement, or the session, does not end what is left to do.
TEST_F(TemporaryObjectTest, TheyGoAfterACancelATimeoutAndATermination) {
  auto end = [&](const std::string& before, bool waits, const std::string& function) {
    RawClient brief;
    brief.start();
    ASSERT_EQ(brief.ask(query("create temp table gone as select generate_series(1, 1000) as a")),
              "CZI");
    ASSERT_EQ(brief.ask(query(before)).front(), 'C');
    if (waits) brief.send(query("select pg_sleep(10)"));
    if (!function.empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_EQ(other.first_value("select " + function + "(" + std::to_string(brief.process) + ")"),
                "t");
    }
    if (waits) brief.read_answer();
  };
  for (const char* before : {"reset work_mem", "begin"}) {
    end(before, true, "pg_cancel_backend");
    end(before, false, "pg_cancel_backend");
    end(before, true, "pg_terminate_backend");
    end(before, false, "pg_terminate_backend");
  }
  end("set statement_timeout = '20ms'", true, "");
  EXPECT_EQ(soon("select count(*) from pg_class where relname = 'gone'", "0"), "0");
}

TEST_F(TemporaryObjectTest, CommitsOfPipelinesAndOneShots) {
  ASSERT_EQ(one.ask(query("create temp table t (a int) on commit delete rows")), "CZI");
  // One transaction, so the second statement sees the first one's row.
  one.send(query("insert into t values (1); select count(*) from t"));
  EXPECT_EQ(first_column(one.read_answer()), "1 ");
  EXPECT_EQ(one.first_value("select count(*) from t"), "0");
  one.send(parse("", "insert into t values (1)") + bind("", "") + execute() +
           parse("", "select count(*) from t") + bind("", "") + execute() + sync());
  EXPECT_EQ(first_column(one.read_answer()), "1 ");
  EXPECT_EQ(one.first_value("select count(*) from t"), "0");
}

class MovedTemporaryObjectTest : public SessionMoveTest {};

TEST_F(MovedTemporaryObjectTest, TheyGoAlong) {
  ASSERT_EQ(client.ask(query("create temp table t (a int) on commit delete rows")), "CZI");
  ASSERT_EQ(client.ask(query("create temp table kept (a int)")), "CZI");
  ASSERT_EQ(client.ask(query("insert into kept values (1)")), "CZI");
  go_round();
  EXPECT_EQ(client.first_value("select count(*) from kept"), "1");
  ASSERT_EQ(client.ask(query("insert into t values (1)")), "CZI");
  go_round();
  EXPECT_EQ(client.first_value("select count(*) from t"), "0");
  EXPECT_EQ(observer.client().first_value("select count(*) from pg_class where relname = 'kept'"),
            "1");
}

}  // namespace
}  // namespace pgsilo::protocol_test
