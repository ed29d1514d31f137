// What a query does with the rows of FROM and WHERE: grouping, the select list, DISTINCT, ORDER BY,
// LIMIT.
#include "planner/plan/query_planner.h"

#include <algorithm>

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
    bool streams = !query_.is_grouped && !query_.distinct && query_.distinct_on.empty();
    JoinDemand joins;
    joins.wanted_order = wanted;
    if (streams) joins.rows = limit_demand(context_, demand_);
    joins.marks = marks_ = copy_marks();
    PlacedPlan plan = plan_joins(context_, joins);
    if (query_.is_grouped) plan = plan_grouping(context_, std::move(plan));
    bool in_order = query_.order_by.empty() || (streams && plan.is_ordered);
    if (in_order && query_.distinct_on.empty()) return finish_in_order(lock_rows(plan));
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

  // What FROM and WHERE could deliver in order already.
  std::vector<OrderKey> wanted_order() const {
    std::vector<OrderKey> wanted;
    if (query_.is_grouped || query_.distinct || !query_.distinct_on.empty()) return wanted;
    for (const QuerySortKey& key : query_.order_by) {
      wanted.push_back({query_.targets[key.target].expression, key.descending, key.nulls_first});
    }
    return wanted;
  }

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
    const PlanNode* node = project(input, visible());
    if (query_.distinct) node = make_distinct(node);
    return add_limit(context_, node, nullptr);
  }

  const PlanNode* make_distinct(const PlanNode* node) {
    std::vector<const BoundExpression*> expressions;
    expressions.reserve(query_.targets.size());
    for (const BoundTarget& target : query_.targets) expressions.push_back(target.expression);
    return make_distinct_rows(statement_, node,
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

  const PlanNode* finish_sorted(const PlacedPlan& input) {
    // What is only grouped by tells no rows apart, and DISTINCT rows are ordered by what they show.
    const PlanNode* node = project(input, query_.distinct ? visible() : targets_);
    if (query_.distinct) node = make_distinct(node);
    SortNode* sort = make_sort(statement_, node, context_.arena().copy_span(sort_keys()));
    node = sort;
    if (!query_.distinct_on.empty()) {
      node = make_unique(statement_, node, query_.distinct_on);
      sort = nullptr;  // what is unique decides how many rows the limit sees
    }
    return strip_junk(add_limit(context_, node, sort));
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
    SortNode* sort = make_sort(statement_, node, context_.arena().copy_span(keys));
    PlacedPlan sorted = lock_rows({sort, layout, true});
    sorted.node = add_limit(context_, sorted.node, sorted.node == sort ? sort : nullptr);
    return project(sorted, visible());
  }

  QueryContext& context_;
  const BoundQuery& query_;
  StatementPlanning& statement_;
  RowDemand demand_;
  std::span<const BoundTarget> targets_;
  std::span<const RowMark> marks_;
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
