// Plans of SQL texts over tables that exist in a catalog only: how many rows a table has is what
// the test says.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "catalog/descriptors.h"
#include "catalog/statistics/table_sample.h"
#include "planner/explain/explain.h"
#include "planner/plan/plan_tree.h"
#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {

class ToldStatistics final : public TableStatistics {
 public:
  double row_count(const TableDescriptor& table) const override {
    auto found = rows.find(table.name);
    return found == rows.end() ? 1000 : found->second;
  }
  std::shared_ptr<const TableSample> sample(const TableDescriptor& table, int32_t) const override {
    auto sample = std::make_shared<TableSample>();
    for (const ColumnDescriptor& column : table.columns) {
      std::string name = concat(table.name, ".", column.name);
      auto known = columns.find(name);
      if (known != columns.end()) {
        sample->columns.push_back(known->second);
        continue;
      }
      auto found = distinct.find(name);
      sample->columns.push_back({found == distinct.end() ? 0 : found->second, 0.005});
    }
    auto together = prefixes.find(std::string(table.name));
    if (together != prefixes.end()) sample->prefixes = together->second;
    return sample;
  }

  std::map<std::string, double> rows;
  std::map<std::string, double> distinct;                            // by "table.column"
  std::map<std::string, ColumnSample> columns;                       // likewise
  std::map<std::string, std::vector<TableSample::Prefix>> prefixes;  // by table
};

struct Planner : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};
  ToldStatistics statistics;
  PlannerSettings settings;

  Planner() {
    define("create table t (a int primary key, b int, c text, d int not null, e bool)");
    define("create index t_b on t (b)");
    define("create table u (a int primary key, t_a int, v text)");
    define("create table w (a int primary key, u_a int)");
    define("create table p (x int, y int, z int, v int, primary key (x, y, z))");
  }

  void define(std::string_view sql) {
    std::string answer = session.run(sql);
    ASSERT_EQ(answer.find("ERROR"), std::string::npos) << answer;
  }

  // `types`: of $1, $2 ...
  std::shared_ptr<const PlannedStatement> plan(std::string_view sql,
                                               std::span<const Oid> types = {}) {
    session.begin();
    struct End {
      SqlSession& session;
      ~End() { session.abort(); }
    } end{session};
    return StatementPlanner(session.context, settings, statistics)
        .plan({.statement = parse(sql, syntax_).front().statement,
               .text = sql,
               .declared_parameter_types = types});
  }

  // As EXPLAIN (COSTS OFF) shows it.
  std::string explain(std::string_view sql) {
    ExplainRequest request;
    request.options.costs = false;
    request.types = &session.context.types;
    std::string text;
    for (const std::string& line : explain_plan(*plan(sql), request)) {
      text += (text.empty() ? "" : "\n") + line;
    }
    return text;
  }

  // "SQLSTATE at character: message".
  std::string error(std::string_view sql) {
    try {
      plan(sql);
    } catch (const SqlError& error) {
      const SqlDiagnostic& diagnostic = error.diagnostic();
      return concat(diagnostic.state.text(), " at ", diagnostic.position, ": ", diagnostic.message);
    }
    return "no error";
  }

  // The first operator of its kind, from the top; null for none.
  template <typename Node>
  static const Node* find(const PlanNode* node) {
    if (auto* found = try_as<Node>(node)) return found;
    const Node* found = nullptr;
    for_each_child(*node, [&](const PlanNode& child) {
      if (found == nullptr) found = find<Node>(&child);
    });
    return found;
  }

  // The same where the test cannot go on without it.
  template <typename Node>
  static const Node& the(const PlanNode* node) {
    const Node* found = find<Node>(node);
    if (found == nullptr) throw std::runtime_error("the plan has no such operator");
    return *found;
  }

 private:
  Arena syntax_;  // plans point into it
};

}  // namespace pgsilo::testing
