// What pg_stat_activity, pg_locks and the counters say of sessions that do known things.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

class MonitoringTest : public testing::Test {
 protected:
  void SetUp() override {
    client.start();
    observer.client().ask(query("drop table if exists monitoring_test"));
    ASSERT_EQ(
        observer.client().ask(query("create table monitoring_test (id int primary key, v int)")),
        "CZI");
    ASSERT_EQ(observer.client().ask(query("insert into monitoring_test values (1, 0), (2, 0)")),
              "CZI");
  }
  void TearDown() override { observer.client().ask(query("drop table monitoring_test")); }

  std::string seen(const std::string& expression) { return observer.column(client, expression); }
  std::string locks(const std::string& expression, const RawClient& of) {
    return observer.client().first_value(
        "select " + expression + " from pg_locks where pid = " + std::to_string(of.process));
  }
  std::string blockers(const RawClient& of) {
    return observer.client().first_value("select pg_blocking_pids(" + std::to_string(of.process) +
                                         ")");
  }
  static std::string set_of(const RawClient& one) {
    return "{" + std::to_string(one.process) + "}";
  }

  Observer observer;
  RawClient client;
};

TEST_F(MonitoringTest, BytesThatAreNoTextAreShownToNobody) {
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
  EXPECT_EQ(client.ask(query("select 2 /* \xff */")), "E(22021)ZI");
  EXPECT_EQ(seen("query"), "select 1");
  EXPECT_EQ(client.ask(parse("", "select 3 /* \xff */") + sync()), "E(22021)ZI");
  EXPECT_EQ(seen("query"), "select 1");
}

TEST_F(MonitoringTest, StatesOfASession) {
  ASSERT_EQ(client.ask(query("select 'first'")), "TDCZI");
  observer.await(client, "state = 'idle' and wait_event_type = 'Client'");
  EXPECT_EQ(seen("wait_event || ' ' || query"), "ClientRead select 'first'");
  EXPECT_EQ(
      seen("xact_start is null and query_start <= state_change and backend_start <= query_start"),
      "t");
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  observer.await(client, "state = 'idle in transaction' and wait_event = 'ClientRead'");
  EXPECT_EQ(seen("xact_start = query_start"), "t");
  ASSERT_EQ(client.ask(query("select v from monitoring_test")), "TDDCZT");
  observer.await(client, "state = 'idle in transaction' and wait_event = 'ClientRead'");
  EXPECT_EQ(seen("xact_start < query_start"), "t");
  EXPECT_EQ(seen("query"), "select v from monitoring_test");
  ASSERT_EQ(client.ask(query("select 1 / v from monitoring_test")), "TE(22012)ZE");
  observer.await(client, "state = 'idle in transaction (aborted)'");
  EXPECT_EQ(seen("xact_start is null"), "t");
  ASSERT_EQ(client.ask(query("rollback")), "CZI");
  observer.await(client, "state = 'idle'");
  EXPECT_EQ(seen("query"), "rollback");
}

TEST_F(MonitoringTest, Names) {
  EXPECT_EQ(seen("datname || ' ' || usename || ' ' || backend_type"),
            "postgres postgres client backend");
  EXPECT_EQ(seen("client_addr is null and client_hostname is null and client_port = -1"), "t");
  EXPECT_EQ(seen("application_name"), "");
  ASSERT_EQ(client.ask(query("set application_name = 'watched'")), "CZI");
  EXPECT_EQ(seen("application_name"), "watched");
  ASSERT_EQ(client.ask(query("begin; set local application_name = 'for now'")), "CCZT");
  EXPECT_EQ(seen("application_name"), "for now");
  ASSERT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(seen("application_name"), "watched");
}

TEST_F(MonitoringTest, TextsOfPreparedStatements) {
  const std::string first = "select pg_sleep($1) as one", second = "select pg_sleep($1) as other";
  ASSERT_EQ(client.ask(parse("one", first) + parse("two", second) + sync()), "11ZI");
  EXPECT_EQ(seen("query"), second);
  for (const auto& [name, text] : {std::pair("one", first), std::pair("one", first),
                                   std::pair("two", second), std::pair("one", first)}) {
    client.send(bind("", name, {"1000"}) + execute() + sync());
    observer.await(client, "state = 'active' and wait_event = 'PgSleep'");
    EXPECT_EQ(seen("query"), text);
    EXPECT_EQ(observer.cancel(client), "t");
    EXPECT_EQ(client.answer(), "2E(57014)ZI");
    ASSERT_EQ(client.ask(query("select 'between'")), "TDCZI");
    EXPECT_EQ(seen("query"), "select 'between'");
  }
}

