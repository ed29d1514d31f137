#include "planner/statistics/column_selectivity.h"

#include <algorithm>
#include <numeric>

#include "sql/types/type.h"

namespace pgsilo {

namespace {

bool can_compare(const KnownColumn& column, const KnownValue& value) {
  return column.knows_values() && is_comparable(*column.sample->type, *value.type);
}

// How many of the common values, in their order, lie below.
size_t common_below(const ColumnSample& sample, const KnownValue& value, bool or_equal) {
  auto end = std::partition_point(
      sample.common_in_order.begin(), sample.common_in_order.end(), [&](uint32_t number) {
        int order = compare_with(*sample.type, sample.common[number], value);
        return order < 0 || (or_equal && order == 0);
      });
  return static_cast<size_t>(end - sample.common_in_order.begin());
}

}  // namespace

double common_part(const ColumnSample& sample) {
  return std::accumulate(sample.frequencies.begin(), sample.frequencies.end(), 0.0);
}

std::optional<size_t> find_common(const ColumnSample& sample, const KnownValue& value) {
  size_t place = common_below(sample, value, false);
  if (place == sample.common_in_order.size()) return std::nullopt;
  size_t number = sample.common_in_order[place];
  if (compare_with(*sample.type, sample.common[number], value) != 0) return std::nullopt;
  return number;
}

double other_values(const KnownColumn& column) {
  double common = column.sample != nullptr ? static_cast<double>(column.sample->common.size()) : 0;
  return std::max(1.0, column.distinct - common);
}

double equal_to_value(const KnownColumn& column, const KnownValue& value) {
  if (column.unique) return column.rows > 1 ? 1 / column.rows : 1;
  if (!can_compare(column, value)) return equal_to_unknown(column);
  const ColumnSample& sample = *column.sample;
  if (std::optional<size_t> common = find_common(sample, value)) return sample.frequencies[*common];
  double rest = std::max(0.0, column.not_null() - common_part(sample));
  double one = rest / other_values(column);
  // Else it would be common itself.
  return sample.frequencies.empty() ? one : std::min(one, sample.frequencies.back());
}

double equal_to_unknown(const KnownColumn& column) {
  if (column.unique) return column.rows > 1 ? 1 / column.rows : 1;
  double one = column.not_null() * column.one_value();
  bool has_common = column.sample != nullptr && !column.sample->frequencies.empty();
  return has_common ? std::min(one, column.sample->frequencies.front()) : one;
}

std::optional<double> below_in_bounds(const KnownColumn& column, const KnownValue& value,
                                      bool or_equal) {
  std::span<const Datum> bounds = column.sample->bounds;
  if (bounds.size() < 2) return std::nullopt;
  const TypeInfo& type = *column.sample->type;
  auto end = std::partition_point(bounds.begin(), bounds.end(), [&](Datum bound) {
    int order = compare_with(type, bound, value);
    return order < 0 || (or_equal && order == 0);
  });
  auto passed = static_cast<size_t>(end - bounds.begin());
  auto intervals = static_cast<double>(bounds.size() - 1);
  double below = 0;
  if (passed == bounds.size()) {
    below = 1;
  } else if (passed > 0) {
    double part = part_of_the_way(type, bounds[passed - 1], bounds[passed], value);
    below = (static_cast<double>(passed - 1) + part) / intervals;
    // The way goes to the value and includes it, but for the first bound, which is one itself.
    double one = other_values(column) > 1 ? 1 / other_values(column) : 0;
    if (passed == 1) below += one * (1 - part);
    if (!or_equal) below -= one;
  }
  // Bounds are of a sample: beyond them there may be something, if not much.
  double least = 0.01 / intervals;
  return std::clamp(below, least, 1 - least);
}

std::optional<double> below_value(const KnownColumn& column, const KnownValue& value,
                                  bool or_equal) {
  if (!can_compare(column, value)) return std::nullopt;
  const ColumnSample& sample = *column.sample;
  double common = 0;
  size_t passed = common_below(sample, value, or_equal);
  for (uint32_t number : sample.common_in_order.first(passed)) common += sample.frequencies[number];
  double rest = std::max(0.0, column.not_null() - common_part(sample));
  double part = below_in_bounds(column, value, or_equal).value_or(0.5);
  return std::clamp(common + rest * part, 0.0, 1.0);
}

}  // namespace pgsilo
