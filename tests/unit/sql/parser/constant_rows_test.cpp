// Rows that are read without the grammar are what the grammar makes of them: each text is parsed as
// it is, short, and with blanks behind it, long.
#include "sql/parser/constant_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/ast/ast.h"
#include "sql/parser/parser.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::string described(const ast::Node* node) {
  std::string at = " at " + std::to_string(node->location);
  if (ast::try_as<ast::SetToDefault>(node) != nullptr) return "DEFAULT" + at;
  const auto* constant = ast::try_as<ast::Constant>(node);
  if (constant == nullptr) return "something" + at;
  return std::to_string(static_cast<int>(constant->constant_kind)) + " " +
         std::to_string(constant->integer) + (constant->boolean ? " true <" : " <") +
         std::string(constant->text) + ">" + at;
}

// Of all VALUES in it.
class Describer {
 public:
  void statement(const ast::Node* node) {
    if (const auto* select = ast::try_as<ast::SelectStmt>(node)) this->select(*select);
    const auto* insert = ast::try_as<ast::InsertStmt>(node);
    if (insert == nullptr) return;
    text += concat("returning ", insert->returning.size(), "\n");
    with(insert->with);
    if (insert->source != nullptr) select(*insert->source);
  }
  std::string text;

 private:
  void with(const ast::WithClause* clause) {
    if (clause == nullptr) return;
    for (const ast::CommonTableExpr& each : clause->ctes) statement(each.query);
  }
  void select(const ast::SelectStmt& select) {
    text += concat(select.targets.size(), " columns\n");
    with(select.with);
    for (const ast::Node* each : select.from) {
      if (const auto* below = ast::try_as<ast::RangeSubselect>(each)) statement(below->select);
    }
    for (const ast::NodeList& row : select.values_lists) {
      for (const ast::Node* each : row) value(each);
      text += "\n";
    }
    value(select.where);
  }
  void value(const ast::Node* node) {
    if (node == nullptr) return;
    text += described(node) + ", ";
    if (const auto* link = ast::try_as<ast::SubLink>(node)) statement(link->select);
  }
};

std::string described(const std::string& sql) {
  Arena arena;
  Describer describer;
  std::string& text = describer.text;
  try {
    for (const ast::RawStatement& statement : parse(sql, arena)) {
      text += concat(statement.start, " ", statement.length, "\n");
      describer.statement(statement.statement);
    }
  } catch (const SqlError& error) {
    text += concat(error.diagnostic().message, " at ", error.diagnostic().position);
  }
  return text;
}

size_t taken(std::string sql, int32_t location) {
  Arena arena;
  ConstantRows rows(arena);
  rows.take_out(sql);
  const auto* found = rows.behind(location);
  return found == nullptr ? 0 : found->size();
}

TEST(ConstantRowsTest, AreWhatTheGrammarMakesOfThem) {
  const char* texts[] = {
      "insert into t values (1, 'a'), (2, 'b'), (3, 'c')",
      "INSERT INTO t (a, b) VALUES (1, NULL), (-2, default), (- 3, True), (007, FALSE) returning a",
      "insert into t values (0), (2147483647), (2147483648), (-2147483647), (-2147483648), "
      "(-2147483649), (99999999999999999999), (1.5), (-.5), (5.), (1e5), (-1E-5), (-0), (-0.0)",
      "insert into t values (''), ('it''s'), (''''), ('\\'), ('größe'), ('a -- b'), ('/*'), (',(')",
      "insert into t values ('größe', 1), ('größer', 2) returning nosuch, a",
      "insert into t values (1) /* , (2) */ , -- (3)\n (4), /* a */ (5 /* b */, 6)",
      "insert into t values (1), (2), (1 + 1), (3), (now()), (4)",
      "insert into t values (a), (2), (3)",
      "insert into t values (default), (2), (default)",
      "insert into t values (1), (2, 3), ()",
      "insert into t values (1), (E'a\\n'), (2)",
      "insert into t values (1), (date '2024-01-01'), ('1'::int), (2)",
      "insert into t values (1), ('a'\n'b'), (2)",
      "insert into t values (1), (+2), (- -3), (4)",
      "insert into t values (1), ($1), (2)",
      "insert into t values (1), ((2)), (row(3)), (4)",
      "insert into t values (1), (2), ;",
      "insert into t values (1), (2)) ",
      "insert into t values (1), (2) (3)",
      "insert into t values ('größe'), ('größe') oops",
      "insert into t values (1), (2), (12abc)",
      "insert into t values (1), (2) on conflict do nothing; insert into u values (3), (4); "
      "select 1; insert into v values (5), (6), (7)",
      "insert into t select * from (values (1), (2), (3)) v",
      "insert into t values (1, (select max(a) from (values (5), (6)) v(a))), (2, 3)",
      "values (1), (2), (3)",
      "with a as (values (1), (2)), b as (insert into u values (3), (4) returning c) "
      "insert into t values (5), (6)",
      "insert into t values (1), (2) on conflict (a) where a in (values (3), (4)) do nothing",
      "select 1 where 2 in (values (1), (2), (3))",
      "select s.values (1), (2)",
      "select * from s.values (1), (2)",
      "insert into t select s.values (1), (2), 3 returning t.values (1), (2)",
      "insert into t select '1'::s.values (1), (2)",
      "insert into \"values\" (a) values (1), (2)",
      "insert into t (values) values (1), (2)",
      "insert into t values;",
      "",
  };
  for (const char* text : texts) {
    std::string sql(text);
    ASSERT_LT(sql.size(), ConstantRows::shortest_text);
    EXPECT_EQ(described(sql), described(sql + std::string(ConstantRows::shortest_text, ' ')))
        << sql;
  }
}

TEST(ConstantRowsTest, AreTakenOut) {
  EXPECT_EQ(taken("insert into t values (1), (2), (3)", 22), 2u);
  EXPECT_EQ(taken("insert into t values (1), (2), (3 + 4), (5)", 22), 1u);
  EXPECT_EQ(taken("insert into t values (1 + 1), (2), (3)", 22), 0u);
  EXPECT_EQ(taken("select 1; insert into t values (1), (-2.5, null, 'a', default)", 32), 1u);
  EXPECT_EQ(taken("select * from (values (1), (2)) v", 23), 1u);
  std::string sql = "insert into t values (1), (2), ('ö'), (f(3))";
  Arena arena;
  ConstantRows rows(arena);
  rows.take_out(sql);
  EXPECT_EQ(sql, "insert into t values (1)             , (f(3))");
}

}  // namespace
}  // namespace pgsilo
