// What is known of the values of an expression while planning: which column of a table it is and
// what a sample says about that, through subqueries and casts; and which values are known.
// Thread safety: as TableStatistics.
#pragma once

#include <optional>

#include "planner/bound/query.h"
#include "planner/statistics/column_selectivity.h"

namespace pgsilo {

struct StatementPlanning;

// Different values of what nothing is known of.
inline constexpr double default_distinct = 200;

// The table and the column that an expression is, through casts that change nothing.
struct TableColumn {
  const TableDescriptor* table = nullptr;  // null: it is none
  int16_t number = 0;
};
TableColumn table_column(const BoundQuery& query, const BoundExpression& expression);

// The argument of a cast or an operator that has one; null: it is something else.
const BoundExpression* converted(const BoundExpression& expression);

// What is to be known of a column. An equality needs no sample of what has a unique index: looking
// up a key makes nobody look at the table.
enum class ColumnUse : uint8_t { equality, values };

double table_rows(const StatementPlanning& statement, const TableDescriptor& table);
KnownColumn know_column(StatementPlanning& statement, const BoundQuery& query,
                        const BoundExpression& expression, ColumnUse use);
// Different values of an expression; for a column with a unique index of its own, the table's rows.
// NULL counts for none.
double distinct_values(StatementPlanning& statement, const BoundQuery& query,
                       const BoundExpression& expression);

// The value of what reads no row: of a constant, and of what depends on the clock as it is now.
// None: it is known only when it runs, as parameters are. A NULL is none that a comparison is true
// for.
struct EstimatedValue {
  bool is_known = false;
  bool is_null = false;
  KnownValue value;
  // Of one that is not known, but would be with the parameters: the first of them.
  const ParameterExpression* parameter = nullptr;
};
EstimatedValue estimate_value(StatementPlanning& statement, const BoundExpression& expression);

}  // namespace pgsilo
