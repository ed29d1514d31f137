#include "planner/access/selectivity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/join_problem.h"
#include "planner/access/planning.h"
#include "planner/plan/transaction_plan.h"
#include "sql/types/array.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// PostgreSQL's selfuncs.h.
constexpr double default_equality = 0.005;
constexpr double default_inequality = 1.0 / 3;
constexpr double default_range = 0.005;
constexpr double default_match = 0.005;
constexpr double default_null = 0.005;
// An empty table is about to be filled, if it is not full of the transaction's own rows already.
constexpr double default_table_rows = 1000;
constexpr double default_function_rows = 1000;

bool has_unique_index(const TableDescriptor& table, int32_t column) {
  return std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
    return index->unique && index->valid && index->columns.size() == 1 &&
           index->columns[0].number == column + 1;
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

// The table and the column that an expression is, through casts that change nothing.
struct TableColumn {
  const TableDescriptor* table = nullptr;  // null: it is none
  int16_t number = 0;
};

TableColumn table_column(const BoundQuery& query, const BoundExpression& expression) {
  if (const auto* relabel = try_as<RelabelExpression>(&expression))
    return table_column(query, *relabel->argument);
  const auto* column = try_as<ColumnExpression>(&expression);
  if (column == nullptr || column->levels_up != 0 || column->column < 0) return {};
  const BoundRelation& relation = *query.relations[column->relation];
  if (relation.kind != RangeKind::table) return {};
  return {relation.table, static_cast<int16_t>(column->column + 1)};
}

double null_fraction(const StatementPlanning& statement, const BoundQuery& query,
                     const BoundExpression& expression) {
  TableColumn column = table_column(query, expression);
  if (column.table == nullptr) return default_null;
  const ColumnDescriptor& described = column.table->columns[static_cast<size_t>(column.number) - 1];
  if (described.not_null) return 0;
  return statement.statistics.null_fraction(*column.table, column.number);
}

double equality_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                            const BoundExpression& left, const BoundExpression& right) {
  bool left_reads = !relations_of(left).empty();
  bool right_reads = !relations_of(right).empty();
  if (left_reads && right_reads) {
    return 1 / std::max(distinct_values(statement, query, left),
                        distinct_values(statement, query, right));
  }
  if (!left_reads && !right_reads) return 1;
  const BoundExpression& read = left_reads ? left : right;
  double share = std::min(1.0, 1 / distinct_values(statement, query, read));
  return share * (1 - null_fraction(statement, query, read));
}

// The argument of a cast or an operator that has one; null: it is something else.
const BoundExpression* converted(const BoundExpression& expression) {
  if (auto* relabel = try_as<RelabelExpression>(&expression)) return relabel->argument;
  auto* call = try_as<CallExpression>(&expression);
  if (call == nullptr) return nullptr;
  bool is_cast = call->form == CallForm::explicit_cast || call->form == CallForm::implicit_cast;
  bool converts = is_cast || (call->operator_oid != invalid_oid && call->arguments.size() == 1);
  return converts ? call->arguments[0] : nullptr;
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

double call_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                        const CallExpression& call) {
  const BuiltinOperator* op =
      call.operator_oid != invalid_oid ? find_operator(call.operator_oid) : nullptr;
  if (op == nullptr || call.arguments.size() != 2) return default_inequality;
  if (op->name == "=")
    return equality_selectivity(statement, query, *call.arguments[0], *call.arguments[1]);
  if (op->name == "<>")
    return 1 - equality_selectivity(statement, query, *call.arguments[0], *call.arguments[1]);
  if (op->name == "~~" || op->name == "~~*" || op->name == "~") return default_match;
  if (op->name == "!~~" || op->name == "!~~*" || op->name == "!~") return 1 - default_match;
  return default_inequality;
}

double boolean_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                           const BooleanExpression& boolean) {
  if (boolean.op == BooleanOperator::not_)
    return 1 - estimate_selectivity(statement, query, *boolean.arguments[0]);
  bool is_and = boolean.op == BooleanOperator::and_;
  double selectivity = is_and ? 1 : 0;
  for (const BoundExpression* argument : boolean.arguments) {
    double one = estimate_selectivity(statement, query, *argument);
    selectivity = is_and ? selectivity * one : selectivity + one - selectivity * one;
  }
  return selectivity;
}

// PostgreSQL's guess for arrays that are not constant.
constexpr double default_array_length = 10;

double array_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                         const ArrayComparisonExpression& comparison) {
  const BuiltinOperator* op = find_operator(comparison.operator_oid);
  bool is_in = op != nullptr && op->name == "=" && !comparison.is_all;
  bool is_not_in = op != nullptr && op->name == "<>" && comparison.is_all;
  if (!is_in && !is_not_in) return default_range * 10;
  double one = equality_selectivity(statement, query, *comparison.operand, *comparison.array);
  double any = std::min(1.0, one * array_length(*comparison.array));
  return is_in ? any : 1 - any;
}

double in_list_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                           const InListExpression& list) {
  double one = list.items.empty()
                   ? default_equality
                   : equality_selectivity(statement, query, *list.operand, *list.items[0]);
  double any = std::min(1.0, one * static_cast<double>(list.items.size()));
  return list.negated ? 1 - any : any;
}

// What a subquery makes a column from; null: it is none, or makes it from two queries.
const BoundExpression* made_from(const BoundRelation& relation, const ColumnExpression& column) {
  bool is_subquery = relation.kind == RangeKind::subquery && column.column >= 0 &&
                     relation.query->set_operation == QuerySetOperation::none;
  if (!is_subquery) return nullptr;
  return relation.query->targets[static_cast<size_t>(column.column)].expression;
}

}  // namespace

