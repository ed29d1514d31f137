// What a query does with the rows of FROM and WHERE: grouping, the select list, DISTINCT, ORDER BY,
// LIMIT.
#include "planner/plan/query_planner.h"

#include <algorithm>
#include <numeric>

#include "planner/access/index_match.h"
#include "planner/access/path.h"
#include "planner/access/selectivity.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/expression_placer.h"
#include "planner/plan/grouping.h"
#include "planner/plan/limit.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/set_operation.h"
#include "planner/rewrite/fold.h"
#include "planner/rewrite/rewrite.h"

namespace pgsilo {

namespace {

class QueryPlanner {
 public:
  QueryPlanner(QueryContext& context, RowDemand demand)
      : context_(context),
        query_(context.query),
        statement_(context.statement),
        demand_(demand),
        targets_(folded_targets()) {}

  const PlanNode* plan() {
    std::vector<OrderKey> wanted = wanted_order();
    std::vector<const BoundExpression*> distinct = distinct_expressions();
    JoinDemand joins;
    joins.goal = goal(wanted, distinct);
    joins.marks = marks_ = copy_marks();
    PlacedPlan plan = plan_joins(context_, joins);
    if (query_.is_grouped) plan = plan_grouping(context_, std::move(plan), joins.goal.within);
    bool streams = !query_.is_grouped && !query_.distinct && query_.distinct_on.empty();
    is_distinct_in_order_ = !query_.is_grouped && plan.order.grouped.neighbours;
    if (query_.distinct) plan.order.sorted = is_distinct_in_order_ ? plan.order.grouped.sorted : 0;
    bool in_order = plan.order.sorted == wanted.size();
    if (query_.order_by.empty() && query_.distinct_on.empty()) in_order = true;
    if (in_order) return finish_in_order(lock_rows(plan));
    if (streams && (has_volatile_target() || !marks_.empty())) return finish_sort_first(plan);
    return finish_sorted(plan);
  }

 private:
  // A subquery's rows are locked by marks of its own.
  std::span<const RowMark> copy_marks() const {
    auto marks = context_.arena().make_span<RowMark>(query_.row_marks.size());
    size_t count = 0;
    for (const BoundRowMark& mark : query_.row_marks) {
      if (query_.relations[mark.relation]->kind != RangeKind::table) continue;
      marks[count++] = {mark.relation, mark.strength, mark.wait};
    }
    return marks.first(count);
  }

  // Behind the sort, before the limit: only rows that are returned are locked.
  PlacedPlan lock_rows(PlacedPlan input) {
    if (marks_.empty()) return input;
    auto* node = statement_.make_node<LockRowsNode>();
    node->child = input.node;
    auto rows = context_.arena().make_span<LockedRow>(marks_.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] = {query_.relations[marks_[i].relation]->table, &marks_[i],
                 input.layout.find_row_handle(marks_[i].relation)};
    }
    node->rows = rows;
    set_columns(statement_, *node, input.node);
    set_estimates(*node, {input.node->startup_cost,
                          input.node->total_cost + input.node->rows * cost::row, input.node->rows});
    input.node = node;
    return input;
  }

  // What the result, or what DISTINCT ON takes from, comes by.
  std::vector<OrderKey> wanted_order() const {
    std::vector<OrderKey> wanted;
    for (const SortKey& key : sort_keys()) {
      wanted.push_back({query_.targets[static_cast<size_t>(key.slot)].expression, key.descending,
                        key.nulls_first});
    }
    return wanted;
  }

  std::vector<const BoundExpression*> distinct_expressions() const {
    std::vector<const BoundExpression*> expressions;
    if (!query_.distinct) return expressions;
    for (const BoundTarget& target : query_.targets.first(query_.visible_targets))
      expressions.push_back(target.expression);
    return expressions;
  }

