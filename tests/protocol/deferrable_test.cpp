// SERIALIZABLE READ ONLY DEFERRABLE between sessions: one moment of the past, whatever others do.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class DeferrableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&reader, &writer}) client->start();
    writer.ask(query("drop table if exists deferrable_test, deferrable_new"));
    writer.ask(query("create table deferrable_test (id int primary key, v int)"));
    writer.ask(query("create index deferrable_v on deferrable_test (v)"));
    writer.ask(query("insert into deferrable_test select i, i from generate_series(1, 4) i"));
  }
  void TearDown() override {
    for (RawClient* client : {&reader, &writer}) client->ask(query("rollback"));
    writer.ask(query("drop table if exists deferrable_test, deferrable_new"));
  }
  void begin() {
    EXPECT_EQ(reader.ask(query("begin isolation level serializable read only deferrable")), "CZT");
  }
  void change(const std::string& sql) { EXPECT_EQ(writer.ask(query(sql)), "CZI") << sql; }

  RawClient reader, writer;
};

TEST_F(DeferrableTest, SeesOneMoment) {
  begin();
  EXPECT_EQ(reader.column("select v from deferrable_test order by id"), "1 2 3 4 ");
  change("update deferrable_test set v = v + 10 where id < 3");
  change("delete from deferrable_test where id = 4");
  change("insert into deferrable_test values (4, 44), (5, 5)");
  change("update deferrable_test set id = 33 where id = 3");
  EXPECT_EQ(reader.column("select v from deferrable_test order by id"), "1 2 3 4 ");
  EXPECT_EQ(reader.column("select id from deferrable_test order by id desc"), "4 3 2 1 ");
  EXPECT_EQ(reader.column("select v from deferrable_test where id = 4"), "4 ");
  EXPECT_EQ(reader.column("select v from deferrable_test where id = 33"), "");
  EXPECT_EQ(reader.column("select count(*) from deferrable_test where v = 5"), "0 ");
  EXPECT_EQ(reader.ask(query("commit")), "CZI");
  EXPECT_EQ(reader.column("select v from deferrable_test order by id"), "11 12 44 5 3 ");
}

TEST_F(DeferrableTest, IndexesLeadToThatMoment) {
  reader.ask(query("set enable_seqscan = off"));
  begin();
  EXPECT_EQ(reader.column("select id from deferrable_test where v = 2"), "2 ");
  change("update deferrable_test set v = 2 where id = 1");
  change("update deferrable_test set v = 22 where id = 2");
  EXPECT_EQ(reader.column("select id from deferrable_test where v = 2"), "2 ");
  EXPECT_EQ(reader.column("select id from deferrable_test where v between 1 and 3 order by v"),
            "1 2 3 ");
  EXPECT_EQ(reader.column("select id from deferrable_test where v = 22"), "");
  EXPECT_EQ(reader.ask(query("commit")), "CZI");
  EXPECT_EQ(reader.column("select id from deferrable_test where v = 2"), "1 ");
}

// What was acknowledged before the first statement is there.
TEST_F(DeferrableTest, IsNotOlderThanItsFirstStatement) {
  for (int n = 5; n < 60; ++n) {
    if (n % 2 == 0) begin();
    change("insert into deferrable_test values (" + std::to_string(n) + ", 0)");
    if (n % 2 != 0) begin();
    EXPECT_EQ(reader.column("select count(*) from deferrable_test"), std::to_string(n) + " ");
    EXPECT_EQ(reader.ask(query("commit")), "CZI");
  }
}

TEST_F(DeferrableTest, NeverMeetsAConflict) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (int id = 0; id < 2; ++id) {
    writers.emplace_back([&stop, id] {
      RawClient client;
      client.start();
      for (int n = 0; !stop; ++n) {
        std::string from = std::to_string(1 + (n + id) % 4), to = std::to_string(1 + n % 3);
        client.ask(query("update deferrable_test set v = case id when " + from +
                         " then v - 1 else v + 1 end where id in (" + from + ", " + to + ") and " +
                         from + " <> " + to));
      }
    });
  }
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    begin();
    std::string rows = reader.column("select v from deferrable_test order by id");
    EXPECT_EQ(reader.column("select sum(v) from deferrable_test"), "10 ");
    EXPECT_EQ(reader.column("select v from deferrable_test order by id"), rows);
    EXPECT_EQ(reader.ask(query("commit")), "CZI");
  }
  stop = true;
  for (std::thread& thread : writers) thread.join();
}

TEST_F(DeferrableTest, UnfinishedWorkOfOthersIsNotThere) {
  EXPECT_EQ(writer.ask(query("begin isolation level read committed")), "CZT");
  EXPECT_EQ(writer.ask(query("update deferrable_test set v = 0")), "CZT");
  begin();
  EXPECT_EQ(reader.column("select sum(v) from deferrable_test"), "10 ");
  EXPECT_EQ(writer.ask(query("commit")), "CZI");
  EXPECT_EQ(reader.column("select sum(v) from deferrable_test"), "10 ");
}

TEST_F(DeferrableTest, PreparedStatementsAndPortalsReadIt) {
  EXPECT_EQ(
      reader.ask(parse("p", "select v from deferrable_test where id >= $1 order by id") + sync()),
      "1ZI");
  begin();
  EXPECT_EQ(reader.ask(bind("", "p", {"1"}) + execute() + sync()), "2DDDDCZT");
  reader.ask(bind("c", "p", {"2"}) + execute("c", 1) + sync());
  change("delete from deferrable_test");
  EXPECT_EQ(reader.ask(execute("c", 1) + sync()), "DsZT");
  EXPECT_EQ(reader.ask(execute("c") + sync()), "DCZT");
  EXPECT_EQ(reader.ask(bind("", "p", {"3"}) + execute() + sync()), "2DDCZT");
}

