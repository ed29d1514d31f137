#include "planner/access/selectivity.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/access/combined_selectivity.h"
#include "planner/access/comparison_selectivity.h"
#include "planner/access/join_problem.h"
#include "planner/access/parameter_guess.h"
#include "planner/access/planning.h"
#include "planner/statistics/join_selectivity.h"
#include "sql/types/array.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

// PostgreSQL's guess for arrays that are not constant.
constexpr double default_array_length = 10;

// AND takes the conditions for independent, but for bounds of one value.
double conjunction_selectivity(StatementPlanning& statement, const BoundQuery& query,
                               const BooleanExpression& boolean) {
  std::vector<Clause> clauses(boolean.arguments.size());
  for (size_t i = 0; i < clauses.size(); ++i) {
    clauses[i].expression = boolean.arguments[i];
    clauses[i].selectivity = estimate_selectivity(statement, query, *boolean.arguments[i]);
  }
  pair_ranges(statement, query, clauses);
  combine_clauses(statement, query, clauses);
  double selectivity = 1;
  for (const Clause& clause : clauses) selectivity *= clause.selectivity;
  return selectivity;
}

double boolean_selectivity(StatementPlanning& statement, const BoundQuery& query,
                           const BooleanExpression& boolean) {
  if (boolean.op == BooleanOperator::and_)
    return conjunction_selectivity(statement, query, boolean);
  if (boolean.op == BooleanOperator::not_) {
    const BoundExpression& argument = *boolean.arguments[0];
    if (argument.kind == ExpressionKind::column)
      return boolean_value_selectivity(statement, query, argument, false);
    return 1 - estimate_selectivity(statement, query, argument);
  }
  double selectivity = 0;
  for (const BoundExpression* argument : boolean.arguments) {
    double one = estimate_selectivity(statement, query, *argument);
    selectivity = selectivity + one - selectivity * one;
  }
  return selectivity;
}

// Of several comparisons of one value, of which any or all have to be true: different values of a
// list exclude each other.
class ListSelectivity {
 public:
  ListSelectivity(bool is_all, bool exclusive) : is_all_(is_all), exclusive_(exclusive) {}

  void add(double one) {
    independent_ = is_all_ ? independent_ * one : independent_ + one - independent_ * one;
    disjoint_ += is_all_ ? one - 1 : one;
  }
  double result() const {
    bool fits = exclusive_ && disjoint_ >= 0 && disjoint_ <= 1;
    return std::clamp(fits ? disjoint_ : independent_, 0.0, 1.0);
  }

 private:
  bool is_all_;
  bool exclusive_;
  double independent_ = is_all_ ? 1 : 0;
  double disjoint_ = is_all_ ? 1 : 0;
};

double array_selectivity(StatementPlanning& statement, const BoundQuery& query,
                         const ArrayComparisonExpression& comparison) {
  const BuiltinOperator* op = find_operator(comparison.operator_oid);
  if (op == nullptr) return 0.5;
  bool exclusive = comparison.is_all ? op->name == "<>" : op->name == "=";
  ListSelectivity list(comparison.is_all, exclusive);
  ComparedColumn column(statement, query, *comparison.operand, *op);
  EstimatedValue array = estimate_value(statement, *comparison.array);
  if (array.is_null) return 0;
  if (array.is_known) {
    const TypeInfo* element = find_type(comparison.element_type);
    ArrayReader reader(array.value.value);
    for (Datum value; reader.next(&value);)
      list.add(column.selectivity({true, value.null, {element, value}}));
    return list.result();
  }
  if (const auto* listed = try_as<ArrayExpression>(comparison.array)) {
    for (const BoundExpression* element : listed->elements)
      list.add(column.selectivity(estimate_value(statement, *element)));
    return list.result();
  }
  if (array.parameter != nullptr) statement.note_estimated(array.parameter->index);
  double one = column.selectivity(array);  // an element is not known either
  for (double i = array_length(*comparison.array); i > 0; --i) list.add(one);
  return list.result();
}

