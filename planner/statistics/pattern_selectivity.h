// The part of a table's rows whose text matches a pattern: what common values and bounds say when
// they are matched themselves, and where there are few bounds, how the pattern looks.
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "planner/statistics/column_selectivity.h"

namespace pgsilo {

struct PatternShape {
  std::string beginning;  // of all that match; empty: nothing is fixed
  std::string end;        // the least text above all that begin with it; empty: there is none
  bool is_exact = false;  // only the beginning itself matches
  double rest = 1;        // of those that begin with it, those that match, by the pattern's looks
};

PatternShape like_shape(std::string_view pattern, bool ignore_case);
PatternShape regular_expression_shape(std::string_view pattern, bool ignore_case);

// `matches` tries a value.
double matching_part(const KnownColumn& column, const PatternShape& shape,
                     const std::function<bool(Datum)>& matches);

}  // namespace pgsilo