TEST_F(DeferrableTest, RefusesToWrite) {
  begin();
  EXPECT_EQ(reader.ask(query("insert into deferrable_test values (9, 9)")), "E(25006)ZE");
}

// PostgreSQL's DDL waits for the reader; here the reader keeps what was there.
class DeferrableDdlTest : public DeferrableTest {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "PostgreSQL's DDL waits";
    DeferrableTest::SetUp();
  }
  void TearDown() override {
    if (!IsSkipped()) DeferrableTest::TearDown();
  }
};

TEST_F(DeferrableDdlTest, ADroppedTableIsThere) {
  begin();
  EXPECT_EQ(reader.column("select 1"), "1 ");
  change("drop table deferrable_test");
  EXPECT_EQ(reader.column("select v from deferrable_test order by id"), "1 2 3 4 ");
  EXPECT_EQ(reader.column("select count(*) from pg_class where relname = 'deferrable_test'"), "1 ");
  EXPECT_EQ(reader.ask(query("commit")), "CZI");
  EXPECT_EQ(reader.column("select v from deferrable_test"), "42P01 ");
}

TEST_F(DeferrableDdlTest, ATruncatedTableIsFull) {
  begin();
  EXPECT_EQ(reader.column("select sum(v) from deferrable_test"), "10 ");
  change("truncate deferrable_test");
  change("insert into deferrable_test values (1, 100)");
  EXPECT_EQ(reader.column("select v from deferrable_test order by id"), "1 2 3 4 ");
  EXPECT_EQ(reader.ask(query("commit")), "CZI");
  EXPECT_EQ(reader.column("select v from deferrable_test"), "100 ");
}

TEST_F(DeferrableDdlTest, ColumnsAndTypesAreThoseOfThatMoment) {
  begin();
  EXPECT_EQ(reader.column("select * from deferrable_test where id = 1"), "1 ");
  change("alter table deferrable_test add column w int default 7");
  change("update deferrable_test set w = 8");
  EXPECT_EQ(reader.ask(query("select w from deferrable_test")), "E(42703)ZE");
  reader.ask(query("rollback"));
  begin();
  EXPECT_EQ(reader.column("select w from deferrable_test where id = 1"), "8 ");
  change("alter table deferrable_test drop column w");
  EXPECT_EQ(reader.column("select w from deferrable_test where id = 2"), "8 ");
}

TEST_F(DeferrableDdlTest, WhatIsMadeLaterIsNotThere) {
  reader.ask(query("set enable_seqscan = off"));
  begin();
  EXPECT_EQ(reader.column("select 1"), "1 ");
  change("update deferrable_test set v = v + 100");
  change("drop index deferrable_v");
  change("create index deferrable_v on deferrable_test (v, id)");
  change("create table deferrable_new as select 1 as a");
  EXPECT_EQ(reader.column("select id from deferrable_test where v = 3"), "3 ");
  EXPECT_EQ(reader.column("select id from deferrable_test where v = 103"), "");
  EXPECT_EQ(reader.column("select a from deferrable_new"), "42P01 ");
}

TEST_F(DeferrableDdlTest, ItNeitherWaitsForDdlNorHoldsItUp) {
  EXPECT_EQ(writer.ask(query("begin")), "CZT");
  EXPECT_EQ(writer.ask(query("alter table deferrable_test rename to deferrable_new")), "CZT");
  begin();
  EXPECT_EQ(reader.column("select sum(v) from deferrable_test"), "10 ");
  EXPECT_EQ(writer.ask(query("commit")), "CZI");
  EXPECT_EQ(reader.column("select sum(v) from deferrable_test"), "10 ");
  EXPECT_EQ(reader.column("select sum(v) from deferrable_new"), "42P01 ");
}

// Nobody is in its way: not even who has changed the table since.
TEST_F(DeferrableDdlTest, LocksATableAsItWas) {
  begin();
  EXPECT_EQ(reader.column("select 1"), "1 ");
  change("alter table deferrable_test add column w int default 7");
  reader.ask(query("set local statement_timeout = '5s'"));
  EXPECT_EQ(reader.ask(query("lock table deferrable_test in access share mode")), "CZT");
  EXPECT_EQ(reader.ask(query("select w from deferrable_test")), "E(42703)ZE");
}

// What pg_class says and what names mean are from one moment.
TEST_F(DeferrableDdlTest, WhileTablesComeAndGo) {
  std::atomic<bool> stop = false;
  std::thread definer([&stop] {
    RawClient client;
    client.start();
    constexpr int at_once = 20;  // in one go: their answers wait for the log
    std::string changes;
    for (int i = 0; i < at_once; ++i) {
      changes += query("create table deferrable_new as select generate_series(1, 10) as a");
      changes += query("drop table deferrable_new");
    }
    while (!stop) {
      client.send(changes);
      for (int i = 0; i < 2 * at_once; ++i) EXPECT_EQ(client.answer(), "CZI");
    }
  });
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end && !HasFailure()) {
    begin();
    std::string known =
        reader.column("select count(*) from pg_class where relname = 'deferrable_new'");
    std::string rows = reader.column("select count(*) from deferrable_new");
    EXPECT_EQ(rows, known == "1 " ? "10 " : "42P01 ");
    reader.ask(query("rollback"));
  }
  stop = true;
  definer.join();
}

}  // namespace
}  // namespace pgsilo::protocol_test