double clamp_rows(double rows) { return rows < 1 ? 1 : std::rint(rows); }

double table_rows(const StatementPlanning& statement, const TableDescriptor& table) {
  double rows = statement.statistics.row_count(table);
  return rows == 0 ? default_table_rows : rows;
}

double distinct_values(const StatementPlanning& statement, const BoundQuery& query,
                       const BoundExpression& expression) {
  if (const BoundExpression* argument = converted(expression)) {
    double values = distinct_values(statement, query, *argument);
    return keeps_values_apart(expression) ? values : std::min(values, default_distinct);
  }
  auto* column = try_as<ColumnExpression>(&expression);
  if (column == nullptr || column->levels_up != 0) return default_distinct;
  const BoundRelation& relation = *query.relations[column->relation];
  if (const BoundExpression* made = made_from(relation, *column)) {
    double values = distinct_values(statement, *relation.query, *made);
    return std::min(values, std::max(1.0, planned_rows(statement, relation, values)));
  }
  double rows = relation_rows(statement, relation);
  if (relation.kind == RangeKind::table && column->column >= 0) {
    if (has_unique_index(*relation.table, column->column)) return rows;
    auto number = static_cast<int16_t>(column->column + 1);
    double sampled = statement.statistics.distinct_values(*relation.table, {&number, 1});
    if (sampled > 0) return std::min(sampled, rows);
  }
  if (column->type == type_oid::boolean) return 2;
  return std::clamp(rows, 1.0, default_distinct);
}

double distinct_rows(const StatementPlanning& statement, const BoundQuery& query,
                     std::span<const BoundExpression* const> expressions, double rows) {
  if (query.set_operation != QuerySetOperation::none)
    return clamp_rows(std::min(default_distinct, rows));
  double product = 1;
  std::vector<int16_t> columns;
  const TableDescriptor* table = nullptr;
  for (const BoundExpression* expression : expressions) {
    // No more than what a cast makes them from; how many fewer is not known.
    const BoundExpression* read = expression;
    while (const BoundExpression* argument = converted(*read)) read = argument;
    product *= distinct_values(statement, query, *read);
    TableColumn column = table_column(query, *expression);
    bool same = columns.empty() || column.table == table;
    table = same ? column.table : nullptr;
    columns.push_back(column.number);
  }
  double together = 0;
  if (table != nullptr && columns.size() > 1)
    together = statement.statistics.distinct_values(*table, columns);
  return clamp_rows(std::min(together > 0 ? together : product, rows));
}

double prefix_selectivity(const StatementPlanning& statement, const TableDescriptor& table,
                          const IndexDescriptor& index, size_t columns) {
  std::vector<int16_t> numbers;
  numbers.reserve(columns);
  for (size_t i = 0; i < columns; ++i) numbers.push_back(index.columns[i].number);
  double distinct = statement.statistics.distinct_values(table, numbers);
  return distinct > 0 ? 1 / distinct : 0;
}

double estimate_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                            const BoundExpression& condition) {
  constexpr size_t condition_work = 512;
  did_work(condition_work);
  switch (condition.kind) {
    case ExpressionKind::constant: {
      auto* constant = as<ConstantExpression>(&condition);
      return !constant->value.null && constant->value.as_bool() ? 1 : 0;
    }
    case ExpressionKind::call:
      return call_selectivity(statement, query, *as<CallExpression>(&condition));
    case ExpressionKind::boolean:
      return boolean_selectivity(statement, query, *as<BooleanExpression>(&condition));
    case ExpressionKind::in_list:
      return in_list_selectivity(statement, query, *as<InListExpression>(&condition));
    case ExpressionKind::null_test: {
      auto* test = as<NullTestExpression>(&condition);
      double nulls = null_fraction(statement, query, *test->argument);
      return test->is_not_null ? 1 - nulls : nulls;
    }
    case ExpressionKind::array_comparison:
      return array_selectivity(statement, query, *as<ArrayComparisonExpression>(&condition));
    default:
      return 0.5;
  }
}

double array_length(const BoundExpression& array) {
  if (const auto* listed = try_as<ArrayExpression>(&array))
    return static_cast<double>(listed->elements.size());
  const auto* constant = try_as<ConstantExpression>(&array);
  if (constant == nullptr) return default_array_length;
  return constant->value.null ? 0 : ArrayReader(constant->value).count();
}

double comparisons_of(const BoundExpression& condition) {
  if (const auto* list = try_as<InListExpression>(&condition))
    return static_cast<double>(list->items.size());
  if (const auto* comparison = try_as<ArrayComparisonExpression>(&condition))
    return std::max(1.0, array_length(*comparison->array));
  const auto* boolean = try_as<BooleanExpression>(&condition);
  if (boolean == nullptr) return 1;
  double comparisons = 0;
  for (const BoundExpression* argument : boolean->arguments)
    comparisons += comparisons_of(*argument);
  return comparisons;
}

int32_t type_width(Oid type, int32_t typmod) {
  const TypeInfo* info = find_type(type);
  if (info == nullptr) return 32;
  if (info->typlen > 0) return info->typlen;
  // char(n) is always full; varchar(n) up to 32 likely is.
  if (type == type_oid::bpchar && typmod > typmod_header) return typmod;
  if (type == type_oid::varchar && typmod > typmod_header)
    return typmod - typmod_header <= 32 ? typmod : (typmod + 32) / 2;
  return 32;
}

}  // namespace pgsilo
