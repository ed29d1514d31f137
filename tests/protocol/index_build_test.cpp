// CREATE INDEX beside sessions that read and write the table (docs/index_build.md). A row that
// somebody has locked holds up the build, but nobody else.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

constexpr const char* why_not_there = "its builds do not wait for locked rows";

// Rows 1 to 1000, v = 10 * id. An index build comes as far as row 500, which `holder` has locked.
class IndexBuildTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&builder, &holder, &writer}) client->start();
    writer.ask(query("drop table if exists build_test"));
    writer.ask(query("create table build_test (id int primary key, v int, w text)"));
    writer.ask(
        query("insert into build_test select i, 10 * i, 'w' from generate_series(1, 1000) i"));
  }
  void TearDown() override {
    for (RawClient* client : {&builder, &holder, &writer}) client->ask(query("rollback"));
    writer.ask(query("drop table if exists build_test"));
  }

  // Sends the statement and waits until it waits for row 500. PostgreSQL's build would not.
  void stall(const std::string& sql = "create index build_v on build_test (v)") {
    holder.ask(query("begin"));
    ASSERT_EQ(holder.ask(query("select v from build_test where id = 500 for update")), "TDCZT");
    observer.send_blocked(builder, query(sql));
  }
  // The index agrees with the table: every value is found by it, and every row once.
  void expect_agreement() {
    EXPECT_EQ(builder.first_value(valid), "t");
    EXPECT_NE(builder.column("explain select id from build_test where v = 70").find("build_v"),
              std::string::npos);
    for (const char* other : {"seqscan", "hashjoin"})
      builder.ask(query("set enable_" + std::string(other) + " = off"));
    EXPECT_EQ(builder.first_value("select count(*) from build_test a where not exists (select 1 "
                                  "from build_test b where b.v = a.v)"),
              "0");
    std::string by_index = builder.first_value(
        "select sum(id) || ' ' || count(*) from build_test where v >= -1000000");
    for (const char* other : {"seqscan", "hashjoin"})
      builder.ask(query("reset enable_" + std::string(other)));
    EXPECT_EQ(by_index, builder.first_value("select sum(id) || ' ' || count(*) from build_test"));
  }

  const std::string valid =
      "select indisvalid from pg_index where indexrelid = (select oid from pg_class where relname "
      "= "
      "'build_v')";
  const std::string count = "select count(*) from pg_class where relname = 'build_v'";
  RawClient builder, holder, writer;
  Observer observer;
};

TEST_F(IndexBuildTest, ReadersAndWritersGoOn) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  stall();
  EXPECT_EQ(writer.first_value("select v from build_test where id = 7"), "70");
  EXPECT_EQ(writer.ask(query("insert into build_test values (1001, 7), (250000, 8), (-1, 9)")),
            "CZI");
  for (const char* id : {"7", "600"}) {  // one row has its entry already, the other has not
    std::string row(id);
    EXPECT_EQ(writer.ask(query("update build_test set v = -v where id = " + row)), "CZI");
    EXPECT_EQ(writer.ask(query("delete from build_test where id = 1 + " + row)), "CZI");
    EXPECT_EQ(writer.ask(query("update build_test set id = -" + row + " where id = 2 + " + row)),
              "CZI");
    EXPECT_EQ(writer.ask(query("update build_test set w = 'x' where id = 3 + " + row)), "CZI");
  }
  EXPECT_EQ(holder.ask(query("rollback")), "CZI");
  EXPECT_EQ(builder.answer(), "CZI");
  expect_agreement();
}

