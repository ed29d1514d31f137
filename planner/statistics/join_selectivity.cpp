#include "planner/statistics/join_selectivity.h"

#include <algorithm>

#include "sql/types/type.h"

namespace pgsilo {

namespace {

// The common values of two columns, those of both and those of one.
struct Common {
  double pairs = 0;  // of rows with the same common value
  double values = 0;
  double left_matched = 0;  // parts of the rows of each
  double right_matched = 0;
  double left_unmatched = 0;
  double right_unmatched = 0;
};

bool can_compare(const KnownColumn& left, const KnownColumn& right) {
  return left.knows_values() && right.knows_values() &&
         is_comparable(*right.sample->type, *left.sample->type);
}

Common common_of(const ColumnSample& left, const ColumnSample& right) {
  Common common;
  for (size_t i = 0; i < left.common.size(); ++i) {
    std::optional<size_t> found = find_common(right, {left.type, left.common[i]});
    if (!found) continue;
    ++common.values;
    common.pairs += left.frequencies[i] * right.frequencies[*found];
    common.left_matched += left.frequencies[i];
    common.right_matched += right.frequencies[*found];
  }
  common.left_unmatched = std::max(0.0, common_part(left) - common.left_matched);
  common.right_unmatched = std::max(0.0, common_part(right) - common.right_matched);
  return common;
}

double rest(const KnownColumn& column, double common) {
  return std::clamp(column.not_null() - common, 0.0, 1.0);
}

// Seen from one side: its common values that the other has not among its own meet the other's other
// values, and its other values all of the other's that are not matched yet.
double pairs_from(double matched, double unmatched, double others, double their_unmatched,
                  double their_others, double their_values_not_common,
                  double their_values_not_matched) {
  double pairs = matched;
  if (their_values_not_common > 0) pairs += unmatched * their_others / their_values_not_common;
  if (their_values_not_matched > 0)
    pairs += others * (their_others + their_unmatched) / their_values_not_matched;
  return pairs;
}

}  // namespace

double equal_columns(const KnownColumn& left, const KnownColumn& right) {
  bool both =
      can_compare(left, right) && !left.sample->common.empty() && !right.sample->common.empty();
  if (!both) {
    return left.not_null() * right.not_null() / std::max({left.distinct, right.distinct, 1.0});
  }
  Common common = common_of(*left.sample, *right.sample);
  double left_others = rest(left, common.left_matched + common.left_unmatched);
  double right_others = rest(right, common.right_matched + common.right_unmatched);
  auto values = [](const ColumnSample& sample) {
    return static_cast<double>(sample.common.size());
  };
  double from_left = pairs_from(
      common.pairs, common.left_unmatched, left_others, common.right_unmatched, right_others,
      right.distinct - values(*right.sample), right.distinct - common.values);
  double from_right =
      pairs_from(common.pairs, common.right_unmatched, right_others, common.left_unmatched,
                 left_others, left.distinct - values(*left.sample), left.distinct - common.values);
  return std::clamp(std::min(from_left, from_right), 0.0, 1.0);
}

MatchEstimate estimate_matches(const KnownColumn& left, const KnownColumn& right) {
  MatchEstimate estimate;
  Common common;
  if (can_compare(left, right)) common = common_of(*left.sample, *right.sample);
  estimate.common = common.left_matched;
  estimate.others = rest(left, common.left_matched);
  estimate.left_values = std::max(0.0, left.distinct - common.values);
  estimate.right_values = std::max(0.0, right.distinct - common.values);
  estimate.is_guess = left.distinct_is_guess || right.distinct_is_guess;
  return estimate;
}

double MatchEstimate::matched(double right_rows) const {
  constexpr double unknown = 0.5;
  double there = std::min(right_values, right_rows);
  double part = is_guess ? unknown : left_values <= there ? 1 : there / left_values;
  return std::clamp(common + others * part, 0.0, 1.0);
}

}  // namespace pgsilo
