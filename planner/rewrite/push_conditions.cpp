#include "planner/rewrite/push_conditions.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "planner/access/join_problem.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/flatten.h"
#include "planner/rewrite/merge_query.h"
#include "planner/rewrite/set_returning.h"

namespace pgsilo {

namespace {

using Conditions = std::vector<const BoundExpression*>;

// --- which conditions may move ---

bool contains_aggregate(const BoundExpression& expression) {
  return contains(expression, [](const BoundExpression& part) {
    return part.kind == ExpressionKind::aggregate;
  });
}

// It says the same wherever it is computed, and how often.
bool is_movable(const BoundExpression& expression) {
  return !has_sublink(expression) && !calls_volatile(expression) && !contains_set(expression);
}

// Columns of the query itself, for which `accept` is false of none.
template <typename Accept>
bool all_columns(const BoundExpression& expression, Accept accept) {
  return !contains(expression, [&](const BoundExpression& part) {
    auto* column = try_as<ColumnExpression>(&part);
    return column != nullptr && column->levels_up == 0 && !accept(*column);
  });
}

// Whether rows of the query may go before it is done, by what is asked of this column.
bool accepts(const BoundQuery& query, int32_t column);

bool side_accepts(const BoundQuery& side, ExpressionList columns, const BoundExpression& output) {
  return all_columns(output, [&](const ColumnExpression& of_result) {
    return all_columns(
        *columns[static_cast<size_t>(of_result.column)],
        [&](const ColumnExpression& of_side) { return accepts(side, of_side.column); });
  });
}

bool accepts(const BoundQuery& query, int32_t column) {
  if (query.limit_count != nullptr || query.limit_offset != nullptr) return false;
  if (column < 0 || column >= query.visible_targets) return false;
  const BoundExpression& output = *query.targets[static_cast<size_t>(column)].expression;
  if (!is_movable(output)) return false;
  if (!query.distinct_on.empty() &&
      std::ranges::find(query.distinct_on, column) == query.distinct_on.end()) {
    return false;
  }
  if (query.set_operation == QuerySetOperation::none) return true;
  return query.set_operation != QuerySetOperation::except &&
         side_accepts(*query.left, query.left_columns, output) &&
         side_accepts(*query.right, query.right_columns, output);
}

// The query of a relation that is planned in its place; null: there is none.
const BoundQuery* query_of(const BoundRelation& relation) {
  if (relation.kind == RangeKind::subquery) return relation.query;
  bool is_cte = relation.kind == RangeKind::cte && !relation.cte->is_recursive;
  if (is_cte && !is_kept_cte(*relation.cte)) return relation.cte->query;
  return nullptr;
}

bool accepts(const BoundRelation& relation, const BoundExpression& condition) {
  const BoundQuery* query = query_of(relation);
  if (query == nullptr || !is_movable(condition) || contains_aggregate(condition)) return false;
  bool is_elsewhere = relation.kind == RangeKind::cte && relation.cte_levels_up != 0;
  if (is_elsewhere && reads_outer(condition)) return false;
  return all_columns(condition,
                     [&](const ColumnExpression& read) { return accepts(*query, read.column); });
}

// --- moving them ---

// An expression as a query right below sees it, with `value` of each column of the query itself.
template <typename Value>
const BoundExpression* moved_down(Arena& arena, const BoundExpression* expression, Value value) {
  auto map = [&](const BoundExpression* part, int32_t) -> const BoundExpression* {
    auto* column = try_as<ColumnExpression>(part);
    if (column == nullptr) return nullptr;
    if (column->levels_up == 0) return value(column->column);
    auto* raised = arena.make<ColumnExpression>(*column);
    ++raised->levels_up;
    return raised;
  };
  auto keep = [](const BoundRelation& relation, int32_t) { return relation.cte_levels_up; };
  return map_levels(arena, expression, 0, map, keep);
}

// Precondition: accepts() what the condition reads. It stands in the query already.
const BoundQuery* with_condition(Arena& arena, const BoundQuery& query,
                                 const BoundExpression* condition);

const BoundQuery* side_with(Arena& arena, const BoundQuery& side, ExpressionList columns,
                            const BoundExpression* condition) {
  auto output = [&](int32_t i) { return side.targets[static_cast<size_t>(i)].expression; };
  auto converted = [&](int32_t i) {
    return moved_down(arena, columns[static_cast<size_t>(i)], output);
  };
  return with_condition(arena, side, moved_down(arena, condition, converted));
}

const BoundQuery* with_condition(Arena& arena, const BoundQuery& query,
                                 const BoundExpression* condition) {
  auto* copy = arena.make<BoundQuery>(query);
  if (query.set_operation != QuerySetOperation::none) {
    copy->left = side_with(arena, *query.left, query.left_columns, condition);
    copy->right = side_with(arena, *query.right, query.right_columns, condition);
  } else if (query.is_grouped) {
    copy->having = make_and(arena, {query.having, condition});
  } else {
    copy->where = make_and(arena, {query.where, condition});
  }
  return copy;
}

const BoundRelation* relation_with(Arena& arena, const BoundRelation& relation,
                                   const Conditions& conditions) {
  const BoundQuery* query = query_of(relation);
  for (const BoundExpression* condition : conditions) {
    auto output = [&](int32_t i) { return query->targets[static_cast<size_t>(i)].expression; };
    query = with_condition(arena, *query, moved_down(arena, condition, output));
  }
  auto* copy = arena.make<BoundRelation>(relation);
  if (relation.kind == RangeKind::subquery) {
    copy->query = query;
  } else {
    copy->cte = arena.make<BoundCte>(*relation.cte);
    copy->cte->query = query;
  }
  return copy;
}

// --- where they come from ---

// Relations of FROM whose rows are there as they are, with no NULLs in their place.
RelationSet whole_relations(const FromItem& item) {
  if (item.relation >= 0) return RelationSet::of(item.relation);
  switch (item.join_type) {
    case JoinType::inner:
      return whole_relations(*item.left) | whole_relations(*item.right);
    case JoinType::left:
    case JoinType::semi:
    case JoinType::anti:
      return whole_relations(*item.left);
    case JoinType::right:
    case JoinType::full:
      return {};
  }
  return {};
}

// Those of which a row that does not fulfil the join's condition might as well not be there.
RelationSet decided_relations(const FromItem& join) {
  switch (join.join_type) {
    case JoinType::inner:
    case JoinType::semi:
      return whole_relations(*join.left) | whole_relations(*join.right);
    case JoinType::left:
    case JoinType::anti:
      return whole_relations(*join.right);
    case JoinType::right:
    case JoinType::full:
      return {};
  }
  return {};
}

class ConditionPushing {
 public:
  ConditionPushing(Arena& arena, const BoundQuery& query)
      : arena_(arena), query_(query), pushed_(query.relations.size()) {}

