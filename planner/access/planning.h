// What planning one statement shares, and what planning one of its queries knows. A query asks the
// queries around it for their columns by execution parameters: see QueryContext::outer_parameter().
// Thread safety: none; one per statement being planned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "planner/bound/query.h"
#include "planner/plan/plan_node.h"
#include "planner/rewrite/unread_outputs.h"

namespace pgsilo {

class ConstantEvaluator;
class QueryContext;
class TableStatistics;
struct ColumnSample;
struct PlannerSettings;
struct TableSample;

// An expression of an outer query's row that a subplan reads as an execution parameter.
struct OuterReference {
  int32_t parameter = 0;
  const BoundExpression* source = nullptr;  // over columns of the query that provides it
};

struct StatementPlanning {
  Arena& arena;
  ConstantEvaluator* evaluator = nullptr;
  const TableStatistics& statistics;
  const PlannerSettings& settings;
  int32_t execution_parameters = 0;
  int32_t subplans = 0;
  std::vector<const PlanNode*> cte_plans = {};  // of materialised WITH queries, by number
  std::vector<double> work_table_rows = {};     // of each work table so far: of a step
  std::vector<PlanNode*> nodes = {};            // every node made
  std::vector<const PlanNode*> ordered = {};    // somebody rests on the order of their rows
  // Of what is no table, once it is planned: how many rows it has.
  std::unordered_map<const BoundRelation*, double> planned_rows = {};
  // Of tables that were asked about: all of a plan rests on the same.
  std::unordered_map<const TableDescriptor*, std::shared_ptr<const TableSample>> samples = {};
  int32_t depth = 0;
  // PlannedStatement's.
  std::vector<int32_t> estimated_parameters = {};
  bool parameters_decide = false;

  // What the column holds, by attnum; null: it came since the sample was taken.
  const ColumnSample* column_sample(const TableDescriptor& table, int16_t column);
  const TableSample& sample(const TableDescriptor& table);

  void note_estimated(int32_t parameter) {
    bool known = std::ranges::find(estimated_parameters, parameter) != estimated_parameters.end();
    if (!known) estimated_parameters.push_back(parameter);
  }

  int32_t new_execution_parameter() { return execution_parameters++; }

  // Makes a node; finish_plan() visits them all.
  template <typename T>
  T* make_node() {
    T* node = arena.make<T>();
    node->kind = T::plan_kind;
    nodes.push_back(node);
    return node;
  }
};

// How many rows of a result its reader will want, a share and a number, of which the smaller
// counts: what makes a path that begins early cheap.
struct RowDemand {
  double fraction = 1;
  double rows = std::numeric_limits<double>::infinity();

  double share_of(double result_rows) const {
    return std::min(fraction, rows / std::max(1.0, result_rows));
  }
};

// While a subquery or a parameterised scan is planned: which of the query's columns it asked for,
// and whether it asked for anything from this query or further out.
struct ChildFrame {
  std::vector<OuterReference> references;
  bool depends_on_outer = false;
};

class QueryContext {
 public:
  QueryContext(StatementPlanning& statement, QueryContext* parent, const BoundQuery& query)
      : statement(statement), parent(parent), query(query) {}
  QueryContext(const QueryContext&) = delete;
  QueryContext& operator=(const QueryContext&) = delete;

  Arena& arena() { return statement.arena; }

  // The execution parameter that stands for `expression`, a column (or aggregate) of the query
  // `levels_up` > 0 queries out: that query provides it when it runs the child it is planning now.
  const BoundExpression* outer_parameter(const BoundExpression* expression, int32_t levels_up);
  // The same for an expression of this query, inside the child it is planning now.
  const BoundExpression* own_parameter(const BoundExpression* expression);
  // By column of the query's relation: whether anything reads it.
  const std::vector<bool>& columns_read(int32_t relation);

  StatementPlanning& statement;
  QueryContext* const parent;
  const BoundQuery& query;
  ChildFrame* child = nullptr;

 private:
  std::optional<ReadColumns> read_columns_;  // once asked for
};

// Makes `frame` the one that asks this query, for as long as it lives.
class ChildFrameGuard {
 public:
  ChildFrameGuard(QueryContext& context, ChildFrame& frame)
      : context_(context), before_(context.child) {
    context.child = &frame;
  }
  ~ChildFrameGuard() { context_.child = before_; }
  ChildFrameGuard(const ChildFrameGuard&) = delete;
  ChildFrameGuard& operator=(const ChildFrameGuard&) = delete;

 private:
  QueryContext& context_;
  ChildFrame* before_;
};

// Stands where planning recurses into a query, and counts as long work (base/long_work.h). Throws
// 54001 when that is too deep.
class PlanningDepth {
 public:
  explicit PlanningDepth(StatementPlanning& statement);
  ~PlanningDepth() { --statement_.depth; }
  PlanningDepth(const PlanningDepth&) = delete;
  PlanningDepth& operator=(const PlanningDepth&) = delete;

 private:
  StatementPlanning& statement_;
};

}  // namespace pgsilo
