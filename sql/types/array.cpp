// The packed form of arrays: making, walking, comparing.
#include "sql/types/array.h"

#include <algorithm>

#include "base/arena.h"
#include "base/byte_order.h"
#include "base/check.h"
#include "base/long_work.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {

constexpr size_t word_bytes = 4;
constexpr uint32_t form_mark = uint32_t{1} << 31;
constexpr uint32_t nulls_mark = 1 << 8;
constexpr int form_shift = 16;
constexpr int width_shift = 24;
constexpr uint32_t old_null_length = UINT32_MAX;

size_t bitmap_bytes(size_t count) { return (count + 7) / 8; }

void set_null(char* nulls, size_t position) {
  nulls[position / 8] = static_cast<char>(nulls[position / 8] | (1 << (position % 8)));
}

// What lies behind the shape.
struct Parts {
  StoredForm form;
  uint8_t width;
  bool has_nulls = false;
  size_t bitmap_bytes = 0;
  size_t ends_bytes = 0;
  size_t element_bytes = 0;
  size_t bytes() const { return bitmap_bytes + ends_bytes + element_bytes; }
};

Parts parts_of(const TypeInfo& element, std::span<const Datum> values) {
  Parts parts{stored_form(element), stored_width(element)};
  parts.has_nulls = std::any_of(values.begin(), values.end(), [](Datum each) { return each.null; });
  if (parts.has_nulls) parts.bitmap_bytes = bitmap_bytes(values.size());
  if (parts.width != 0) {
    parts.element_bytes = parts.width * values.size();
    return parts;
  }
  parts.ends_bytes = word_bytes * values.size();
  for (const Datum& value : values) parts.element_bytes += value.null ? 0 : value.length;
  return parts;
}

void write_elements(const Parts& parts, std::span<const Datum> values, char* to) {
  char* nulls = to;
  char* ends = nulls + parts.bitmap_bytes;
  char* elements = ends + parts.ends_bytes;
  // Nulls are zero, so that equal arrays are equal bytes.
  if (parts.has_nulls) std::memset(nulls, 0, parts.bitmap_bytes);
  if (parts.has_nulls && parts.width != 0) std::memset(elements, 0, parts.element_bytes);
  uint32_t end = 0;
  WorkMeter meter;
  for (size_t i = 0; i < values.size(); ++i) {
    meter.did(16);
    const Datum& value = values[i];
    if (value.null) set_null(nulls, i);
    if (parts.width != 0) {
      if (!value.null) write_stored(parts.form, parts.width, value, elements + i * parts.width);
      continue;
    }
    if (!value.null) {
      copy_value(elements + end, value.bytes());
      end += value.length;
    }
    store_le32(ends + i * word_bytes, end);
  }
}

}  // namespace

ArrayShape ArrayShape::of_vector(size_t count, int32_t lower_bound) {
  ArrayShape shape;
  if (count == 0 && lower_bound != 0) return shape;
  shape.dimensions = 1;
  shape.lengths[0] = static_cast<int32_t>(std::min<size_t>(count, INT32_MAX));
  shape.lower_bounds[0] = lower_bound;
  return shape;
}

size_t ArrayShape::count() const {
  if (dimensions == 0) return 0;
  uint64_t count = 1;
  for (int32_t i = 0; i < dimensions; ++i) {
    // Below 2^27 before, so it does not overflow.
    count *= static_cast<uint32_t>(lengths[i]);
    if (lengths[i] < 0 || count > limits::max_array_elements) {
      throw SqlError(
          sqlstate::program_limit_exceeded,
          concat("array size exceeds the maximum allowed (", limits::max_array_elements, ")"));
    }
  }
  return count;
}

void ArrayShape::check_bounds() const {
  for (int32_t i = 0; i < dimensions; ++i) {
    if (int64_t{lower_bounds[i]} + lengths[i] <= INT32_MAX) continue;
    throw SqlError(sqlstate::program_limit_exceeded,
                   concat("array lower bound is too large: ", lower_bounds[i]));
  }
}

bool ArrayShape::operator==(const ArrayShape& other) const {
  return dimensions == other.dimensions &&
         std::equal(lengths, lengths + dimensions, other.lengths) &&
         std::equal(lower_bounds, lower_bounds + dimensions, other.lower_bounds);
}