// Blocks as well, at every level, and none of them meets a conflict.
TEST_F(IndexBuildTest, BlocksGoOn) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  for (const char* level : {"serializable", "read committed"}) {
    stall();
    writer.ask(query("begin isolation level " + std::string(level)));
    for (const char* id : {"20", "700"}) {
      std::string row(id);
      EXPECT_EQ(writer.ask(query("update build_test set v = v + 1 where id = " + row)), "CZT");
      EXPECT_EQ(writer.ask(query("update build_test set v = v + 1 where id = " + row)), "CZT");
      EXPECT_EQ(writer.ask(query("delete from build_test where id = 1 + " + row)), "CZT");
      EXPECT_EQ(writer.ask(query("insert into build_test values (100000 + " + row + ", 3)")),
                "CZT");
    }
    EXPECT_EQ(writer.ask(query("savepoint s")), "CZT");
    EXPECT_EQ(writer.ask(query("update build_test set v = 0 where id > 800")), "CZT");
    EXPECT_EQ(writer.ask(query("rollback to s")), "CZT");
    // Now the build waits for this block.
    EXPECT_EQ(holder.ask(query("rollback")), "CZI");
    observer.await(builder, "wait_event_type = 'Lock'");
    EXPECT_EQ(writer.ask(query("update build_test set v = 1 where id = 21")), "CZT");
    EXPECT_EQ(writer.ask(query("commit")), "CZI");
    EXPECT_EQ(builder.answer(), "CZI");
    expect_agreement();
    EXPECT_EQ(writer.ask(query("drop index build_v")), "CZI");
    EXPECT_EQ(writer.ask(query("delete from build_test where id > 100000")), "CZI");
  }
}

TEST_F(IndexBuildTest, IsNotUsedBeforeItIsValid) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  stall("create unique index concurrently build_v on build_test (v)");
  EXPECT_EQ(writer.first_value(valid), "f");
  EXPECT_EQ(writer.column("explain select id from build_test where v = 7").find("build_v"),
            std::string::npos);
  EXPECT_EQ(writer.first_value("select max(v) from build_test"), "10000");
  // Nor does it decide conflicts.
  EXPECT_EQ(writer.ask(query("insert into build_test values (1, 1) on conflict (v) do nothing")),
            "E(42P10)ZI");
  EXPECT_EQ(holder.ask(query("rollback")), "CZI");
  EXPECT_EQ(builder.answer(), "CZI");
  expect_agreement();
}

// Who has read the table is not disturbed; who has written it is waited for.
TEST_F(IndexBuildTest, BlocksThatWereThereBefore) {
  holder.ask(query("begin isolation level serializable"));
  EXPECT_EQ(holder.ask(query("select v from build_test where id = 1")), "TDCZT");
  EXPECT_EQ(builder.ask(query("create index build_v on build_test (v)")), "CZI");
  EXPECT_EQ(holder.ask(query("select v from build_test where id = 2")), "TDCZT");
  EXPECT_EQ(holder.ask(query("update build_test set v = 5 where id = 3")), "CZT");
  EXPECT_EQ(holder.ask(query("commit")), "CZI");
  expect_agreement();
  EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  for (const char* level : {"serializable", "read committed"}) {
    holder.ask(query("begin isolation level " + std::string(level)));
    EXPECT_EQ(holder.ask(query("update build_test set v = 6 where id = 3")), "CZT");
    observer.send_blocked(builder, query("create index build_v on build_test (v)"));
    EXPECT_EQ(writer.first_value("select v from build_test where id = 3"), "5");
    EXPECT_EQ(holder.ask(query("update build_test set v = 7 where id = 4")), "CZT");
    EXPECT_EQ(holder.ask(query("rollback")), "CZI");
    EXPECT_EQ(builder.answer(), "CZI");
    expect_agreement();
    EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  }
}

// What cannot run again meets no conflict either: COPY, and what has begun to answer.
TEST_F(IndexBuildTest, StatementsWhoseAnswerHasBegun) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  for (const char* where : {"", "begin", "begin isolation level read committed"}) {
    bool in_block = *where != '\0';
    std::string state = in_block ? "ZT" : "ZI";
    stall();
    if (in_block) writer.ask(query(where));
    writer.send(query("copy build_test from stdin"));
    EXPECT_EQ(writer.read().type, 'G');
    holder.ask(query("rollback"));
    EXPECT_EQ(builder.answer(), "CZI") << where;
    EXPECT_EQ(writer.ask(copy_data("2001\t7\ta\n") + copy_done()), "C" + state) << where;
    if (in_block) {
      EXPECT_EQ(writer.ask(query("commit")), "CZI");
    }
    expect_agreement();
    EXPECT_EQ(writer.ask(query("drop index build_v; delete from build_test where id = 2001")),
              "CCZI");
  }
  // A build that has come and gone before the answer begins: the statement runs again.
  while_paused(
      writer,
      query("update build_test set v = v + 1 where id <= 100 and " + pause +
            " is not null returning repeat('x', 500000)"),
      [&] { EXPECT_EQ(builder.ask(query("create index build_v on build_test (v)")), "CZI"); });
  EXPECT_TRUE(writer.answer().ends_with("DCZI"));
  expect_agreement();
  EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  stall();
  // More than what is held back, so that the client has the first part of it before the end.
  writer.send(
      query("update build_test set v = v + 1 where id <= 100 returning "
            "repeat('x', 500000)"));
  EXPECT_EQ(writer.read().type, 'T');
  holder.ask(query("rollback"));
  EXPECT_EQ(builder.answer(), "CZI");
  EXPECT_TRUE(writer.answer().ends_with("DCZI"));
  expect_agreement();
}

