// Statements of a block that wait until another's definition of their table is committed: they go
// on with the table as it is then, as in PostgreSQL, where these tests pass, too.
#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

class AwaitedDefinitionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (RawClient* client : {&one, &other}) client->start();
    one.ask(query(drop));
    one.ask(query("create table awaited (id int primary key, v int)"));
    one.ask(query("create table awaited_child (id int references awaited)"));
    one.ask(query("create table awaited_else (a int)"));
    one.ask(query("insert into awaited values (1, 1), (2, 2), (3, 3)"));
    one.ask(query("insert into awaited_else values (1)"));
  }
  void TearDown() override {
    for (RawClient* client : {&one, &other}) client->ask(query("rollback"));
    one.ask(query("drop sequence if exists awaited_numbers cascade"));
    one.ask(query(drop));
  }
  // A block of `one` that has read something, and in which all that was read was found to be true.
  void begin(const std::string& level = "read committed") {
    EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
    one.ask(query("select * from awaited_else a, awaited_else b"));
  }
  // What `one` answers when `other` commits what it waits for.
  std::string answer_behind(const std::string& definition, const std::string& message) {
    EXPECT_EQ(other.ask(query("begin; " + definition)).back(), 'T') << definition;
    one.send(message);
    observer.await(one, "wait_event_type = 'Lock'");
    EXPECT_EQ(other.ask(query("commit")), "CZI");
    return one.answer();
  }

  const std::string drop = "drop table if exists awaited_child, awaited_else, awaited";
  RawClient one, other;
  Observer observer;
};

TEST_F(AwaitedDefinitionTest, WhatARowRefersToIsLookedForInTheNewRows) {
  begin();
  EXPECT_EQ(
      answer_behind("alter table awaited alter v type bigint; delete from awaited where id = 3",
                    query("insert into awaited_child values (3)")),
      "E(23503)ZE");
}

TEST_F(AwaitedDefinitionTest, NewRowsAreLocked) {
  begin();
  EXPECT_EQ(
      answer_behind("alter table awaited add w serial; update awaited set v = 100 where id = 1",
                    query("select v from awaited where id = 1 for update")),
      "TDCZT");
  other.send(query("update awaited set v = v + 1000 where id = 1"));
  observer.await(other, "wait_event_type = 'Lock'");
  EXPECT_EQ(one.column("update awaited set v = v + 1 where id = 1 returning v"), "101 ");
  EXPECT_EQ(one.ask(query("commit")), "CZI");
  EXPECT_EQ(other.answer(), "CZI");
  EXPECT_EQ(one.column("select v from awaited where id = 1"), "1101 ");
}

TEST_F(AwaitedDefinitionTest, WhatWasTruncatedIsNotRead) {
  begin();
  EXPECT_EQ(answer_behind("truncate awaited_child, awaited",
                          query("insert into awaited_else select id from awaited")),
            "CZT");
  EXPECT_EQ(one.column("select count(*) from awaited_else"), "1 ");
}