TEST_F(MonitoringTest, LongTextsAreCutBetweenCharacters) {
  std::string text = "select '";
  while (text.size() < 3000) text += "\xE2\x82\xAC";
  ASSERT_EQ(client.ask(query(text + "'")), "TDCZI");
  std::string shown = seen("query");
  EXPECT_LE(shown.size(), 1024u);
  EXPECT_GE(shown.size(), 1020u);
  EXPECT_EQ(text.substr(0, shown.size()), shown);
  EXPECT_EQ((shown.size() - 8) % 3, 0u);
}

TEST_F(MonitoringTest, TextsThatAreNone) {
  EXPECT_EQ(client.ask(query("select '\xFF'")), "E(22021)ZI");
  EXPECT_EQ(seen("length(query) < 20"), "t");
}

TEST_F(MonitoringTest, WaitForARow) {
  RawClient holder, next;
  holder.start();
  next.start();
  ASSERT_EQ(holder.ask(query("begin; update monitoring_test set v = 1 where id = 1")), "CCZT");
  client.send(query("begin; update monitoring_test set v = 2 where id = 1"));
  observer.await(client, "state = 'active' and wait_event_type = 'Lock'");
  EXPECT_EQ(blockers(client), set_of(holder));
  EXPECT_EQ(blockers(holder), "{}");
  EXPECT_EQ(locks("count(*) filter (where not granted)", client), "1");
  EXPECT_EQ(locks("count(*) filter (where not granted)", holder), "0");
  EXPECT_NE(locks("count(*) filter (where granted)", holder), "0");
  EXPECT_EQ(locks("count(*) filter (where not granted and waitstart <= clock_timestamp())", client),
            "1");
  // A third one waits behind both.
  next.send(query("update monitoring_test set v = 3 where id = 1"));
  observer.await(next, "wait_event_type = 'Lock'");
  EXPECT_NE(blockers(next).find(std::to_string(client.process)), std::string::npos);
  EXPECT_EQ(holder.ask(query("commit")), "CZI");
  EXPECT_EQ(client.answer().back(), 'T');
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(next.answer(), "CZI");
  EXPECT_EQ(locks("count(*)", holder), "0");
}

TEST_F(MonitoringTest, WaitForATable) {
  RawClient holder;
  holder.start();
  ASSERT_EQ(holder.ask(query("begin; select v from monitoring_test")), "CTDDCZT");
  client.send(query("begin; alter table monitoring_test add column w int"));
  observer.await(client, "state = 'active' and wait_event_type = 'Lock'");
  EXPECT_EQ(blockers(client), set_of(holder));
  std::string on_table =
      "string_agg(mode, ',') filter (where relation = 'monitoring_test'::regclass and locktype = "
      "'relation' and ";
  EXPECT_EQ(locks(on_table + "granted)", holder), "AccessShareLock");
  EXPECT_EQ(locks(on_table + "not granted)", client), "AccessExclusiveLock");
  RawClient reader;
  reader.start();
  ASSERT_EQ(holder.ask(query("commit")), "CZI");
  ASSERT_EQ(client.answer(), "CCZT");
  EXPECT_EQ(locks(on_table + "granted)", client), "AccessExclusiveLock");
  reader.send(query("begin; select * from monitoring_test"));
  observer.await(reader, "wait_event_type = 'Lock'");
  EXPECT_EQ(blockers(reader), set_of(client));
  EXPECT_EQ(locks(on_table + "not granted)", reader), "AccessShareLock");
  ASSERT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(reader.answer(), "CTDDCZT");
}

// From here on what PostgreSQL has no equal of, or tells later.
class OwnMonitoringTest : public MonitoringTest {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP();
    MonitoringTest::SetUp();
  }
  void TearDown() override {
    if (!IsSkipped()) MonitoringTest::TearDown();
  }
  int counted(const std::string& column) {
    return std::stoi(observer.client().first_value("select " + column +
                                                   " from pg_stat_database where datname = "
                                                   "'postgres'"));
  }
  std::string statement(const std::string& columns, const std::string& text) {
    return observer.client().first_value(
        "select concat_ws(' ', " + columns +
        ") from pgsilo_stat_statements where trim(replace(query, '  ', ' ')) = '" + text + "'");
  }
};

TEST_F(OwnMonitoringTest, BytesThatAreNoTextAreNotCounted) {
  EXPECT_EQ(client.ask(query("select 1 / 0 /* no text: \xff */")), "E(22021)ZI");
  EXPECT_EQ(observer.client().first_value(
                "select count(*) from pgsilo_stat_statements where query like '%no ' || 'text%'"),
            "0");
}