// A statement that does not know the index and has locked no row yet: that of a block is waited
// for, a one-shot runs again.
TEST_F(IndexBuildTest, AStatementUnderWay) {
  const std::string change =
      "update build_test set v = -v where w = 'slow' and pg_advisory_xact_lock(5) is not null";
  writer.ask(query("update build_test set w = 'slow' where id in (7, 600)"));
  holder.ask(query("select pg_advisory_lock(5)"));
  writer.ask(query("begin"));
  observer.send_blocked(writer, query(change));
  observer.send_blocked(builder, query("create index build_v on build_test (v)"));
  holder.ask(query("select pg_advisory_unlock(5)"));
  EXPECT_EQ(writer.answer(), "CZT");
  EXPECT_TRUE(builder.is_silent());
  EXPECT_EQ(writer.ask(query("commit")), "CZI");
  EXPECT_EQ(builder.answer(), "CZI");
  expect_agreement();
  if (runs_on_postgres()) return;
  EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  holder.ask(query("select pg_advisory_lock(5)"));
  observer.send_blocked(writer, query(change));
  EXPECT_EQ(builder.ask(query("create index build_v on build_test (v)")), "CZI");
  holder.ask(query("select pg_advisory_unlock(5)"));
  EXPECT_EQ(writer.answer(), "CZI");
  expect_agreement();
}

TEST_F(IndexBuildTest, ABlockKeepsWritersOutAndLetsReadersIn) {
  builder.ask(query("begin"));
  EXPECT_EQ(builder.ask(query("update build_test set v = 1 where id = 1")), "CZT");
  EXPECT_EQ(builder.ask(query("create index build_v on build_test (v)")), "CZT");
  EXPECT_EQ(builder.ask(query("update build_test set v = 2 where id = 2")), "CZT");
  EXPECT_EQ(writer.first_value("select v from build_test where id = 1"), "10");
  EXPECT_EQ(writer.first_value("select v from build_test where id = 5 for share"), "50");
  EXPECT_EQ(writer.first_value("select mode from pg_locks where mode = 'ShareLock'"), "ShareLock");
  observer.send_blocked(writer, query("update build_test set v = 3 where id = 3"));
  EXPECT_EQ(builder.ask(query("commit")), "CZI");
  EXPECT_EQ(writer.answer(), "CZI");
  expect_agreement();
  builder.ask(query("drop index build_v"));
  builder.ask(query("begin"));
  EXPECT_EQ(builder.ask(query("create index build_v on build_test (v)")), "CZT");
  builder.ask(query("rollback"));
  EXPECT_EQ(builder.first_value(count), "0");
}

TEST_F(IndexBuildTest, ConcurrentlyStandsAlone) {
  for (const char* sql : {"create index concurrently build_v on build_test (v)",
                          "drop index concurrently if exists build_v"}) {
    builder.ask(query("begin"));
    EXPECT_EQ(builder.ask(query(sql)), "E(25001)ZE");
    builder.ask(query("rollback"));
    EXPECT_EQ(builder.ask(query(std::string("select 1; ") + sql)), "TDCE(25001)ZI");
  }
  EXPECT_EQ(builder.ask(query("create index concurrently build_v on build_test (v)")), "CZI");
  expect_agreement();
  EXPECT_EQ(builder.ask(query("drop index concurrently build_v")), "CZI");
  EXPECT_EQ(builder.ask(parse("", "create index concurrently build_v on build_test (v)") +
                        bind("", "") + execute() + sync()),
            "12CZI");
  expect_agreement();
}