TEST_F(AwaitedDefinitionTest, ItReturnsTheColumnsThatThereAre) {
  for (std::string level : {"read committed", "serializable"}) {
    EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
    EXPECT_EQ(answer_behind("alter table awaited drop v, add v text default 'x'",
                            query("select * from awaited where id = 1")),
              "TDCZT");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
    EXPECT_EQ(
        answer_behind("alter table awaited drop v, add v int default 7",
                      parse("", "select * from awaited where id = 1") +
                          message('D', std::string("S\0", 2)) + bind("", "") + execute() + sync()),
        "1tT2DCZT");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
}

TEST_F(AwaitedDefinitionTest, DefinitionsComeOneAfterTheOther) {
  for (std::string mine :
       {"alter table awaited add x int", "create index on awaited (v)", "truncate awaited cascade",
        "create table awaited_child (id int references awaited)", "drop table awaited"}) {
    for (std::string others : {"alter table awaited add y int", "create index on awaited (v)",
                               "truncate awaited cascade"}) {
      if (mine == others && mine.starts_with("create")) continue;  // no lock keeps them apart
      one.ask(query(drop));
      one.ask(query("create table awaited (id int primary key, v int)"));
      EXPECT_EQ(one.ask(query("begin isolation level read committed")), "CZT");
      std::string said = answer_behind(others, query(mine));
      EXPECT_EQ(said.substr(said.size() - 3), "CZT") << mine << " behind " << others;
      EXPECT_EQ(one.ask(query("commit")), "CZI");
    }
  }
}

TEST_F(AwaitedDefinitionTest, ADefaultNamesNoSequenceThatHasGone) {
  if (runs_on_postgres()) GTEST_SKIP() << "there it does";
  for (std::string level : {"read committed", "serializable"}) {
    one.ask(query("create sequence awaited_numbers"));
    EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
    std::string set = "alter table awaited alter v set default nextval('awaited_numbers')";
    EXPECT_EQ(answer_behind("drop sequence awaited_numbers", query(set)), "E(42P01)ZE");
    EXPECT_EQ(one.ask(query("rollback")), "CZI");
    one.ask(query("create sequence awaited_numbers"));
    EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
    EXPECT_EQ(one.ask(query(set)), "CZT");
    other.send(query("drop sequence awaited_numbers"));
    observer.await(other, "wait_event_type = 'Lock'");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
    EXPECT_EQ(other.answer(), "E(2BP01)ZI");
    one.ask(query("drop sequence awaited_numbers cascade"));
  }
}

TEST_F(AwaitedDefinitionTest, ASchemaGoesWithAllThatIsInIt) {
  for (std::string level : {"read committed", "serializable"}) {
    for (std::string create :
         {"create table awaited_schema.t (a int)",
          "create table awaited_schema.t (a serial primary key)",
          "create table awaited_schema.t as select 1 as a", "create sequence awaited_schema.t"}) {
      one.ask(query("create schema awaited_schema"));
      EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
      EXPECT_EQ(one.ask(query(create)), "CZT");
      other.send(query("drop schema awaited_schema"));
      observer.await(other, "wait_event_type = 'Lock'");
      EXPECT_EQ(one.ask(query("commit")), "CZI");
      EXPECT_EQ(other.answer(), "E(2BP01)ZI") << create;
      EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
      EXPECT_EQ(one.ask(query(create.replace(create.find(".t"), 2, ".u"))), "CZT");
      EXPECT_EQ(other.ask(query("begin isolation level " + level)), "CZT");
      other.send(query("drop schema awaited_schema cascade"));
      observer.await(other, "wait_event_type = 'Lock'");
      EXPECT_EQ(one.ask(query("commit")), "CZI");
      EXPECT_EQ(other.answer(), "CZT") << create;
      EXPECT_EQ(other.ask(query("rollback")), "CZI");
      EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
      EXPECT_EQ(answer_behind("drop schema awaited_schema cascade",
                              query(create.replace(create.find(".u"), 2, ".v"))),
                "E(3F000)ZE");
      EXPECT_EQ(one.ask(query("commit")), "CZI");
    }
  }
}

TEST_F(AwaitedDefinitionTest, WhatATableOwnsGoesWithIt) {
  for (std::string level : {"read committed", "serializable"}) {
    for (std::string gone : {"drop table awaited_else", "alter table awaited_else drop a"}) {
      one.ask(query("drop table if exists awaited_else; create table awaited_else (a int)"));
      EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
      EXPECT_EQ(one.ask(query("create sequence awaited_numbers owned by awaited_else.a")), "CZT");
      other.send(query(gone));
      observer.await(other, "wait_event_type = 'Lock'");
      EXPECT_EQ(one.ask(query("commit")), "CZI");
      EXPECT_EQ(other.answer(), "CZI");
      EXPECT_EQ(one.ask(query("select * from awaited_numbers")), "E(42P01)ZI");
    }
  }
}

TEST_F(AwaitedDefinitionTest, ASchemaGoesBesideOtherDefinitions) {
  for (std::string level : {"read committed", "serializable"}) {
    one.ask(query("create schema awaited_schema"));
    EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
    EXPECT_EQ(one.ask(query("drop schema awaited_schema")), "CZT");
    EXPECT_EQ(other.ask(query("alter table awaited add " + level.substr(0, 4) + " int")), "CZI");
    EXPECT_EQ(other.ask(query("drop table awaited_child")), "CZI");
    EXPECT_EQ(other.ask(query("create table awaited_child (id int references awaited)")), "CZI");
    EXPECT_EQ(one.ask(query("commit")), "CZI");
  }
}

TEST_F(AwaitedDefinitionTest, TypesOnBothSidesOfAReferenceChangeOneAfterTheOther) {
  for (std::string level : {"read committed", "serializable"}) {
    for (std::string mine : {"alter table awaited_child alter id type bigint using -id",
                             "alter table awaited alter id type bigint using -id"}) {
      bool is_child = mine.find("child") != std::string::npos;
      one.ask(query("truncate awaited cascade"));
      one.ask(query("alter table awaited_child alter id type int"));
      one.ask(query("alter table awaited alter id type int"));
      one.ask(query("insert into awaited values (1, 1), (-1, 1)"));
      one.ask(query("insert into awaited_child values (1)"));
      EXPECT_EQ(one.ask(query("begin isolation level " + level)), "CZT");
      EXPECT_EQ(one.ask(query(mine)), "CZT");
      other.send(query(is_child ? "alter table awaited alter id type bigint using "
                                  "case id when -1 then 7 else id end"
                                : "alter table awaited_child alter id type bigint using 7"));
      observer.await(other, "wait_event_type = 'Lock'");
      EXPECT_EQ(one.ask(query("commit")), "CZI");
      EXPECT_EQ(other.answer(), "E(23503)ZI") << mine;
    }
  }
}

TEST_F(AwaitedDefinitionTest, ATextThatIsNoneLeavesNoUnnamedStatement) {
  EXPECT_EQ(one.ask(parse("", "insert into awaited_else values (2)") + sync()), "1ZI");
  EXPECT_EQ(one.ask(parse("", "selec") + sync()), "E(42601)ZI");
  EXPECT_EQ(one.ask(bind("", "") + execute() + sync()), "E(26000)ZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
