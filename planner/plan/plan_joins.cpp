// FROM and WHERE: relations that are not tables are planned, the join search chooses, nodes are
// made from its paths.
#include <algorithm>
#include <set>

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/join_search.h"
#include "planner/access/selectivity.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/plan/expression_placer.h"
#include "planner/plan/make_plan.h"
#include "planner/plan/plan_relation.h"
#include "planner/plan/query_planner.h"
#include "sql/ast/query.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "sql/types/type_oid.h"

namespace pgsilo {

namespace {

using Conditions = std::vector<const BoundExpression*>;

Conditions expressions_of(const std::vector<const Clause*>& clauses) {
  Conditions expressions;
  for (const Clause* clause : clauses) expressions.push_back(clause->expression);
  return expressions;
}

PathCost cost_of(const Path& path) { return {path.startup_cost, path.total_cost, path.rows}; }

// Columns of each table that anything in the query reads.
std::vector<std::set<int32_t>> needed_columns(const BoundQuery& query) {
  std::vector<std::set<int32_t>> needed(query.relations.size());
  walk_levels(query, 0, [&](const BoundExpression& expression, int32_t depth) {
    auto* column = try_as<ColumnExpression>(&expression);
    if (column != nullptr && column->levels_up == depth)
      needed[column->relation].insert(column->column);
    return true;
  });
  return needed;
}

class JoinBuilder {
 public:
  JoinBuilder(QueryContext& context, const JoinDemand& demand,
              std::span<const OtherRelation> others)
      : context_(context),
        statement_(context.statement),
        demand_(demand),
        others_(others),
        needed_(needed_columns(context.query)) {
    if (demand.target >= 0) need_whole_row(demand.target);
  }

  PlacedPlan build(const Path& path) {
    switch (path.kind) {
      case PathKind::sequential:
        return build_sequential(path);
      case PathKind::index:
        return path.match.is_point() ? build_point_get(path) : build_index_scan(path);
      case PathKind::other_relation:
        return build_other(path);
      case PathKind::nested_loop:
        return build_nested_loop(path);
      case PathKind::hash_join:
        return build_hash_join(path);
      case PathKind::merge_join:
        return build_merge_join(path);
    }
    PGSILO_REQUIRE(false);
  }

 private:
  void need_whole_row(int32_t relation) {
    for (const ColumnDescriptor& column : context_.query.relations[relation]->table->columns) {
      if (!column.dropped) needed_[relation].insert(column.number - 1);
    }
  }

  Layout set_scan(TableScan& scan, const Path& path) {
    const BoundRelation& relation = *context_.query.relations[path.relation];
    scan.table = relation.table;
    scan.alias = relation.alias;
    const std::set<int32_t>& needed = needed_[path.relation];
    scan.table_columns =
        context_.arena().copy_span(std::vector<int32_t>(needed.begin(), needed.end()));
    for (const RowMark& mark : demand_.marks) {
      if (mark.relation == path.relation) scan.mark = &mark;
    }
    Layout layout;
    std::vector<PlanColumn> columns;
    for (int32_t column : needed) {
      const BoundColumn& bound = relation.columns[column];
      columns.push_back({bound.type, bound.typmod, bound.name});
      layout.add(make_column(context_.arena(), path.relation, column, bound.type, bound.typmod));
    }
    if (scan.mark != nullptr) {
      columns.push_back({type_oid::tid, -1, "row handle"});
      layout.add(
          make_column(context_.arena(), path.relation, row_handle_column, type_oid::tid, -1));
    }
    scan.columns = context_.arena().copy_span(columns);
    set_estimates(scan, cost_of(path));
    return layout;
  }

  PlacedPlan build_sequential(const Path& path) {
    auto* scan = statement_.make_node<SequentialScanNode>();
    Layout layout = set_scan(*scan, path);
    scan->filter =
        ExpressionPlacer(context_, layout).place_conjunction(expressions_of(path.filter));
    return {scan, std::move(layout), {}};
  }

  // Key values read no slot of the scan.
  KeyValue place_key(const KeyValue& key, ExpressionPlacer& shown) {
    if (key.value == nullptr) return key;
    Layout nothing;
    KeyValue placed = key;
    placed.value = ExpressionPlacer(context_, nothing).place(key.value);
    shown.replace(key.value, placed.value);
    return placed;
  }