// What is in one transaction with others is undone with them; CONCURRENTLY is not.
TEST_F(IndexBuildTest, InAPipelineAndInOneQuery) {
  auto call = [](const std::string& sql) { return parse("", sql) + bind("", "") + execute(); };
  std::string fails = "insert into build_test values (1)";
  std::string create = "create index build_v on build_test (v)";
  EXPECT_EQ(builder.ask(call(create) + call(fails) + sync()), "12C12E(23505)ZI");
  EXPECT_EQ(builder.first_value(count), "0");
  EXPECT_EQ(builder.ask(query(create + "; " + fails)), "CE(23505)ZI");
  EXPECT_EQ(builder.first_value(count), "0");
  if (runs_on_postgres()) GTEST_SKIP() << "it leaves an invalid index";
  EXPECT_EQ(builder.ask(call("create index concurrently build_v on build_test (v)") + call(fails) +
                        sync()),
            "12C12E(23505)ZI");
  expect_agreement();
}

TEST_F(IndexBuildTest, DuplicatesFailTheBuild) {
  for (const char* how : {"", "concurrently ", "concurrently  "}) {
    // Far from each other, and in one batch.
    const char* other = std::string_view(how).ends_with("  ") ? "5" : "900";
    writer.ask(query("update build_test set v = 10 * id where id > 3"));
    writer.ask(query("update build_test set v = 30 where id = " + std::string(other)));
    builder.send(query("create unique index " + std::string(how) + "build_v on build_test (v)"));
    for (const Message& each : builder.read_answer()) {
      if (each.type != 'E') continue;
      EXPECT_EQ(field(each, 'C'), "23505");
      EXPECT_EQ(field(each, 'M'), "could not create unique index \"build_v\"");
      EXPECT_EQ(field(each, 'D'), "Key (v)=(30) is duplicated.");
    }
    // PostgreSQL leaves what CONCURRENTLY has begun.
    if (runs_on_postgres()) builder.ask(query("drop index if exists build_v"));
    EXPECT_EQ(builder.first_value(count), "0");
  }
  writer.ask(query("update build_test set v = 10 * id where id > 3"));
  EXPECT_EQ(builder.ask(query("create unique index build_v on build_test (v)")), "CZI");
  expect_agreement();
}

// While a unique index is being built beside writers it holds for them; a row that has no entry yet
// may meet theirs.
TEST_F(IndexBuildTest, DuplicatesOfWriters) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  std::string sql = "create unique index concurrently build_v on build_test (v)";
  stall(sql);
  EXPECT_EQ(writer.ask(query("insert into build_test values (2000, 70)")), "E(23505)ZI");
  EXPECT_EQ(writer.ask(query("update build_test set v = 70 where id = 8")), "E(23505)ZI");
  // Nobody knows of row 900 yet; and who takes it away takes no other row's entry.
  EXPECT_EQ(writer.ask(query("insert into build_test values (2000, 9000)")), "CZI");
  EXPECT_EQ(writer.ask(query("update build_test set v = -9 where id = 900")), "CZI");
  EXPECT_EQ(writer.ask(query("insert into build_test values (2001, 9000)")), "E(23505)ZI");
  EXPECT_EQ(holder.ask(query("rollback")), "CZI");
  EXPECT_EQ(builder.answer(), "CZI");
  expect_agreement();
  EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  stall(sql);
  EXPECT_EQ(writer.ask(query("insert into build_test values (3000, 9500)")), "CZI");
  EXPECT_EQ(holder.ask(query("rollback")), "CZI");
  EXPECT_EQ(builder.answer(), "E(23505)ZI");
  EXPECT_EQ(builder.first_value(count), "0");
}

