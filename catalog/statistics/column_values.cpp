#include "catalog/statistics/column_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/byte_buffer.h"
#include "sql/limits.h"
#include "sql/types/key_codec.h"
#include "sql/types/type.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {

constexpr uint64_t sign_bit = uint64_t{1} << 63;

// The first bytes of a text in its order.
uint64_t beginning(std::string_view bytes) {
  uint64_t word = 0;
  // An empty one may be nowhere.
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
  return __builtin_bswap64(word);
}

// A word that orders values as their type does, as far as it goes: of two that are alike compare()
// decides, which is a call and for numbers of any length a slow one.
uint64_t sort_word(const TypeInfo& type, Datum value, ByteBuffer& key) {
  if (type.functions.compare == &types::compare_int)
    return static_cast<uint64_t>(value.i64) ^ sign_bit;
  if (type.functions.compare == &types::compare_bytes) return beginning(value.bytes());
  if (type.key_form == KeyForm::none) return 0;
  key.clear();
  encode_key({.type = &type, .nullable = false}, value, key);
  return beginning(key.view());
}

// Nothing is left for compare() to decide.
bool word_is_all(const TypeInfo& type) {
  return type.functions.compare == &types::compare_int ||
         type.functions.compare == &types::compare_float;
}

// As PostgreSQL stores it.
double stored_bytes(const TypeInfo& type, Datum value, uint32_t padded_length) {
  constexpr uint32_t longest_short = 126;
  if (type.typlen > 0) return type.typlen;
  uint32_t length = std::max(value.length, padded_length);
  return length + (length <= longest_short ? 1.0 : 4.0);
}

size_t kept_bytes(const TypeInfo& type, Datum value) {
  return sizeof(Datum) + sizeof(double) + sizeof(uint32_t) + (type.by_reference ? value.length : 0);
}

struct Seen {
  double different = 0;
  double once = 0;
};

Seen see(std::vector<uint64_t>& hashes) {
  std::sort(hashes.begin(), hashes.end());
  Seen seen;
  for (size_t begin = 0; begin < hashes.size();) {
    size_t end = begin + 1;
    while (end < hashes.size() && hashes[end] == hashes[begin]) ++end;
    ++seen.different;
    if (end == begin + 1) ++seen.once;
    begin = end;
  }
  return seen;
}

}  // namespace

double count_distinct(std::vector<uint64_t>& hashes, const Neighbours& neighbours, double rows) {
  Seen seen = see(hashes);
  return estimate_distinct(neighbours.runs(rows), static_cast<double>(hashes.size()),
                           seen.different, seen.once);
}

void ColumnValues::add(Datum value, uint64_t hash, uint32_t place, Arena& arena) {
  bytes_ += stored_bytes(*type_, value, padded_length_);
  bool is_long = type_->by_reference && value.length > limits::sampled_value_bytes;
  if (!type_->is_ordered() || is_long) {
    hashes_.push_back(hash);
  } else {
    values_.push_back({copy_datum(value, *type_, arena), place});
  }
}

// By value, then by place.
void ColumnValues::sort() {
  struct Item {
    uint64_t word;
    uint32_t number;
  };
  ByteBuffer key;
  std::vector<Item> items(values_.size());
  for (uint32_t i = 0; i < items.size(); ++i)
    items[i] = {sort_word(*type_, values_[i].value, key), i};
  bool decided = word_is_all(*type_);
  std::sort(items.begin(), items.end(), [&](const Item& left, const Item& right) {
    if (left.word != right.word) return left.word < right.word;
    const Value& a = values_[left.number];
    const Value& b = values_[right.number];
    int order = decided ? 0 : type_->compare(a.value, b.value);
    return order != 0 ? order < 0 : a.place < b.place;
  });
  std::vector<Value> sorted;
  sorted.reserve(items.size());
  for (const Item& item : items) sorted.push_back(values_[item.number]);
  values_ = std::move(sorted);
}

void ColumnValues::group() {
  for (size_t i = 0; i < values_.size(); ++i) {
    bool begins = i == 0 || type_->compare(values_[i - 1].value, values_[i].value) != 0;
    if (begins) groups_.push_back({i, 0});
    ++groups_.back().count;
  }
  for (const Group& group : groups_) {
    if (group.count > 1) repeated_.push_back(group);
  }
  std::sort(repeated_.begin(), repeated_.end(), [](const Group& left, const Group& right) {
    return left.count != right.count ? left.count > right.count : left.first < right.first;
  });
}

double ColumnValues::distinct(double rows) {
  Seen seen = see(hashes_);
  seen.different += static_cast<double>(groups_.size());
  seen.once += static_cast<double>(groups_.size() - repeated_.size());
  return estimate_distinct(neighbours_.runs(rows),
                           static_cast<double>(values_.size() + hashes_.size()), seen.different,
                           seen.once);
}

