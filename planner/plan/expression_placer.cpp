#include "planner/plan/expression_placer.h"

#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/query_planner.h"
#include "planner/rewrite/exists.h"
#include "planner/rewrite/row_equalities.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

SubplanKind subplan_kind(SublinkKind kind) {
  switch (kind) {
    case SublinkKind::exists:
      return SubplanKind::exists;
    case SublinkKind::scalar:
      return SubplanKind::scalar;
    case SublinkKind::any:
      return SubplanKind::any;
    case SublinkKind::all:
      return SubplanKind::all;
    case SublinkKind::array:
      return SubplanKind::array;
  }
  return SubplanKind::exists;
}

// Equalities between the outer row and the subquery's: the latter can be kept in a hash table.
void choose_hashing(Arena& arena, SubplanExpression& subplan) {
  if (subplan.subplan_kind != SubplanKind::any || !subplan.run_once) return;
  auto equalities = row_equalities(*subplan.condition, subplan.row_parameters);
  if (equalities.empty()) return;
  size_t count = equalities.size();
  auto hash_keys = arena.make_span<const BoundExpression*>(count);
  auto row_keys = arena.make_span<const BoundExpression*>(count);
  for (size_t i = 0; i < count; ++i) {
    hash_keys[i] = equalities[i]->arguments[0];
    row_keys[i] = equalities[i]->arguments[1];
  }
  subplan.hashed = true;
  subplan.hash_keys = hash_keys;
  subplan.row_keys = row_keys;
  subplan.condition = nullptr;
}

}  // namespace

const BoundExpression* ExpressionPlacer::place(const BoundExpression* expression) {
  if (auto known = replaced_.find(expression); known != replaced_.end()) return known->second;
  int32_t slot = layout_.find(*expression);
  if (slot >= 0) {
    auto* placed =
        make_expression<SlotExpression>(context_.arena(), expression->type, expression->location);
    placed->typmod = expression->typmod;
    placed->slot = slot;
    return placed;
  }
  switch (expression->kind) {
    case ExpressionKind::column: {
      auto* column = as<ColumnExpression>(expression);
      return column->levels_up > 0 ? context_.outer_parameter(column, column->levels_up)
                                   : context_.own_parameter(column);
    }
    case ExpressionKind::aggregate: {
      auto* aggregate = as<AggregateExpression>(expression);
      return aggregate->levels_up > 0 ? context_.outer_parameter(aggregate, aggregate->levels_up)
                                      : context_.own_parameter(aggregate);
    }
    case ExpressionKind::sublink:
      return place_sublink(*as<SublinkExpression>(expression));
    case ExpressionKind::set_returning:
      throw SqlError(sqlstate::feature_not_supported,
                     "set-valued function called in context that cannot accept a set");
    default:
      break;
  }
  return map_children(context_.arena(), expression,
                      [&](const BoundExpression* child) { return place(child); });
}

ExpressionList ExpressionPlacer::place_list(std::span<const BoundExpression* const> list) {
  std::span<const BoundExpression*> placed =
      context_.arena().make_span<const BoundExpression*>(list.size());
  for (size_t i = 0; i < list.size(); ++i) placed[i] = place(list[i]);
  return placed;
}

const BoundExpression* ExpressionPlacer::place_conjunction(
    std::span<const BoundExpression* const> list) {
  if (list.empty()) return nullptr;
  // Subqueries last: they cost most.
  std::vector<const BoundExpression*> placed;
  std::vector<const BoundExpression*> expensive;
  for (const BoundExpression* expression : list) {
    bool has_sublink = contains(
        *expression, [](const BoundExpression& e) { return e.kind == ExpressionKind::sublink; });
    (has_sublink ? expensive : placed).push_back(place(expression));
  }
  placed.insert(placed.end(), expensive.begin(), expensive.end());
  return make_boolean_list(context_.arena(), BooleanOperator::and_, placed);
}

const BoundExpression* ExpressionPlacer::place_sublink(const SublinkExpression& sublink) {
  auto* subplan =
      make_expression<SubplanExpression>(context_.arena(), sublink.type, sublink.location);
  subplan->typmod = sublink.typmod;
  subplan->subplan_kind = subplan_kind(sublink.sublink_kind);
  ChildFrame frame;
  {
    ChildFrameGuard guard(context_, frame);
    RowDemand demand;
    const BoundQuery* query = sublink.query;
    if (sublink.sublink_kind == SublinkKind::exists) {
      demand.rows = 1;
      query = without_output(context_.arena(), context_.statement.evaluator, *query);
    }
    subplan->plan = plan_query(context_.statement, &context_, *query, demand);
  }
  if (sublink.column != 0 ||
      (sublink.sublink_kind == SublinkKind::scalar && sublink.query->visible_targets > 1)) {
    subplan->plan = project_slots(context_.statement, subplan->plan, {&sublink.column, 1});
  }
  subplan->number = ++context_.statement.subplans;
  subplan->run_once = !frame.depends_on_outer;
  auto arguments = context_.arena().make_span<SubplanArgument>(frame.references.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = {frame.references[i].parameter, place(frame.references[i].source)};
  }
  subplan->arguments = arguments;
  if (sublink.condition != nullptr) subplan->condition = place(sublink.condition);
  subplan->row_parameters = sublink.row_parameters;
  choose_hashing(context_.arena(), *subplan);
  bool compares = subplan->condition != nullptr;
  if (compares && subplan->run_once) {
    // Each outer row is compared with the same rows, but has a result of its own.
    subplan->plan = make_materialize(context_.statement, subplan->plan);
    subplan->run_once = false;
  }
  return subplan;
}

}  // namespace pgsilo
