// A server at its memory_limit: what grows fails with 53200, everything else goes on, and memory
// comes back.
#include <gtest/gtest.h>

#include <string>

#include "base/sanitizers.h"
#include "tests/memory/memory_limit_support.h"

namespace pgsilo::memory_test {
namespace {

TEST_F(MemoryLimitTest, GrowthIsRefusedAndTheRestGoesOn) {
  ASSERT_EQ(fill(client), "53200");
  EXPECT_EQ(client.message().find("ERROR:  out of memory"), 0u) << client.message();
  EXPECT_NE(client.detail().find("memory_limit is "), std::string::npos) << client.detail();
  EXPECT_GT(rows, 10 * batch);
  Client other;
  for (Client* each : {&client, &other}) {
    EXPECT_EQ(each->number("select count(*) from filled"), rows);
    EXPECT_EQ(each->value("select length(payload) from filled where id = 7"), "80");
    EXPECT_EQ(each->value("select id from filled order by id desc limit 1"),
              std::to_string(rows - 1));
    EXPECT_EQ(each->run(insert(rows, batch)), "53200");
    EXPECT_EQ(each->run("create table filled_copy as select * from filled"), "53200");
    EXPECT_EQ(each->run("create index on filled (payload)"), "53200");
    // The new rows do not fit into the places of the old ones.
    EXPECT_EQ(each->run("update filled set payload = payload || payload where id < 2000"), "53200");
  }
  EXPECT_EQ(client.run("update filled set payload = upper(payload) where id < 2000"), "")
      << client.message();
  EXPECT_EQ(client.run("create table filled_too (a int)"), "") << client.message();
  EXPECT_EQ(client.run("drop table filled_too"), "");

  // DELETE that looks at everything, in a block, and piece by piece; then there is room again.
  EXPECT_EQ(other.run("begin"), "");
  EXPECT_EQ(other.run("delete from filled where id % 100 = 0"), "") << other.message();
  EXPECT_EQ(other.run("commit"), "");
  remove_half(other);
  EXPECT_TRUE(inserts_again(client));
  EXPECT_TRUE(inserts_again(other));

  ASSERT_EQ(fill(client), "53200");
  EXPECT_EQ(client.run("truncate filled"), "") << client.message();
  EXPECT_EQ(client.number("select count(*) from filled"), 0);
  EXPECT_TRUE(inserts_again(other));
}

// The reserve of 40 MB is enough for what is remembered of so many rows, and of no more than half
// as many again: that is refused, and leaves nothing behind.
TEST_F(MemoryLimitTest, OneStatementDeletesWhatTheReserveCanRemember) {
#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN)
  GTEST_SKIP() << "the sanitizers' allocators count other sizes";
#endif
  ASSERT_EQ(fill(client), "53200");
  ASSERT_GT(rows, 250000);
  EXPECT_EQ(client.run("delete from filled where id < 210000"), "53200");
  EXPECT_NE(client.message().find("ERROR:  out of memory"), std::string::npos);
  EXPECT_EQ(client.number("select count(*) from filled"), rows);
  EXPECT_EQ(client.run("delete from filled where id < 140000"), "") << client.message();
  EXPECT_EQ(client.number("select count(*) from filled"), rows - 140000);
  EXPECT_TRUE(inserts_again(client));
}

// However many, if it is all of them: the table gets new trees. Not one that rows of others refer
// to, nor in a block, which would keep the table to itself.
TEST_F(MemoryLimitTest, OneStatementDeletesAllRows) {
  must("create index on filled (id)");
  ASSERT_EQ(fill(client), "53200");
  Client other;
  EXPECT_EQ(client.run("delete from filled"), "") << client.message();
  EXPECT_EQ(client.tag(), "DELETE " + std::to_string(rows));
  EXPECT_EQ(other.number("select count(*) from filled"), 0);
  EXPECT_EQ(client.run("delete from filled"), "");
  EXPECT_EQ(client.tag(), "DELETE 0");
  EXPECT_TRUE(inserts_again(other));
  EXPECT_EQ(other.number("select count(*) from filled"), batch);
}

TEST_F(MemoryLimitTest, CopyIsRefused) {
  std::string row = "\t" + std::string(900, 'x') + "\n";
  ASSERT_EQ(client.run("copy filled from stdin"), "");
  std::string piece;
  for (int i = 0; i < 200000; ++i) piece += std::to_string(i) + row;
  ASSERT_EQ(PQputCopyData(client.connection(), piece.data(), static_cast<int>(piece.size())), 1);
  ASSERT_EQ(PQputCopyEnd(client.connection(), nullptr), 1);
  std::unique_ptr<PGresult, decltype(&PQclear)> end(PQgetResult(client.connection()), PQclear);
  EXPECT_STREQ(PQresultErrorField(end.get(), PG_DIAG_SQLSTATE), "53200");
  EXPECT_EQ(PQgetResult(client.connection()), nullptr);
  EXPECT_EQ(client.number("select count(*) from filled"), 0);
  EXPECT_TRUE(inserts_again(client));
}

TEST_F(MemoryLimitTest, ALongTransactionGivesBackWhatItTook) {
  must("begin");
  ASSERT_EQ(fill_once(client), "53200");
  EXPECT_EQ(client.run("select 1"), "25P02");
  must("rollback");
  EXPECT_EQ(client.number("select count(*) from filled"), 0);
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
  rows = 0;
  EXPECT_TRUE(inserts_again(client));
}

TEST_F(MemoryLimitTest, WhatWasWrittenCanBeCommitted) {
  must("begin");
  std::string state;
  for (;; rows += batch) {
    must("savepoint s");
    state = client.run(insert(rows, batch));
    if (!state.empty()) break;
    must("release s");
  }
  EXPECT_EQ(state, "53200");
  must("rollback to s");
  // Many rows, so that it looks at what the transaction remembers: that is not asked for anew.
  EXPECT_EQ(client.number("select count(*) from generate_series(1, 1000)"), 1000);
  EXPECT_GT(client.number("select promised from pgsilo_memory"), rows * 80LL);
  must("commit");
  EXPECT_EQ(client.number("select promised from pgsilo_memory"), 0);
  EXPECT_EQ(client.number("select count(*) from filled"), rows);
}

// Or, where temporary files help, they spill: docs/spilling.md.
TEST_F(MemoryLimitTest, BigResultsOnTheirWayAreRefused) {
  const std::string many = "(select g, md5(g::text) m from generate_series(1, 3000000) g) s";
  must("set work_mem = '1GB'");
  EXPECT_EQ(client.run("select * from " + many + " order by m, g offset 2999999"), "");
  EXPECT_EQ(client.run("select count(*) from (select m, count(*) from " + many +
                       " group by m offset 0) q"),
            "");
  EXPECT_EQ(client.run("select count(*) from " + many +
                       " join (select g h, md5(g::text) n from generate_series(1, 3000000) g) t on "
                       "m = n"),
            "");
  EXPECT_EQ(client.run("select length(string_agg(m, '')) from " + many +
                       " join "
                       "generate_series(1, 3) x on true"),
            "53200");
  EXPECT_EQ(client.run("select length(repeat('x', 500000000))"), "53200");
  // Small ones are not, and nothing of the big ones stays.
  EXPECT_EQ(client.value("select g from generate_series(1, 1000) g order by g desc limit 1"),
            "1000");
  EXPECT_TRUE(comes_true([this] { return free_bytes() > free_at_begin_ - (8 << 20); }));
}

TEST_F(MemoryLimitTest, WhoIdlesInATransactionMakesRoom) {
  ASSERT_EQ(fill(client), "53200");
  Client idle, younger;
  EXPECT_EQ(idle.run("begin"), "");
  EXPECT_EQ(idle.number("select count(*) from filled where id = 1"), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(younger.run("begin"), "");
  EXPECT_EQ(younger.number("select 1 from filled where id = 1"), 1);
  remove_half(client);
  // Nothing of it can be freed while they read. Who asks for room has the oldest of them ended, and
  // the next one if that did not help.
  EXPECT_TRUE(inserts_again(client));
  EXPECT_GE(client.number("select sessions_ended from pgsilo_memory"), 1);
  EXPECT_NE(idle.run("select 1"), "");
  EXPECT_NE(idle.last_words().find(
                "FATAL:  terminating connection because the server is short of memory"),
            std::string::npos)
      << idle.last_words();
  EXPECT_EQ(PQstatus(idle.connection()), CONNECTION_BAD);
}

TEST_F(MemoryLimitTest, TheLimitIsShown) {
  EXPECT_EQ(client.value(
                "select current_setting('memory_limit') = pg_size_pretty(memory_limit) or "
                "current_setting('memory_limit') = replace(pg_size_pretty(memory_limit), ' ', '') "
                "from pgsilo_memory"),
            "t");
  EXPECT_EQ(client.run("set memory_limit = '1GB'"), "55P02");
}

}  // namespace
}  // namespace pgsilo::memory_test
