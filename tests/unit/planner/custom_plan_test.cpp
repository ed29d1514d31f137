// What plans know of the values of their parameters, and which plans values can change
// (docs/decisions/custom-plans.md).
#include <initializer_list>

#include "base/arena.h"
#include "catalog/statistics/column_values.h"
#include "executor/plan_choice.h"
#include "executor/plan_shape.h"
#include "executor/statement_planner.h"
#include "sql/limits.h"
#include "sql/parser/parser.h"
#include "sql/types/type.h"
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct CustomPlan : Planner {
  CustomPlan() {
    define("create table s (k int primary key, i int, x text, f int, q int)");
    define("create index s_i on s (i)");
    define("create index s_x on s (x)");
    define("create index s_f on s (f)");
    define("create index s_q on s (q)");
    statistics.rows["s"] = rows;
    // Nine of ten are ones.
    tell("s.i", [](int64_t i) { return i % 10 == 0 ? i : 1; });
    tell("s.f", [](int64_t i) { return i % 7; });
    tell("s.q", [](int64_t i) { return i; });
  }

  void tell(const std::string& column, int64_t (*value)(int64_t)) {
    const TypeInfo& type = type_info(type_oid::int4);
    ColumnValues values(&type, 0, limits::statistics_target);
    for (int64_t i = 0; i < rows; ++i) {
      Datum datum = Datum::of_int(value(i));
      values.add(datum, type.hash(datum), static_cast<uint32_t>(i), memory_);
    }
    statistics.columns[column] =
        values.describe(static_cast<double>(rows), memory_, limits::table_statistics_bytes);
  }

  using Types = std::initializer_list<Oid>;
  static constexpr Oid integer = type_oid::int4;

  StatementSource source(std::string_view sql, const std::vector<Oid>& types) {
    return {.statement = parse(sql, memory_).front().statement,
            .text = sql,
            .declared_parameter_types = types};
  }
  // The parameters that are noted, and '!' where they decide.
  std::string notes(std::string_view sql, Types types) {
    auto planned = plan(sql, std::vector<Oid>(types));
    std::string noted;
    for (int32_t parameter : planned->estimated_parameters)
      noted += static_cast<char>('1' + parameter);
    return planned->parameters_decide ? noted + '!' : noted;
  }
  bool depends(std::string_view sql, Types types) {
    std::vector<Oid> all(types);
    auto generic = plan(sql, all);
    session.begin();
    bool depends = StatementPlanner(session.context, settings, statistics)
                       .depends_on_values(source(sql, all), *generic);
    session.abort();
    return depends;
  }
  std::shared_ptr<const PlannedStatement> plan_for(std::string_view sql, Types types,
                                                   std::vector<Datum> values) {
    values_ = std::move(values);
    std::vector<Oid> all(types);
    StatementSource known = source(sql, all);
    known.values = &values_;
    session.begin();
    auto planned = StatementPlanner(session.context, settings, statistics).plan(known);
    session.abort();
    return planned;
  }
  std::string shown(std::string_view sql, Types types, std::vector<Datum> values) {
    return plan_text(*plan_for(sql, types, std::move(values)), session.context.types);
  }

  static constexpr int64_t rows = 20000;
  Arena memory_;
  std::vector<Datum> values_;
};

TEST_F(CustomPlan, ParametersAreNotedWhoseValuesWouldBeLookedAt) {
  EXPECT_EQ(notes("select * from s where i = $1", {integer}), "1");
  EXPECT_EQ(notes("select * from s where $2 = i and k = $1", {integer, integer}), "2");
  EXPECT_EQ(notes("select * from s where i + 0 = $1", {integer}), "");
  EXPECT_EQ(notes("select * from s where i = $1 + 1 and q < $2", {integer, integer}), "12");
  EXPECT_EQ(notes("select * from s where i in (1, $1)", {integer}), "1");
  EXPECT_EQ(notes("select * from s where k = any($1)", {type_oid::int4_array}), "1");
  EXPECT_EQ(notes("select * from s order by x limit $1", {type_oid::int8}), "1");
  EXPECT_EQ(notes("select * from s order by x limit 5 offset $1", {type_oid::int8}), "1");
  EXPECT_EQ(notes("update s set x = $1 where i = $2", {type_oid::text, integer}), "2");
}

