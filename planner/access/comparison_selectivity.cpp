#include "planner/access/comparison_selectivity.h"

#include <algorithm>

#include "catalog/builtin/builtin.h"
#include "planner/access/join_problem.h"
#include "planner/access/parameter_guess.h"
#include "planner/access/planning.h"
#include "planner/bound/make_expression.h"
#include "planner/plan/transaction_plan.h"
#include "planner/statistics/join_selectivity.h"
#include "planner/statistics/pattern_selectivity.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr double default_match = 0.005;

enum class Comparison : uint8_t { other, equal, not_equal, less, match };

struct OperatorMeaning {
  Comparison comparison = Comparison::other;
  // Less.
  bool or_equal = false;
  bool greater = false;
  // Match.
  bool negated = false;
  bool ignore_case = false;
  bool is_like = false;
};

OperatorMeaning meaning_of(std::string_view name) {
  if (name == "=") return {.comparison = Comparison::equal};
  if (name == "<>") return {.comparison = Comparison::not_equal};
  if (name == "<") return {.comparison = Comparison::less};
  if (name == "<=") return {.comparison = Comparison::less, .or_equal = true};
  if (name == ">") return {.comparison = Comparison::less, .greater = true};
  if (name == ">=") return {.comparison = Comparison::less, .or_equal = true, .greater = true};
  OperatorMeaning meaning;
  meaning.negated = name.starts_with('!');
  if (meaning.negated) name.remove_prefix(1);
  meaning.ignore_case = name.ends_with('*');
  if (meaning.ignore_case) name.remove_suffix(1);
  meaning.is_like = name == "~~";
  if (name == "~" || name == "~~") meaning.comparison = Comparison::match;
  return meaning;
}

ColumnUse use_of(const BuiltinOperator& op) {
  Comparison comparison = meaning_of(op.name).comparison;
  bool is_equality = comparison == Comparison::equal || comparison == Comparison::not_equal;
  return is_equality ? ColumnUse::equality : ColumnUse::values;
}

double below(const KnownColumn& column, const KnownValue& value, const OperatorMeaning& meaning) {
  std::optional<double> part =
      below_value(column, value, meaning.greater ? !meaning.or_equal : meaning.or_equal);
  if (!part) return default_inequality;
  return meaning.greater ? std::clamp(column.not_null() - *part, 0.0, 1.0) : *part;
}

// Of two that rows tell, both of one relation, only how many values there are is known.
bool is_of_one_relation(const BoundExpression& left, const BoundExpression& right) {
  return relations_of(left).overlaps(relations_of(right));
}

}  // namespace

ComparedColumn::ComparedColumn(StatementPlanning& statement, const BoundQuery& query,
                               const BoundExpression& expression, const BuiltinOperator& op)
    : statement_(statement),
      query_(query),
      expression_(expression),
      column_(know_column(statement, query, expression, use_of(op))),
      op_(op) {}

double ComparedColumn::equal(const EstimatedValue& value) const {
  return value.is_known ? equal_to_value(column_, value.value)
                        : guessed_equality(statement_, value, column_);
}

// Of an order by a value that is not known.
double ComparedColumn::guessed_range(const EstimatedValue& value) const {
  if (!column_.knows_values()) return default_inequality;
  return guessed_part(statement_, value, {rare_part, default_inequality, column_.not_null()});
}

double ComparedColumn::guessed_match(const EstimatedValue& value) const {
  if (value.parameter != nullptr) note_pattern(statement_, query_, expression_);
  return guessed_part(statement_, value, {rare_part, default_match, column_.not_null()});
}