Datum make_array(const TypeInfo& element, const ArrayShape& shape, std::span<const Datum> values,
                 Arena& arena) {
  static_cast<void>(shape.count());  // throws if they are too many
  Parts parts = parts_of(element, values);
  size_t head = word_bytes * (2 + 2 * static_cast<size_t>(shape.dimensions));
  if (head + parts.bytes() > limits::max_value_bytes) {
    throw SqlError(
        sqlstate::program_limit_exceeded,
        concat("array size exceeds the maximum allowed (", limits::max_value_bytes, ")"));
  }
  char* array = static_cast<char*>(arena.allocate(head + parts.bytes(), 1));
  store_le32(array, element.oid);
  store_le32(array + word_bytes, form_mark | static_cast<uint32_t>(shape.dimensions) |
                                     (parts.has_nulls ? nulls_mark : 0) |
                                     static_cast<uint32_t>(parts.form) << form_shift |
                                     static_cast<uint32_t>(parts.width) << width_shift);
  char* at = array + 2 * word_bytes;
  for (int32_t i = 0; i < shape.dimensions; ++i) {
    store_le32(at, static_cast<uint32_t>(shape.lengths[i]));
    store_le32(at + word_bytes, static_cast<uint32_t>(shape.lower_bounds[i]));
    at += 2 * word_bytes;
  }
  write_elements(parts, values, at);
  return Datum::of_bytes({array, head + parts.bytes()});
}

Datum make_array(Oid element, std::span<const Datum> values, Arena& arena, int32_t lower_bound) {
  return make_array(type_info(element), ArrayShape::of_vector(values.size(), lower_bound), values,
                    arena);
}

Datum relabel_array(Datum array, Oid element, Arena& arena) {
  if (load_le32(array.ptr) == element) return array;
  char* copy = static_cast<char*>(arena.allocate(array.length, 1));
  copy_value(copy, array.bytes());
  store_le32(copy, element);
  return Datum::of_bytes({copy, array.length});
}

ArrayReader::ArrayReader(Datum array) : element_(load_le32(array.ptr)) {
  uint32_t word = load_le32(array.ptr + word_bytes);
  if ((word & form_mark) == 0) {
    read_old_shape(array.ptr);
  } else {
    read_shape(array.ptr, word);
  }
}

void ArrayReader::read_shape(const char* array, uint32_t word) {
  const char* at = array + 2 * word_bytes;
  shape_.dimensions = static_cast<int32_t>(word & 0xff);
  PGSILO_REQUIRE(shape_.dimensions <= limits::max_array_dimensions);
  for (int32_t i = 0; i < shape_.dimensions; ++i) {
    shape_.lengths[i] = static_cast<int32_t>(load_le32(at));
    shape_.lower_bounds[i] = static_cast<int32_t>(load_le32(at + word_bytes));
    at += 2 * word_bytes;
  }
  count_ = static_cast<uint32_t>(shape_.count());
  form_ = static_cast<StoredForm>((word >> form_shift) & 0xff);
  width_ = static_cast<uint8_t>((word & ~form_mark) >> width_shift);
  if ((word & nulls_mark) != 0) {
    nulls_ = at;
    at += bitmap_bytes(count_);
  }
  if (width_ == 0) {
    ends_ = at;
    at += word_bytes * count_;
  }
  elements_ = at;
}

void ArrayReader::read_old_shape(const char* array) {
  is_old_ = true;
  count_ = load_le32(array + word_bytes);
  shape_ = ArrayShape::of_vector(count_, static_cast<int32_t>(load_le32(array + 2 * word_bytes)));
  form_ = stored_form(type_info(element_));
  at_ = elements_ = array + 3 * word_bytes;
}

void ArrayReader::next_old(Datum* value) {
  uint32_t length = load_le32(at_);
  at_ += word_bytes;
  if (length == old_null_length) {
    *value = Datum::null_value();
    return;
  }
  bool by_reference = form_ == StoredForm::variable || form_ == StoredForm::bytes;
  *value = by_reference ? Datum::of_bytes({at_, length})
                        : Datum::of_int(static_cast<int64_t>(load_le64(at_)));
  at_ += length;
}

bool ArrayReader::next(Datum* value) {
  if (read_ == count_) return false;
  if (is_old_) [[unlikely]] {
    ++read_;
    next_old(value);
  } else {
    *value = at(read_);
  }
  return true;
}

