// The values of several columns that a sample has met together (CREATE STATISTICS), and what they
// say: combinations, which columns follow from others, the commonest combinations
// (docs/statistics.md). Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.h"
#include "catalog/object/statistics_descriptor.h"
#include "catalog/statistics/table_sample.h"

namespace pgsilo {

class CombinedValues {
 public:
  struct Column {
    int16_t number = 0;
    const TypeInfo* type = nullptr;
  };
  // `target`: so many common combinations at most.
  CombinedValues(const StatisticsDescriptor& statistics, std::vector<Column> columns,
                 int32_t target)
      : statistics_(statistics), columns_(std::move(columns)), target_(target) {}

  // By column: a hash, or 0 of NULL. What is kept of the values lives in `arena`.
  void add(std::span<const Datum> row, std::span<const uint64_t> hashes, Arena& arena);
  std::span<const Column> columns() const { return columns_; }

  // The table has `rows` rows. Adds to `sample`, whose values live in `kept`.
  void describe(double rows, TableSample& sample, Arena& kept);

 private:
  using Mask = uint32_t;  // of columns_
  // Of rows that are one behind the other and have one hash.
  struct Group {
    size_t first = 0;
    size_t count = 0;
  };
  struct Grouped {
    std::vector<uint32_t> order;  // the rows by their hashes
    std::vector<Group> groups;    // of `order`
  };
  static Grouped grouped(const std::vector<uint64_t>& hashes);
  double rows_read() const;
  std::vector<uint64_t> together(Mask mask) const;
  std::vector<int16_t> numbers_in(Mask mask) const;
  double degree(const Grouped& rows, size_t to, bool all_read) const;
  void add_dependencies(Mask from, const std::vector<uint64_t>& hashes, double rows,
                        CombinedSample* to_sample) const;
  void find_common(double rows, CombinedSample& sample, Arena& kept) const;
  std::vector<std::vector<uint64_t>> sorted_hashes() const;

  const StatisticsDescriptor& statistics_;
  std::vector<Column> columns_;
  int32_t target_;
  std::vector<Datum> values_;     // row by row
  std::vector<uint64_t> hashes_;  // likewise
  std::vector<bool> too_long_;    // rows of which a value is not kept
};

}  // namespace pgsilo