double in_list_selectivity(StatementPlanning& statement, const BoundQuery& query,
                           const InListExpression& in) {
  const BuiltinOperator* op = find_operator(in.operator_oid);
  if (op == nullptr) return 0.5;
  ListSelectivity list(in.negated, true);
  ComparedColumn column(statement, query, *in.operand, *op);
  for (const BoundExpression* item : in.items)
    list.add(column.selectivity(estimate_value(statement, *item)));
  return list.result();
}

double boolean_test_selectivity(StatementPlanning& statement, const BoundQuery& query,
                                const BooleanTestExpression& test) {
  const BoundExpression& argument = *test.argument;
  double nulls = know_column(statement, query, argument, ColumnUse::equality).null_fraction;
  bool wants_true = test.test == BooleanTest::is_true || test.test == BooleanTest::is_not_true;
  switch (test.test) {
    case BooleanTest::is_unknown:
      return nulls;
    case BooleanTest::is_not_unknown:
      return 1 - nulls;
    case BooleanTest::is_true:
    case BooleanTest::is_false:
      return boolean_value_selectivity(statement, query, argument, wants_true);
    default:
      return 1 - boolean_value_selectivity(statement, query, argument, wants_true);
  }
}

double null_test_selectivity(StatementPlanning& statement, const BoundQuery& query,
                             const NullTestExpression& test) {
  double nulls = know_column(statement, query, *test.argument, ColumnUse::equality).null_fraction;
  return test.is_not_null ? 1 - nulls : nulls;
}

// Two NULLs are not distinct.
double distinct_from_selectivity(StatementPlanning& statement, const BoundQuery& query,
                                 const DistinctFromExpression& comparison) {
  double equal = equality_selectivity(statement, query, *comparison.left, *comparison.right);
  return comparison.negated ? equal : 1 - equal;
}

}  // namespace

double clamp_rows(double rows) { return rows < 1 ? 1 : std::rint(rows); }

double estimate_selectivity(StatementPlanning& statement, const BoundQuery& query,
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
    case ExpressionKind::column:
      return boolean_value_selectivity(statement, query, condition, true);
    case ExpressionKind::in_list:
      return in_list_selectivity(statement, query, *as<InListExpression>(&condition));
    case ExpressionKind::null_test:
      return null_test_selectivity(statement, query, *as<NullTestExpression>(&condition));
    case ExpressionKind::boolean_test:
      return boolean_test_selectivity(statement, query, *as<BooleanTestExpression>(&condition));
    case ExpressionKind::distinct_from:
      return distinct_from_selectivity(statement, query, *as<DistinctFromExpression>(&condition));
    case ExpressionKind::array_comparison:
      return array_selectivity(statement, query, *as<ArrayComparisonExpression>(&condition));
    default:
      return 0.5;
  }
}

const MatchEstimate* estimate_semi_join(StatementPlanning& statement, const BoundQuery& query,
                                        const BoundExpression& left, const BoundExpression& right) {
  return statement.arena.make<MatchEstimate>(
      estimate_matches(know_column(statement, query, left, ColumnUse::equality),
                       know_column(statement, query, right, ColumnUse::equality)));
}

double matched_part(std::span<const Clause* const> clauses, double right_rows) {
  double pairs = right_rows;
  double part = 1;
  bool has_equality = false;
  for (const Clause* clause : clauses) {
    pairs *= clause->selectivity;
    has_equality = has_equality || clause->matches != nullptr;
    part *= clause->matches != nullptr ? clause->matches->matched(right_rows) : clause->selectivity;
  }
  return has_equality ? part : std::min(1.0, pairs);
}

double array_length(const BoundExpression& array) {
  if (const auto* listed = try_as<ArrayExpression>(&array))
    return static_cast<double>(listed->elements.size());
  if (const ParameterExpression* parameter = deciding_parameter(array))
    return guessed_length(*parameter, default_array_length);
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
