// Statements whose reads others beat again and again win in the end: they keep writers out
// (docs/commit_protocol.md, Nobody starves). Without that those here would never end.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>

#include "tests/protocol/crowd.h"
#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr int writers = 16;

// Reads all of the table, and then takes so long that each of the writers commits something.
const std::string slow =
    "select n, case when pg_sleep(current_setting('starvation.pause')::float8) is not null then v "
    "end"
    " from (select count(*), sum(v) from starvation_test) all_of_it (n, v)";

class StarvationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "it has no optimistic transactions";
    control.start();
    control.ask(query("drop table if exists starvation_test, starvation_log"));
    ASSERT_EQ(control.ask(query("create table starvation_test (id int primary key, v int);"
                                "create table starvation_log (id bigint, n int)")),
              "CCZI");
    ASSERT_EQ(control.ask(query("insert into starvation_test select i, 0 "
                                "from generate_series(1, 20) i")),
              "CZI");
    control.first_value("select pg_stat_reset()");
    slow_client.start();
    ASSERT_EQ(slow_client.ask(query("set statement_timeout = '60s'")), "CZI");
    pause(1);
  }
  void TearDown() override {
    if (runs_on_postgres()) return;
    control.ask(query("drop table if exists starvation_test, starvation_log"));
  }
  static void expect(RawClient& client, const std::string& sql, const std::string& answer) {
    std::string said = client.ask(query(sql));
    if (said != answer) ADD_FAILURE() << sql << ": " << said;
  }
  void pause(int times) {
    ASSERT_EQ(slow_client.ask(query("set starvation.pause = " + std::to_string(0.04 * times))),
              "CZI");
  }
  bool has_excluded() {
    return control.first_value(
               "select sum(exclusive_runs) > 0 from pgsilo_stat_statements "
               "where query like 'insert into starvation_log %'") == "t";
  }
  // The slow statement again and again until it needed its last resort, slower each time: on a busy
  // machine the writers do not always beat it. `run` runs it once.
  void run_until_excluding(const std::function<void()>& run) {
    for (int i = 1; i <= 20; ++i) {
      pause(i);
      run();
      if (has_excluded()) return;
    }
    ADD_FAILURE() << "it never kept writers out";
  }
  RawClient control;
  RawClient slow_client;
};

TEST_F(StarvationTest, ALongScanBesideInsertsOfTheNextNumber) {
  Crowd crowd(writers, [](RawClient& client, int) {
    expect(client, "insert into starvation_test select max(id) + 1, 0 from starvation_test", "CZI");
  });
  crowd.await(writers);
  run_until_excluding([&] { expect(slow_client, "insert into starvation_log " + slow, "CZI"); });
  crowd.await(10 * writers);  // they go on
  crowd.stop();
  EXPECT_EQ(control.first_value("select count(*) = max(id) from starvation_test"), "t");
  EXPECT_EQ(control.first_value("select count(*) from pg_locks where mode = "
                                "'ShareRowExclusiveLock'"),
            "0");
}

// Producers add to one end, consumers take from the other.
TEST_F(StarvationTest, ALongScanOfAQueue) {
  control.ask(query("create sequence starvation_number start 21"));
  Crowd crowd(writers, [](RawClient& client, int index) {
    if (index % 2 == 0) {
      expect(client, "insert into starvation_test values (nextval('starvation_number'), 0)", "CZI");
      return;
    }
    std::string said =
        client.ask(query("delete from starvation_test where id = "
                         "(select min(id) from starvation_test where id > 20) "
                         "returning id"));
    EXPECT_TRUE(said == "TDCZI" || said == "TCZI") << said;
  });
  crowd.await(writers);
  run_until_excluding([&] { expect(slow_client, "insert into starvation_log " + slow, "CZI"); });
  crowd.await(10 * writers);
  crowd.stop();
  control.ask(query("drop sequence starvation_number"));
}

// Rows that change are as bad as rows that come and go.
TEST_F(StarvationTest, ALongScanBesideUpdatesThroughAPipeline) {
  Crowd crowd(4, [](RawClient& client, int index) {
    expect(client, "update starvation_test set v = v + 1 where id = " + std::to_string(1 + index),
           "CZI");
  });
  crowd.await(writers);
  run_until_excluding([&] {
    EXPECT_EQ(slow_client.ask(parse("", "insert into starvation_log " + slow) + bind("", "") +
                              execute() + sync()),
              "12CZI");
  });
  crowd.await(10 * writers);
  crowd.stop();
}