  std::span<const KeyValue> place_keys(std::span<const KeyValue> keys, ExpressionPlacer& shown) {
    std::vector<KeyValue> placed;
    placed.reserve(keys.size());
    for (const KeyValue& key : keys) placed.push_back(place_key(key, shown));
    return context_.arena().copy_span(placed);
  }

  static const IndexDescriptor* secondary(const IndexDescriptor* index) {
    return index->is_primary_tree() ? nullptr : index;
  }

  // A row that has been waited for may have left the partial index by which it was found.
  const BoundExpression* place_filter(const TableScan& scan, const Path& path,
                                      ExpressionPlacer& placer) {
    std::vector<const Clause*> clauses = path.filter;
    if (scan.mark != nullptr) {
      clauses.insert(clauses.end(), path.match.fulfilled.begin(), path.match.fulfilled.end());
    }
    return placer.place_conjunction(expressions_of(clauses));
  }

  PlacedPlan build_point_get(const Path& path) {
    auto* get = statement_.make_node<PointGetNode>();
    Layout layout = set_scan(*get, path);
    ExpressionPlacer placer(context_, layout);
    get->index = secondary(path.match.index);
    get->keys = place_keys(path.match.ranges[0].equal, placer);
    get->index_condition = placer.place_conjunction(expressions_of(path.match.used));
    get->filter = place_filter(*get, path, placer);
    return {get, std::move(layout), {}};
  }

  KeyRanges place_ranges(const KeyRanges& ranges, ExpressionPlacer& shown) {
    KeyRanges placed = ranges;
    placed.equal = place_keys(ranges.equal, shown);
    std::vector<const BoundExpression*> items;
    for (const BoundExpression* item : ranges.list) items.push_back(place_key({item}, shown).value);
    placed.list = context_.arena().copy_span(items);
    placed.array = place_key({ranges.array}, shown).value;
    placed.lower = place_key(ranges.lower, shown);
    placed.upper = place_key(ranges.upper, shown);
    return placed;
  }

  IndexPart place_part(const IndexMatch& match, ExpressionPlacer& shown) {
    std::vector<KeyRanges> ranges;
    for (const KeyRanges& each : match.ranges) ranges.push_back(place_ranges(each, shown));
    return {secondary(match.index), context_.arena().copy_span(ranges), nullptr};
  }

  PlacedPlan build_index_scan(const Path& path) {
    auto* scan = statement_.make_node<IndexScanNode>();
    Layout layout = set_scan(*scan, path);
    ExpressionPlacer placer(context_, layout);
    std::vector<IndexPart> parts;
    if (path.parts.empty()) parts.push_back(place_part(path.match, placer));
    for (const IndexMatch& part : path.parts) {
      parts.push_back(place_part(part, placer));
      parts.back().index_condition = placer.place(part.answered);
    }
    scan->parts = context_.arena().copy_span(parts);
    scan->direction = path.direction;
    scan->index_condition = path.match.answered != nullptr
                                ? placer.place(path.match.answered)
                                : placer.place_conjunction(expressions_of(path.match.used));
    scan->filter = place_filter(*scan, path, placer);
    return {scan, std::move(layout), {}};
  }

  PlacedPlan build_other(const Path& path) {
    const OtherRelation& other = others_[path.relation];
    const BoundRelation& relation = *context_.query.relations[path.relation];
    Layout layout;
    for (size_t i = 0; i < relation.columns.size(); ++i) {
      const BoundColumn& column = relation.columns[i];
      layout.add(make_column(context_.arena(), path.relation, static_cast<int32_t>(i), column.type,
                             column.typmod));
    }
    if (!other.references.empty()) {
      auto& references = context_.child->references;
      references.insert(references.end(), other.references.begin(), other.references.end());
    }
    const BoundExpression* condition =
        ExpressionPlacer(context_, layout).place_conjunction(expressions_of(path.filter));
    double selectivity = other.plan->rows > 0 ? path.rows / other.plan->rows : 1;
    return {make_filter(statement_, other.plan, condition, selectivity), std::move(layout), {}};
  }

