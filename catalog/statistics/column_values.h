// The values of one column that a sample has met, and what they say about all of the table's.
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "catalog/statistics/table_sample.h"
#include "sql/types/datum.h"

namespace pgsilo {

struct TypeInfo;

// How often neighbours in a table were looked at, and how often they had one value.
struct Neighbours {
  double looked_at = 0;
  double equal = 0;

  void count(bool is_equal) {
    ++looked_at;
    if (is_equal) ++equal;
  }
  // Rows of one value may lie together, and then a look here and there meets each value once. So
  // what is estimated from is not rows but runs of rows of one value, of which each look meets one.
  double runs(double rows) const { return looked_at == 0 ? rows : rows * (1 - equal / looked_at); }
};

// Different values among hashes, which are sorted.
double count_distinct(std::vector<uint64_t>& hashes, const Neighbours& neighbours, double rows);

class ColumnValues {
 public:
  // Null: a type whose values are not told apart. Nothing is said of them. `padded_length`: of a
  // char(n), whose values come without their blanks. `target`: so many common values and intervals
  // between bounds.
  ColumnValues(const TypeInfo* type, int32_t padded_length, int32_t target)
      : type_(type),
        padded_length_(static_cast<uint32_t>(padded_length)),
        target_(static_cast<size_t>(target)) {}

  const TypeInfo* type() const { return type_; }
  Neighbours& neighbours() { return neighbours_; }

  // `place` orders rows as they lie in the table. What is kept of the value lives in `arena`.
  void add(Datum value, uint64_t hash, uint32_t place, Arena& arena);
  void add_null() { ++nulls_; }

  // The table has `rows` rows. Values of the sample live in `kept`, no more than `most_bytes`.
  ColumnSample describe(double rows, Arena& kept, size_t most_bytes);

 private:
  struct Value {
    Datum value;
    uint32_t place = 0;
  };
  // Rows of one value, next to each other once they are sorted.
  struct Group {
    size_t first = 0;
    size_t count = 0;
  };

  double read() const { return static_cast<double>(values_.size() + hashes_.size() + nulls_); }
  void sort();
  void group();
  double distinct(double rows);
  double correlation() const;
  size_t common_groups(double rows, double distinct) const;
  void keep_common(ColumnSample& sample, double rows, Arena& kept, size_t most_bytes);
  void keep_bounds(ColumnSample& sample, Arena& kept, size_t most_bytes) const;

  const TypeInfo* type_;
  uint32_t padded_length_;
  size_t target_;
  Neighbours neighbours_;
  std::vector<Value> values_;
  std::vector<uint64_t> hashes_;  // of values without an order, and of those too long to keep
  std::vector<Group> groups_;     // by value
  std::vector<Group> repeated_;   // those of more than one row, commonest first
  double nulls_ = 0;
  double bytes_ = 0;
};

}  // namespace pgsilo
