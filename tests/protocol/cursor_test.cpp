// SQL's cursors over the wire: formats, parameters, Execute by name, what outlives a transaction,
// other sessions beside them.
#include <gtest/gtest.h>

#include "tests/protocol/raw_client.h"
#include "tests/protocol/session_move_support.h"

namespace pgsilo::protocol_test {
namespace {

class CursorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    one.start();
    other.start();
    one.ask(query("drop table if exists cursor_rows"));
    ASSERT_EQ(one.ask(query("create table cursor_rows as select i as a from generate_series(1, 10) "
                            "i; create unique index on cursor_rows (a)")),
              "CCZI");
  }
  void TearDown() override {
    one.ask(query("rollback"));
    other.ask(query("drop table if exists cursor_rows"));
  }
  std::string rows(const std::string& statement) {
    one.send(query(statement));
    return first_column(one.read_answer());
  }

  RawClient one;
  RawClient other;
};

TEST_F(CursorTest, ABinaryOneIsToldInBinary) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("declare c binary scroll cursor for select 258::int4 as a")), "CZT");
  EXPECT_EQ(rows("fetch c"), std::string("\0\0\1\2 ", 5));
  // Who says what they want gets that.
  ASSERT_EQ(one.ask(query("move backward all in c")), "CZT");
  one.send(parse("", "fetch c") + bind("", "") + execute() + sync());
  EXPECT_EQ(first_column(one.read_answer()), "258 ");
}

TEST_F(CursorTest, DeclareTakesParameters) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  one.send(parse("", "declare c cursor for select a from cursor_rows where a > $1 order by a") +
           bind("", "", {"7"}) + execute() + sync());
  EXPECT_EQ(one.answer(), "12CZT");
  EXPECT_EQ(rows("fetch all from c"), "8 9 10 ");
}

TEST_F(CursorTest, DeclareFindsTheTypesOfItsParameters) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  one.send(parse("s", "declare c cursor for select a from cursor_rows where a = $1 and $2 <> ''",
                 {0, 25}) +
           describe('S', "s") + bind("", "s", {"7", "x"}) + execute() + sync());
  EXPECT_EQ(one.answer(), "1tn2CZT");
  EXPECT_EQ(rows("fetch all from c"), "7 ");
  EXPECT_EQ(one.ask(query("declare d cursor for select 1 where 1 = $1")), "E(42P02)ZE");
}

TEST_F(CursorTest, AFetchFollowsItsCursor) {
  ASSERT_EQ(one.ask(query("begin; declare c cursor for select 1 as a")), "CCZT");
  ASSERT_EQ(one.ask(parse("f", "fetch c") + sync()), "1ZT");
  auto run = [&] {
    one.send(bind("", "f") + describe('P') + execute() + sync());
    return one.read_answer();
  };
  EXPECT_EQ(first_column(run()), "1 ");
  ASSERT_EQ(one.ask(query("close c; declare c cursor for select 'x'::text as b, 2 as c")), "CCZT");
  std::vector<Message> answer = run();
  EXPECT_EQ(summary(answer), "2TDCZT");
  EXPECT_EQ(first_column(answer), "x ");
}

TEST_F(CursorTest, ExecuteByItsNameGoesForward) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("declare c cursor for select a from cursor_rows order by a")), "CZT");
  EXPECT_EQ(rows("fetch 2 from c"), "1 2 ");
  one.send(execute("c", 3) + sync());
  EXPECT_EQ(first_column(one.read_answer()), "3 4 5 ");
  EXPECT_EQ(rows("fetch prior from c"), "4 ");
  EXPECT_EQ(one.ask(close_message('P', "c") + sync()), "3ZT");
  EXPECT_EQ(one.first_value("fetch c"), "34000");
}

TEST_F(CursorTest, OthersAreNotSeenUnderReadCommitted) {
  ASSERT_EQ(one.ask(query("begin isolation level read committed")), "CZT");
  ASSERT_EQ(one.ask(query("declare c cursor for select a from cursor_rows order by a")), "CZT");
  ASSERT_EQ(other.ask(query("delete from cursor_rows where a = 2")), "CZI");
  EXPECT_EQ(rows("fetch 3 from c"), "1 2 3 ");
  EXPECT_EQ(rows("select count(*) from cursor_rows"), "9 ");
}

TEST_F(CursorTest, AHeldOneIsThereForOthersOfItsSession) {
  ASSERT_EQ(one.ask(query("declare c cursor with hold for select a from cursor_rows order by a")),
            "CZI");
  ASSERT_EQ(other.ask(query("delete from cursor_rows")), "CZI");
  EXPECT_EQ(rows("fetch 2 from c"), "1 2 ");
  // What may run again moves it once.
  EXPECT_EQ(rows("fetch c; insert into cursor_rows values (3)"), "3 ");
  EXPECT_EQ(rows("fetch c"), "4 ");
  EXPECT_EQ(other.first_value("fetch c"), "34000");
  EXPECT_EQ(one.ask(query("close c; close c")), "CE(34000)ZI");
  EXPECT_EQ(one.first_value("fetch c"), "34000");
}

TEST_F(CursorTest, ACommitThatFailsHoldsNothing) {
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("declare c cursor with hold for select a from cursor_rows order by a")),
            "CZT");
  EXPECT_EQ(rows("fetch c"), "1 ");
  ASSERT_EQ(one.ask(query("insert into cursor_rows values (100)")), "CZT");
  if (!runs_on_postgres()) {
    // What it has read is not so any more.
    ASSERT_EQ(other.ask(query("update cursor_rows set a = -1 where a = 1")), "CZI");
    EXPECT_EQ(one.ask(query("commit")), "E(40001)ZI");
  } else {
    ASSERT_EQ(one.ask(query("rollback")), "CZI");
  }
  EXPECT_EQ(one.first_value("fetch c"), "34000");
}

TEST_F(CursorTest, ALongOneSpills) {
  ASSERT_EQ(one.ask(query("set work_mem = '64kB'")), "CZI");
  ASSERT_EQ(one.ask(query("begin")), "CZT");
  ASSERT_EQ(one.ask(query("declare c scroll cursor for select i, repeat('x', 100) from "
                          "generate_series(1, 20000) i")),
            "CZT");
  EXPECT_EQ(rows("move all in c; fetch prior from c"), "20000 ");
  EXPECT_EQ(rows("fetch absolute 10000 from c"), "10000 ");
  EXPECT_EQ(rows("fetch backward 3 from c"), "9999 9998 9997 ");
  one.send(query("fetch backward all from c"));
  EXPECT_EQ(one.read_answer().size(), 9996u + 3);
  EXPECT_EQ(rows("fetch c"), "1 ");
}

class MovedCursorTest : public SessionMoveTest {};

TEST_F(MovedCursorTest, AHeldOneStays) {
  ASSERT_EQ(client.ask(query("declare c cursor with hold for values (1), (2)")), "CZI");
  stay();
  EXPECT_EQ(client.first_value("fetch c"), "1");
  ASSERT_EQ(client.ask(query("close c")), "CZI");
  go_round();
}

}  // namespace
}  // namespace pgsilo::protocol_test
