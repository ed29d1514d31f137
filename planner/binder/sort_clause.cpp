#include "planner/binder/sort_clause.h"

#include <algorithm>

#include "planner/binder/column_reference.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/operator_call.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"

namespace pgsilo {

namespace {

bool is_descending(Scope& scope, const ast::SortBy& item) {
  if (item.direction != ast::SortDirection::using_operator)
    return item.direction == ast::SortDirection::descending;
  std::string_view word = operator_word(scope.binding, item.using_operator, item.location);
  if (word == "<") return false;
  if (word == ">") return true;
  throw SqlError(sqlstate::wrong_object_type,
                 concat("operator ", word, " is not a valid ordering operator"))
      .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
      .at(scope.position(item.location));
}

bool nulls_first(const ast::SortBy& item, bool descending) {
  switch (item.nulls) {
    case ast::NullsOrder::first:
      return true;
    case ast::NullsOrder::last:
      return false;
    case ast::NullsOrder::unspecified:
      return descending;
  }
  return descending;
}

// An aggregate in a target that GROUP BY means by name or number.
void check_target_groupable(Scope& scope, const BoundExpression& expression) {
  if (scope.place != ExpressionPlace::group_by) return;
  const BoundExpression* found = nullptr;
  walk_levels(expression, 0, [&](const BoundExpression& inner, int32_t depth) {
    auto* aggregate = try_as<AggregateExpression>(&inner);
    if (aggregate != nullptr && aggregate->levels_up == depth && found == nullptr)
      found = aggregate;
    return found == nullptr;
  });
  if (found == nullptr) return;
  throw SqlError(sqlstate::grouping_error, "aggregate functions are not allowed in GROUP BY")
      .at(scope.position(found->location));
}

constexpr int32_t not_found = -1;

// A bare name that is the name of a result column.
int32_t find_named_target(Scope& scope, std::string_view name, int32_t location,
                          const std::vector<BoundTarget>& targets) {
  int32_t found = not_found;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].is_junk || targets[i].name != name) continue;
    if (found != not_found &&
        !equal_expressions(targets[found].expression, targets[i].expression)) {
      throw SqlError(sqlstate::ambiguous_column,
                     concat(place_name(scope.place), " \"", name, "\" is ambiguous"))
          .at(scope.position(location));
    }
    if (found == not_found) found = static_cast<int32_t>(i);
  }
  if (found != not_found) check_target_groupable(scope, *targets[found].expression);
  return found;
}

int32_t find_numbered_target(Scope& scope, const ast::Constant& constant,
                             const std::vector<BoundTarget>& targets) {
  if (constant.constant_kind != ast::ConstantKind::integer) {
    throw SqlError(sqlstate::syntax_error,
                   concat("non-integer constant in ", place_name(scope.place)))
        .at(scope.position(constant.location));
  }
  int64_t visible = std::count_if(targets.begin(), targets.end(),
                                  [](const BoundTarget& t) { return !t.is_junk; });
  if (constant.integer < 1 || constant.integer > visible) {
    throw SqlError(
        sqlstate::invalid_column_reference,
        concat(place_name(scope.place), " position ", constant.integer, " is not in select list"))
        .at(scope.position(constant.location));
  }
  check_target_groupable(scope, *targets[constant.integer - 1].expression);
  return constant.integer - 1;
}

int32_t find_or_add_target(Scope& scope, const ast::Node* node, std::vector<BoundTarget>& targets) {
  const BoundExpression* expression = resolve_unknown(scope.binding, bind_expression(scope, node));
  for (size_t i = 0; i < targets.size(); ++i) {
    if (equal_expressions(targets[i].expression, expression)) return static_cast<int32_t>(i);
  }
  require_room_for_target(targets);
  BoundTarget junk;
  junk.expression = expression;
  junk.name = "?column?";
  junk.is_junk = true;
  targets.push_back(junk);
  return static_cast<int32_t>(targets.size() - 1);
}

// A name or number of a result column, or not_found: then the item is an expression.
int32_t find_result_column(Scope& scope, const ast::Node* node,
                           const std::vector<BoundTarget>& targets) {
  if (auto* constant = ast::try_as<ast::Constant>(node)) {
    if (constant->constant_kind != ast::ConstantKind::null)
      return find_numbered_target(scope, *constant, targets);
  }
  auto* reference = ast::try_as<ast::ColumnRef>(node);
  if (reference == nullptr || reference->fields.size() != 1 || reference->star) return not_found;
  std::string_view name = reference->fields[0];
  // In GROUP BY a column of FROM goes before a result column of that name.
  if (scope.place == ExpressionPlace::group_by) {
    const BoundExpression* column = find_unqualified_column(scope, name, reference->location);
    auto* plain = try_as<ColumnExpression>(column);
    if (column != nullptr && (plain == nullptr || plain->levels_up == 0)) return not_found;
  }
  return find_named_target(scope, name, reference->location, targets);
}

int32_t find_target(Scope& scope, const ast::Node* node, std::vector<BoundTarget>& targets) {
  int32_t found = find_result_column(scope, node, targets);
  return found != not_found ? found : find_or_add_target(scope, node, targets);
}