// Between the order of the values and the order in which their rows lie.
double ColumnValues::correlation() const {
  auto count = static_cast<double>(values_.size());
  double place = 0;
  double place_square = 0;
  double product = 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    double at = values_[i].place;
    place += at;
    place_square += at * at;
    product += at * static_cast<double>(i);
  }
  double rank = count * (count - 1) / 2;
  double rank_square = count * (count - 1) * (2 * count - 1) / 6;
  double spread = (count * rank_square - rank * rank) * (count * place_square - place * place);
  return spread <= 0 ? 0
                     : std::clamp((count * product - rank * place) / std::sqrt(spread), -1., 1.);
}

// How many of the values that came again are so common that it is no accident of the sample: each
// is to be more frequent than an average value that is not listed, by two standard deviations (of
// a draw without replacement) and a half.
size_t ColumnValues::common_groups(double rows, double distinct) const {
  size_t most = std::min(repeated_.size(), target_);
  double sampled = read();
  bool all_listed = repeated_.size() == groups_.size() && hashes_.empty() &&
                    repeated_.size() <= most && distinct <= rows / 10;
  if (all_listed || rows <= sampled) return most;
  double listed = 0;  // rows of the values before the last one
  for (size_t i = 0; i < most; ++i) listed += static_cast<double>(repeated_[i].count);
  for (; most > 0; --most) {
    auto count = static_cast<double>(repeated_[most - 1].count);
    listed -= count;
    double others = std::max(1.0, distinct - static_cast<double>(most - 1));
    double average = std::clamp((sampled - listed - nulls_) / sampled, 0.0, 1.0) / others;
    double of_all = rows * count / sampled;
    double variance =
        sampled * of_all * (rows - of_all) * (rows - sampled) / (rows * rows * (rows - 1));
    if (count > average * sampled + 2 * std::sqrt(std::max(0.0, variance)) + 0.5) break;
  }
  return most;
}

void ColumnValues::keep_common(ColumnSample& sample, double rows, Arena& kept, size_t most_bytes) {
  size_t count = common_groups(rows, sample.distinct);
  size_t bytes = 0;
  std::vector<Datum> values;
  std::vector<double> frequencies;
  for (size_t i = 0; i < count; ++i) {
    Datum value = values_[repeated_[i].first].value;
    bytes += kept_bytes(*type_, value);
    if (bytes > most_bytes) break;
    values.push_back(copy_datum(value, *type_, kept));
    frequencies.push_back(static_cast<double>(repeated_[i].count) / read());
  }
  repeated_.resize(values.size());
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t left, uint32_t right) {
    return repeated_[left].first < repeated_[right].first;
  });
  sample.common = kept.copy_span(values);
  sample.frequencies = kept.copy_span(frequencies);
  sample.common_in_order = kept.copy_span(order);
}

// Of the values that are not listed, so that there are about as many between two bounds each.
void ColumnValues::keep_bounds(ColumnSample& sample, Arena& kept, size_t most_bytes) const {
  std::vector<Datum> rest;
  size_t next = 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    while (next < sample.common.size() && repeated_[sample.common_in_order[next]].first +
                                                  repeated_[sample.common_in_order[next]].count <=
                                              i) {
      ++next;
    }
    bool listed = next < sample.common.size() && repeated_[sample.common_in_order[next]].first <= i;
    if (!listed) rest.push_back(values_[i].value);
  }
  size_t different = groups_.size() - sample.common.size();
  size_t count = std::min(different, target_ + 1);
  std::vector<Datum> bounds;
  for (; count >= 2; count = count / 2 + 1) {
    bounds.clear();
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) {
      bounds.push_back(rest[i * (rest.size() - 1) / (count - 1)]);
      bytes += kept_bytes(*type_, bounds.back());
    }
    if (bytes <= most_bytes) break;
    bounds.clear();
    if (count == 2) break;
  }
  for (Datum& bound : bounds) bound = copy_datum(bound, *type_, kept);
  sample.bounds = kept.copy_span(bounds);
}

ColumnSample ColumnValues::describe(double rows, Arena& kept, size_t most_bytes) {
  ColumnSample sample;
  if (type_ == nullptr || read() == 0) return sample;
  sample.type = type_;
  sample.null_fraction = nulls_ / read();
  double not_null = read() - nulls_;
  if (not_null == 0) return sample;
  sample.width = bytes_ / not_null;
  sort();
  group();
  sample.distinct = distinct(rows * (1 - sample.null_fraction));
  if (values_.size() > 1) sample.correlation = correlation();
  keep_common(sample, rows, kept, most_bytes / 2);
  keep_bounds(sample, kept, most_bytes / 2);
  return sample;
}

}  // namespace pgsilo