TEST_F(OwnMonitoringTest, RowLocksNameTheTreeOfTheRow) {
  observer.client().ask(query("update monitoring_test set v = id"));
  observer.client().ask(query("alter table monitoring_test add unique (v)"));
  RawClient rival, inserter;
  rival.start();
  inserter.start();
  const std::string names =
      "string_agg(relation::regclass::text, ' ' order by relation) filter (where locktype = "
      "'tuple')";
  ASSERT_EQ(client.ask(query("begin; select v from monitoring_test where id = 1 for update")),
            "CTDCZT");
  EXPECT_EQ(locks(names, client), "\\N");  // as in PostgreSQL: nobody has asked for it
  rival.send(query("delete from monitoring_test where id = 1"));  // a one-shot
  observer.await(rival, "wait_event_type = 'Lock'");
  EXPECT_EQ(locks(names, rival), "monitoring_test");
  EXPECT_EQ(locks(names, client), "monitoring_test");
  ASSERT_EQ(client.ask(query("delete from monitoring_test where id = 1")), "CZT");
  inserter.send(
      query("insert into monitoring_test select 1000, v from monitoring_test where id = 1"));
  observer.await(inserter, "wait_event_type = 'Lock'");
  EXPECT_EQ(locks(names, client), "monitoring_test monitoring_test_v_key");
  ASSERT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(rival.answer(), "CZI");
  inserter.answer();
}

TEST_F(OwnMonitoringTest, SnapshotsAndWhatTheyKeep) {
  const std::string mine = " from pgsilo_snapshots where pid = " + std::to_string(client.process);
  auto told = [&](const std::string& expression) {
    return observer.client().first_value("select " + expression + mine);
  };
  EXPECT_EQ(told("count(*)"), "0");
  ASSERT_EQ(client.ask(query("begin isolation level serializable read only deferrable; "
                             "select v from monitoring_test")),
            "CTDDCZT");
  EXPECT_EQ(told("concat_ws(' ', count(*), sum(kept_versions), sum(kept_bytes))"), "1 0 0");
  EXPECT_EQ(told("min(boundary_epoch) > 0 and max(opened) <= clock_timestamp() and min(opened) >= "
                 "(select xact_start from pg_stat_activity a where a.pid = " +
                 std::to_string(client.process) + ")"),
            "t");
  // The first change of a row keeps what it was, the second keeps nothing.
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(observer.client().ask(query("update monitoring_test set v = v + 1 where id = 1")),
              "CZI");
  }
  ASSERT_EQ(observer.client().ask(query("delete from monitoring_test where id = 2")), "CZI");
  EXPECT_EQ(told("sum(kept_versions)"), "2");
  EXPECT_EQ(told("sum(kept_bytes) > 0"), "t");
  ASSERT_EQ(client.ask(query("commit")), "CZI");
  EXPECT_EQ(told("count(*)"), "0");
}

TEST_F(OwnMonitoringTest, AgeOfThePin) {
  EXPECT_EQ(seen("pin_start is null"), "t");
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  EXPECT_EQ(seen("pin_start is null"), "t");
  ASSERT_EQ(client.ask(query("select v from monitoring_test")), "TDDCZT");
  EXPECT_EQ(seen("pin_start = query_start and pin_start > xact_start"), "t");
  ASSERT_EQ(client.ask(query("select 1")), "TDCZT");
  EXPECT_EQ(seen("pin_start < query_start"), "t");
  ASSERT_EQ(client.ask(query("commit")), "CZI");
  EXPECT_EQ(seen("pin_start is null"), "t");
}

TEST_F(OwnMonitoringTest, CountsOfTheDatabase) {
  int commits = counted("xact_commit"), rollbacks = counted("xact_rollback");
  int inserted = counted("tup_inserted"), updated = counted("tup_updated");
  int deleted = counted("tup_deleted"), killed = counted("sessions_killed");
  ASSERT_EQ(
      client.ask(query("insert into monitoring_test select g, 0 from generate_series(3, 12) g")),
      "CZI");
  ASSERT_EQ(client.ask(query("update monitoring_test set v = 1 where id > 9")), "CZI");
  ASSERT_EQ(client.ask(query("delete from monitoring_test where id > 10")), "CZI");
  ASSERT_EQ(client.ask(query("begin; select 1/0")), "CE(22012)ZE");
  ASSERT_EQ(client.ask(query("rollback")), "CZI");
  ASSERT_EQ(client.ask(query("begin; select 1; rollback")), "CTDCCZI");
  EXPECT_EQ(counted("tup_inserted"), inserted + 10);
  EXPECT_EQ(counted("tup_updated"), updated + 3);
  EXPECT_EQ(counted("tup_deleted"), deleted + 2);
  EXPECT_EQ(counted("xact_rollback"), rollbacks + 2);
  EXPECT_GE(counted("xact_commit"), commits + 3);
  RawClient killed_one;
  killed_one.start();
  EXPECT_EQ(observer.terminate(killed_one), "t");
  observer.await_end(killed_one.process);
  EXPECT_EQ(counted("sessions_killed"), killed + 1);
  ASSERT_EQ(observer.client().ask(query("select pg_stat_reset()")), "TDCZI");
  EXPECT_EQ(counted("tup_inserted"), 0);
  EXPECT_EQ(observer.client().first_value("select now() - stats_reset < interval '1 minute' from "
                                          "pg_stat_database where datname = 'postgres'"),
            "t");
}

