#include "planner/binder/aggregates.h"

#include <algorithm>
#include <vector>

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/operator_call.h"
#include "planner/binder/sort_clause.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr int32_t no_level = -1;

// What an aggregate's arguments refer to: the nearest query any of their columns comes from, and
// the query of the nearest aggregate inside. What is inside of aggregates of subqueries in the
// arguments counts as well: it may be of this query again. And the nearest WITH query outside of
// the arguments that is read in them.
struct ArgumentLevels {
  int32_t column = no_level;
  int32_t aggregate = no_level;
  int32_t aggregate_location = -1;
  int32_t cte_level = no_level;
  const BoundCte* cte = nullptr;

  static void lower(int32_t& level, int32_t to) {
    if (to >= 0 && (level == no_level || to < level)) level = to;
  }

  void add(const BoundExpression& expression) {
    walk_levels(expression, 0, [&](const BoundExpression& inner, int32_t depth) {
      if (auto* column = try_as<ColumnExpression>(&inner))
        lower(this->column, column->levels_up - depth);
      if (auto* sublink = try_as<SublinkExpression>(&inner))
        add_with_queries(*sublink->query, depth + 1);
      auto* nested = try_as<AggregateExpression>(&inner);
      if (nested == nullptr) return true;
      int32_t level = nested->levels_up - depth;
      if (level >= 0 && (aggregate == no_level || level < aggregate))
        aggregate_location = nested->location;
      lower(aggregate, level);
      return true;
    });
  }

  void add_with_queries(const BoundQuery& query, int32_t depth) {
    for (const BoundRelation* relation : query.relations) {
      if (relation->query != nullptr) add_with_queries(*relation->query, depth + 1);
      int32_t level = relation->cte_levels_up - depth;
      if (relation->cte == nullptr || level < 0 || (cte != nullptr && cte_level <= level)) continue;
      cte_level = level;
      cte = relation->cte;
    }
    if (query.left != nullptr) add_with_queries(*query.left, depth + 1);
    if (query.right != nullptr) add_with_queries(*query.right, depth + 1);
  }

  int32_t level() const {
    if (column == no_level) return aggregate == no_level ? 0 : aggregate;
    return aggregate == no_level ? column : std::min(column, aggregate);
  }
};

std::string place_error(ExpressionPlace place) {
  switch (place) {
    case ExpressionPlace::none:
    case ExpressionPlace::select_target:
    case ExpressionPlace::having:
    case ExpressionPlace::order_by:
    case ExpressionPlace::distinct_on:
      return {};
    case ExpressionPlace::join_on:
      return "aggregate functions are not allowed in JOIN conditions";
    case ExpressionPlace::from_subselect:
      return "aggregate functions are not allowed in FROM clause of their own query level";
    case ExpressionPlace::from_function:
      return "aggregate functions are not allowed in functions in FROM";
    case ExpressionPlace::check_constraint:
      return "aggregate functions are not allowed in check constraints";
    case ExpressionPlace::column_default:
      return "aggregate functions are not allowed in DEFAULT expressions";
    case ExpressionPlace::column_generation:
      return "aggregate functions are not allowed in column generation expressions";
    case ExpressionPlace::index_expression:
      return "aggregate functions are not allowed in index expressions";
    case ExpressionPlace::index_predicate:
      return "aggregate functions are not allowed in index predicates";
    case ExpressionPlace::column_transform:
      return "aggregate functions are not allowed in transform expressions";
    case ExpressionPlace::execute_parameter:
      return "aggregate functions are not allowed in EXECUTE parameters";
    case ExpressionPlace::copy_where:
      return "aggregate functions are not allowed in COPY FROM WHERE conditions";
    default:
      return concat("aggregate functions are not allowed in ", place_name(place));
  }
}

