// How the rows of two sides find each other by an equality of a column each, as PostgreSQL's
// eqjoinsel() estimates it. Thread safety: pure functions.
#pragma once

#include "planner/statistics/column_selectivity.h"

namespace pgsilo {

// Of all pairs of a row of each.
double equal_columns(const KnownColumn& left, const KnownColumn& right);

// What a semi or anti join asks: which rows of the left side have one on the right.
struct MatchEstimate {
  double common = 0;  // of the left side's rows, those of common values that are common there too
  double others = 0;  // those of other values, NULL not counted
  double left_values = 0;   // how many these are
  double right_values = 0;  // and how many the right side has beside the common ones
  bool is_guess = true;     // one of the two numbers is

  // `right_rows`: of the right side as far as conditions of its own leave them; with fewer rows
  // than values there are no more values than these.
  double matched(double right_rows) const;
};
MatchEstimate estimate_matches(const KnownColumn& left, const KnownColumn& right);

}  // namespace pgsilo
