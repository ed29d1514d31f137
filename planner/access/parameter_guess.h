// What plans that are made for all values of their parameters take for those values, and where it
// matters which they are (docs/decisions/custom-plans.md). Thread safety: see StatementPlanning.
#pragma once

#include "planner/access/known_column.h"
#include "planner/bound/expression.h"
#include "planner/bound/query.h"

namespace pgsilo {

struct StatementPlanning;

// Of all rows, what a comparison keeps for a value that nearly nothing has.
inline constexpr double rare_part = 1e-10;

// The first parameter in what is computed of parameters and of nothing that only the run knows;
// null: it is computed of something else.
const ParameterExpression* deciding_parameter(const BoundExpression& expression);

// By how often the value that is not known may be found; `average` if no parameter decides.
struct GuessedParts {
  double rare = 0;
  double average = 0;
  double frequent = 0;
};
double guessed_part(StatementPlanning& statement, const EstimatedValue& value,
                    const GuessedParts& parts);
// Of a comparison with a value that is not known.
double guessed_equality(StatementPlanning& statement, const EstimatedValue& value,
                        const KnownColumn& column);

// Notes whether what is left of the condition depends on values of parameters.
void note_decisions(StatementPlanning& statement, const BoundExpression& conjunct);
// Notes that a pattern is compared with the column, whose beginning an index could look up.
void note_pattern(StatementPlanning& statement, const BoundQuery& query,
                  const BoundExpression& column);

// Notes whether values of parameters could make the condition imply the index's predicate
// (`is_usable`: it is implied without), or compare one of its expressions.
void note_computed(StatementPlanning& statement, const IndexKeys& keys, bool is_usable,
                   const BoundExpression& condition);

// How many elements an array has that a parameter decides.
double guessed_length(const ParameterExpression& parameter, double average);

}  // namespace pgsilo