// What the index cannot compute of a row that is there is the build's concern: who changes or
// removes it before the build comes to it is not told.
TEST_F(IndexBuildTest, RowsThatItCannotCompute) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  const std::string partial = "create index concurrently build_v on build_test (v) where ";
  for (const std::string& sql :
       {std::string("create index concurrently build_v on build_test (v, (100 / (v + 1)))"),
        std::string("create unique index concurrently build_v on build_test (v, (100 / (v + 1)))"),
        partial + "100 / (v + 1) < 100"}) {
    writer.ask(query("update build_test set v = -1 where id in (600, 700, 800)"));
    stall(sql);
    EXPECT_EQ(writer.ask(query("delete from build_test where id = 600")), "CZI");
    EXPECT_EQ(writer.ask(query("update build_test set v = 7 where id = 700")), "CZI");
    EXPECT_EQ(writer.ask(query("update build_test set v = 8, id = 1600 where id = 800")), "CZI");
    // Of rows that come it fails who brings them.
    EXPECT_EQ(writer.ask(query("update build_test set v = -1 where id = 900")), "E(22012)ZI");
    EXPECT_EQ(holder.ask(query("rollback")), "CZI");
    EXPECT_EQ(builder.answer(), "CZI");
    EXPECT_EQ(builder.first_value(valid), "t");
    writer.ask(query("drop index build_v"));
    writer.ask(query("insert into build_test values (600, 1), (800, 1)"));
    writer.ask(query("delete from build_test where id > 1000"));
  }
}

TEST_F(IndexBuildTest, TheTableChangesMeanwhile) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  for (const char* change :
       {"alter table build_test add x int default 3", "alter table build_test alter w type varchar",
        "alter table build_test alter v type bigint", "alter table build_test rename v to u",
        "create index on build_test (w)", "alter index build_v rename to b",
        "truncate build_test"}) {
    // The next batch waits for the definition, the one that comes back finds what it has become.
    writer.ask(query("begin"));
    writer.ask(query("lock table build_test in access exclusive mode"));
    observer.send_blocked(builder, query("create index build_v on build_test (v)"));
    writer.ask(query("rollback"));
    EXPECT_EQ(builder.answer(), "CZI");
    EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
    stall();
    observer.send_blocked(writer, query(std::string(change)));
    EXPECT_EQ(holder.ask(query("rollback")), "CZI");
    EXPECT_EQ(writer.answer(), "CZI") << change;
    EXPECT_EQ(builder.answer(), "CZI") << change;
    builder.ask(query("alter index b rename to build_v"));
    builder.ask(query("alter table build_test rename u to v"));
    expect_agreement();
    EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  }
}

TEST_F(IndexBuildTest, TheIndexIsDroppedMeanwhile) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  for (const char* drop : {"drop index build_v", "alter table build_test drop v"}) {
    stall();
    observer.send_blocked(writer, query(drop));
    EXPECT_EQ(holder.ask(query("rollback")), "CZI");
    EXPECT_EQ(writer.answer(), "CZI");
    EXPECT_EQ(builder.answer(), "E(55000)ZI");
    EXPECT_EQ(builder.first_value(count), "0");
  }
}

// Whatever ends it, the name is free again, also beside a block that has written the index.
TEST_F(IndexBuildTest, ABuildThatEndsEarlyLeavesNothing) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  for (const char* level : {"serializable", "read committed"}) {
    stall();
    writer.ask(query("begin isolation level " + std::string(level)));
    EXPECT_EQ(writer.ask(query("update build_test set v = 5 where id in (5, 600)")), "CZT");
    EXPECT_EQ(observer.cancel(builder), "t");
    EXPECT_EQ(builder.answer(), "E(57014)ZI");
    EXPECT_EQ(builder.first_value(count), "0");
    EXPECT_EQ(writer.ask(query("update build_test set v = 6 where id in (5, 600)")), "CZT");
    EXPECT_EQ(writer.ask(query("commit")), "CZI");
    holder.ask(query("rollback"));
    EXPECT_EQ(builder.ask(query("create index build_v on build_test (v)")), "CZI");
    expect_agreement();
    EXPECT_EQ(builder.ask(query("drop index build_v")), "CZI");
  }
}

// The builder waits for a block that then wants to change the table: one of them must give up.
TEST_F(IndexBuildTest, ABlockThatIsWaitedForLocksTheTable) {
  if (runs_on_postgres()) GTEST_SKIP() << why_not_there;
  stall();
  EXPECT_EQ(holder.ask(query("alter table build_test add x int")), "CZT");
  EXPECT_EQ(holder.ask(query("commit")), "CZI");
  EXPECT_EQ(builder.answer(), "CZI");
  expect_agreement();
}

}  // namespace
}  // namespace pgsilo::protocol_test
