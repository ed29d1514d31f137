// What a session prepared follows its search_path, as its simple queries do.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

class NamePathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    for (std::string name : {"path_a", "path_b"}) {
      client.ask(query("drop schema if exists " + name + " cascade"));
      ASSERT_EQ(client.ask(query("create schema " + name)), "CZI");
      ASSERT_EQ(client.ask(query("create table " + name + ".t as select '" + name + "' as a")),
                "CZI");
    }
    ASSERT_EQ(client.ask(query("create type path_a.e as enum ('x', 'y'); "
                               "create type path_b.e as enum ('y', 'x')")),
              "CCZI");
    search("path_a");
  }
  void TearDown() override {
    client.ask(query("rollback"));
    client.ask(query("drop schema path_a, path_b cascade"));
  }
  void search(const std::string& path) {
    ASSERT_EQ(client.ask(query("set search_path = " + path)).front(), 'C');
  }
  // As first_column(), of the prepared statement s.
  std::string run() {
    client.send(bind("", "s") + execute() + sync());
    return first_column(client.read_answer());
  }

  RawClient client;
};

TEST_F(NamePathTest, PreparedByMessage) {
  ASSERT_EQ(client.ask(parse("s", "select * from t") + sync()), "1ZI");
  for (int i = 0; i < 3; ++i) {
    search("path_a");
    EXPECT_EQ(run(), "path_a ");
    search("path_b, path_a");
    EXPECT_EQ(run(), "path_b ");
    search("public");
    EXPECT_EQ(run(), "42P01 ");
  }
}

TEST_F(NamePathTest, PreparedByStatement) {
  ASSERT_EQ(client.ask(query("prepare q(text) as select * from t where a <> $1")), "CZI");
  for (int i = 0; i < 8; ++i) {  // until its plan is one for all values
    search("path_a");
    EXPECT_EQ(client.column("execute q('')"), "path_a ");
    search("path_b");
    EXPECT_EQ(client.column("execute q('')"), "path_b ");
    search("public");
    EXPECT_EQ(client.column("execute q('')"), "42P01 ");
  }
}

TEST_F(NamePathTest, SimpleQueries) {
  for (int i = 0; i < 4; ++i) {  // until texts like it share a plan
    search("path_a");
    EXPECT_EQ(client.column("select * from t where a <> '" + std::to_string(i) + "'"), "path_a ");
    search("path_b");
    EXPECT_EQ(client.column("select * from t where a <> '" + std::to_string(i) + "'"), "path_b ");
    search("public");
    EXPECT_EQ(client.column("select * from t where a <> '" + std::to_string(i) + "'"), "42P01 ");
  }
}

TEST_F(NamePathTest, WithinABlock) {
  ASSERT_EQ(client.ask(parse("s", "select * from t") + sync()), "1ZI");
  ASSERT_EQ(client.ask(query("begin; set local search_path = path_b")), "CCZT");
  EXPECT_EQ(run(), "path_b ");
  ASSERT_EQ(client.ask(query("commit")), "CZI");
  EXPECT_EQ(run(), "path_a ");
}

TEST_F(NamePathTest, Types) {
  ASSERT_EQ(client.ask(parse("s", "select 'x'::e < 'y'::e") + sync()), "1ZI");
  EXPECT_EQ(run(), "t ");
  search("path_b");
  EXPECT_EQ(run(), "f ");
}

TEST_F(NamePathTest, WhatWritesOrExplains) {
  ASSERT_EQ(
      client.ask(parse("s", "insert into t values ('new') returning (select count(*) from t)") +
                 sync()),
      "1ZI");
  EXPECT_EQ(run(), "1 ");
  EXPECT_EQ(run(), "2 ");
  search("path_b");
  EXPECT_EQ(run(), "1 ");
  ASSERT_EQ(client.ask(parse("x", "create table made as select * from t") + sync()), "1ZI");
  search("path_a");
  ASSERT_EQ(client.ask(bind("", "x") + execute() + sync()), "2CZI");
  EXPECT_EQ(client.column("select count(*) from path_a.made"), "3 ");
}

// It goes on with what it began, as its rows were found.
TEST_F(NamePathTest, APortalStays) {
  ASSERT_EQ(client.ask(query("begin")), "CZT");
  ASSERT_EQ(client.ask(query("declare c cursor for select a from t union all select a from t")),
            "CZT");
  EXPECT_EQ(client.column("fetch 1 from c"), "path_a ");
  search("path_b");
  EXPECT_EQ(client.column("fetch 1 from c"), "path_a ");
}

}  // namespace
}  // namespace pgsilo::protocol_test