void place_aggregate(Scope& scope, AggregateExpression& aggregate) {
  ArgumentLevels levels;
  for (const BoundExpression* argument : aggregate.arguments) levels.add(*argument);
  for (const BoundSortKey& key : aggregate.order_by) levels.add(*key.expression);
  if (aggregate.filter != nullptr) levels.add(*aggregate.filter);
  aggregate.levels_up = levels.level();
  if (levels.aggregate != no_level && levels.aggregate == aggregate.levels_up) {
    throw SqlError(sqlstate::grouping_error, "aggregate function calls cannot be nested")
        .at(scope.position(levels.aggregate_location));
  }
  if (levels.cte != nullptr && levels.cte_level < aggregate.levels_up) {
    throw SqlError(sqlstate::feature_not_supported, "outer-level aggregate cannot use a nested CTE")
        .detail(concat("CTE \"", levels.cte->name, "\" is below the aggregate's semantic level."))
        .at(scope.position(aggregate.location));
  }
  Scope* owner = &scope;
  for (int32_t i = 0; i < aggregate.levels_up; ++i) owner = owner->parent;
  std::string error = place_error(owner->place);
  if (!error.empty())
    throw SqlError(sqlstate::grouping_error, error).at(scope.position(aggregate.location));
  owner->has_aggregates = true;
}

// As the argument was written.
const BoundExpression* without_implicit_casts(const BoundExpression* expression) {
  while (true) {
    const BoundExpression* inner = nullptr;
    if (auto* relabel = try_as<RelabelExpression>(expression)) {
      if (relabel->form == CallForm::implicit_cast) inner = relabel->argument;
    } else if (auto* call = try_as<CallExpression>(expression)) {
      if (call->form == CallForm::implicit_cast) inner = call->arguments.front();
    } else if (auto* conversion = try_as<IoConversionExpression>(expression)) {
      if (conversion->form == CallForm::implicit_cast) inner = conversion->argument;
    } else if (auto* array = try_as<ArrayCoercionExpression>(expression)) {
      if (array->form == CallForm::implicit_cast) inner = array->argument;
    }
    if (inner == nullptr) return expression;
    expression = inner;
  }
}

// What is sorted by is an argument where it is what that was before it was cast to the function's
// type; then as it is cast.
const BoundExpression* find_argument(ExpressionList arguments, const BoundExpression* expression) {
  auto found = std::ranges::find_if(arguments, [&](const BoundExpression* argument) {
    return equal_expressions(without_implicit_casts(argument), expression);
  });
  return found != arguments.end() ? *found : nullptr;
}

std::span<const BoundSortKey> bind_order(Scope& scope, const ast::FuncCall& call,
                                         ExpressionList arguments) {
  std::vector<BoundSortKey> keys;
  for (const ast::SortBy& item : call.order_by) {
    const BoundExpression* written = bind_expression(scope, item.expression);
    const BoundExpression* argument = find_argument(arguments, written);
    const BoundExpression* key =
        resolve_unknown(scope.binding, argument != nullptr ? argument : written);
    keys.push_back(make_sort_key(scope, key, item));
    if (call.distinct && argument == nullptr) {
      throw SqlError(
          sqlstate::invalid_column_reference,
          "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
          .at(scope.position(first_location(*written)));
    }
  }
  return scope.arena().copy_span(keys);
}

// Of an argument of any type.
ExpressionList resolve_unknown_arguments(Scope& scope, ExpressionList arguments) {
  std::span<const BoundExpression*> resolved = scope.arena().copy_span(arguments);
  for (const BoundExpression*& argument : resolved)
    argument = resolve_unknown(scope.binding, argument);
  return resolved;
}

}  // namespace