  // What FROM and WHERE could have done already.
  JoinGoal goal(std::span<const OrderKey> wanted,
                std::span<const BoundExpression* const> distinct) {
    JoinGoal goal;
    goal.order = wanted;
    if (query_.is_grouped) {
      goal.is_grouped = true;
      goal.groups = query_.group_by;
      goal.within = order_within_groups(context_);
    } else if (query_.distinct) {
      goal.is_grouped = true;
      goal.groups = distinct;
    }
    // How many rows DISTINCT ON drops is not known.
    bool stops = query_.distinct_on.empty() && !(query_.is_grouped && query_.distinct);
    if (stops) goal.demand = limit_demand(context_, demand_);
    if (stops) goal.kept = kept_rows();
    if (query_.having != nullptr) goal.demand.rows /= having_selectivity;
    return goal;
  }

  // What a sort right below the limit keeps.
  double kept_rows() const { return limit_demand(context_, {}).rows; }

  bool has_volatile_target() const {
    return std::any_of(query_.targets.begin(), query_.targets.end(),
                       [](const BoundTarget& target) { return is_volatile(*target.expression); });
  }

  const BoundExpression* fold(const BoundExpression* expression) {
    return fold_expression(context_.arena(), statement_.evaluator, expression);
  }

  // What is sorted by is found again by what it is, so all are folded before any is placed. A
  // group's key is found again as it was written: there the place comes first.
  std::span<const BoundTarget> folded_targets() {
    if (query_.is_grouped) return query_.targets;
    auto targets = context_.arena().copy_span(query_.targets);
    for (BoundTarget& target : targets) target.expression = fold(target.expression);
    return targets;
  }

  const PlanNode* project(const PlacedPlan& input, std::span<const BoundTarget> targets) {
    ExpressionPlacer placer(context_, input.layout);
    auto expressions = context_.arena().make_span<const BoundExpression*>(targets.size());
    auto columns = context_.arena().make_span<PlanColumn>(targets.size());
    bool same = targets.size() == input.node->columns.size();
    for (size_t i = 0; i < targets.size(); ++i) {
      const BoundExpression* expression = targets[i].expression;
      expressions[i] = placer.place(expression);
      if (query_.is_grouped) expressions[i] = fold(expressions[i]);
      columns[i] = {expression->type, expression->typmod, targets[i].name};
      auto* slot = try_as<SlotExpression>(expressions[i]);
      same = same && slot != nullptr && slot->slot == static_cast<int32_t>(i);
    }
    // A projection that moves nothing is left out.
    if (same) return input.node;
    return make_projection(statement_, input.node, expressions, columns);
  }

  std::span<const BoundTarget> visible() const { return targets_.first(query_.visible_targets); }

  const PlanNode* finish_in_order(const PlacedPlan& input) {
    if (!query_.distinct_on.empty()) {
      const PlanNode* node = make_distinct_on(project(input, targets_));
      return strip_junk(add_limit(context_, node, nullptr, order_targets(query_)));
    }
    bool needs_keys = query_.with_ties && !query_.distinct;
    const PlanNode* node = project(input, needs_keys ? targets_ : visible());
    if (query_.distinct) node = make_distinct(node);
    return strip_junk(add_limit(context_, node, nullptr, order_targets(query_)));
  }

  const PlanNode* make_distinct(const PlanNode* node) {
    std::vector<const BoundExpression*> expressions;
    expressions.reserve(query_.targets.size());
    for (const BoundTarget& target : query_.targets) expressions.push_back(target.expression);
    double rows = distinct_rows(statement_, query_, expressions, node->rows);
    if (!is_distinct_in_order_) return make_distinct_rows(statement_, node, rows);
    auto slots = context_.arena().make_span<int32_t>(node->columns.size());
    std::iota(slots.begin(), slots.end(), 0);
    return make_unique(statement_, node, slots, rows);
  }

  const PlanNode* make_distinct_on(const PlanNode* node) {
    std::vector<const BoundExpression*> expressions;
    for (int32_t target : query_.distinct_on)
      expressions.push_back(query_.targets[static_cast<size_t>(target)].expression);
    return make_unique(statement_, node, query_.distinct_on,
                       distinct_rows(statement_, query_, expressions, node->rows));
  }

  std::vector<SortKey> sort_keys() const {
    std::vector<SortKey> keys;
    for (const QuerySortKey& key : query_.order_by)
      keys.push_back({key.target, key.descending, key.nulls_first});
    // DISTINCT ON wants equal keys next to each other.
    for (int32_t target : query_.distinct_on) {
      bool known = std::any_of(keys.begin(), keys.end(),
                               [&](const SortKey& key) { return key.slot == target; });
      if (!known) keys.push_back({target, false, false});
    }
    return keys;
  }

