#include "planner/access/parameter_guess.h"

#include <algorithm>

#include "catalog/descriptors.h"
#include "planner/access/planning.h"
#include "planner/bound/expression_tree.h"

namespace pgsilo {

namespace {

// Values that are found less than so many times as often as others make no difference.
constexpr double least_skew = 2;
constexpr double longest_array = 1000;

double chosen(ValueGuess guess, const GuessedParts& parts) {
  switch (guess) {
    case ValueGuess::rare:
      return parts.rare;
    case ValueGuess::frequent:
      return parts.frequent;
    case ValueGuess::average:
      break;
  }
  return parts.average;
}

bool is_of_parameters(const BoundExpression* expression) {
  return deciding_parameter(*expression) != nullptr;
}

// Whether the part is one that decides between others, and parameters decide for it.
bool is_decision(const BoundExpression& part) {
  if (is_of_parameters(&part)) return false;
  if (auto* boolean = try_as<BooleanExpression>(&part))
    return std::ranges::any_of(boolean->arguments, is_of_parameters);
  if (auto* coalesce = try_as<CoalesceExpression>(&part))
    return std::ranges::any_of(coalesce->arguments, is_of_parameters);
  auto* branches = try_as<CaseExpression>(&part);
  return branches != nullptr &&
         ((branches->argument != nullptr && is_of_parameters(branches->argument)) ||
          std::ranges::any_of(branches->whens, [](const BoundWhen& when) {
            return is_of_parameters(when.condition);
          }));
}

bool has_parameter(const BoundExpression& expression) {
  return contains(expression, [](const BoundExpression& part) {
    return part.kind == ExpressionKind::parameter;
  });
}

bool reads_column_of(const BoundExpression& expression, const BoundExpression& other) {
  return contains(expression, [&](const BoundExpression& part) {
    return part.kind == ExpressionKind::column && contains(other, [&](const BoundExpression& read) {
             return equal_expressions(&part, &read);
           });
  });
}

// But for what they compute it of.
bool is_alike(const BoundExpression& left, const BoundExpression& right) {
  if (left.kind != right.kind) return false;
  auto* call = try_as<CallExpression>(&left);
  return call == nullptr || call->procedure == as<CallExpression>(&right)->procedure;
}

}  // namespace

double guessed_part(StatementPlanning& statement, const EstimatedValue& value,
                    const GuessedParts& parts) {
  if (value.parameter == nullptr) return parts.average;
  statement.note_estimated(value.parameter->index);
  return chosen(value.parameter->guess, parts);
}

double guessed_equality(StatementPlanning& statement, const EstimatedValue& value,
                        const KnownColumn& column) {
  double average = equal_to_unknown(column);
  bool has_common = column.sample != nullptr && !column.sample->frequencies.empty();
  if (column.unique || !has_common || value.parameter == nullptr) return average;
  double rare = column.sample->frequencies.back();
  double others = std::max(0.0, column.not_null() - common_part(*column.sample));
  // What is left over by rounding is nobody's.
  constexpr double no_rows = 1e-6;
  if (others > no_rows) rare = std::min(rare, others / other_values(column));
  double frequent = column.sample->frequencies.front();
  if (frequent < least_skew * rare) return average;
  return guessed_part(statement, value, {rare, average, frequent});
}

void note_decisions(StatementPlanning& statement, const BoundExpression& conjunct) {
  auto decides = [](const BoundExpression& part) { return is_decision(part); };
  if (is_of_parameters(&conjunct) || contains(conjunct, decides))
    statement.parameters_decide = true;
}

void note_pattern(StatementPlanning& statement, const BoundQuery& query,
                  const BoundExpression& column) {
  TableColumn found = table_column(query, column);
  if (found.table == nullptr) return;
  for (const auto& index : found.table->indexes) {
    if (std::ranges::any_of(index->columns,
                            [&](const IndexColumn& each) { return each.number == found.number; })) {
      statement.parameters_decide = true;
    }
  }
}

void note_computed(StatementPlanning& statement, const IndexKeys& keys, bool is_usable,
                   const BoundExpression& condition) {
  if (!has_parameter(condition)) return;
  bool decides = !is_usable && reads_column_of(condition, *keys.predicate);
  for (const BoundExpression* expression : keys.expressions) {
    decides = decides || contains(condition, [&](const BoundExpression& part) {
                return has_parameter(part) && is_alike(part, *expression);
              });
  }
  if (decides) statement.parameters_decide = true;
}

double guessed_length(const ParameterExpression& parameter, double average) {
  return chosen(parameter.guess, {1, average, longest_array});
}

}  // namespace pgsilo