  // Columns, conditions and layout that all joins have; the output layout is returned.
  Layout finish_join(JoinNode& join, const Path& path, const PlacedPlan& left,
                     const PlacedPlan& right) {
    join.join_type = path.join_type;
    join.left = left.node;
    join.right = right.node;
    join.right_is_unique = path.right_is_unique;
    Layout both = left.layout;
    both.append(right.layout);
    ExpressionPlacer placer(context_, both);
    join.condition = placer.place_conjunction(expressions_of(path.conditions));
    join.filter = placer.place_conjunction(expressions_of(path.filter));
    bool left_only = path.join_type == JoinType::semi || path.join_type == JoinType::anti;
    set_columns(statement_, join, left.node, left_only ? nullptr : right.node);
    set_estimates(join, cost_of(path));
    return left_only ? left.layout : both;
  }

  PlacedPlan build_nested_loop(const Path& path) {
    PlacedPlan left = build(*path.left);
    ChildFrame frame;
    PlacedPlan right;
    {
      ChildFrameGuard guard(context_, frame);
      right = build(*path.right);
    }
    if (path.materialize_right && frame.references.empty())
      right.node = make_materialize(statement_, right.node);
    if (path.memoize_right)
      right.node = make_memoize(statement_, right.node, path.right->match.is_point());
    auto* loop = statement_.make_node<NestedLoopNode>();
    std::vector<NestedLoopParameter> parameters;
    for (const OuterReference& reference : frame.references) {
      int32_t slot = left.layout.find(*reference.source);
      if (slot >= 0) {
        parameters.push_back({reference.parameter, slot});
      } else {
        // Of a loop around this one.
        PGSILO_REQUIRE(!path.outer.empty());
        context_.child->references.push_back(reference);
      }
    }
    loop->parameters = context_.arena().copy_span(parameters);
    Layout layout = finish_join(*loop, path, left, right);
    return {loop, std::move(layout), {}};
  }

  // The procedure of `=` with the left row's side first.
  static Oid equality_procedure(const CallExpression& equality, bool swapped) {
    if (!swapped) return equality.procedure;
    const BuiltinOperator* op = find_operator(equality.operator_oid);
    const BuiltinOperator* commutator = find_operator(op->commutator);
    return commutator != nullptr ? commutator->procedure : equality.procedure;
  }

  // The sides of the equalities by which two sides are joined.
  struct JoinKeys {
    Conditions left;
    Conditions right;
    std::vector<Oid> equalities;  // with the left row's side first
  };

  static JoinKeys keys_of(const Path& path) {
    JoinKeys keys;
    for (const Clause* clause : path.keys) {
      bool swapped = !path.left->relations.contains(clause->left_relations);
      keys.left.push_back(clause->equality->arguments[swapped ? 1 : 0]);
      keys.right.push_back(clause->equality->arguments[swapped ? 0 : 1]);
      keys.equalities.push_back(equality_procedure(*clause->equality, swapped));
    }
    return keys;
  }

  PlacedPlan build_hash_join(const Path& path) {
    PlacedPlan left = build(*path.left);
    PlacedPlan right = build(*path.right);
    auto* join = statement_.make_node<HashJoinNode>();
    Layout layout = finish_join(*join, path, left, right);
    JoinKeys keys = keys_of(path);
    join->left_keys = ExpressionPlacer(context_, left.layout).place_list(keys.left);
    join->right_keys = ExpressionPlacer(context_, right.layout).place_list(keys.right);
    join->equalities = context_.arena().copy_span(keys.equalities);
    join->hash_condition = place_keys_condition(path, left, right);
    return {join, std::move(layout), {}};
  }

  const BoundExpression* place_keys_condition(const Path& path, const PlacedPlan& left,
                                              const PlacedPlan& right) {
    Layout both = left.layout;
    both.append(right.layout);
    return ExpressionPlacer(context_, both).place_conjunction(expressions_of(path.keys));
  }

  PlacedPlan build_merge_join(const Path& path) {
    PlacedPlan left = build(*path.left);
    PlacedPlan right = build(*path.right);
    JoinKeys keys = keys_of(path);
    left = in_order(std::move(left), keys.left, path.sort_left);
    right = in_order(std::move(right), keys.right, path.sort_right);
    auto* join = statement_.make_node<MergeJoinNode>();
    Layout layout = finish_join(*join, path, left, right);
    join->left_keys = ExpressionPlacer(context_, left.layout).place_list(keys.left);
    join->right_keys = ExpressionPlacer(context_, right.layout).place_list(keys.right);
    join->merge_condition = place_keys_condition(path, left, right);
    return {join, std::move(layout), {}};
  }