// The statement runs again inside of the block; writers come in when it has ended, not the block.
TEST_F(StarvationTest, AStatementOfABlockUnderReadCommitted) {
  Crowd crowd(writers, [](RawClient& client, int) {
    expect(client, "insert into starvation_test select max(id) + 1, 0 from starvation_test", "CZI");
  });
  crowd.await(writers);
  run_until_excluding([&] {
    expect(slow_client, "begin isolation level read committed", "CZT");
    expect(slow_client, "insert into starvation_log " + slow, "CZT");
    crowd.await(10 * writers);
    expect(slow_client, "commit", "CZI");
  });
  crowd.stop();
}

// Who waits for what its client sends keeps nobody out, though what it has read is beaten then.
TEST_F(StarvationTest, ACopyThatWaitsForItsClient) {
  Crowd crowd(writers, [](RawClient& client, int) {
    expect(client, "insert into starvation_test select max(id) + 1, 0 from starvation_test", "CZI");
  });
  crowd.await(writers);
  run_until_excluding([&] {
    slow_client.send(
        query("insert into starvation_log " + slow + "; copy starvation_log from stdin"));
    EXPECT_EQ(slow_client.read().type, 'C');
    EXPECT_EQ(slow_client.read().type, 'G');
    crowd.await(10 * writers);
    EXPECT_EQ(slow_client.ask(copy_done()), "E(40001)ZI");
  });
  crowd.stop();
}

// A block that has written the table and then does nothing stands in the way of who wants to keep
// writers out. It is waited for shortly, so that all others go on; and nobody is told of a
// deadlock.
TEST_F(StarvationTest, AnIdleBlockHoldsUpNobody) {
  RawClient block;
  block.start();
  ASSERT_EQ(block.ask(query("begin")), "CZT");
  ASSERT_EQ(block.ask(query("insert into starvation_test values (1000000, 0)")), "CZT");
  Crowd crowd(writers, [](RawClient& client, int index) {
    expect(client, "update starvation_test set v = v + 1 where id = " + std::to_string(1 + index),
           "CZI");
  });
  slow_client.send(query("insert into starvation_log " + slow));
  while (!has_excluded() && slow_client.is_silent()) {
  }
  crowd.await(20 * writers);
  ASSERT_EQ(block.ask(query("update starvation_test set v = 7 where id = 20")), "CZT");
  ASSERT_EQ(block.ask(query("commit")), "CZI");
  EXPECT_EQ(slow_client.answer(), "CZI");
  crowd.stop();
}

// Who has written very much does not lose it again and again before it locks what it writes. The
// small ones change rows that it comes to at its end.
TEST_F(StarvationTest, ALargeUpdateBesideSmallOnes) {
  constexpr int rows = 80000, quiet = 60000;
  expect(control,
         "insert into starvation_test select i, 0 from generate_series(21, " +
             std::to_string(rows) + ") i",
         "CZI");
  std::atomic<int> next = 0;
  Crowd crowd(4, [&next](RawClient& client, int) {
    int id = quiet + 1 + next++ * 7919 % (rows - quiet);
    expect(client, "update starvation_test set v = v + 1 where id = " + std::to_string(id), "CZI");
  });
  crowd.await(writers);
  const std::string of_it =
      " from pgsilo_stat_statements where query like 'update starvation_test set v = v - %'";
  for (int i = 0; i < 20 && control.first_value("select sum(retries) > 0" + of_it) != "t"; ++i)
    expect(slow_client, "update starvation_test set v = v - 1", "CZI");
  crowd.stop();
  EXPECT_EQ(control.first_value("select sum(retries) > 0" + of_it), "t") << "it was never beaten";
  // What it comes to before is quiet: it has written enough when it is beaten.
  EXPECT_EQ(control.first_value("select sum(retries) <= 2" + of_it), "t")
      << control.first_value("select sum(retries)" + of_it);
}

}  // namespace
}  // namespace pgsilo::protocol_test
