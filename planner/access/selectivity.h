// Guesses about how many rows there are and how many a condition keeps, by TableStatistics and by
// what unique indexes say; the constants are PostgreSQL's defaults for columns it knows nothing
// about. Thread safety: as TableStatistics.
#pragma once

#include <span>

#include "planner/bound/query.h"

namespace pgsilo {

struct IndexDescriptor;
struct StatementPlanning;

// Different values of what nothing is known of.
inline constexpr double default_distinct = 200;

double table_rows(const StatementPlanning& statement, const TableDescriptor& table);
// Different values of an expression; for a column with a unique index of its own, the table's rows.
// NULL counts for none.
double distinct_values(const StatementPlanning& statement, const BoundQuery& query,
                       const BoundExpression& expression);
// Different combinations of the expressions, of which there are no more than `rows`.
double distinct_rows(const StatementPlanning& statement, const BoundQuery& query,
                     std::span<const BoundExpression* const> expressions, double rows);
// The part of the table that has one value each in the first `columns` columns of an index; 0: not
// known.
double prefix_selectivity(const StatementPlanning& statement, const TableDescriptor& table,
                          const IndexDescriptor& index, size_t columns);
// 0 to 1.
double estimate_selectivity(const StatementPlanning& statement, const BoundQuery& query,
                            const BoundExpression& condition);
// How many elements an array has, as far as it is known before the run.
double array_length(const BoundExpression& array);
// How many comparisons a condition takes, at most.
double comparisons_of(const BoundExpression& condition);
// At least one row: what explain shows and costs multiply.
double clamp_rows(double rows);
// PostgreSQL's guess for the width of a column in bytes.
int32_t type_width(Oid type, int32_t typmod);

}  // namespace pgsilo
