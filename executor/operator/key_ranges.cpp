#include "executor/operator/key_ranges.h"

#include <algorithm>

#include "catalog/key_layout.h"
#include "sql/memory_error.h"
#include "sql/types/array.h"
#include "sql/types/key_codec.h"
#include "sql/types/type.h"

namespace pgsilo {

CompiledKeyRanges CompiledKeyRanges::compile(const KeyRanges& ranges, const KeyLayout& key,
                                             PlanCompiler& plan) {
  CompiledKeyRanges made;
  auto compile_value = [&](const KeyValue& value, size_t column) {
    return CompiledKeyValue::compile(value, *key.columns()[column].type, plan);
  };
  made.list_column = ranges.list_column;
  for (size_t i = 0; i < ranges.equal.size(); ++i) {
    bool unused = static_cast<int32_t>(i) == ranges.list_column;
    made.equal.push_back(unused ? CompiledKeyValue() : compile_value(ranges.equal[i], i));
  }
  made.is_array = ranges.array != nullptr;
  auto list_column = static_cast<size_t>(std::max(ranges.list_column, 0));
  if (made.is_array)
    made.list.push_back(compile_value({ranges.array, ranges.list_conversion}, list_column));
  for (const BoundExpression* item : ranges.list)
    made.list.push_back(compile_value({item, ranges.list_conversion}, list_column));
  made.has_lower = ranges.lower.value != nullptr;
  made.has_upper = ranges.upper.value != nullptr;
  if (made.has_lower) made.lower = compile_value(ranges.lower, ranges.equal.size());
  if (made.has_upper) made.upper = compile_value(ranges.upper, ranges.equal.size());
  made.lower_inclusive = ranges.lower_inclusive;
  made.upper_inclusive = ranges.upper_inclusive;
  made.skip_nulls = ranges.skip_nulls;
  made.is_unique_lookup = ranges.is_unique_lookup;
  return made;
}

void KeyRangeList::clear() {
  bytes_.clear();
  ranges_.clear();
  given_ = 0;
}

void KeyRangeList::add(const EncodedRange& range) {
  ranges_.push_back({bytes_.size(), static_cast<uint32_t>(range.lower.size()),
                     static_cast<uint32_t>(range.upper.size()), range.has_upper, range.is_point});
  bytes_.append(range.lower);
  bytes_.append(range.upper);
}

bool KeyRangeList::comes_before(const Range& left, const Range& right) const {
  return lower(left) < lower(right);
}

// `next` does not begin below `into`. False: they have no key in common. Ranges that touch are read
// as one, lookups are not.
bool KeyRangeList::take_in(Range& into, const Range& next) {
  if (into.has_upper) {
    bool touches = !into.is_point && !next.is_point && lower(next) == upper(into);
    if (lower(next) >= upper(into) && !touches) return false;
  }
  into.is_point = into.is_point && next.is_point;
  if (!into.has_upper || (next.has_upper && upper(next) <= upper(into))) return true;
  size_t at = bytes_.size();
  // Both lie in the buffer, which may move.
  bytes_.reserve(into.lower_bytes + next.upper_bytes);
  bytes_.append(lower(into));
  bytes_.append(upper(next));
  into.at = at;
  into.upper_bytes = next.upper_bytes;
  into.has_upper = next.has_upper;
  return true;
}

void KeyRangeList::settle(bool backward) {
  backward_ = backward;
  given_ = 0;
  if (ranges_.size() < 2) return;
  std::sort(ranges_.begin(), ranges_.end(),
            [&](const Range& left, const Range& right) { return comes_before(left, right); });
  size_t kept = 0;
  for (size_t i = 1; i < ranges_.size(); ++i) {
    if (!take_in(ranges_[kept], ranges_[i])) ranges_[++kept] = ranges_[i];
  }
  ranges_.resize(kept + 1);
}

bool KeyRangeList::next(EncodedRange* range) {
  if (!peek(0, range)) return false;
  ++given_;
  return true;
}

bool KeyRangeList::peek(size_t distance, EncodedRange* range) const {
  const size_t at = given_ + distance;
  if (at >= ranges_.size()) return false;
  const Range& found = ranges_[backward_ ? ranges_.size() - 1 - at : at];
  *range = {lower(found), upper(found), /*has_lower=*/found.lower_bytes != 0, found.has_upper,
            found.is_point};
  return true;
}

void KeyRangeBuilder::add(const CompiledKeyRanges& ranges, KeyRangeList& list) {
  if (!evaluate_equal(ranges) || !evaluate_bounds(ranges)) return;
  if (ranges.list_column < 0) return add_range(ranges, list);
  Datum& value = values_[static_cast<size_t>(ranges.list_column)];
  if (ranges.is_array) {
    Datum array;
    if (ranges.list[0].evaluate(state_, &array) != KeyFit::null) add_elements(ranges, array, list);
    return;
  }
  for (const CompiledKeyValue& item : ranges.list) {
    if (item.evaluate(state_, &value) == KeyFit::fits) add_range(ranges, list);
  }
}

void KeyRangeBuilder::add_elements(const CompiledKeyRanges& ranges, Datum array,
                                   KeyRangeList& list) {
  constexpr uint32_t many = 1000;
  constexpr size_t bytes_of_one = 64;  // of the list, with a key of usual length twice
  ArrayReader reader(array);
  if (reader.count() > many) require_memory(reader.count() * bytes_of_one);
  Datum& value = values_[static_cast<size_t>(ranges.list_column)];
  while (reader.next(&value)) {
    if (ranges.list[0].fit(value) == KeyFit::fits) add_range(ranges, list);
  }
}

// False: the values exclude every row.
bool KeyRangeBuilder::evaluate_equal(const CompiledKeyRanges& ranges) {
  values_.resize(ranges.equal.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    if (static_cast<int32_t>(i) == ranges.list_column) continue;
    // A key without NULLs has no form for one.
    if (ranges.equal[i].is_null && !key_.columns()[i].nullable) return false;
    if (ranges.equal[i].evaluate(state_, &values_[i]) != KeyFit::fits) return false;
  }
  return true;
}

// Likewise.
bool KeyRangeBuilder::evaluate_bounds(const CompiledKeyRanges& ranges) {
  has_lower_ = ranges.has_lower;
  has_upper_ = ranges.has_upper;
  skip_nulls_ = ranges.skip_nulls || has_lower_ || has_upper_;
  if (has_lower_) {
    KeyFit fit = ranges.lower.evaluate(state_, &lower_);
    if (fit == KeyFit::null || fit == KeyFit::above) return false;
    if (fit == KeyFit::below) has_lower_ = false;
  }
  if (has_upper_) {
    KeyFit fit = ranges.upper.evaluate(state_, &upper_);
    if (fit == KeyFit::null || fit == KeyFit::below) return false;
    if (fit == KeyFit::above) has_upper_ = false;
  }
  return true;
}

void KeyRangeBuilder::add_range(const CompiledKeyRanges& ranges, KeyRangeList& list) {
  EncodedRange range;
  if (encode(ranges, &range)) list.add(range);
}

bool KeyRangeBuilder::encode(const CompiledKeyRanges& ranges, EncodedRange* range) {
  low_.clear();
  high_.clear();
  key_.encode_prefix(values_, low_);
  high_.append(low_.view());
  range->has_lower = true;
  range->is_point = ranges.is_unique_lookup;
  if (values_.size() == key_.columns().size()) {
    range->has_upper = advance_past_prefix(high_);
  } else {
    const KeyColumn& key = key_.columns()[values_.size()];
    bool turned = key.descending;
    if (!encode_low(key, turned ? has_upper_ : has_lower_, turned ? upper_ : lower_,
                    turned ? ranges.upper_inclusive : ranges.lower_inclusive)) {
      return false;
    }
    range->has_upper = encode_high(key, turned ? has_lower_ : has_upper_, turned ? lower_ : upper_,
                                   turned ? ranges.lower_inclusive : ranges.upper_inclusive);
  }
  range->lower = low_.view();
  if (range->has_upper) range->upper = high_.view();
  // Bounds may contradict each other.
  return !range->has_upper || range->lower < range->upper;
}

// Both ends in the order of keys; low_ and high_ hold the prefix of the equal columns. False: there
// is no key behind it.
bool KeyRangeBuilder::encode_low(const KeyColumn& key, bool bounded, Datum value, bool inclusive) {
  if (!bounded) {
    if (skip_nulls_) encode_not_null_prefix(key, low_);
    return true;
  }
  encode_key(key, value, low_);
  return inclusive || advance_past_prefix(low_);
}

// Whether there is an end.
bool KeyRangeBuilder::encode_high(const KeyColumn& key, bool bounded, Datum value, bool inclusive) {
  if (bounded) {
    encode_key(key, value, high_);
    return !inclusive || advance_past_prefix(high_);
  }
  if (skip_nulls_) encode_not_null_prefix(key, high_);
  return !high_.empty() && advance_past_prefix(high_);
}

}  // namespace pgsilo
