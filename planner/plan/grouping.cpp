#include "planner/plan/grouping.h"

#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "planner/access/path.h"
#include "planner/access/path_keys.h"
#include "planner/access/selectivity.h"
#include "planner/access/spill_cost.h"
#include "planner/binder/operator_call.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"
#include "planner/plan/expression_placer.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/transaction_plan.h"
#include "planner/rewrite/fold.h"
#include "planner/rewrite/levels.h"

namespace pgsilo {

namespace {

using Expressions = std::vector<const BoundExpression*>;

using Equality = bool(const BoundExpression* left, const BoundExpression* right);

void add_once(Expressions& list, const BoundExpression* expression, Equality equal) {
  bool known = std::any_of(list.begin(), list.end(),
                           [&](const BoundExpression* other) { return equal(other, expression); });
  if (!known) list.push_back(expression);
}

// What the expressions above the grouping read: the aggregates, and columns that depend on a
// grouped primary key.
class GroupedReads {
 public:
  GroupedReads(QueryContext& context, const Expressions& keys) : context_(context), keys_(keys) {}

  void add(const BoundExpression& expression) {
    walk_levels(expression, 0,
                [&](const BoundExpression& inner, int32_t depth) { return enter(inner, depth); });
  }

  Expressions aggregates;
  Expressions columns;

 private:
  bool enter(const BoundExpression& expression, int32_t depth) {
    if (depth == 0 && is_key(expression)) return false;
    if (auto* aggregate = try_as<AggregateExpression>(&expression)) {
      if (aggregate->levels_up != depth) return true;
      // Those of subqueries are copies, which are found by what they are.
      add_once(aggregates, lower_levels(context_.arena(), aggregate, depth),
               depth == 0 ? shares_result : equal_expressions);
      return false;
    }
    auto* column = try_as<ColumnExpression>(&expression);
    if (column != nullptr && column->levels_up == depth) {
      const BoundExpression* own = lower_levels(context_.arena(), column, depth);
      if (!is_key(*own)) add_once(columns, own, equal_expressions);
    }
    return true;
  }

  bool is_key(const BoundExpression& expression) const {
    return std::any_of(keys_.begin(), keys_.end(), [&](const BoundExpression* key) {
      return equal_expressions(key, &expression);
    });
  }

  QueryContext& context_;
  const Expressions& keys_;
};

// What a call collects the rows of a group for. Empty: nothing.
std::vector<OrderKey> wanted_by(const AggregateExpression& aggregate) {
  std::vector<OrderKey> wanted;
  for (const BoundSortKey& key : aggregate.order_by)
    wanted.push_back({key.expression, key.descending, key.nulls_first});
  if (!aggregate.distinct) return wanted;
  for (const BoundExpression* argument : aggregate.arguments) {
    bool known = std::any_of(wanted.begin(), wanted.end(), [&](const OrderKey& key) {
      return equal_expressions(key.expression, argument);
    });
    if (!known) wanted.push_back({argument, false, false});
  }
  return wanted;
}

bool same_order(std::span<const OrderKey> left, std::span<const OrderKey> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const OrderKey& a, const OrderKey& b) {
                      return a.descending == b.descending && a.nulls_first == b.nulls_first &&
                             equal_expressions(a.expression, b.expression);
                    });
}

AggregateCall make_call(QueryContext& context, ExpressionPlacer& placer,
                        const AggregateExpression& aggregate) {
  Arena& arena = context.arena();
  auto placed = [&](const BoundExpression* expression) {
    return fold_expression(arena, context.statement.evaluator, placer.place(expression));
  };
  AggregateCall call;
  call.procedure = aggregate.procedure;
  call.result_type = aggregate.type;
  auto arguments = arena.copy_span(aggregate.arguments);
  for (const BoundExpression*& argument : arguments) argument = placed(argument);
  call.arguments = arguments;
  call.filter = aggregate.filter != nullptr ? placed(aggregate.filter) : nullptr;
  call.distinct = aggregate.distinct;
  if (aggregate.distinct) {
    const BuiltinOperator* equality = equality_operator(aggregate.arguments[0]->type);
    call.distinct_equality = equality != nullptr ? equality->procedure : invalid_oid;
  }
  std::vector<BoundSortKey> order_by(aggregate.order_by.begin(), aggregate.order_by.end());
  for (BoundSortKey& key : order_by) key.expression = placer.place(key.expression);
  call.order_by = arena.copy_span(order_by);
  return call;
}

