#include "planner/access/path_keys.h"

#include <algorithm>

#include "base/arena.h"
#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// More interesting expressions than these order nothing.
constexpr size_t most_expressions = 256;
// Of a comparison of two expressions, in bytes (WorkMeter::block).
constexpr size_t comparison_work = 16;

// Without casts that change neither a bit nor the order.
const BoundExpression* ordered(const BoundExpression* expression) {
  const BoundExpression* inner = without_relabel(expression);
  const TypeInfo* type = find_type(expression->type);
  const TypeInfo* inner_type = find_type(inner->type);
  bool same = type != nullptr && inner_type != nullptr && type->key_form == inner_type->key_form;
  return same ? inner : expression;
}

bool same_expression(const BoundExpression* left, const BoundExpression* right) {
  auto* left_column = try_as<ColumnExpression>(left);
  auto* right_column = try_as<ColumnExpression>(right);
  if (left_column == nullptr || right_column == nullptr) {
    return left_column == nullptr && right_column == nullptr && equal_expressions(left, right);
  }
  return left_column->relation == right_column->relation &&
         left_column->column == right_column->column &&
         left_column->levels_up == right_column->levels_up;
}

bool reads_aggregate(const BoundExpression& expression) {
  return contains(expression, [](const BoundExpression& inner) {
    return inner.kind == ExpressionKind::aggregate;
  });
}

}  // namespace

bool PathOrder::covers(const PathOrder& other) const {
  if (keys.size() < other.keys.size() || !told.contains(other.told)) return false;
  for (size_t i = 0; i < other.keys.size(); ++i) {
    if (keys[i].expression != other.keys[i].expression ||
        keys[i].descending != other.keys[i].descending)
      return false;
    if (keys[i].nulls != other.keys[i].nulls && keys[i].nulls != NullsPlace::none) return false;
  }
  return true;
}

SortSpace::SortSpace(Arena& arena, const JoinProblem& problem, const JoinGoal& goal)
    : arena_(arena), problem_(problem), goal_(goal), sides_(problem.clauses.size()) {
  add_wanted();
  for (const Clause& clause : problem.clauses) {
    if (clause.equality != nullptr) add_sides(clause);
  }
  for (const Clause& clause : problem.clauses) {
    if (clause.equality == nullptr) add_constant(clause);
  }
}

void SortSpace::add_wanted() {
  for (const OrderKey& key : goal_.order) wanted_.push_back(wanted_key(key));
  for (const OrderKey& key : goal_.within) within_.push_back(wanted_key(key));
  for (const BoundExpression* group : goal_.groups) groups_.push_back(wanted_key({group}));
}

int16_t SortSpace::find(const BoundExpression& expression) const {
  const BoundExpression* wanted = ordered(&expression);
  did_work(expressions_.size() * comparison_work);
  for (size_t i = 0; i < expressions_.size(); ++i) {
    if (same_expression(expressions_[i], wanted)) return static_cast<int16_t>(i);
  }
  return -1;
}

int16_t SortSpace::find_column(int32_t relation, int32_t column) const {
  for (size_t i = 0; i < expressions_.size(); ++i) {
    auto* known = try_as<ColumnExpression>(expressions_[i]);
    if (known != nullptr && known->levels_up == 0 && known->relation == relation &&
        known->column == column)
      return static_cast<int16_t>(i);
  }
  return -1;
}

bool SortSpace::is_constant_column(int32_t relation, int32_t column) const {
  return std::find(constant_columns_.begin(), constant_columns_.end(),
                   std::pair(relation, column)) != constant_columns_.end();
}

int16_t SortSpace::add(const BoundExpression* expression) {
  const TypeInfo* type = find_type(expression->type);
  if (type == nullptr || !type->is_ordered() || calls_volatile(*expression)) return -1;
  int16_t known = find(*expression);
  if (known >= 0 || expressions_.size() == most_expressions) return known;
  expressions_.push_back(ordered(expression));
  return static_cast<int16_t>(expressions_.size() - 1);
}

