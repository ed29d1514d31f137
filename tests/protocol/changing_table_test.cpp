// Tables that change in the middle of a statement which holds no lock: it meets rows of a layout
// and entries of an index that its plan does not fit, runs again, and nobody is told anything of
// that (docs/unvalidated_reads.md). Beside load:
// tests/stress/server/changing_layout_stress_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/protocol/monitoring_support.h"

namespace pgsilo::protocol_test {
namespace {

class ChangingTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runs_on_postgres()) GTEST_SKIP() << "there the statement keeps others from changing it";
    for (RawClient* client : {&slow, &other}) client->start();
    other.ask(query("drop table if exists changing_child, changing"));
    must("create table changing (id int primary key, a text, n int not null, b text)");
    must("insert into changing select i, 'a' || i, 1, repeat('b', i) from generate_series(1, 9) i");
  }
  void TearDown() override {
    if (!runs_on_postgres()) other.ask(query("drop table if exists changing_child, changing"));
  }
  void must(const std::string& sql) { EXPECT_EQ(other.ask(query(sql)), "CZI") << sql; }
  // What the statement answers that waits at its pause while the others are run.
  std::string answer_beside(const std::string& sql, const std::vector<std::string>& changes) {
    while_paused(slow, query(sql), [&] {
      for (const std::string& change : changes) must(change);
    });
    return first_column(slow.read_answer());
  }

  RawClient slow, other;
};

// The pause is at the first row, so that all the others are read after it.
const std::string read_slowly = "select concat_ws(' ', a, length(b), n, case when id = 1 and " +
                                pause +
                                " is null then '?' end) from changing where id < 4 order by id";
// One row, behind the pause.
const std::string paused_row = "(select 1 as one where " + pause + " is not null) x";

TEST_F(ChangingTableTest, ColumnsComeWhileItIsRead) {
  EXPECT_EQ(answer_beside(read_slowly, {"alter table changing add column c text default 'c', add "
                                        "column d bigint not null default 7, add column e text",
                                        "update changing set a = a || '!', c = 'dd', e = 'ee'"}),
            "a1! 1 1 a2! 2 1 a3! 3 1 ");
}

TEST_F(ChangingTableTest, ColumnsGoWhileItIsRead) {
  std::vector<std::string> changes = {"alter table changing drop column n, drop column a",
                                      "update changing set b = b || '!'"};
  EXPECT_EQ(answer_beside(read_slowly, changes), "42703 ");
}

TEST_F(ChangingTableTest, TypesChangeWhileItIsRead) {
  std::vector<std::string> changes = {
      "alter table changing alter column n type text using repeat('n', id)",
      "alter table changing alter column b type int using length(b)",
      "update changing set n = n || '!', b = -b",
      "alter table changing alter column b type text using b::text"};
  EXPECT_EQ(answer_beside(read_slowly, changes), "a1 2 n! a2 2 nn! a3 2 nnn! ");
}

TEST_F(ChangingTableTest, ColumnsComeWhileItIsWritten) {
  std::string update = "update changing set b = a || case when id = 1 and " + pause +
                       " is null then '?' else '' end where id < 4 returning concat_ws(' ', a, b)";
  EXPECT_EQ(answer_beside(update, {"alter table changing add column c text default 'c'",
                                   "update changing set a = 'z' || id, c = 'dd'"}),
            "z1 z1 z2 z2 z3 z3 ");
  EXPECT_EQ(other.column("select c from changing where id < 4 order by id"), "dd dd dd ");
}

// The index's entries stay as they were, and lead to a row that is no longer there.
TEST_F(ChangingTableTest, TheArbiterOfOnConflictGoes) {
  must("create unique index changing_a on changing (a)");
  std::string insert = "insert into changing (id, a, n) select 100, 'a5', 1 from " + paused_row +
                       " on conflict (a) do update set n = changing.n + 1";
  EXPECT_EQ(answer_beside(insert, {"drop index changing_a", "delete from changing where id = 5"}),
            "42P10 ");
}

TEST_F(ChangingTableTest, AnIndexOfTheSameNameHasAnotherKey) {
  must("create index changing_key on changing (a)");
  std::string join =
      "select count(*) from " + paused_row + ", changing c where c.a = 'a5' and length(c.b) = 5";
  EXPECT_EQ(answer_beside(
                join, {"drop index changing_key", "create index changing_key on changing (n, b)",
                       "update changing set n = id, a = 'a5', b = 'five!'"}),
            "9 ");
}

TEST_F(ChangingTableTest, WhatARowRefersToChanges) {
  must("create table changing_child (id int primary key, parent int references changing)");
  std::string insert = "insert into changing_child select 1, 5 from " + paused_row;
  EXPECT_EQ(answer_beside(insert, {"alter table changing add column c text default 'c'",
                                   "update changing set c = 'd'",
                                   "alter table changing alter column id type bigint"}),
            "");
  EXPECT_EQ(answer_beside("insert into changing_child select 2, 6 from " + paused_row,
                          {"alter table changing_child drop constraint changing_child_parent_fkey",
                           "delete from changing where id = 6"}),
            "");
  EXPECT_EQ(other.column("select id || ' ' || parent from changing_child order by id"), "1 5 2 6 ");
}

TEST_F(ChangingTableTest, ADeferredReferenceLosesItsConstraintOrItsTable) {
  must(
      "create table changing_child (id int primary key, parent int references changing deferrable "
      "initially deferred)");
  auto insert = [](int id) {
    return "insert into changing_child values (" + std::to_string(id) + ", 77); select " + pause;
  };
  EXPECT_EQ(
      answer_beside(insert(1),
                    {"alter table changing_child drop constraint changing_child_parent_fkey"}),
      " ");
  EXPECT_EQ(answer_beside(insert(2), {"drop table changing_child"}), "42P01 ");
}

// Its columns become other ones between a query's planning and its run: nobody has been told what
// it returns.
TEST_F(ChangingTableTest, WhatAQueryReturnsIsToldOnce) {
  constexpr int rounds = 400;
  std::string changes;
  for (int i = 0; i < rounds; ++i)
    changes +=
        query(std::string("alter table changing alter n type ") + (i % 2 ? "int" : "bigint"));
  other.send(changes);
  int refused = 0, asked = 0;
  const std::string sum = "select sum(n) from changing";
  for (; asked < rounds; asked += 2) {
    refused += slow.ask(query(sum)) != "TDCZI";
    refused +=
        slow.ask(parse("", sum) + bind("", "") + describe('P') + execute() + sync()) != "12TDCZI";
  }
  EXPECT_EQ(refused, 0);
  for (int i = 0; i < rounds; ++i) EXPECT_EQ(other.answer(), "CZI");
}

}  // namespace
}  // namespace pgsilo::protocol_test
