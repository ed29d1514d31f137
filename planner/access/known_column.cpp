#include "planner/access/known_column.h"

#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/parameter_guess.h"
#include "planner/access/planning.h"
#include "planner/bound/expression_tree.h"
#include "planner/plan/transaction_plan.h"
#include "sql/sql_error.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr double default_null = 0.005;
// An empty table is about to be filled, if it is not full of the transaction's own rows already.
constexpr double default_table_rows = 1000;
constexpr double default_function_rows = 1000;

bool has_unique_index(const TableDescriptor& table, int16_t column) {
  return std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
    return index->is_unique_for_all() && index->columns.size() == 1 &&
           index->columns[0].number == column;
  });
}

// Of what is no table, `unknown` before it is planned.
double planned_rows(const StatementPlanning& statement, const BoundRelation& relation,
                    double unknown) {
  auto planned = statement.planned_rows.find(&relation);
  return planned != statement.planned_rows.end() ? planned->second : unknown;
}

double relation_rows(const StatementPlanning& statement, const BoundRelation& relation) {
  switch (relation.kind) {
    case RangeKind::table:
      return table_rows(statement, *relation.table);
    case RangeKind::values:
      return static_cast<double>(relation.rows.size());
    default:
      return planned_rows(statement, relation, default_function_rows);
  }
}

// Whether different values stay different. Casts that are made unasked lose nothing, or hardly
// anything; the others cut days of times and integers of numbers.
bool keeps_values_apart(const BoundExpression& conversion) {
  auto* call = try_as<CallExpression>(&conversion);
  if (call == nullptr) return true;
  if (call->operator_oid != invalid_oid) return find_operator(call->operator_oid)->name == "-";
  const BuiltinCast* cast = find_cast(call->arguments[0]->type, call->type);
  return cast != nullptr && cast->context == CastContext::implicit;
}

// What a subquery makes a column from; null: it is none, or makes it from two queries.
const BoundExpression* made_from(const BoundRelation& relation, const ColumnExpression& column) {
  bool is_subquery = relation.kind == RangeKind::subquery && column.column >= 0 &&
                     relation.query->set_operation == QuerySetOperation::none;
  if (!is_subquery) return nullptr;
  return relation.query->targets[static_cast<size_t>(column.column)].expression;
}

// Without a column of a table: so many values at most as there are rows.
KnownColumn unknown_column(double rows, Oid type) {
  KnownColumn column;
  column.rows = rows;
  column.null_fraction = default_null;
  column.distinct = std::clamp(rows, 1.0, default_distinct);
  column.distinct_is_guess = rows >= default_distinct;
  if (type == type_oid::boolean) column.distinct = 2;
  return column;
}

KnownColumn know_table_column(StatementPlanning& statement, const TableDescriptor& table,
                              int16_t number, Oid type, ColumnUse use) {
  KnownColumn column = unknown_column(table_rows(statement, table), type);
  const ColumnDescriptor& described = table.columns[static_cast<size_t>(number) - 1];
  if (described.not_null) column.null_fraction = 0;
  if (has_unique_index(table, number)) {
    column.unique = true;
    column.distinct = column.rows;
    column.distinct_is_guess = false;
    if (described.not_null && use == ColumnUse::equality) return column;
  }
  column.sample = statement.column_sample(table, number);
  if (column.sample == nullptr) return column;
  if (!described.not_null) column.null_fraction = column.sample->null_fraction;
  if (column.sample->distinct > 0 && !column.unique) {
    column.distinct = std::min(column.sample->distinct, column.rows);
    column.distinct_is_guess = false;
  }
  return column;
}

// Grouping leaves each value once or as often as others do.
bool keeps_frequencies(const BoundQuery& query) {
  return !query.is_grouped && !query.distinct && query.distinct_on.empty() &&
         query.group_by.empty();
}

KnownColumn know_made_column(StatementPlanning& statement, const BoundRelation& relation,
                             const BoundExpression& made, ColumnUse use) {
  KnownColumn column = know_column(statement, *relation.query, made, use);
  column.unique = false;
  column.distinct =
      std::min(column.distinct, std::max(1.0, planned_rows(statement, relation, column.distinct)));
  column.rows = planned_rows(statement, relation, column.rows);
  if (!keeps_frequencies(*relation.query)) column.sample = nullptr;
  return column;
}

KnownColumn know_converted(StatementPlanning& statement, const BoundQuery& query,
                           const BoundExpression& expression, const BoundExpression& argument,
                           ColumnUse use) {
  KnownColumn column = know_column(statement, query, argument, use);
  const auto* relabel = try_as<RelabelExpression>(&expression);
  if (relabel != nullptr && !relabel->changes_sign()) return column;
  column.sample = nullptr;
  if (keeps_values_apart(expression)) return column;
  column.unique = false;
  if (column.distinct > default_distinct) {
    column.distinct = default_distinct;
    column.distinct_is_guess = true;
  }
  return column;
}

