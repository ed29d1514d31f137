// The keys that an index scan reads: ranges evaluated from the plan's values, encoded, and joined
// where they overlap, so that every key lies in one range at most and the ranges come in the order
// of the index. Thread safety: compiled ranges are immutable; the rest belongs to one operator.
#pragma once

#include <cstddef>
#include <vector>

#include "base/byte_buffer.h"
#include "executor/operator/index_key.h"
#include "executor/operator/range_cursor.h"

namespace pgsilo {

class KeyLayout;
struct KeyColumn;

// KeyRanges (planner/plan/plan_node.h) with its expressions compiled.
struct CompiledKeyRanges {
  std::vector<CompiledKeyValue> equal;
  std::vector<CompiledKeyValue> list;  // the values; of an array, one whose value is the array
  bool is_array = false;
  int32_t list_column = -1;
  CompiledKeyValue lower;  // bounds on the column's values
  CompiledKeyValue upper;
  bool has_lower = false;
  bool has_upper = false;
  bool lower_inclusive = false;
  bool upper_inclusive = false;
  bool skip_nulls = false;
  bool is_unique_lookup = false;

  static CompiledKeyRanges compile(const KeyRanges& ranges, const KeyLayout& key,
                                   PlanCompiler& plan);
};

// Encoded ranges, sorted and joined by settle().
class KeyRangeList {
 public:
  void clear();
  void add(const EncodedRange& range);
  void settle(bool backward);
  // The next one; false at the end. Its bytes live until the list changes.
  bool next(EncodedRange* range);
  // What next() will return behind `distance` others.
  bool peek(size_t distance, EncodedRange* range) const;

 private:
  struct Range {
    size_t at;  // in bytes_: the lower bound, then the upper
    uint32_t lower_bytes;
    uint32_t upper_bytes;
    bool has_upper;
    bool is_point;
  };
  std::string_view lower(const Range& range) const {
    return bytes_.view().substr(range.at, range.lower_bytes);
  }
  std::string_view upper(const Range& range) const {
    return bytes_.view().substr(range.at + range.lower_bytes, range.upper_bytes);
  }
  bool comes_before(const Range& left, const Range& right) const;
  bool take_in(Range& into, const Range& next);

  ByteBuffer bytes_;
  std::vector<Range> ranges_;
  size_t given_ = 0;
  bool backward_ = false;
};

// Evaluates: by-reference values live in the scratch memory that is in use, until it returns.
class KeyRangeBuilder {
 public:
  KeyRangeBuilder(ExecutionState& state, const KeyLayout& key) : state_(state), key_(key) {}
  void add(const CompiledKeyRanges& ranges, KeyRangeList& list);

 private:
  bool evaluate_equal(const CompiledKeyRanges& ranges);
  bool evaluate_bounds(const CompiledKeyRanges& ranges);
  void add_elements(const CompiledKeyRanges& ranges, Datum array, KeyRangeList& list);
  void add_range(const CompiledKeyRanges& ranges, KeyRangeList& list);
  bool encode(const CompiledKeyRanges& ranges, EncodedRange* range);
  bool encode_low(const KeyColumn& key, bool bounded, Datum value, bool inclusive);
  bool encode_high(const KeyColumn& key, bool bounded, Datum value, bool inclusive);

  ExecutionState& state_;
  const KeyLayout& key_;
  std::vector<Datum> values_;  // of the equal columns
  Datum lower_;
  Datum upper_;
  bool has_lower_ = false;
  bool has_upper_ = false;
  bool skip_nulls_ = false;
  ByteBuffer low_;
  ByteBuffer high_;
};

}  // namespace pgsilo