  const BoundQuery* run() {
    const BoundExpression* where = query_.where;
    auto from = arena_.copy_span(query_.from);
    RelationSet whole;
    for (const FromItem* item : query_.from) whole |= whole_relations(*item);
    imply(whole);
    where = push(where, whole);
    for (const FromItem*& item : from) item = push(item);
    if (!is_changed_) return &query_;
    auto* copy = arena_.make<BoundQuery>(query_);
    copy->where = where;
    copy->from = from;
    auto relations = arena_.copy_span(query_.relations);
    for (size_t i = 0; i < relations.size(); ++i) {
      if (!pushed_[i].empty()) relations[i] = relation_with(arena_, *relations[i], pushed_[i]);
    }
    copy->relations = relations;
    return copy;
  }

 private:
  // What is left of the condition.
  const BoundExpression* push(const BoundExpression* condition, RelationSet decided) {
    if (condition == nullptr) return nullptr;
    Conditions conjuncts;
    split_conjuncts(condition, conjuncts);
    size_t moved = std::erase_if(conjuncts, [&](const BoundExpression* conjunct) {
      return push_conjunct(conjunct, decided);
    });
    if (moved == 0) return condition;
    return conjuncts.empty() ? nullptr
                             : make_boolean_list(arena_, BooleanOperator::and_, conjuncts);
  }

  bool push_conjunct(const BoundExpression* conjunct, RelationSet decided) {
    RelationSet read = relations_of(*conjunct);
    if (read.size() != 1 || !decided.contains(read)) return false;
    if (!accepts(*query_.relations[read.first()], *conjunct)) return false;
    pushed_[read.first()].push_back(conjunct);
    return is_changed_ = true;
  }

  const FromItem* push(const FromItem* item) {
    if (item->relation >= 0) return item;
    const FromItem* left = push(item->left);
    const FromItem* right = push(item->right);
    const BoundExpression* condition = push(item->condition, decided_relations(*item));
    if (left == item->left && right == item->right && condition == item->condition) return item;
    auto* copy = arena_.make<FromItem>(*item);
    copy->left = left;
    copy->right = right;
    copy->condition = condition;
    return copy;
  }

  // --- what equalities imply ---

  struct Equality {
    const ColumnExpression* left;
    const ColumnExpression* right;
  };
  // A column, and of its value what no row of the query decides.
  struct KnownValue {
    const ColumnExpression* column;
    const CallExpression* equality;
    size_t side;  // of the column
  };

