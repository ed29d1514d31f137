// What the binder refuses, with PostgreSQL 15's SQLSTATE, message and position.
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct BinderErrors : Planner {};

TEST_F(BinderErrors, NamesThatAreNot) {
  EXPECT_EQ(error("select x from t"), "42703 at 8: column \"x\" does not exist");
  EXPECT_EQ(error("select a, t.x from t"), "42703 at 11: column t.x does not exist");
  EXPECT_EQ(error("select 1 from nothing"), "42P01 at 15: relation \"nothing\" does not exist");
  EXPECT_EQ(error("select z.a from t"), "42P01 at 8: missing FROM-clause entry for table \"z\"");
  EXPECT_EQ(error("select f(a) from t"), "42883 at 8: function f(integer) does not exist");
  EXPECT_EQ(error("select a::nosuch from t"), "42704 at 11: type \"nosuch\" does not exist");
  EXPECT_EQ(error("insert into t (a, x) values (1, 2)"),
            "42703 at 19: column \"x\" of relation \"t\" does not exist");
  EXPECT_EQ(error("update t set x = 1"),
            "42703 at 14: column \"x\" of relation \"t\" does not exist");
}

TEST_F(BinderErrors, NamesThatAreTwo) {
  EXPECT_EQ(error("select t.b, a from t, u"), "42702 at 13: column reference \"a\" is ambiguous");
  EXPECT_EQ(error("select 1 from t, t"), "42712 at -1: table name \"t\" specified more than once");
  EXPECT_EQ(error("insert into t (a, a) values (1, 2)"),
            "42701 at 19: column \"a\" specified more than once");
}

TEST_F(BinderErrors, ColumnsThatOnConflictDoesNotFind) {
  EXPECT_EQ(error("insert into t (a) values (1) on conflict (x) do nothing"),
            "42703 at 42: column \"x\" does not exist");
}

TEST_F(BinderErrors, SubscriptsThatDoNotFit) {
  EXPECT_EQ(error("select a[1] from t"),
            "42804 at 8: cannot subscript type integer because it does not support subscripting");
  EXPECT_EQ(error("select (array[1])[true]"),
            "42804 at 19: array subscript must have type integer");
}

TEST_F(BinderErrors, TypesThatDoNotFit) {
  EXPECT_EQ(error("select a from t where c = 1"),
            "42883 at 25: operator does not exist: text = integer");
  EXPECT_EQ(error("select a from t where d"),
            "42804 at 23: argument of WHERE must be type boolean, not type integer");
  EXPECT_EQ(error("insert into t (a, e) values (1, 2)"),
            "42804 at 33: column \"e\" is of type boolean but expression is of type integer");
  EXPECT_EQ(error("select a = 'x' from t"),
            "22P02 at 12: invalid input syntax for type integer: \"x\"");
  EXPECT_EQ(error("select 1 union select 'a'::text"),
            "42804 at 23: UNION types integer and text cannot be matched");
  EXPECT_EQ(error("select case when true then 1 else c end from t"),
            "42804 at 28: CASE types text and integer cannot be matched");
}

TEST_F(BinderErrors, PlacesWhereAThingMayNotStand) {
  EXPECT_EQ(error("select b, count(*) from t group by c"),
            "42803 at 8: column \"t.b\" must appear in the GROUP BY clause or be used in an "
            "aggregate function");
  EXPECT_EQ(error("select a from t where count(*) > 1"),
            "42803 at 23: aggregate functions are not allowed in WHERE");
  EXPECT_EQ(error("select sum(count(*)) from t"),
            "42803 at 12: aggregate function calls cannot be nested");
  EXPECT_EQ(error("select a from t order by 2"),
            "42P10 at 26: ORDER BY position 2 is not in select list");
  EXPECT_EQ(error("insert into t (a) values (1, 2)"),
            "42601 at 30: INSERT has more expressions than target columns");
  EXPECT_EQ(error("select (select a, b from t)"),
            "42601 at 8: subquery must return only one column");
}

TEST_F(BinderErrors, PositionsCountCharactersAcrossLines) {
  EXPECT_EQ(error("select 'äöü',\n  x from t"), "42703 at 17: column \"x\" does not exist");
}

TEST_F(BinderErrors, GroupingByAPrimaryKeyFixesTheOtherColumns) {
  EXPECT_EQ(error("select a, b, count(*) from t group by a"), "no error");
  EXPECT_EQ(error("select x, v, count(*) from p group by x, y, z"), "no error");
  EXPECT_EQ(error("select x, v, count(*) from p group by x, y"),
            "42803 at 11: column \"p.v\" must appear in the GROUP BY clause or be used in an "
            "aggregate function");
}

}  // namespace
}  // namespace pgsilo::testing
