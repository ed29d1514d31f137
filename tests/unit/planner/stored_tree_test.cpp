// Stored expressions: what is read is what was written, and nothing that is damaged does harm.
#include "planner/stored/stored_tree.h"

#include <gtest/gtest.h>

#include "base/large_stack.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "tests/unit/planner/stored_fixture.h"

namespace pgsilo::testing {
namespace {

struct StoredTree : StoredFixture {
  StoredTree() { session.run("create table t (a int, b text, c numeric(10, 2), d int[])"); }

  const BoundExpression* bind(StatementBinding& binding, std::string_view text) {
    Scope scope(binding, nullptr);
    ast::RangeVar name;
    name.name = "t";
    add_table(scope, name, session.view.find_table({}, "t"));
    return bind_expression(scope, parse_expression(binding, text), ExpressionPlace::none);
  }
  const BoundExpression* read(StatementBinding& binding, const StoredExpression& stored) {
    return read_expression(binding, stored, [&](int16_t number, Oid type, int32_t typmod) {
      return make_column(arena, 0, number - 1, type, typmod);
    });
  }
};

constexpr std::string_view expressions[] = {
    "1",
    "null::text",
    "-0.0::float8 + a",
    "a + 1 > 2 and (b is null or b like 'x%') and not a = 3",
    "case a when 1 then case length(b) when 2 then 'x' else b end when a + 1 then 'z' end",
    "case when a > 1 then true else (a = 2) is unknown end",
    "coalesce(nullif(a, 2), greatest(a, 3), least(1, a))",
    "a in (1, 2, 3) and a = any (d) and a <> all (array[a, 2]) and array[[a], [2]] = d",
    "b::varchar(3)::text || a::text || c::int::text || '{1,2}'::int[]::text[]::text",
    "a is distinct from 3 and row(a, b) is not null and row(a, b) = row(1, '')",
    "current_date + a > current_timestamp(3) and extract(year from now()) = a and b = current_user",
    "d[1] + a * 2 % 3",
    "E'\\\\ \\'' || '(' || 'ä'",
};

TEST_F(StoredTree, WhatIsReadIsWhatWasWritten) {
  for (std::string_view text : expressions) {
    StatementBinding statement = binding();
    const BoundExpression* written = bind(statement, text);
    StoredExpression stored = store_expression(session.view, *written);
    const BoundExpression* found = read(statement, StoredExpression::read(stored.text));
    EXPECT_TRUE(equal_expressions(written, found)) << text << "\n" << stored.text;
    EXPECT_EQ(store_expression(session.view, *found).text, stored.text);
  }
}

TEST_F(StoredTree, WhatIsCutShortIsDamaged) {
  for (std::string_view text : expressions) {
    StatementBinding statement = binding();
    std::string whole = store_expression(session.view, *bind(statement, text)).text;
    for (size_t bytes = 1; bytes + 1 < whole.size(); ++bytes) {
      std::string cut = whole.substr(0, bytes);
      for (const std::string& damaged : {cut, cut + "}"}) {
        EXPECT_THROW(read(statement, StoredExpression::read(damaged)), SqlError) << damaged;
      }
    }
  }
}

// What is called with too few arguments would read what is not there.
TEST_F(StoredTree, EveryNodeHasItsParts) {
  constexpr std::string_view trees[] = {
      "(call 25 -1 1258 654 infix_operator f (constant 25 -1 x28))",
      "(call 25 -1 1258 0 infix_operator f (constant 25 -1 x28) (constant 25 -1 x28))",
      "(call 25 -1 870 654 function f (constant 25 -1 x28))",
      "(call 20 -1 2803 0 function f)",
      "(boolean 16 -1 not)",
      "(boolean 16 -1 and (constant 16 -1 1))",
      "(coalesce 23 -1)",
      "(min_max 23 -1 t)",
      "(in_list 16 -1 65 96 f (constant 23 -1 1))",
      "(in_list 16 -1 65 96 f none (constant 23 -1 1))",
      "(case 23 -1 none (constant 23 -1 1))",
      "(case 23 -1 none none (constant 16 -1 1) (constant 23 -1 1))",
      "(case_value 23 -1 0)",
      "(null_test 16 -1 t none)",
      "(constant 25 -1 5)",
      "(constant 25 -1 x5)",
      "(constant 23 -1 x05)",
      "(constant 4294967295 -1 1)",
      "none",
  };
  for (std::string_view tree : trees) {
    StatementBinding statement = binding();
    EXPECT_THROW(read(statement, StoredExpression::make({}, tree)), SqlError) << tree;
  }
}

TEST_F(StoredTree, NoByteDoesHarm) {
  for (std::string_view text : expressions) {
    StatementBinding statement = binding();
    std::string whole = store_expression(session.view, *bind(statement, text)).text;
    for (size_t at = 0; at < whole.size(); ++at) {
      for (char other : {'0', '9', '-', ' ', '(', ')', 'f', 'x', '\0'}) {
        std::string damaged = whole;
        damaged[at] = other;
        try {
          read(statement, StoredExpression::read(damaged));
        } catch (const SqlError&) {
        }
      }
    }
  }
}

// As deep as an expression may be, with a cast between each two levels, where definitions run.
TEST_F(StoredTree, TheDeepestIsReadBack) {
  constexpr int depth = 980;
  std::string text = "a";
  for (int i = 0; i < depth; ++i) text = "scale(" + text + ")";
  run_on_large_stack([&] {
    StatementBinding statement = binding();
    const BoundExpression* written = bind(statement, text);
    StoredExpression stored = store_expression(session.view, *written);
    EXPECT_TRUE(equal_expressions(written, read(statement, stored)));
  });
}

}  // namespace
}  // namespace pgsilo::testing
