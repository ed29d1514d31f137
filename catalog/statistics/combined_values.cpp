#include "catalog/statistics/combined_values.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/hash.h"
#include "base/long_work.h"
#include "catalog/statistics/column_values.h"
#include "sql/limits.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr size_t value_work = 64;

// How often a sample of `read` rows has to meet a combination for its frequency to be worth
// something, as PostgreSQL's ANALYZE.
double least_count(double read, double rows) {
  constexpr double relative_error = 0.04;
  double denominator = rows - read + relative_error * read * (rows - 1);
  return denominator == 0 ? 0 : read * (rows - read) / denominator;
}

}  // namespace

void CombinedValues::add(std::span<const Datum> row, std::span<const uint64_t> hashes,
                         Arena& arena) {
  bool too_long = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    Datum value = row[i];
    bool is_long =
        !value.null && columns_[i].type->by_reference && value.length > limits::sampled_value_bytes;
    too_long |= is_long;
    values_.push_back(value.null || is_long ? Datum()
                                            : copy_datum(value, *columns_[i].type, arena));
    hashes_.push_back(hashes[i]);
  }
  too_long_.push_back(too_long);
}

CombinedValues::Grouped CombinedValues::grouped(const std::vector<uint64_t>& hashes) {
  Grouped rows;
  rows.order.resize(hashes.size());
  std::iota(rows.order.begin(), rows.order.end(), 0);
  did_work(hashes.size() * value_work);
  std::ranges::sort(rows.order, [&](uint32_t left, uint32_t right) {
    return hashes[left] != hashes[right] ? hashes[left] < hashes[right] : left < right;
  });
  for (size_t i = 0; i < rows.order.size(); ++i) {
    if (i == 0 || hashes[rows.order[i]] != hashes[rows.order[i - 1]]) rows.groups.push_back({i, 0});
    ++rows.groups.back().count;
  }
  return rows;
}

double CombinedValues::rows_read() const { return static_cast<double>(too_long_.size()); }

std::vector<uint64_t> CombinedValues::together(Mask mask) const {
  std::vector<uint64_t> all(too_long_.size());
  for (size_t row = 0; row < all.size(); ++row) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if ((mask >> i & 1) != 0)
        all[row] = hash_combine(all[row], hashes_[row * columns_.size() + i]);
    }
  }
  did_work(all.size() * value_work);
  return all;
}

std::vector<int16_t> CombinedValues::numbers_in(Mask mask) const {
  std::vector<int16_t> numbers;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if ((mask >> i & 1) != 0) numbers.push_back(columns_[i].number);
  }
  return numbers;
}

// Of all rows, those whose values of some columns, by which they are grouped, come with one value
// of `to` only. A row that is alone in a sample of some rows need not be in the table: those that
// are not decide, if there are enough of them.
double CombinedValues::degree(const Grouped& rows, size_t to, bool all_read) const {
  constexpr size_t enough = 32;
  did_work(rows.order.size() * value_work);
  size_t supporting = 0;
  size_t alone = 0;
  for (const Group& group : rows.groups) {
    auto dependent = [&](size_t at) { return hashes_[rows.order[at] * columns_.size() + to]; };
    size_t i = 1;
    while (i < group.count && dependent(group.first + i) == dependent(group.first)) ++i;
    if (i == group.count) supporting += group.count;
    if (group.count == 1) ++alone;
  }
  if (!all_read && rows.order.size() - alone >= enough)
    return static_cast<double>(supporting - alone) / static_cast<double>(rows.order.size() - alone);
  return static_cast<double>(supporting) / rows_read();
}

// Of each column by itself.
std::vector<std::vector<uint64_t>> CombinedValues::sorted_hashes() const {
  std::vector<std::vector<uint64_t>> sorted(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    for (size_t row = 0; row < too_long_.size(); ++row)
      sorted[i].push_back(hashes_[row * columns_.size() + i]);
    did_work(sorted[i].size() * value_work);
    std::ranges::sort(sorted[i]);
  }
  return sorted;
}

void CombinedValues::find_common(double rows, CombinedSample& sample, Arena& kept) const {
  Grouped all = grouped(together((Mask{1} << columns_.size()) - 1));
  std::vector<std::vector<uint64_t>> sorted = sorted_hashes();
  std::ranges::sort(all.groups, [](const Group& left, const Group& right) {
    return left.count != right.count ? left.count > right.count : left.first < right.first;
  });
  double least = least_count(rows_read(), std::max(rows, rows_read()));
  for (const Group& group : all.groups) {
    bool is_full = sample.common.size() >= static_cast<size_t>(target_);
    if (is_full || static_cast<double>(group.count) < least) break;
    size_t row = all.order[group.first];
    if (too_long_[row]) continue;
    CombinedSample::Common common;
    common.frequency = static_cast<double>(group.count) / rows_read();
    common.independent = 1;
    auto values = kept.make_span<Datum>(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      Datum value = values_[row * columns_.size() + i];
      values[i] = value.null ? value : copy_datum(value, *columns_[i].type, kept);
      auto [first, behind] =
          std::ranges::equal_range(sorted[i], hashes_[row * columns_.size() + i]);
      common.independent *= static_cast<double>(behind - first) / rows_read();
    }
    common.values = values;
    sample.common.push_back(common);
  }
}

void CombinedValues::add_dependencies(Mask from, const std::vector<uint64_t>& hashes, double rows,
                                      CombinedSample* to_sample) const {
  Grouped by_from = grouped(hashes);
  for (size_t to = 0; to < columns_.size(); ++to) {
    if ((from >> to & 1) != 0) continue;
    if (double part = degree(by_from, to, rows_read() >= rows); part > 0)
      to_sample->dependencies.push_back({numbers_in(from), columns_[to].number, part});
  }
}

void CombinedValues::describe(double rows, TableSample& sample, Arena& kept) {
  if (too_long_.empty()) return;
  CombinedSample made;
  for (const Column& column : columns_) {
    made.columns.push_back(column.number);
    made.types.push_back(column.type);
  }
  Mask all = (Mask{1} << columns_.size()) - 1;
  for (Mask mask = 1; mask <= all; ++mask) {
    std::vector<uint64_t> hashes = together(mask);
    if (statistics_.dependencies && mask != all) add_dependencies(mask, hashes, rows, &made);
    if (statistics_.ndistinct && std::popcount(mask) > 1) {
      sample.prefixes.push_back({numbers_in(mask), count_distinct(hashes, Neighbours(), rows),
                                 /*asked_for=*/true});
    }
  }
  if (statistics_.common) find_common(rows, made, kept);
  sample.combinations.push_back(std::move(made));
}

}  // namespace pgsilo