QuerySortKey sort_key_of(Scope& scope, int32_t target, std::vector<BoundTarget>& targets,
                         const ast::SortBy& item) {
  BoundTarget& sorted = targets[target];
  sorted.expression = resolve_unknown(scope.binding, sorted.expression);
  BoundSortKey key = make_sort_key(scope, sorted.expression, item);
  return {target, key.descending, key.nulls_first};
}

void add_sort_key(std::vector<QuerySortKey>& keys, QuerySortKey key) {
  bool known = std::any_of(keys.begin(), keys.end(),
                           [&](const QuerySortKey& k) { return k.target == key.target; });
  if (!known) keys.push_back(key);
}

}  // namespace

BoundSortKey make_sort_key(Scope& scope, const BoundExpression* expression,
                           const ast::SortBy& item) {
  require_ordering(scope.binding, expression->type, expression->location);
  bool descending = is_descending(scope, item);
  return {expression, descending, nulls_first(item, descending)};
}

std::vector<QuerySortKey> bind_order_by(Scope& scope, ast::List<ast::SortBy> items,
                                        std::vector<BoundTarget>& targets) {
  PlaceGuard place(scope, ExpressionPlace::order_by);
  std::vector<QuerySortKey> keys;
  for (const ast::SortBy& item : items) {
    add_sort_key(keys,
                 sort_key_of(scope, find_target(scope, item.expression, targets), targets, item));
  }
  return keys;
}

std::vector<QuerySortKey> bind_set_order_by(Scope& scope, ast::List<ast::SortBy> items,
                                            std::vector<BoundTarget>& targets) {
  PlaceGuard place(scope, ExpressionPlace::order_by);
  std::vector<QuerySortKey> keys;
  for (const ast::SortBy& item : items) {
    int32_t found = find_result_column(scope, item.expression, targets);
    if (found == not_found) {
      // Bound for its own errors first: an undefined column is told as such.
      const BoundExpression* expression = bind_expression(scope, item.expression);
      throw SqlError(sqlstate::feature_not_supported,
                     "invalid UNION/INTERSECT/EXCEPT ORDER BY clause")
          .detail("Only result column names can be used, not expressions or functions.")
          .hint(
              "Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
          .at(scope.position(expression->location));
    }
    add_sort_key(keys, sort_key_of(scope, found, targets, item));
  }
  return keys;
}

std::vector<const BoundExpression*> bind_group_by(Scope& scope, ast::NodeList items,
                                                  std::vector<BoundTarget>& targets) {
  PlaceGuard place(scope, ExpressionPlace::group_by);
  std::vector<const BoundExpression*> keys;
  for (const ast::Node* item : items) {
    int32_t target = find_target(scope, item, targets);
    targets[target].expression = resolve_unknown(scope.binding, targets[target].expression);
    const BoundExpression* key = targets[target].expression;
    require_equality(scope.binding, key->type, key->location);
    bool known = std::any_of(keys.begin(), keys.end(), [&](const BoundExpression* other) {
      return shares_result(other, key);
    });
    if (!known) keys.push_back(key);
  }
  return keys;
}

void check_distinct(Scope& scope, const std::vector<BoundTarget>& targets,
                    const std::vector<QuerySortKey>& order_by) {
  for (const QuerySortKey& key : order_by) {
    if (!targets[key.target].is_junk) continue;
    throw SqlError(sqlstate::invalid_column_reference,
                   "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
        .at(scope.position(targets[key.target].expression->location));
  }
  for (const BoundTarget& target : targets) {
    if (!target.is_junk)
      require_equality(scope.binding, target.expression->type, target.expression->location);
  }
}

std::vector<int32_t> bind_distinct_on(Scope& scope, ast::NodeList items,
                                      std::vector<BoundTarget>& targets,
                                      const std::vector<QuerySortKey>& order_by) {
  PlaceGuard place(scope, ExpressionPlace::distinct_on);
  std::vector<int32_t> wanted;
  for (const ast::Node* item : items) {
    int32_t target = find_target(scope, item, targets);
    targets[target].expression = resolve_unknown(scope.binding, targets[target].expression);
    require_equality(scope.binding, targets[target].expression->type,
                     targets[target].expression->location);
    if (std::find(wanted.begin(), wanted.end(), target) == wanted.end()) wanted.push_back(target);
  }
  // Those that ORDER BY names come in its order and must be its first items.
  std::vector<int32_t> result;
  bool skipped = false;
  for (const QuerySortKey& key : order_by) {
    bool is_wanted = std::find(wanted.begin(), wanted.end(), key.target) != wanted.end();
    if (is_wanted && skipped) {
      throw SqlError(sqlstate::invalid_column_reference,
                     "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
          .at(scope.position(targets[key.target].expression->location));
    }
    if (is_wanted) result.push_back(key.target);
    skipped |= !is_wanted;
  }
  for (int32_t target : wanted) {
    if (std::find(result.begin(), result.end(), target) != result.end()) continue;
    if (skipped) {
      throw SqlError(sqlstate::invalid_column_reference,
                     "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
          .at(scope.position(targets[target].expression->location));
    }
    result.push_back(target);
  }
  return result;
}

}  // namespace pgsilo
