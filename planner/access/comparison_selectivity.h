// How many rows a comparison by an operator keeps: of an expression with a value, or of two
// expressions that rows tell. Thread safety: as TableStatistics.
#pragma once

#include "planner/access/known_column.h"
#include "planner/bound/query.h"

namespace pgsilo {

struct BuiltinOperator;
struct StatementPlanning;

// PostgreSQL's selfuncs.h.
inline constexpr double default_inequality = 1.0 / 3;

// What `expression op value` keeps, for one value after the other.
class ComparedColumn {
 public:
  ComparedColumn(StatementPlanning& statement, const BoundQuery& query,
                 const BoundExpression& expression, const BuiltinOperator& op);
  double selectivity(const EstimatedValue& value) const;

 private:
  double equal(const EstimatedValue& value) const;
  double matching(const EstimatedValue& value) const;
  double guessed_range(const EstimatedValue& value) const;
  double guessed_match(const EstimatedValue& value) const;

  StatementPlanning& statement_;
  const BoundQuery& query_;
  const BoundExpression& expression_;
  KnownColumn column_;
  const BuiltinOperator& op_;
};

// `left = right`.
double equality_selectivity(StatementPlanning& statement, const BoundQuery& query,
                            const BoundExpression& left, const BoundExpression& right);
double call_selectivity(StatementPlanning& statement, const BoundQuery& query,
                        const CallExpression& call);
// Of a boolean expression that is `value`.
double boolean_value_selectivity(StatementPlanning& statement, const BoundQuery& query,
                                 const BoundExpression& expression, bool value);

}  // namespace pgsilo