SortSpace::Wanted SortSpace::wanted_key(const OrderKey& key) {
  Wanted wanted;
  wanted.key.descending = key.descending;
  wanted.key.nulls = key.nulls_first ? NullsPlace::first : NullsPlace::last;
  wanted.key.expression = add(key.expression);
  wanted.relations = relations_of(*key.expression);
  wanted.may_be_told = wanted.key.expression >= 0 && !reads_aggregate(*key.expression);
  wanted.is_constant = wanted.may_be_told && wanted.relations.empty();
  return wanted;
}

void SortSpace::add_sides(const Clause& clause) {
  const BoundExpression* left = clause.equality->arguments[0];
  const BoundExpression* right = clause.equality->arguments[1];
  Sides sides{add(left), add(right)};
  if (sides.left < 0 || sides.right < 0) return;
  sides_[static_cast<size_t>(&clause - problem_.clauses.data())] = sides;
  if (holds_above(clause)) equalities_.push_back({sides.left, sides.right, clause.required});
}

// `expression = value` where no row decides the value.
void SortSpace::add_constant(const Clause& clause) {
  auto* call = try_as<CallExpression>(clause.expression);
  if (call == nullptr || !is_hashable_equality(*call) || !holds_above(clause)) return;
  for (int side : {0, 1}) {
    const BoundExpression* read = call->arguments[side];
    const BoundExpression* value = call->arguments[1 - side];
    if (relations_of(*read).empty() || !relations_of(*value).empty() || calls_volatile(*value))
      continue;
    if (auto* column = try_as<ColumnExpression>(ordered(read)))
      constant_columns_.emplace_back(column->relation, column->column);
    int16_t known = find(*read);
    if (known >= 0) equalities_.push_back({known, KeyClasses::constant, clause.required});
  }
}

// Whether rows that an outer join adds meet it as well, wherever they come from.
bool SortSpace::holds_above(const Clause& clause) const {
  if (clause.special_join >= 0) return false;
  return std::none_of(
      problem_.special_joins.begin(), problem_.special_joins.end(), [&](const SpecialJoin& join) {
        bool full = join.type == JoinType::full;
        if (join.type != JoinType::left && !full) return false;
        return join.right.contains(clause.scope) || (full && join.left.contains(clause.scope));
      });
}

KeyClasses SortSpace::classes_of(RelationSet relations) const {
  KeyClasses classes;
  std::vector<int16_t>& of = classes.of;
  of.resize(expressions_.size());
  for (size_t i = 0; i < of.size(); ++i) of[i] = static_cast<int16_t>(i);
  auto root = [&](int16_t number) {
    while (number >= 0 && of[static_cast<size_t>(number)] != number)
      number = of[static_cast<size_t>(number)];
    return number;
  };
  for (const Equality& equality : equalities_) {
    if (!relations.contains(equality.required)) continue;
    int16_t left = root(equality.left);
    int16_t right = root(equality.right);
    if (left == right) continue;
    of[static_cast<size_t>(std::max(left, right))] = std::min(left, right);
  }
  for (size_t i = 0; i < of.size(); ++i) of[i] = root(static_cast<int16_t>(i));
  classes.is_joinable.resize(of.size());
  for (size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i].left < 0 || relations.contains(problem_.clauses[i].required)) continue;
    for (int16_t side : {sides_[i].left, sides_[i].right}) {
      int16_t its = classes[side];
      if (its >= 0) classes.is_joinable[static_cast<size_t>(its)] = true;
    }
  }
  did_work((equalities_.size() + of.size()) * comparison_work);
  return classes;
}

// Keys and what they serve, side by side.
SortSpace::Served SortSpace::serve(std::span<const Wanted> wanted, const PathOrder& order,
                                   const KeyClasses& classes) {
  Served served;
  for (; served.wanted < wanted.size(); ++served.wanted) {
    const Wanted& next = wanted[served.wanted];
    PathKey key = next.key;
    key.expression = classes[key.expression];
    if (next.is_constant || key.expression == KeyClasses::constant) continue;
    bool said_before =
        std::any_of(order.keys.begin(), order.keys.begin() + static_cast<ptrdiff_t>(served.keys),
                    [&](const PathKey& earlier) { return earlier.expression == key.expression; });
    if (key.expression >= 0 && said_before) continue;
    if (served.keys < order.keys.size()) {
      if (!order.keys[served.keys].serves(key)) break;
      ++served.keys;
    } else if (!next.may_be_told || !order.told.contains(next.relations)) {
      break;
    }
  }
  return served;
}

