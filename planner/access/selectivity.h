// How many rows a condition keeps, and how many groups there are, by what samples say of the
// columns (planner/statistics) and by PostgreSQL's defaults where they say nothing.
// Thread safety: as TableStatistics.
#pragma once

#include <span>

#include "planner/access/known_column.h"
#include "planner/bound/query.h"

namespace pgsilo {

struct Clause;
struct IndexDescriptor;
struct MatchEstimate;
struct StatementPlanning;

// Different combinations of the expressions, of which there are no more than `rows`.
double distinct_rows(StatementPlanning& statement, const BoundQuery& query,
                     std::span<const BoundExpression* const> expressions, double rows);
// Of equalities of the first `columns` columns of an index, `product` if they are independent: the
// part of the table that fulfils them all as far as the index tells how they depend on each other.
double dependent_selectivity(StatementPlanning& statement, const TableDescriptor& table,
                             const IndexDescriptor& index, size_t columns, double product);
// 0 to 1.
double estimate_selectivity(StatementPlanning& statement, const BoundQuery& query,
                            const BoundExpression& condition);
// An equality of two sides, of which `left` is the left one of a semi or anti join.
const MatchEstimate* estimate_semi_join(StatementPlanning& statement, const BoundQuery& query,
                                        const BoundExpression& left, const BoundExpression& right);
// Of the left side's rows, those for which one of the right side's `right_rows` fulfils all
// clauses.
double matched_part(std::span<const Clause* const> clauses, double right_rows);
// Two bounds of one value say more together than each for itself: sets `selectivity` of the later
// ones, so that the product of all is right.
void pair_ranges(StatementPlanning& statement, const BoundQuery& query, std::span<Clause> clauses);
// How many elements an array has, as far as it is known before the run.
double array_length(const BoundExpression& array);
// How many comparisons a condition takes, at most.
double comparisons_of(const BoundExpression& condition);
// At least one row: what explain shows and costs multiply.
double clamp_rows(double rows);
// PostgreSQL's guess for the width of a column in bytes.
int32_t type_width(Oid type, int32_t typmod);

}  // namespace pgsilo