  // Of a merge join.
  PlacedPlan in_order(PlacedPlan side, const Conditions& keys, bool sorts) {
    if (sorts) return sort_by(std::move(side), keys);
    rest_on_order(statement_, side.node);
    return side;
  }

  // Keys that the rows do not have as they are go with them from here on.
  PlacedPlan sort_by(PlacedPlan input, const Conditions& keys) {
    std::vector<SortKey> sorted;
    std::vector<PlanColumn> columns(input.node->columns.begin(), input.node->columns.end());
    Conditions added;
    Layout layout = input.layout;
    ExpressionPlacer placer(context_, input.layout);
    for (const BoundExpression* key : keys) {
      int32_t slot = layout.find(*key);
      if (slot < 0) {
        slot = static_cast<int32_t>(columns.size());
        columns.push_back({key->type, key->typmod, "key"});
        added.push_back(placer.place(key));
        layout.add(key);
      }
      sorted.push_back({slot, false, false});
    }
    if (!added.empty()) {
      Conditions all;
      for (size_t i = 0; i < input.node->columns.size(); ++i)
        all.push_back(make_slot(context_.arena(), static_cast<int32_t>(i), columns[i]));
      all.insert(all.end(), added.begin(), added.end());
      input.node = make_projection(statement_, input.node, context_.arena().copy_span(all),
                                   context_.arena().copy_span(columns));
    }
    input.node = make_sort(statement_, input.node, context_.arena().copy_span(sorted));
    input.layout = std::move(layout);
    return input;
  }

  QueryContext& context_;
  StatementPlanning& statement_;
  const JoinDemand& demand_;
  std::span<const OtherRelation> others_;
  std::vector<std::set<int32_t>> needed_;
};

PlacedPlan single_row(StatementPlanning& statement, const JoinGoal& goal) {
  auto* result = statement.make_node<ResultNode>();
  set_estimates(*result, {0, cost::row, 1});
  size_t all = goal.order.size();
  return {result, Layout(), {all, {true, true, all}}};
}

}  // namespace

namespace {

// A row that is not there cannot be locked.
void check_marks(const JoinProblem& problem, std::span<const BoundRowMark> marks) {
  for (const BoundRowMark& mark : marks) {
    for (const SpecialJoin& join : problem.special_joins) {
      bool extended = (join.type == JoinType::left || join.type == JoinType::full) &&
                      join.right.contains(RelationSet::of(mark.relation));
      extended |= join.type == JoinType::full && join.left.contains(RelationSet::of(mark.relation));
      if (!extended) continue;
      throw SqlError(sqlstate::feature_not_supported,
                     concat(lock_clause_name(mark.strength),
                            " cannot be applied to the nullable side of an outer join"));
    }
  }
}

}  // namespace

PlacedPlan plan_joins(QueryContext& context, const JoinDemand& demand) {
  StatementPlanning& statement = context.statement;
  std::vector<OtherRelation> others(context.query.relations.size());
  joined_relations(context.query).for_each([&](int32_t relation) {
    others[relation] = plan_relation(context, relation);
  });
  JoinProblem problem = make_join_problem(statement, context.query);
  check_marks(problem, context.query.row_marks);
  PlacedPlan plan;
  if (problem.relations.empty()) {
    plan = single_row(statement, demand.goal);
  } else {
    JoinSearch search(context, problem, others, demand.goal);
    FoundPath found = search.run();
    plan = JoinBuilder(context, demand, others).build(*found.path);
    plan.order = {found.sorted, found.grouped};
    bool is_used = found.sorted != 0 || found.grouped.neighbours;
    if (is_used && !found.path->order.keys.empty()) rest_on_order(statement, plan.node);
  }
  if (!problem.one_time.empty()) {
    Layout nothing;
    const BoundExpression* condition =
        ExpressionPlacer(context, nothing).place_conjunction(problem.one_time);
    if (plan.node->kind == PlanKind::result) {
      auto* result = statement.make_node<ResultNode>();
      result->one_time_filter = condition;
      set_estimates(*result, {0, cost::row, 1});
      plan.node = result;
    } else {
      plan.node = make_one_time_filter(statement, plan.node, condition);
    }
  }
  return plan;
}

}  // namespace pgsilo
