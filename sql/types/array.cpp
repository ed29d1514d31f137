// The packed form of arrays: making, walking, comparing.
#include "sql/types/array.h"

#include "base/arena.h"
#include "base/byte_order.h"
#include "base/check.h"
#include "base/long_work.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {
constexpr size_t header_bytes = 12;
constexpr uint32_t null_length = UINT32_MAX;
}  // namespace

Datum make_array(Oid element, std::span<const Datum> values, Arena& arena, int32_t lower_bound) {
  bool by_reference = type_info(element).by_reference;
  size_t bytes = header_bytes;
  for (const Datum& value : values) {
    bytes += 4 + (value.null ? 0 : by_reference ? value.length : 8);
  }
  char* array = static_cast<char*>(arena.allocate(bytes, 1));
  store_le32(array, element);
  store_le32(array + 4, static_cast<uint32_t>(values.size()));
  store_le32(array + 8, static_cast<uint32_t>(lower_bound));
  char* at = array + header_bytes;
  WorkMeter meter;
  for (const Datum& value : values) {
    meter.did(16);
    if (value.null) {
      store_le32(at, null_length);
      at += 4;
    } else if (by_reference) {
      store_le32(at, value.length);
      copy_value(at + 4, value.bytes());
      at += 4 + value.length;
    } else {
      store_le32(at, 8);
      store_le64(at + 4, static_cast<uint64_t>(value.i64));  // the bits of f64 too
      at += 12;
    }
  }
  return Datum::of_bytes({array, bytes});
}

Datum relabel_array(Datum array, Oid element, Arena& arena) {
  if (load_le32(array.ptr) == element) return array;
  char* copy = static_cast<char*>(arena.allocate(array.length, 1));
  copy_value(copy, array.bytes());
  store_le32(copy, element);
  return Datum::of_bytes({copy, array.length});
}

ArrayReader::ArrayReader(Datum array)
    : at_(array.ptr + header_bytes),
      element_(load_le32(array.ptr)),
      count_(load_le32(array.ptr + 4)),
      lower_bound_(static_cast<int32_t>(load_le32(array.ptr + 8))),
      by_reference_(type_info(element_).by_reference) {}

bool ArrayReader::next(Datum* value) {
  if (read_ == count_) return false;
  ++read_;
  uint32_t length = load_le32(at_);
  at_ += 4;
  if (length == null_length) {
    *value = Datum::null_value();
    return true;
  }
  *value = by_reference_ ? Datum::of_bytes({at_, length})
                         : Datum::of_int(static_cast<int64_t>(load_le64(at_)));
  at_ += length;
  return true;
}

Datum array_element(Datum array, int64_t subscript) {
  ArrayReader reader(array);
  int64_t position = subscript - reader.lower_bound();
  Datum value;
  if (position < 0 || position >= reader.count()) return value;
  while (position-- >= 0) reader.next(&value);
  return value;
}

namespace types {

// Element by element, null above every value; then the shorter first; then dimensions and bounds.
int compare_array(Datum left, Datum right) {
  ArrayReader a(left);
  ArrayReader b(right);
  const TypeInfo& type = type_info(a.element());
  Datum x;
  Datum y;
  while (true) {
    bool more_a = a.next(&x);
    bool more_b = b.next(&y);
    if (!more_a || !more_b) {
      if (more_a != more_b) return more_a ? 1 : -1;
      return a.lower_bound() < b.lower_bound() ? -1 : a.lower_bound() > b.lower_bound();
    }
    if (x.null || y.null) {
      if (x.null != y.null) return x.null ? 1 : -1;
      continue;
    }
    int order = type.compare(x, y);
    if (order != 0) return order;
  }
}

bool equal_array(Datum left, Datum right) {
  ArrayReader a(left);
  ArrayReader b(right);
  if (a.count() != b.count() || a.lower_bound() != b.lower_bound()) return false;
  const TypeInfo& type = type_info(a.element());
  Datum x;
  Datum y;
  while (a.next(&x) && b.next(&y)) {
    if (x.null != y.null) return false;
    if (!x.null && !type.equal(x, y)) return false;
  }
  return true;
}

uint64_t hash_array(Datum value) {
  ArrayReader reader(value);
  const TypeInfo& type = type_info(reader.element());
  uint64_t hash = reader.count();
  Datum element;
  while (reader.next(&element)) hash = hash_combine(hash, element.null ? 0 : type.hash(element));
  return hash;
}

// btoidvectorcmp: the shorter first, then element by element.
int compare_oidvector(Datum left, Datum right) {
  uint32_t left_count = ArrayReader(left).count();
  uint32_t right_count = ArrayReader(right).count();
  if (left_count != right_count) return left_count < right_count ? -1 : 1;
  return compare_array(left, right);
}

}  // namespace types
}  // namespace pgsilo