bool is_of_day_or_time(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->category == 'D';
}

// What can be computed now for an estimate: the clock may be read, but nothing of the session's or
// the catalog's.
bool is_computable(const BoundExpression& expression) {
  return !contains(expression, [](const BoundExpression& part) {
    switch (part.kind) {
      case ExpressionKind::constant:
      case ExpressionKind::relabel:
      case ExpressionKind::typmod_coercion:
        return false;
      case ExpressionKind::sql_value:
        return !is_of_day_or_time(part.type);
      case ExpressionKind::call: {
        Volatility volatility = as<CallExpression>(&part)->volatility;
        return volatility != Volatility::immutable &&
               !(volatility == Volatility::stable && is_of_day_or_time(part.type));
      }
      default:
        return true;
    }
  });
}

// What no value of a parameter makes known before the run.
constexpr auto needs_run = [](const BoundExpression& part) {
  switch (part.kind) {
    case ExpressionKind::column:
    case ExpressionKind::slot:
    case ExpressionKind::execution_parameter:
    case ExpressionKind::aggregate:
    case ExpressionKind::sublink:
    case ExpressionKind::subplan:
    case ExpressionKind::set_returning:
      return true;
    case ExpressionKind::call:
      return as<CallExpression>(&part)->volatility == Volatility::volatile_;
    default:
      return false;
  }
};

}  // namespace

TableColumn table_column(const BoundQuery& query, const BoundExpression& expression) {
  if (const auto* relabel = try_as<RelabelExpression>(&expression))
    return table_column(query, *relabel->argument);
  const auto* column = try_as<ColumnExpression>(&expression);
  if (column == nullptr || column->levels_up != 0 || column->column < 0) return {};
  const BoundRelation& relation = *query.relations[column->relation];
  if (relation.kind != RangeKind::table) return {};
  return {relation.table, static_cast<int16_t>(column->column + 1)};
}

const BoundExpression* converted(const BoundExpression& expression) {
  if (auto* relabel = try_as<RelabelExpression>(&expression)) return relabel->argument;
  auto* call = try_as<CallExpression>(&expression);
  if (call == nullptr) return nullptr;
  bool is_cast = call->form == CallForm::explicit_cast || call->form == CallForm::implicit_cast;
  bool converts = is_cast || (call->operator_oid != invalid_oid && call->arguments.size() == 1);
  return converts ? call->arguments[0] : nullptr;
}

double table_rows(const StatementPlanning& statement, const TableDescriptor& table) {
  double rows = statement.statistics.row_count(table);
  return rows == 0 ? default_table_rows : rows;
}

KnownColumn know_column(StatementPlanning& statement, const BoundQuery& query,
                        const BoundExpression& expression, ColumnUse use) {
  if (const BoundExpression* argument = converted(expression))
    return know_converted(statement, query, expression, *argument, use);
  KnownColumn unknown = unknown_column(default_distinct, expression.type);
  auto* column = try_as<ColumnExpression>(&expression);
  if (column == nullptr || column->levels_up != 0) return unknown;
  const BoundRelation& relation = *query.relations[column->relation];
  if (relation.kind == RangeKind::table && column->column >= 0) {
    return know_table_column(statement, *relation.table, static_cast<int16_t>(column->column + 1),
                             column->type, use);
  }
  if (const BoundExpression* made = made_from(relation, *column))
    return know_made_column(statement, relation, *made, use);
  return unknown_column(relation_rows(statement, relation), column->type);
}

double distinct_values(StatementPlanning& statement, const BoundQuery& query,
                       const BoundExpression& expression) {
  return know_column(statement, query, expression, ColumnUse::equality).distinct;
}

EstimatedValue estimate_value(StatementPlanning& statement, const BoundExpression& expression) {
  EstimatedValue estimated;
  const TypeInfo* type = find_type(expression.type);
  if (type == nullptr) return estimated;
  Datum value;
  if (auto* constant = try_as<ConstantExpression>(&expression)) {
    value = constant->value;
  } else {
    estimated.parameter = deciding_parameter(expression);
    if (statement.evaluator == nullptr || !is_computable(expression)) return estimated;
    try {
      value = statement.evaluator->estimate(expression, statement.arena);
    } catch (const SqlError& error) {
      if (error.state() == sqlstate::query_canceled) throw;
      return estimated;
    }
  }
  return {true, value.null, {type, value}};
}

const ParameterExpression* deciding_parameter(const BoundExpression& expression) {
  const ParameterExpression* first = nullptr;
  static_cast<void>(contains(expression, [&](const BoundExpression& part) {
    first = try_as<ParameterExpression>(&part);
    return first != nullptr;
  }));
  return first != nullptr && !contains(expression, needs_run) ? first : nullptr;
}

}  // namespace pgsilo
