// The part of a table's rows whose value of one column fulfils a comparison, by the column's common
// values and the bounds of the others, as PostgreSQL's selfuncs.c estimates it.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>

#include "catalog/statistics/table_sample.h"
#include "planner/statistics/value_order.h"

namespace pgsilo {

// What is known of an expression's values: a column's, or those of anything else.
struct KnownColumn {
  double rows = 0;      // of what it comes from
  double distinct = 1;  // different values, of these rows
  bool distinct_is_guess = true;
  bool unique = false;
  double null_fraction = 0;
  // Null, or one without values: nothing is known of them.
  const ColumnSample* sample = nullptr;

  bool knows_values() const {
    return sample != nullptr && (!sample->common.empty() || !sample->bounds.empty());
  }
  double not_null() const { return 1 - null_fraction; }
  // What one value has if they are all as frequent.
  double one_value() const { return distinct > 1 ? 1 / distinct : 1; }
};

// Of all rows, those with one of the common values.
double common_part(const ColumnSample& sample);
// The number of a common value; none: it is not common. Precondition: is_comparable().
std::optional<size_t> find_common(const ColumnSample& sample, const KnownValue& value);
// Different values that are not common; at least 1.
double other_values(const KnownColumn& column);

double equal_to_value(const KnownColumn& column, const KnownValue& value);
// To a value that is not known before the run.
double equal_to_unknown(const KnownColumn& column);
// Less, or less and equal, NULL not counted; none: it cannot be told.
std::optional<double> below_value(const KnownColumn& column, const KnownValue& value,
                                  bool or_equal);
// The same of the values that are not common, as a part of these.
std::optional<double> below_in_bounds(const KnownColumn& column, const KnownValue& value,
                                      bool or_equal);

}  // namespace pgsilo
