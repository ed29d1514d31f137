// Guesses about how many rows there are and how many a condition keeps. There are no statistics but
// row counts and what unique indexes say; the constants are PostgreSQL's defaults for columns it
// knows nothing about. Thread safety: pure functions.
#pragma once

#include "planner/bound/query.h"

namespace pgsilo {

struct StatementPlanning;

double table_rows(const StatementPlanning& statement, const TableDescriptor& table);
// Different values of an expression; for a column with a unique index of its own, the table's rows.
double distinct_values(const StatementPlanning& statement, const BoundQuery& query,
                       const BoundExpression& expression);
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