const BoundExpression* make_aggregate(Scope& scope, const ast::FuncCall& call,
                                      const BuiltinProcedure& procedure, Oid result,
                                      ExpressionList arguments) {
  if (arguments.empty() && !call.star) {
    throw SqlError(
        sqlstate::wrong_object_type,
        concat(call.name.back(), "(*) must be used to call a parameterless aggregate function"))
        .at(scope.position(call.location));
  }
  auto* aggregate = make_expression<AggregateExpression>(scope.arena(), result, call.location);
  aggregate->procedure = procedure.oid;
  aggregate->star = call.star;
  aggregate->distinct = call.distinct;
  aggregate->order_by = bind_order(scope, call, arguments);
  aggregate->arguments = arguments = resolve_unknown_arguments(scope, arguments);
  if (call.distinct) {
    for (const BoundExpression* argument : arguments) {
      require_ordering(scope.binding, argument->type, argument->location);
      require_equality(scope.binding, argument->type, argument->location);
    }
  }
  if (call.filter != nullptr)
    aggregate->filter = bind_condition(scope, call.filter, ExpressionPlace::filter, "FILTER");
  for (const BoundExpression* argument : arguments) {
    if (contains(*argument, [](const BoundExpression& e) {
          return e.kind == ExpressionKind::set_returning;
        })) {
      throw SqlError(sqlstate::feature_not_supported,
                     "aggregate function calls cannot contain set-returning function calls")
          .hint("You might be able to move the set-returning function into a LATERAL FROM item.")
          .at(scope.position(argument->location));
    }
  }
  place_aggregate(scope, *aggregate);
  return aggregate;
}

namespace {

class GroupingCheck {
 public:
  GroupingCheck(Scope& scope, const BoundQuery& query) : scope_(scope), query_(query) {}

  void check(const BoundExpression& expression) {
    walk_levels(expression, 0,
                [&](const BoundExpression& inner, int32_t depth) { return enter(inner, depth); });
  }

 private:
  bool enter(const BoundExpression& expression, int32_t depth) {
    if (expression.kind == ExpressionKind::constant || expression.kind == ExpressionKind::parameter)
      return false;
    if (auto* aggregate = try_as<AggregateExpression>(&expression)) {
      // Its arguments are computed before grouping; those of inner queries' aggregates are not
      // ours.
      if (aggregate->levels_up == depth) return false;
      return aggregate->levels_up < depth;
    }
    if (depth == 0 && is_grouped(expression)) return false;
    auto* column = try_as<ColumnExpression>(&expression);
    if (column == nullptr) return true;
    if (column->levels_up == depth && !is_grouped_column(*column) && !depends_on_group(*column))
      fail(*column, depth);
    return false;
  }

  bool is_grouped(const BoundExpression& expression) const {
    return std::any_of(
        query_.group_by.begin(), query_.group_by.end(),
        [&](const BoundExpression* key) { return equal_expressions(key, &expression); });
  }

  bool has_column_key(int32_t relation, int32_t column) const {
    return std::any_of(query_.group_by.begin(), query_.group_by.end(),
                       [&](const BoundExpression* key) {
                         auto* grouped = try_as<ColumnExpression>(key);
                         return grouped != nullptr && grouped->levels_up == 0 &&
                                grouped->relation == relation && grouped->column == column;
                       });
  }

  bool is_grouped_column(const ColumnExpression& column) const {
    return has_column_key(column.relation, column.column);
  }

  // The whole primary key of the column's table is grouped.
  bool depends_on_group(const ColumnExpression& column) const {
    const BoundRelation& relation = *query_.relations[column.relation];
    if (relation.kind != RangeKind::table || relation.table->primary_index() == nullptr)
      return false;
    const IndexDescriptor& index = *relation.table->primary_index();
    bool depends = std::ranges::all_of(index.columns, [&](const IndexColumn& part) {
      return has_column_key(column.relation, part.number - 1);
    });
    if (depends) scope_.binding.grouping_keys.push_back(index.constraint);
    return depends;
  }

  [[noreturn]] void fail(const ColumnExpression& column, int32_t depth) const {
    const BoundRelation& relation = *query_.relations[column.relation];
    std::string name =
        concat("\"", relation.alias, ".", relation.columns[column.column].name, "\"");
    throw SqlError(
        sqlstate::grouping_error,
        depth == 0
            ? concat("column ", name,
                     " must appear in the GROUP BY clause or be used in an aggregate function")
            : concat("subquery uses ungrouped column ", name, " from outer query"))
        .at(scope_.position(column.location));
  }

  Scope& scope_;
  const BoundQuery& query_;
};

}  // namespace

void check_grouping(Scope& scope, const BoundQuery& query) {
  GroupingCheck grouping(scope, query);
  for (const BoundTarget& target : query.targets) grouping.check(*target.expression);
  if (query.having != nullptr) grouping.check(*query.having);
}

}  // namespace pgsilo