PathCost grouping_cost(const StatementPlanning& statement, const AggregateNode& node,
                       double groups) {
  const PlanNode& child = *node.child;
  double work = child.rows * cost::operation * static_cast<double>(node.calls.size() + 1);
  if (node.strategy == AggregateStrategy::hashed) {
    SpillCost spill =
        group_spill_cost(child.rows, child.width, groups, static_cast<double>(node.calls.size()),
                         statement.settings.hash_memory_bytes);
    work += hash_cost(child.rows, groups) + spill.startup + spill.run;
  }
  double total = child.total_cost + work + groups * cost::row;
  double startup = total - groups * cost::row;
  if (node.strategy == AggregateStrategy::sorted)
    startup = child.startup_cost + (total - child.startup_cost) / std::max(1.0, groups);
  return {startup, total, groups};
}

double group_count(QueryContext& context, const Expressions& keys, double rows) {
  return keys.empty() ? 1 : distinct_rows(context.statement, context.query, keys, rows);
}

}  // namespace

std::span<const OrderKey> order_within_groups(QueryContext& context) {
  std::vector<OrderKey> within;
  auto look = [&](const BoundExpression& expression, int32_t depth) {
    auto* aggregate = try_as<AggregateExpression>(&expression);
    bool is_own = aggregate != nullptr && depth == 0 && aggregate->levels_up == 0;
    if (is_own && within.empty()) within = wanted_by(*aggregate);
    return !is_own;
  };
  for (const BoundTarget& target : context.query.targets) walk_levels(*target.expression, 0, look);
  return context.arena().copy_span(within);
}

PlacedPlan plan_grouping(QueryContext& context, PlacedPlan input,
                         std::span<const OrderKey> within) {
  const BoundQuery& query = context.query;
  Expressions keys(query.group_by.begin(), query.group_by.end());
  GroupedReads reads(context, keys);
  for (const BoundTarget& target : query.targets) reads.add(*target.expression);
  if (query.having != nullptr) reads.add(*query.having);
  // Grouping by what depends on the keys changes no group.
  keys.insert(keys.end(), reads.columns.begin(), reads.columns.end());

  const SortSpace::Grouped& order = input.order.grouped;
  auto* node = context.statement.make_node<AggregateNode>();
  node->child = input.node;
  if (!keys.empty()) {
    node->strategy = order.neighbours ? AggregateStrategy::sorted : AggregateStrategy::hashed;
  }
  ExpressionPlacer placer(context, input.layout);
  node->keys = placer.place_list(keys);
  std::vector<AggregateCall> calls;
  std::vector<PlanColumn> columns;
  Layout layout;
  for (const BoundExpression* key : keys) {
    columns.push_back({key->type, key->typmod, {}});
    layout.add(key);
  }
  for (const BoundExpression* expression : reads.aggregates) {
    const auto& aggregate = *as<AggregateExpression>(expression);
    calls.push_back(make_call(context, placer, aggregate));
    calls.back().is_presorted = order.neighbours && order.within && !within.empty() &&
                                same_order(wanted_by(aggregate), within);
    columns.push_back({aggregate.type, aggregate.typmod, {}});
    layout.add(expression);
  }
  node->calls = context.arena().copy_span(calls);
  node->columns = context.arena().copy_span(columns);
  set_estimates(
      *node, grouping_cost(context.statement, *node, group_count(context, keys, input.node->rows)));

  PlacedPlan result{node, std::move(layout), {order.neighbours ? order.sorted : 0, {}}};
  if (query.having != nullptr) {
    const BoundExpression* condition = ExpressionPlacer(context, result.layout).place(query.having);
    result.node = make_filter(context.statement, node, condition, having_selectivity);
  }
  return result;
}

}  // namespace pgsilo