Datum ArrayReader::at(uint32_t position) {
  PGSILO_DCHECK(position < count_);
  if (is_old_) [[unlikely]] {
    Datum value;
    at_ = elements_;
    for (read_ = 0; read_ <= position; ++read_) next_old(&value);
    return value;
  }
  read_ = position + 1;
  if (nulls_ != nullptr && ((nulls_[position / 8] >> (position % 8)) & 1) != 0) return Datum();
  if (width_ != 0) return read_stored(form_, width_, elements_ + size_t{position} * width_);
  uint32_t begin = position == 0 ? 0 : load_le32(ends_ + (position - 1) * word_bytes);
  return Datum::of_bytes({elements_ + begin, load_le32(ends_ + position * word_bytes) - begin});
}

Datum array_element(Datum array, std::span<const int32_t> subscripts) {
  ArrayReader reader(array);
  const ArrayShape& shape = reader.shape();
  if (static_cast<size_t>(shape.dimensions) != subscripts.size()) return Datum();
  uint32_t position = 0;
  for (size_t i = 0; i < subscripts.size(); ++i) {
    int64_t offset = int64_t{subscripts[i]} - shape.lower_bounds[i];
    if (offset < 0 || offset >= shape.lengths[i]) return Datum();
    position = position * static_cast<uint32_t>(shape.lengths[i]) + static_cast<uint32_t>(offset);
  }
  return reader.count() == 0 ? Datum() : reader.at(position);
}

Datum array_element(Datum array, int64_t subscript) {
  if (subscript < INT32_MIN || subscript > INT32_MAX) return Datum();
  auto only = static_cast<int32_t>(subscript);
  return array_element(array, {&only, 1});
}

namespace types {

namespace {

template <typename T>
int order(T left, T right) {
  return left < right ? -1 : left > right;
}

// Of arrays whose elements are the same, up to the end of the shorter.
int compare_shapes(const ArrayReader& a, const ArrayReader& b) {
  if (a.count() != b.count()) return order(a.count(), b.count());
  const ArrayShape& left = a.shape();
  const ArrayShape& right = b.shape();
  if (left.dimensions != right.dimensions) return order(left.dimensions, right.dimensions);
  for (int32_t i = 0; i < left.dimensions; ++i) {
    if (int sign = order(left.lengths[i], right.lengths[i])) return sign;
  }
  for (int32_t i = 0; i < left.dimensions; ++i) {
    if (int sign = order(left.lower_bounds[i], right.lower_bounds[i])) return sign;
  }
  return 0;
}

}  // namespace

// Element by element, null above every value; then by shape.
int compare_array(const TypeInfo& type, Datum left, Datum right) {
  ArrayReader a(left);
  ArrayReader b(right);
  const TypeInfo& element = element_type(type);
  Datum x;
  Datum y;
  while (a.next(&x) && b.next(&y)) {
    if (x.null || y.null) {
      if (x.null != y.null) return x.null ? 1 : -1;
    } else if (int sign = element.compare(x, y)) {
      return sign;
    }
  }
  return compare_shapes(a, b);
}

bool equal_array(const TypeInfo& type, Datum left, Datum right) {
  ArrayReader a(left);
  ArrayReader b(right);
  if (!(a.shape() == b.shape())) return false;
  const TypeInfo& element = element_type(type);
  Datum x;
  Datum y;
  while (a.next(&x) && b.next(&y)) {
    if (x.null != y.null) return false;
    if (!x.null && !element.equal(x, y)) return false;
  }
  return true;
}

uint64_t hash_array(const TypeInfo& type, Datum value) {
  ArrayReader reader(value);
  const TypeInfo& element = element_type(type);
  uint64_t hash = reader.count();
  Datum each;
  while (reader.next(&each)) {
    hash = hash_combine(hash, each.null ? 0 : element.hash(each));
  }
  return hash;
}

// btoidvectorcmp: the shorter first, then element by element.
int compare_oidvector(const TypeInfo& type, Datum left, Datum right) {
  uint32_t left_count = ArrayReader(left).count();
  uint32_t right_count = ArrayReader(right).count();
  if (left_count != right_count) return left_count < right_count ? -1 : 1;
  return compare_array(type, left, right);
}

}  // namespace types
}  // namespace pgsilo
