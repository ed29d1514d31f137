// Functions that act outside of the transaction (BuiltinProcedure::acts_outside): what they did
// once is not done again, whatever the transaction meets afterwards.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"
#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

const std::string create_slot =
    "select slot_name from pg_create_physical_replication_slot('outside_act', true)";
const std::string read_row = "select v from outside_act_test where id = 1";
const std::string write_log = "insert into outside_act_log select v from outside_act_test";
const std::string wait = "select " + pause;

class OutsideActTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "it runs nothing again";
    control.start();
    client.start();
    clean_up();
    ASSERT_EQ(control.ask(query("create table outside_act_test (id int primary key, v int);"
                                "create table outside_act_log (v int);"
                                "insert into outside_act_test values (1, 0)")),
              "CCCZI");
  }
  void TearDown() override {
    if (!runs_on_postgres()) clean_up();
  }
  void clean_up() {
    control.ask(query("drop table if exists outside_act_test, outside_act_log"));
    control.ask(
        query("select pg_drop_replication_slot(slot_name) from pg_replication_slots "
              "where slot_name = 'outside_act'"));
  }
  // The answer to `bytes`, whose reads somebody else's update beats while they are at `pause`.
  std::string ask_and_beat(const std::string& bytes) {
    while_paused(client, bytes, [this] {
      EXPECT_EQ(control.ask(query("update outside_act_test set v = v + 1")), "CZI");
    });
    return client.answer();
  }
  // A condition that drops the slot and pauses, between reading one row and another one.
  std::string drop_slot_between_rows() {
    EXPECT_EQ(control.ask(query("insert into outside_act_test values (2, 0)")), "CZI");
    return "case id when 1 then pg_drop_replication_slot('outside_act') is not null and " + pause +
           " is not null else true end";
  }
  std::string count(const std::string& what) {
    return control.first_value("select count(*) from " + what);
  }
  RawClient control;
  RawClient client;
};

TEST_F(OutsideActTest, AQueryThatHasActedIsNotRunAgain) {
  std::string said =
      ask_and_beat(query(read_row + "; " + create_slot + "; " + wait + "; " + write_log));
  EXPECT_TRUE(said.ends_with("E(40001)ZI")) << said;
  EXPECT_EQ(count("pg_replication_slots"), "1");
  EXPECT_EQ(count("outside_act_log"), "0");
  EXPECT_EQ(client.ask(query("select 1")), "TDCZI");
}

TEST_F(OutsideActTest, NeitherIsAPipeline) {
  auto extended = [](const std::string& sql) {
    return parse("", sql) + bind("", "", {}) + execute();
  };
  std::string said = ask_and_beat(extended(read_row) + extended(create_slot) + extended(wait) +
                                  extended(write_log) + sync());
  EXPECT_TRUE(said.ends_with("E(40001)ZI")) << said;
  EXPECT_EQ(count("outside_act_log"), "0");
  // It is not so for ever.
  EXPECT_EQ(ask_and_beat(query(read_row + "; " + wait + "; " + write_log)), "TDCTDCCZI");
  EXPECT_EQ(count("outside_act_log"), "1");
}

TEST_F(OutsideActTest, NorABlockThatNothingOfHasLeft) {
  std::string said = ask_and_beat(query("begin isolation level serializable; " + read_row + "; " +
                                        create_slot + "; " + wait + "; " + write_log + "; commit"));
  EXPECT_TRUE(said.ends_with("E(40001)ZE")) << said;
  EXPECT_EQ(client.ask(query("rollback")), "CZI");
  EXPECT_EQ(count("outside_act_log"), "0");
}

TEST_F(OutsideActTest, NorAStatementAlone) {
  ASSERT_EQ(control.ask(query(create_slot)), "TDCZI");
  std::string drop = "select v from outside_act_test where " + drop_slot_between_rows();
  std::string said = ask_and_beat(query(drop));
  EXPECT_TRUE(said.ends_with("E(40001)ZI")) << said;
  EXPECT_EQ(count("pg_replication_slots"), "0");
}

