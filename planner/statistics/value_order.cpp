#include "planner/statistics/value_order.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/byte_buffer.h"
#include "sql/types/float.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/text.h"
#include "sql/types/time_with_zone.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

constexpr double microseconds_per_day = 86400e6;

bool is_integer(const TypeInfo& type) {
  return type.oid != type_oid::date && type.oid != type_oid::single_char &&
         (type.key_form == KeyForm::int16 || type.key_form == KeyForm::int32 ||
          type.key_form == KeyForm::uint32 ||
          (type.key_form == KeyForm::int64 && type.category == 'N'));
}

bool is_float(const TypeInfo& type) {
  return type.key_form == KeyForm::float32 || type.key_form == KeyForm::float64;
}

bool is_day_or_time(const TypeInfo& type) {
  return type.oid == type_oid::date || type.oid == type_oid::timestamp ||
         type.oid == type_oid::timestamptz;
}

bool is_text(const TypeInfo& type) { return type.key_form == KeyForm::text; }

// All on one line; what the time zone makes of it does not matter here.
double microseconds(const TypeInfo& type, Datum value) {
  if (type.oid != type_oid::date) return static_cast<double>(value.i64);
  if (value.i64 == std::numeric_limits<int32_t>::max())
    return static_cast<double>(std::numeric_limits<int64_t>::max());
  if (value.i64 == std::numeric_limits<int32_t>::min())
    return static_cast<double>(std::numeric_limits<int64_t>::min());
  return static_cast<double>(value.i64) * microseconds_per_day;
}

// Infinite or 0 where numeric_to_float8() would refuse.
double nearest_float8(Datum value) {
  ByteBuffer text;
  print_numeric(value, text);
  text.append('\0');
  return std::strtod(text.data(), nullptr);
}

// NaN: its values are no numbers.
double number(const TypeInfo& type, Datum value) {
  if (is_day_or_time(type)) return microseconds(type, value);
  switch (type.key_form) {
    case KeyForm::boolean:
    case KeyForm::int16:
    case KeyForm::int32:
    case KeyForm::int64:
    case KeyForm::uint32:
      return static_cast<double>(value.i64);
    case KeyForm::float32:
    case KeyForm::float64:
      return value.f64;
    case KeyForm::numeric:
      return nearest_float8(value);
    case KeyForm::interval:
      return static_cast<double>(interval_span(interval_of(value)));
    case KeyForm::timetz: {
      TimeWithZone time = time_with_zone_of(value);
      return static_cast<double>(time.time) + static_cast<double>(time.seconds_west) * 1e6;
    }
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// The characters that texts seem to be made of, numbers from the first on.
struct Digits {
  int first = 0;
  int last = 255;

  int count() const { return last - first + 1; }
};

// Where a letter or a digit stands, others of its kind may stand as well.
Digits digits_of(std::string_view low, std::string_view high) {
  Digits digits{255, 0};
  for (std::string_view text : {low, high}) {
    for (char each : text) {
      digits.first = std::min<int>(digits.first, static_cast<unsigned char>(each));
      digits.last = std::max<int>(digits.last, static_cast<unsigned char>(each));
    }
  }
  for (auto [first, last] : {std::pair('A', 'Z'), std::pair('a', 'z'), std::pair('0', '9')}) {
    if (digits.first > last || digits.last < first) continue;
    digits.first = std::min<int>(digits.first, first);
    digits.last = std::max<int>(digits.last, last);
  }
  constexpr int few = 10;
  return digits.count() < few ? Digits{' ', 127} : digits;
}

// The text as a fraction in a number system of these digits.
double fraction(std::string_view text, Digits digits) {
  constexpr size_t precision = 12;  // more do not fit into a double
  double value = 0;
  double unit = 1;
  for (char each : text.substr(0, precision)) {
    int digit =
        std::clamp<int>(static_cast<unsigned char>(each), digits.first - 1, digits.last + 1);
    unit /= digits.count();
    value += (digit - digits.first) * unit;
  }
  return value;
}

double between(double low, double high, double value) {
  if (std::isnan(low) || std::isnan(high) || std::isnan(value)) return 0.5;
  if (high <= low) return 0.5;
  if (value <= low) return 0;
  if (value >= high) return 1;
  double part = (value - low) / (high - low);
  return std::isnan(part) ? 0.5 : part;
}

// What all three begin with says nothing.
double text_between(std::string_view low, std::string_view high, std::string_view value,
                    const Digits* all) {
  size_t shared = 0;
  size_t shortest = std::min({low.size(), high.size(), value.size()});
  while (shared < shortest && low[shared] == high[shared] && low[shared] == value[shared]) ++shared;
  low.remove_prefix(shared);
  high.remove_prefix(shared);
  value.remove_prefix(shared);
  Digits digits = all != nullptr ? *all : digits_of(low, high);
  return between(fraction(low, digits), fraction(high, digits), fraction(value, digits));
}

}  // namespace

bool is_comparable(const TypeInfo& column, const TypeInfo& value) {
  if (column.oid == value.oid) return column.is_ordered();
  return (is_integer(column) && is_integer(value)) || (is_float(column) && is_float(value)) ||
         (is_text(column) && is_text(value)) || (is_day_or_time(column) && is_day_or_time(value));
}

int compare_with(const TypeInfo& column, Datum own, const KnownValue& value) {
  if (column.oid == value.type->oid || !is_day_or_time(column))
    return column.compare(own, value.value);
  return float_compare(microseconds(column, own), microseconds(*value.type, value.value));
}

double part_of_the_way(const TypeInfo& column, Datum low, Datum high, const KnownValue& value) {
  static constexpr Digits bytes;
  switch (column.key_form) {
    case KeyForm::text:
      return text_between(low.bytes(), high.bytes(), value.value.bytes(), nullptr);
    case KeyForm::bpchar:
      return text_between(bpchar_trim(low.bytes()), bpchar_trim(high.bytes()),
                          bpchar_trim(value.value.bytes()), nullptr);
    case KeyForm::bytea:
      return text_between(low.bytes(), high.bytes(), value.value.bytes(), &bytes);
    default:
      return between(number(column, low), number(column, high), number(*value.type, value.value));
  }
}

}  // namespace pgsilo