// Regular expressions are the executor's: it is asked, value by value.
double ComparedColumn::matching(const EstimatedValue& value) const {
  OperatorMeaning meaning = meaning_of(op_.name);
  if (!value.is_known) return guessed_match(value);
  const TypeInfo* type = value.value.type;
  if (type == nullptr || type->key_form != KeyForm::text) return default_match;
  std::string_view pattern = value.value.value.bytes();
  PatternShape shape = meaning.is_like ? like_shape(pattern, meaning.ignore_case)
                                       : regular_expression_shape(pattern, meaning.ignore_case);
  Arena scratch;
  auto matches = [&](Datum own) {
    scratch.reset();
    if (meaning.is_like) return text_like(own.bytes(), pattern, meaning.ignore_case, scratch);
    const BoundExpression* arguments[2] = {make_constant(scratch, op_.left, own),
                                           make_constant(scratch, op_.right, value.value.value)};
    auto* call = make_expression<CallExpression>(scratch, type_oid::boolean, -1);
    call->procedure = op_.procedure;
    call->arguments = scratch.copy_span(arguments);
    if (meaning.negated) call->procedure = find_operator(op_.negator)->procedure;
    return statement_.evaluator->evaluate(*call, scratch).as_bool();
  };
  try {
    return matching_part(column_, shape, matches);
  } catch (const SqlError& error) {
    if (error.state() == sqlstate::query_canceled) throw;
    return default_match;
  }
}

double ComparedColumn::selectivity(const EstimatedValue& value) const {
  if (value.is_null) return 0;
  OperatorMeaning meaning = meaning_of(op_.name);
  switch (meaning.comparison) {
    case Comparison::equal:
      return equal(value);
    case Comparison::not_equal:
      return std::clamp(column_.not_null() - equal(value), 0.0, 1.0);
    case Comparison::less:
      return value.is_known ? below(column_, value.value, meaning) : guessed_range(value);
    case Comparison::match: {
      double part = matching(value);
      return meaning.negated ? std::clamp(column_.not_null() - part, 0.0, 1.0) : part;
    }
    case Comparison::other:
      return default_inequality;
  }
  return default_inequality;
}

double equality_selectivity(StatementPlanning& statement, const BoundQuery& query,
                            const BoundExpression& left, const BoundExpression& right) {
  bool left_reads = !relations_of(left).empty();
  bool right_reads = !relations_of(right).empty();
  if (!left_reads && !right_reads) return 1;
  if (left_reads && right_reads && !is_of_one_relation(left, right)) {
    return equal_columns(know_column(statement, query, left, ColumnUse::equality),
                         know_column(statement, query, right, ColumnUse::equality));
  }
  const BoundExpression& read = left_reads ? left : right;
  EstimatedValue value = estimate_value(statement, left_reads ? right : left);
  if (value.is_null) return 0;
  KnownColumn column = know_column(statement, query, read, ColumnUse::equality);
  return value.is_known ? equal_to_value(column, value.value)
                        : guessed_equality(statement, value, column);
}

double call_selectivity(StatementPlanning& statement, const BoundQuery& query,
                        const CallExpression& call) {
  const BuiltinOperator* op =
      call.operator_oid != invalid_oid ? find_operator(call.operator_oid) : nullptr;
  if (op == nullptr || call.arguments.size() != 2) return default_inequality;
  const BoundExpression& left = *call.arguments[0];
  const BoundExpression& right = *call.arguments[1];
  if (op->name == "=") return equality_selectivity(statement, query, left, right);
  bool left_reads = !relations_of(left).empty();
  bool right_reads = !relations_of(right).empty();
  bool both = left_reads && right_reads;
  if (op->name == "<>" && (both || !(left_reads || right_reads)))
    return 1 - equality_selectivity(statement, query, left, right);
  if (both)
    return meaning_of(op->name).comparison == Comparison::match ? default_match
                                                                : default_inequality;
  if (left_reads || op->commutator == invalid_oid) {
    return ComparedColumn(statement, query, left, *op)
        .selectivity(estimate_value(statement, right));
  }
  const BuiltinOperator* commutator = find_operator(op->commutator);
  if (commutator == nullptr) return default_inequality;
  return ComparedColumn(statement, query, right, *commutator)
      .selectivity(estimate_value(statement, left));
}

double boolean_value_selectivity(StatementPlanning& statement, const BoundQuery& query,
                                 const BoundExpression& expression, bool value) {
  KnownColumn column = know_column(statement, query, expression, ColumnUse::equality);
  return equal_to_value(column, {&type_info(type_oid::boolean), Datum::of_bool(value)});
}

}  // namespace pgsilo