TEST_F(OwnMonitoringTest, QueriesLeadToTheirCounts) {
  for (const char* text : {"select 'counted' || 'text' from monitoring_test", "begin"}) {
    client.ask(query(text));
    EXPECT_EQ(observer.client().first_value("select count(*) from pg_stat_activity a join "
                                            "pgsilo_stat_statements s on s.queryid = a.query_id "
                                            "where a.pid = " +
                                            std::to_string(client.process)),
              "1");
  }
  client.send(parse("", "select pg_sleep(100)") + bind("", "", {}) + execute() + sync());
  observer.await(client, "wait_event = 'PgSleep'");
  EXPECT_EQ(observer.client().first_value("select s.query from pg_stat_activity a join "
                                          "pgsilo_stat_statements s on s.queryid = a.query_id "
                                          "where a.pid = " +
                                          std::to_string(client.process)),
            "select pg_sleep(100)");
  observer.cancel(client);
  EXPECT_EQ(client.answer(), "12E(57014)ZE");
}

TEST_F(OwnMonitoringTest, TextsThatDifferInLiterals) {
  ASSERT_EQ(observer.client().ask(query("select pg_stat_reset()")), "TDCZI");
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(
        client.ask(query("select v + " + std::to_string(i) + " from monitoring_test where id = 2")),
        "TDCZI");
  }
  EXPECT_EQ(
      statement("calls, retries, failures", "select v + $1 from monitoring_test where id = $2"),
      "5 0 0");
}

TEST_F(OwnMonitoringTest, RetriesAndFailures) {
  ASSERT_EQ(observer.client().ask(query("select pg_stat_reset()")), "TDCZI");
  RawClient block;
  block.start();
  // A one-shot meets the record lock of a block, waits and runs again.
  ASSERT_EQ(block.ask(query("begin; update monitoring_test set v = 1 where id = 1")), "CCZT");
  client.send(query("update monitoring_test set v = v + 10 where id = 1"));
  observer.await(client, "wait_event_type = 'Lock'");
  EXPECT_EQ(block.ask(query("commit")), "CZI");
  EXPECT_EQ(client.answer(), "CZI");
  EXPECT_EQ(statement("calls, retries, failures, aborts_intent, aborts_record",
                      "update monitoring_test set v = v + $1 where id = $2"),
            "1 1 0 1 0");
  // What a block has read has changed at its COMMIT.
  ASSERT_EQ(block.ask(query("begin; select v from monitoring_test where id = 1; "
                            "update monitoring_test set v = 2 where id = 2")),
            "CTDCCZT");
  ASSERT_EQ(client.ask(query("update monitoring_test set v = v + 10 where id = 1")), "CZI");
  EXPECT_EQ(block.ask(query("commit /* too late */")), "E(40001)ZI");
  EXPECT_EQ(statement("calls, retries, failures, aborts_record", "commit /* too late */"),
            "1 0 1 1");
}

TEST_F(OwnMonitoringTest, Deadlocks) {
  int before = counted("deadlocks");
  RawClient other;
  other.start();
  for (RawClient* one : {&client, &other})
    ASSERT_EQ(one->ask(query("set deadlock_timeout = '20ms'")), "CZI");
  ASSERT_EQ(client.ask(query("begin; update monitoring_test set v = 1 where id = 1")), "CCZT");
  ASSERT_EQ(other.ask(query("begin; update monitoring_test set v = 1 where id = 2")), "CCZT");
  client.send(query("update monitoring_test set v = 2 where id = 2"));
  observer.await(client, "wait_event_type = 'Lock'");
  other.send(query("update monitoring_test set v = 2 where id = 1"));
  std::string said = other.answer();
  if (said == "E(40P01)ZE") {
    ASSERT_EQ(other.ask(query("rollback")), "CZI");
    EXPECT_EQ(client.answer(), "CZT");
  } else {
    EXPECT_EQ(said, "CZT");
    EXPECT_EQ(client.answer(), "E(40P01)ZE");
  }
  EXPECT_EQ(counted("deadlocks"), before + 1);
  client.ask(query("rollback"));
  other.ask(query("rollback"));
}

}  // namespace
}  // namespace pgsilo::protocol_test