TEST_F(CustomPlan, ParametersAreNotNotedWhoseValuesSayNothing) {
  EXPECT_EQ(notes("select * from s where k = $1", {integer}), "");
  EXPECT_EQ(notes("select * from s where f = $1", {integer}), "");  // all as frequent
  EXPECT_EQ(notes("select * from s where q = $1", {integer}), "");
  EXPECT_EQ(notes("select * from t where b = $1", {integer}), "");  // nothing is known of it
  EXPECT_EQ(notes("select * from t where b < $1", {integer}), "");
  EXPECT_EQ(notes("insert into s values ($1, coalesce($2, 5))", {integer, integer}), "");
  EXPECT_EQ(notes("select $1 + 1, case when $2 = 1 then 2 end", {integer, integer}), "");
  EXPECT_EQ(notes("select * from s where i = $1 * random()", {integer}), "");
  EXPECT_EQ(notes("update s set i = $1 where k = $2", {integer, integer}), "");
}

TEST_F(CustomPlan, ParametersDecideWhatIsLeftOfAConditionOrHowAnIndexIsRead) {
  EXPECT_EQ(notes("select * from s where $1 = 1", {integer}), "!");
  EXPECT_EQ(notes("select * from s where k = $1 or $1 is null", {integer}), "!");
  EXPECT_EQ(notes("select * from s where not (k = 1 and $1 = 1)", {integer}), "!");
  EXPECT_EQ(notes("select * from s where case when $1 = 1 then k = 1 else q = 1 end", {integer}),
            "!");
  EXPECT_EQ(notes("select * from s where coalesce($1, k) = 1", {integer}), "!");
  EXPECT_EQ(notes("select * from s where k = coalesce($1, 1)", {integer}), "");
  EXPECT_EQ(notes("select * from s where x like $1", {type_oid::text}), "1!");
  EXPECT_EQ(notes("select * from t where c like $1", {type_oid::text}), "1");
}

// Values could imply a predicate, and be a constant of an expression.
TEST_F(CustomPlan, ParametersDecideWhichIndexHasTheRows) {
  define("create table o (k int, state int)");
  define("create index o_open on o (k) where state = 3");
  define("create index s_made on s ((q + 1), (abs(q)))");
  EXPECT_EQ(notes("select * from o where state = $1", {integer}), "!");
  EXPECT_EQ(notes("select * from o where state = 3 and k = $1", {integer}), "");
  EXPECT_EQ(notes("select * from o where k = $1", {integer}), "");
  EXPECT_EQ(notes("select * from s where q + $1 = 5", {integer}), "!");
  EXPECT_EQ(notes("select * from s where q - $1 = 5", {integer}), "");
  EXPECT_EQ(notes("select * from s where abs(q) = $1 and q + 1 = $1", {integer}), "");
  constexpr const char* by_state = "select * from o where state = $1 and k = 7";
  EXPECT_EQ(shown(by_state, {integer}, {Datum::of_int(4)}),
            "Seq Scan on o\n  Filter: ((state = 4) AND (k = 7))\n");
  EXPECT_EQ(shown(by_state, {integer}, {Datum::of_int(3)}),
            "Index Scan using o_open on o\n  Index Cond: (k = 7)\n");
  EXPECT_EQ(shown("select * from s where q + $1 = $2", {integer, integer},
                  {Datum::of_int(1), Datum::of_int(7)}),
            "Index Scan using s_made on s\n  Index Cond: ((q + 1) = 7)\n");
}

TEST_F(CustomPlan, OnlyWhatMakesAnotherPlanDependsOnValues) {
  EXPECT_TRUE(depends("select * from s where i = $1", {integer}));
  EXPECT_TRUE(depends("select * from s where q < $1", {integer}));
  EXPECT_TRUE(depends("select * from s where q between $1 and $2", {integer, integer}));
  EXPECT_TRUE(depends("select * from s where $1 = 1", {integer}));
  // There is one way only.
  EXPECT_FALSE(depends("select * from s where k = $1", {integer}));
  EXPECT_FALSE(depends("select * from s where k = $1 and i = $2", {integer, integer}));
  EXPECT_FALSE(depends("select * from s order by k limit $1", {type_oid::int8}));
  EXPECT_FALSE(depends("select * from t where c like $1", {type_oid::text}));
}