  void imply(RelationSet whole) {
    Conditions conjuncts;
    if (query_.where != nullptr) split_conjuncts(query_.where, conjuncts);
    for (const FromItem* item : query_.from) collect_inner(*item, conjuncts);
    for (const BoundExpression* conjunct : conjuncts) sort_out(conjunct);
    // What is implied may imply something itself.
    for (size_t i = 0; i < known_.size(); ++i) {
      for (const Equality& equality : equalities_) {
        imply(known_[i], *equality.left, equality.right, whole);
        imply(known_[i], *equality.right, equality.left, whole);
      }
    }
  }

  static void collect_inner(const FromItem& item, Conditions& conjuncts) {
    if (item.relation >= 0 || item.join_type != JoinType::inner) return;
    if (item.condition != nullptr) split_conjuncts(item.condition, conjuncts);
    collect_inner(*item.left, conjuncts);
    collect_inner(*item.right, conjuncts);
  }

  void sort_out(const BoundExpression* conjunct) {
    auto* call = try_as<CallExpression>(conjunct);
    if (call == nullptr || call->arguments.size() != 2 || !is_hashable_equality(*call) ||
        !is_movable(*call)) {
      return;
    }
    const ColumnExpression* left = own_column(*call->arguments[0]);
    const ColumnExpression* right = own_column(*call->arguments[1]);
    if (left != nullptr && right != nullptr) {
      if (left->type == right->type) equalities_.push_back({left, right});
    } else if (left != nullptr && relations_of(*call->arguments[1]).empty()) {
      know({left, call, 0});
    } else if (right != nullptr && relations_of(*call->arguments[0]).empty()) {
      know({right, call, 1});
    }
  }

  static const ColumnExpression* own_column(const BoundExpression& expression) {
    auto* column = try_as<ColumnExpression>(&expression);
    return column != nullptr && column->levels_up == 0 ? column : nullptr;
  }

  static bool is_same(const ColumnExpression& left, const ColumnExpression& right) {
    return left.relation == right.relation && left.column == right.column;
  }

  // False: one value is known already, which is enough.
  bool know(const KnownValue& value) {
    bool is_known = std::ranges::any_of(
        known_, [&](const KnownValue& other) { return is_same(*other.column, *value.column); });
    if (!is_known) known_.push_back(value);
    return !is_known;
  }

  // `to` is equal to `from`.
  void imply(KnownValue value, const ColumnExpression& from, const ColumnExpression* to,
             RelationSet whole) {
    if (!is_same(*value.column, from)) return;
    auto* call = arena_.make<CallExpression>(*value.equality);
    auto arguments = arena_.copy_span(call->arguments);
    arguments[value.side] = to;
    call->arguments = arguments;
    if (know({to, call, value.side})) push_conjunct(call, whole);
  }

  Arena& arena_;
  const BoundQuery& query_;
  std::vector<Conditions> pushed_;  // by relation
  std::vector<KnownValue> known_;
  std::vector<Equality> equalities_;
  bool is_changed_ = false;
};

// Groups that fulfil it are those of rows that do.
bool is_of_rows(const BoundExpression& condition) {
  return is_movable(condition) && !contains_aggregate(condition);
}

const BoundQuery* having_to_where(Arena& arena, const BoundQuery& query) {
  if (query.having == nullptr || query.group_by.empty()) return &query;
  Conditions of_rows;
  Conditions of_groups;
  Conditions conjuncts;
  split_conjuncts(query.having, conjuncts);
  for (const BoundExpression* conjunct : conjuncts)
    (is_of_rows(*conjunct) ? of_rows : of_groups).push_back(conjunct);
  if (of_rows.empty()) return &query;
  auto* copy = arena.make<BoundQuery>(query);
  copy->having =
      of_groups.empty() ? nullptr : make_boolean_list(arena, BooleanOperator::and_, of_groups);
  of_rows.insert(of_rows.begin(), query.where);
  copy->where = make_boolean_list(arena, BooleanOperator::and_, of_rows);
  return copy;
}

bool has_query(const BoundQuery& query) {
  return std::ranges::any_of(query.relations, [](const BoundRelation* relation) {
    return query_of(*relation) != nullptr;
  });
}

}  // namespace

const BoundQuery* push_conditions(Arena& arena, const BoundQuery& query) {
  const BoundQuery* moved = having_to_where(arena, query);
  return has_query(*moved) ? ConditionPushing(arena, *moved).run() : moved;
}

}  // namespace pgsilo