size_t SortSpace::group(const PathOrder& order, const KeyClasses& classes, bool* complete) const {
  std::vector<const Wanted*> pending;
  for (const Wanted& group : groups_) {
    if (!group.is_constant && classes[group.key.expression] != KeyClasses::constant)
      pending.push_back(&group);
  }
  size_t count = 0;
  for (; count < order.keys.size(); ++count) {
    size_t removed = std::erase_if(pending, [&](const Wanted* group) {
      return classes[group->key.expression] == order.keys[count].expression;
    });
    if (removed == 0) break;
  }
  if (count == order.keys.size()) {
    std::erase_if(pending, [&](const Wanted* group) {
      return group->may_be_told && order.told.contains(group->relations);
    });
  }
  *complete = pending.empty();
  return count;
}

size_t SortSpace::sorted_by(const PathOrder& order, const KeyClasses& classes) const {
  return serve(wanted_, order, classes).wanted;
}

SortSpace::Grouped SortSpace::grouped_by(const PathOrder& order, const KeyClasses& classes) const {
  Grouped grouped;
  size_t count = group(order, classes, &grouped.neighbours);
  if (!grouped.neighbours) return grouped;
  grouped.within =
      serve(within_, {order.keys.subspan(count), order.told}, classes).wanted == within_.size();
  Served served = serve(wanted_, {order.keys.first(count), {}}, classes);
  // Nothing is left to order behind all keys: there is one row for each group.
  grouped.sorted = served.keys == count ? wanted_.size() : served.wanted;
  return grouped;
}

bool SortSpace::wants_reverse(const PathOrder& order, const KeyClasses& classes) const {
  auto first = std::find_if(order.keys.begin(), order.keys.end(), [&](const PathKey& key) {
    return classes[key.expression] != KeyClasses::constant;
  });
  if (first == order.keys.end()) return false;
  auto reversed = [&](const Wanted& wanted) {
    return classes[wanted.key.expression] == classes[first->expression] &&
           wanted.key.descending != first->descending;
  };
  return std::any_of(wanted_.begin(), wanted_.end(), reversed) ||
         std::any_of(within_.begin(), within_.end(), reversed);
}

// The first keys that lead to the goal, or that rows can be merged by.
size_t SortSpace::useful_keys(const PathOrder& order, const KeyClasses& classes) const {
  size_t goal = 0;
  if (goal_.is_grouped) {
    bool complete = false;
    goal = group(order, classes, &complete);
    if (complete) goal += serve(within_, {order.keys.subspan(goal), {}}, classes).keys;
  } else {
    goal = serve(wanted_, order, classes).keys;
  }
  size_t merged = 0;
  while (merged < order.keys.size() &&
         classes.is_joinable[static_cast<size_t>(order.keys[merged].expression)])
    ++merged;
  return std::max(goal, merged);
}

PathOrder SortSpace::useful(const PathOrder& order, const KeyClasses& classes) const {
  std::vector<PathKey> keys;
  keys.reserve(order.keys.size());
  for (PathKey key : order.keys) {
    key.expression = classes[key.expression];
    bool said = key.expression == KeyClasses::constant ||
                std::any_of(keys.begin(), keys.end(), [&](const PathKey& earlier) {
                  return earlier.expression == key.expression;
                });
    if (!said) keys.push_back(key);
  }
  PathOrder all{keys, order.told};
  size_t count = useful_keys(all, classes);
  // What is told matters to the goal only, and behind the last key.
  bool leads_on = has_goal() && count == keys.size();
  keys.resize(count);
  bool same = std::equal(keys.begin(), keys.end(), order.keys.begin(), order.keys.end());
  return {same ? order.keys : arena_.copy_span(keys), leads_on ? order.told : RelationSet()};
}

}  // namespace pgsilo
