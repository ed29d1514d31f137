#include "sql/types/key_codec.h"

#include <bit>
#include <cstring>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "sql/internal_error.h"
#include "sql/types/array.h"
#include "sql/types/date_time.h"
#include "sql/types/interval.h"
#include "sql/types/key_numeric.h"
#include "sql/types/text.h"
#include "sql/types/time_with_zone.h"

namespace pgsilo {
namespace {

constexpr char marker_null_first = 0;
constexpr char marker_value = 1;
constexpr char marker_null_last = 2;

void encode_float64(double value, ByteBuffer& out) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  if (value == 0) value = 0;  // -0
  uint64_t bits = value != value ? UINT64_MAX >> 1 : std::bit_cast<uint64_t>(value);
  out.append_be64((bits & sign) != 0 ? ~bits : bits | sign);
}

void encode_bytea(std::string_view bytes, ByteBuffer& out) {
  for (char byte : bytes) {
    out.append(byte);
    if (byte == 0) out.append('\xff');
  }
  out.append(std::string_view("\0\0", 2));
}

// Microseconds with 30-day months reach beyond 64 bits: 16 bits above them suffice.
void encode_interval(Datum value, ByteBuffer& out) {
  __int128 span = interval_span(interval_of(value));
  auto high = static_cast<uint16_t>(static_cast<int16_t>(span >> 64));
  out.append_be16(static_cast<uint16_t>(high ^ 0x8000));
  out.append_be64(static_cast<uint64_t>(span));
}

void encode_value(const TypeInfo& type, Datum value, ByteBuffer& out);

// Behind the elements, by which all arrays of one dimension and none differ.
void encode_shape(const ArrayShape& shape, ByteBuffer& out) {
  auto append = [&out](int32_t word) {
    out.append_be32(static_cast<uint32_t>(word) ^ 0x80000000u);
  };
  if (shape.dimensions <= 1) return append(shape.dimensions == 0 ? 1 : shape.lower_bounds[0]);
  // No lower bound is that high: behind those of one dimension.
  append(INT32_MAX);
  out.append(static_cast<char>(shape.dimensions));
  for (int32_t i = 0; i < shape.dimensions; ++i) append(shape.lengths[i]);
  for (int32_t i = 0; i < shape.dimensions; ++i) append(shape.lower_bounds[i]);
}

void encode_array(const TypeInfo& type, Datum value, ByteBuffer& out) {
  ArrayReader reader(value);
  const TypeInfo& element = element_type(type);
  for (Datum item; reader.next(&item);) {
    out.append(item.null ? '\2' : '\1');
    if (!item.null) encode_value(element, item, out);
  }
  out.append('\0');
  encode_shape(reader.shape(), out);
}

void encode_oidvector(Datum value, ByteBuffer& out) {
  ArrayReader reader(value);
  out.append_be32(reader.count());
  for (Datum item; reader.next(&item);) out.append_be32(static_cast<uint32_t>(item.i64));
}

void encode_value(const TypeInfo& type, Datum value, ByteBuffer& out) {
  switch (type.key_form) {
    case KeyForm::boolean:
      out.append(static_cast<char>(value.i64));
      return;
    case KeyForm::int16:
      out.append_be16(static_cast<uint16_t>(value.i64) ^ 0x8000);
      return;
    case KeyForm::int32:
      out.append_be32(static_cast<uint32_t>(value.i64) ^ 0x80000000u);
      return;
    case KeyForm::int64:
      out.append_be64(static_cast<uint64_t>(value.i64) ^ (uint64_t{1} << 63));
      return;
    case KeyForm::uint32:
      out.append_be32(static_cast<uint32_t>(value.i64));
      return;
    // A float4 is a double that a float represents: the double's order is its order.
    case KeyForm::float32:
    case KeyForm::float64:
      encode_float64(value.f64, out);
      return;
    case KeyForm::text:
      out.append(value.bytes());
      out.append('\0');
      return;
    case KeyForm::bpchar:
      out.append(bpchar_trim(value.bytes()));
      out.append('\0');
      return;
    case KeyForm::bytea:
      encode_bytea(value.bytes(), out);
      return;
    case KeyForm::numeric:
      encode_numeric_key(value, out);
      return;
    case KeyForm::interval:
      encode_interval(value, out);
      return;
    case KeyForm::array:
      encode_array(type, value, out);
      return;
    case KeyForm::oidvector:
      encode_oidvector(value, out);
      return;
    case KeyForm::timetz: {
      // The moment, then the offset.
      TimeWithZone time = time_with_zone_of(value);
      int64_t utc = time.time + time.seconds_west * usecs_per_second;
      out.append_be64(static_cast<uint64_t>(utc) ^ (uint64_t{1} << 63));
      out.append_be32(static_cast<uint32_t>(time.seconds_west) ^ 0x80000000u);
      return;
    }
    case KeyForm::none:
      break;
  }
  PGSILO_REQUIRE(!"a type without a key form in a key");
}

}  // namespace

size_t encoded_bytes(const KeyColumn& column) {
  if (column.nullable) return 0;  // a null is its marker alone
  switch (column.type->key_form) {
    case KeyForm::boolean:
      return 1;
    case KeyForm::int16:
      return 2;
    case KeyForm::int32:
    case KeyForm::uint32:
      return 4;
    case KeyForm::int64:
    case KeyForm::float32:
    case KeyForm::float64:
      return 8;
    case KeyForm::interval:
      return 10;
    case KeyForm::timetz:
      return 12;
    case KeyForm::none:
    case KeyForm::text:
    case KeyForm::bpchar:
    case KeyForm::bytea:
    case KeyForm::numeric:
    case KeyForm::array:
    case KeyForm::oidvector:
      return 0;
  }
  return 0;
}

void encode_key(const KeyColumn& column, Datum value, ByteBuffer& out) {
  if (value.null) {
    PGSILO_REQUIRE(column.nullable);
    out.append(column.nulls_first ? marker_null_first : marker_null_last);
    return;
  }
  if (column.nullable) out.append(marker_value);
  size_t start = out.size();
  encode_value(*column.type, value, out);
  if (!column.descending) return;
  for (char* byte = out.data() + start; byte != out.data() + out.size(); ++byte) {
    *byte = static_cast<char>(~*byte);
  }
}

void encode_key(std::span<const KeyColumn> columns, std::span<const Datum> values,
                ByteBuffer& out) {
  PGSILO_DCHECK(values.size() <= columns.size());
  for (size_t i = 0; i < values.size(); ++i) encode_key(columns[i], values[i], out);
}

void encode_not_null_prefix(const KeyColumn& column, ByteBuffer& out) {
  if (column.nullable) out.append(marker_value);
}

bool advance_past_prefix(ByteBuffer& key) {
  size_t length = key.size();
  while (length > 0 && key.data()[length - 1] == '\xff') --length;
  key.truncate(length);
  if (length == 0) return false;
  ++key.data()[length - 1];
  return true;
}

}  // namespace pgsilo