TEST_F(CustomPlan, APlanForValuesIsThatOfTheTextWithThem) {
  constexpr const char* by_i = "select * from s where i = $1";
  EXPECT_EQ(shown(by_i, {integer}, {Datum::of_int(1)}), "Seq Scan on s\n  Filter: (i = 1)\n");
  EXPECT_EQ(shown(by_i, {integer}, {Datum::of_int(10)}),
            "Index Scan using s_i on s\n  Index Cond: (i = 10)\n");
  EXPECT_EQ(shown("select * from s where i = $1 or $2 = 1", {integer, integer},
                  {Datum::of_int(10), Datum::of_int(2)}),
            "Index Scan using s_i on s\n  Index Cond: (i = 10)\n");
  EXPECT_EQ(plan_for(by_i, {integer}, {Datum::of_int(1)})->root->rows,
            plan("select * from s where i = 1")->root->rows);
  EXPECT_EQ(shown("select * from s where x like $1", {type_oid::text}, {Datum::of_bytes("ab%")}),
            plan_text(*plan("select * from s where x like 'ab%'"), session.context.types));
}

// The error is the run's.
TEST_F(CustomPlan, WhatCannotBeComputedOfValuesIsLeft) {
  EXPECT_EQ(shown("select * from s where k = 1 / $1", {integer}, {Datum::of_int(0)}),
            "Index Scan using s_pkey on s\n  Index Cond: (k = (1 / 0))\n");
  EXPECT_EQ(shown("select $1::int from s where k = 1", {type_oid::text}, {Datum::of_bytes("x")}),
            "Index Scan using s_pkey on s\n  Index Cond: (k = 1)\n");
}

struct Compiled : CustomPlan {
  std::shared_ptr<const ExecutablePlan> of(std::string_view sql, Types types = {}) {
    return compile(plan(sql, std::vector<Oid>(types)));
  }
  PlanChoice tried(const ExecutablePlan& generic, const ExecutablePlan& custom, int runs) {
    PlanChoice choice;
    for (int i = 0; i < runs; ++i) choice.add(generic, custom, session.context.types);
    return choice;
  }
};

TEST_F(Compiled, FiveRunsDecide) {
  auto generic = of("select * from s where q between $1 and $2", {integer, integer});
  auto same = of("select * from s where q between 5 and 6");
  auto other = of("select * from s where q between 5 and 15000");
  EXPECT_FALSE(tried(*generic, *same, 4).prefers_generic());
  // It costs more by its own estimate, but not for these values.
  EXPECT_GT(generic->cost(), same->cost());
  EXPECT_TRUE(tried(*generic, *same, 5).prefers_generic());
  EXPECT_TRUE(tried(*generic, *other, 5).prefers_generic());
  settings.enable_index_scan = false;
  auto by_scan = of("select * from s where q < $1", {integer});
  settings.enable_index_scan = true;
  auto by_index = of("select * from s where q < 5");
  EXPECT_FALSE(tried(*by_scan, *by_index, 5).prefers_generic());
  EXPECT_FALSE(tried(*by_scan, *by_index, 1000).prefers_generic());
  EXPECT_EQ(tried(*by_scan, *by_index, 1000).runs(), PlanChoice::most_runs);
}

TEST_F(Compiled, ItIsKnownOfAPlanWhetherLookingIsWorthIt) {
  using Dependence = ExecutablePlan::Dependence;
  EXPECT_EQ(of("select * from s where k = $1", {integer})->dependence(), Dependence::none);
  EXPECT_EQ(of("select * from s where q < 5")->dependence(), Dependence::none);
  auto ranges = of("select * from s where q < $1", {integer});
  EXPECT_EQ(ranges->dependence(), Dependence::unknown);
  ranges->found_dependence(true);
  EXPECT_EQ(ranges->dependence(), Dependence::some);
}

}  // namespace
}  // namespace pgsilo::testing
