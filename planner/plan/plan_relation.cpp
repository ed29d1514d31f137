#include "planner/plan/plan_relation.h"

#include <vector>

#include "planner/access/path.h"
#include "planner/access/selectivity.h"
#include "planner/plan/expression_placer.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/query_planner.h"
#include "planner/plan/recursion_nodes.h"
#include "planner/plan/set_operation.h"
#include "planner/rewrite/flatten.h"
#include "planner/rewrite/unread_outputs.h"

namespace pgsilo {

namespace {

// PostgreSQL's guess for generate_series and its like without constant bounds.
constexpr double function_rows = 1000;

std::span<const PlanColumn> plan_columns(Arena& arena, std::span<const BoundColumn> columns) {
  auto made = arena.make_span<PlanColumn>(columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    made[i] = {columns[i].type, columns[i].typmod, columns[i].name};
  return made;
}

const PlanNode* plan_function(QueryContext& context, const BoundRelation& relation) {
  auto* scan = context.statement.make_node<FunctionScanNode>();
  Layout nothing;
  scan->calls = ExpressionPlacer(context, nothing).place_list(relation.calls);
  scan->returns_set = relation.returns_set;
  scan->with_ordinality = relation.with_ordinality;
  scan->alias = relation.alias;
  scan->function_name = relation.function_name;
  scan->columns = plan_columns(context.arena(), relation.columns);
  bool any_set = false;
  for (bool set : relation.returns_set) any_set |= set;
  double rows = any_set ? function_rows : 1;
  set_estimates(*scan, {0, rows * cost::row, rows});
  return scan;
}

const PlanNode* plan_values(QueryContext& context, const BoundRelation& relation) {
  auto* values = context.statement.make_node<ValuesNode>();
  Layout nothing;
  auto rows = context.arena().make_span<ExpressionList>(relation.rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = ExpressionPlacer(context, nothing).place_list(relation.rows[i]);
  }
  values->rows = rows;
  values->columns = plan_columns(context.arena(), relation.columns);
  double count = static_cast<double>(rows.size());
  set_estimates(*values, {0, count * cost::row, count});
  return values;
}

QueryContext* owner_of(QueryContext& context, int32_t levels_up) {
  QueryContext* owner = &context;
  for (int32_t i = 0; i < levels_up; ++i) owner = owner->parent;
  return owner;
}

// What of relation number `number` the query around it reads; of different rows all columns tell.
const BoundQuery& read_part(QueryContext& context, int32_t number, const BoundQuery& query) {
  if (context.query.relations[number]->distinct_rows) return query;
  return *without_unread(context.arena(), query, context.columns_read(number));
}

const PlanNode* plan_subquery(QueryContext& context, int32_t number) {
  const BoundRelation& relation = *context.query.relations[number];
  const PlanNode* plan =
      plan_query(context.statement, &context, read_part(context, number, *relation.query));
  if (!relation.distinct_rows) return plan;
  std::vector<const BoundExpression*> columns;
  columns.reserve(static_cast<size_t>(relation.query->visible_targets));
  for (int32_t i = 0; i < relation.query->visible_targets; ++i)
    columns.push_back(relation.query->targets[static_cast<size_t>(i)].expression);
  return make_distinct_rows(context.statement, plan,
                            distinct_rows(context.statement, *relation.query, columns, plan->rows));
}

const PlanNode* plan_cte(QueryContext& context, int32_t number) {
  const BoundRelation& relation = *context.query.relations[number];
  BoundCte& cte = *relation.cte;
  StatementPlanning& statement = context.statement;
  QueryContext* owner = owner_of(context, relation.cte_levels_up);
  if (!is_kept_cte(cte)) {
    if (cte.is_recursive) return plan_recursion(statement, owner, cte);
    return plan_query(statement, owner, read_part(context, number, *cte.query));
  }
  if (cte.number < 0) {
    const PlanNode* plan = cte.is_recursive ? plan_recursion(statement, owner, cte)
                                            : plan_query(statement, owner, *cte.query);
    cte.number = static_cast<int32_t>(statement.cte_plans.size());
    statement.cte_plans.push_back(plan);
  }
  const PlanNode* plan = statement.cte_plans[cte.number];
  auto* scan = statement.make_node<CteScanNode>();
  scan->cte = cte.number;
  scan->name = cte.name;
  scan->alias = relation.alias;
  scan->columns = plan_columns(context.arena(), relation.columns);
  set_estimates(*scan, {0, plan->rows * cost::row, plan->rows});
  return scan;
}

const PlanNode* plan_work_table(QueryContext& context, const BoundRelation& relation) {
  StatementPlanning& statement = context.statement;
  auto* scan = statement.make_node<WorkTableScanNode>();
  scan->work_table = relation.cte->work_table;
  scan->name = relation.cte->name;
  scan->alias = relation.alias;
  scan->columns = plan_columns(context.arena(), relation.columns);
  double rows = statement.work_table_rows[static_cast<size_t>(scan->work_table)];
  set_estimates(*scan, {0, rows * cost::row, rows});
  return scan;
}

}  // namespace

OtherRelation plan_relation(QueryContext& context, int32_t number) {
  const BoundRelation& relation = *context.query.relations[number];
  OtherRelation other;
  if (relation.kind == RangeKind::table) return other;
  ChildFrame frame;
  {
    ChildFrameGuard guard(context, frame);
    switch (relation.kind) {
      case RangeKind::subquery:
        other.plan = plan_subquery(context, number);
        break;
      case RangeKind::function:
        other.plan = plan_function(context, relation);
        break;
      case RangeKind::values:
        other.plan = plan_values(context, relation);
        break;
      case RangeKind::cte:
        other.plan = plan_cte(context, number);
        break;
      case RangeKind::work_table:
        other.plan = plan_work_table(context, relation);
        break;
      case RangeKind::table:
        break;
    }
  }
  context.statement.planned_rows[&relation] = other.plan->rows;
  other.references = std::move(frame.references);
  for (const OuterReference& reference : other.references)
    other.lateral |= relations_of(*reference.source);
  for (int32_t before = 0; relation.expands_rows && before < number; ++before)
    other.lateral |= RelationSet::of(before);
  return other;
}

}  // namespace pgsilo