TEST_F(OutsideActTest, NorAStatementOfABlock) {
  for (const char* level : {"serializable", "read committed"}) {
    ASSERT_EQ(control.ask(query(create_slot)), "TDCZI");
    ASSERT_EQ(client.ask(query(std::string("begin isolation level ") + level)), "CZT");
    std::string drop = "insert into outside_act_log select v from outside_act_test where " +
                       drop_slot_between_rows();
    EXPECT_EQ(ask_and_beat(query(drop)), "E(40001)ZE") << level;
    EXPECT_EQ(client.ask(query("rollback")), "CZI");
    EXPECT_EQ(count("pg_replication_slots"), "0");
    control.ask(query("delete from outside_act_test where id = 2"));
  }
}

// What it had read before it acted was found true then, together, and it reads no more.
TEST_F(OutsideActTest, WhatIsChangedBehindAnActBeatsNobodyWhoHasReadAllBefore) {
  ASSERT_EQ(control.ask(query(create_slot)), "TDCZI");
  std::string drop = "select pg_drop_replication_slot('outside_act'), " + pause +
                     " from outside_act_test where v >= 0";
  EXPECT_EQ(ask_and_beat(query(drop)), "TDCZI");
  EXPECT_EQ(count("pg_replication_slots"), "0");
}

// Others may have gone on from where it was set.
TEST_F(OutsideActTest, ASequenceIsSetOnce) {
  ASSERT_EQ(control.ask(query("create sequence outside_act_numbers")), "CZI");
  while_paused(
      client,
      query(read_row + "; select setval('outside_act_numbers', 10); " + wait + "; " + write_log),
      [this] {
        EXPECT_EQ(control.first_value("select nextval('outside_act_numbers')"), "11");
        EXPECT_EQ(control.ask(query("update outside_act_test set v = v + 1")), "CZI");
      });
  std::string said = client.answer();
  EXPECT_TRUE(said.ends_with("E(40001)ZI")) << said;
  EXPECT_EQ(control.first_value("select nextval('outside_act_numbers')"), "12");
  EXPECT_EQ(control.ask(query("drop sequence outside_act_numbers")), "CZI");
}

// What it rests on is looked at before it acts, and then nothing is done yet.
TEST_F(OutsideActTest, WhatIsBeatenBeforeItActsRunsAgain) {
  EXPECT_EQ(ask_and_beat(query(read_row + "; " + wait + "; " + create_slot + "; " + write_log)),
            "TDCTDCTDCCZI");
  EXPECT_EQ(count("pg_replication_slots"), "1");
  EXPECT_EQ(control.first_value("select v from outside_act_log"), "1");
}

// As well where nothing is left to be done to become interactive: a run that takes intents is it
// from its begin (RetryPolicy::failures_before_intents, 8).
TEST_F(OutsideActTest, NorIsItToldWhenACarefulRunIsBeaten) {
  const std::string retries =
      "select coalesce(sum(retries), 0) >= 10 from pgsilo_stat_statements where query like "
      "'%outside_act_careful%' and query not like '%pgsilo_stat_statements%'";
  client.send(query(read_row + "; select pg_sleep(0.1) as outside_act_careful; " + create_slot +
                    "; " + write_log));
  while (control.first_value(retries) != "t" && client.is_silent(1))
    control.ask(query("update outside_act_test set v = v + 1 where id = 1"));
  EXPECT_EQ(control.first_value(retries), "t");
  EXPECT_EQ(client.answer(), "TDCTDCTDCCZI");
  EXPECT_EQ(count("pg_replication_slots"), "1");
}

// A strict function of NULL does nothing.
TEST_F(OutsideActTest, WhatIsNotCalledHasNotActed) {
  EXPECT_EQ(ask_and_beat(query("select pg_cancel_backend(null), pg_drop_replication_slot(null); " +
                               read_row + "; " + wait + "; " + write_log)),
            "TDCTDCTDCCZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