  const PlanNode* strip_junk(const PlanNode* node) {
    if (query_.visible_targets == static_cast<int32_t>(node->columns.size())) return node;
    std::vector<int32_t> slots(query_.visible_targets);
    for (int32_t i = 0; i < query_.visible_targets; ++i) slots[i] = i;
    return project_slots(statement_, node, slots);
  }

  // The first `presorted` keys the rows come by already.
  SortNode* sort_rest(const PlanNode* node, const std::vector<SortKey>& keys, size_t presorted) {
    std::vector<const BoundExpression*> expressions;
    for (const OrderKey& key : wanted_order()) {
      if (expressions.size() < presorted) expressions.push_back(key.expression);
    }
    double runs = presorted == 0 ? 1 : distinct_rows(statement_, query_, expressions, node->rows);
    double kept = query_.distinct_on.empty() ? kept_rows() : RowDemand().rows;
    return make_sort(statement_, node, context_.arena().copy_span(keys), presorted, runs, kept);
  }

  const PlanNode* finish_sorted(const PlacedPlan& input) {
    // What is only grouped by tells no rows apart, and DISTINCT rows are ordered by what they show.
    const PlanNode* node = project(input, query_.distinct ? visible() : targets_);
    if (query_.distinct) node = make_distinct(node);
    SortNode* sort = sort_rest(node, sort_keys(), input.order.sorted);
    node = sort;
    if (!query_.distinct_on.empty()) {
      node = make_distinct_on(node);
      sort = nullptr;  // what is unique decides how many rows the limit sees
    }
    return strip_junk(add_limit(context_, node, sort, order_targets(query_)));
  }

  // Volatile functions of the select list are called for the rows that are returned, in their
  // order.
  const PlanNode* finish_sort_first(const PlacedPlan& input) {
    ExpressionPlacer placer(context_, input.layout);
    std::vector<const BoundExpression*> expressions;
    std::vector<PlanColumn> columns(input.node->columns.begin(), input.node->columns.end());
    expressions.reserve(columns.size());
    for (size_t i = 0; i < columns.size(); ++i) {
      expressions.push_back(make_slot(context_.arena(), static_cast<int32_t>(i), columns[i]));
    }
    Layout layout = input.layout;
    std::vector<SortKey> keys;
    for (const QuerySortKey& key : query_.order_by) {
      const BoundExpression* expression = targets_[key.target].expression;
      keys.push_back({static_cast<int32_t>(expressions.size()), key.descending, key.nulls_first});
      expressions.push_back(placer.place(expression));
      columns.push_back({expression->type, expression->typmod, query_.targets[key.target].name});
      layout.add(expression);
    }
    const PlanNode* node =
        make_projection(statement_, input.node, context_.arena().copy_span(expressions),
                        context_.arena().copy_span(columns));
    SortNode* sort = sort_rest(node, keys, input.order.sorted);
    PlacedPlan sorted = lock_rows({sort, layout, {}});
    std::vector<int32_t> slots;
    slots.reserve(keys.size());
    for (const SortKey& key : keys) slots.push_back(key.slot);
    sorted.node = add_limit(context_, sorted.node, sorted.node == sort ? sort : nullptr, slots);
    return project(sorted, visible());
  }

  QueryContext& context_;
  const BoundQuery& query_;
  StatementPlanning& statement_;
  RowDemand demand_;
  std::span<const BoundTarget> targets_;
  std::span<const RowMark> marks_;
  bool is_distinct_in_order_ = false;  // rows that DISTINCT makes one come one after the other
};

}  // namespace

const PlanNode* plan_query(StatementPlanning& statement, QueryContext* parent,
                           const BoundQuery& query, RowDemand demand) {
  PlanningDepth depth(statement);
  if (query.set_operation != QuerySetOperation::none)
    return plan_set_operation(statement, parent, query);
  const BoundQuery& rewritten = rewrite_query(statement, query);
  QueryContext context(statement, parent, rewritten);
  return QueryPlanner(context, demand).plan();
}

}  // namespace pgsilo
