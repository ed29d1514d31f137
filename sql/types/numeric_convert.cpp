// numeric: text form, and casts from and to integers and floats.
#include <charconv>
#include <cmath>

#include "base/asking_allocator.h"
#include "base/byte_buffer.h"
#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/float.h"
#include "sql/types/integer.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_value.h"
#include "sql/types/scan.h"

namespace pgsilo {

using namespace numeric;

namespace {

// What stands between the white space: sign, digits, point, exponent.
struct Scanned {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int64_t exponent = 0;
};

std::string_view take_digits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && is_digit((*text)[count])) ++count;
  std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// False when `text` is no number.
bool scan_number(std::string_view text, Scanned* number) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number->negative = text[0] == '-';
    text.remove_prefix(1);
  }
  number->whole = take_digits(&text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    number->fraction = take_digits(&text);
  }
  if (number->whole.empty() && number->fraction.empty()) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (text.empty() || text[0] == '-') return false;
  }
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number->exponent);
  if (stop == text.data() || stop != text.data() + text.size()) return false;
  constexpr int64_t exponent_limit = INT32_MAX / 2;
  if (error != std::errc() || number->exponent >= exponent_limit ||
      number->exponent <= -exponent_limit) {
    throw_overflow();
  }
  return true;
}

Datum parse_special(std::string_view word) {
  if (equal_ignoring_case(word, "nan")) return make_nan();
  bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  if (equal_ignoring_case(word, "infinity") || equal_ignoring_case(word, "inf")) {
    return make_infinity(negative);
  }
  return Datum::null_value();
}

Datum build_big(const Scanned& number, int64_t scale, Arena& arena) {
  AskingString digits;
  digits.reserve(number.whole.size() + number.fraction.size());
  digits.append(number.whole).append(number.fraction);
  size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) {
    if (scale > limits::max_numeric_fraction_digits) throw_overflow();
    return make_small(0, static_cast<int>(std::max<int64_t>(scale, 0)), arena);
  }
  // Far too large numbers are refused before memory is spent on them.
  auto significant = static_cast<int64_t>(digits.size() - first);
  if (significant - scale > limits::max_numeric_integer_digits) throw_overflow();
  mpz_class unscaled(digits.c_str() + first, 10);
  if (scale < 0) {
    unscaled *= power_of_ten_big(static_cast<int>(-scale));
    scale = 0;
  }
  if (scale > limits::max_numeric_fraction_digits) throw_overflow();
  if (number.negative) unscaled = -unscaled;
  return make_number(unscaled, static_cast<int>(scale), arena);
}

Datum build_number(const Scanned& number, Arena& arena) {
  int64_t scale = static_cast<int64_t>(number.fraction.size()) - number.exponent;
  size_t count = number.whole.size() + number.fraction.size();
  if (count > 37 || scale < 0 || scale > limits::max_numeric_fraction_digits) {
    return build_big(number, scale, arena);
  }
  Int128 unscaled = 0;
  for (char c : number.whole) unscaled = unscaled * 10 + (c - '0');
  for (char c : number.fraction) unscaled = unscaled * 10 + (c - '0');
  return make_small(number.negative ? -unscaled : unscaled, static_cast<int>(scale), arena);
}

template <typename Float>
Datum from_float(Float value, int digits, Arena& arena) {
  if (std::isnan(value)) return make_nan();
  if (std::isinf(value)) return make_infinity(value < 0);
  char text[40];
  char* end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
  return parse_numeric({text, static_cast<size_t>(end - text)}, -1, arena);
}

[[noreturn]] void throw_cannot_convert(Datum value, size_t width) {
  std::string_view type = width == 2 ? "smallint" : width == 4 ? "integer" : "bigint";
  throw SqlError(sqlstate::feature_not_supported,
                 concat("cannot convert ", is_nan(value) ? "NaN" : "infinity", " to ", type));
}

// The value as text that from_chars reads exactly.
template <typename Float>
Float through_text(Datum value, std::string_view type_name) {
  ByteBuffer text;
  print_numeric(value, text);
  std::string_view digits = text.view();
  Float result = 0;
  auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (error == std::errc::result_out_of_range || std::isinf(result) ||
      (result == 0 && sign_of(value) != 0)) {
    throw SqlError(sqlstate::numeric_value_out_of_range,
                   concat("\"", digits, "\" is out of range for type ", type_name));
  }
  return result;
}

template <typename Float>
Float special_to_float(Datum value) {
  if (is_nan(value)) return std::numeric_limits<Float>::quiet_NaN();
  Float infinity = std::numeric_limits<Float>::infinity();
  return sign_of(value) < 0 ? -infinity : infinity;
}

}  // namespace

Datum parse_numeric(std::string_view text, int32_t typmod, Arena& arena) {
  std::string_view word = trim_space(text);
  Scanned number;
  Datum value;
  if (scan_number(word, &number)) {
    value = build_number(number, arena);
  } else {
    value = parse_special(word);
    if (value.null) throw_invalid_syntax("numeric", text);
  }
  return numeric_apply_typmod(value, typmod, false, arena);
}

void print_numeric(Datum value, ByteBuffer& out) {
  if (is_special(value)) {
    out.append(is_nan(value) ? "NaN" : sign_of(value) < 0 ? "-Infinity" : "Infinity");
    return;
  }
  Digits digits(value);
  std::string_view all = digits.view();
  auto scale = static_cast<size_t>(scale_of(value));
  if (sign_of(value) < 0) out.append('-');
  size_t whole = all.size() > scale ? all.size() - scale : 0;
  if (whole == 0) {
    out.append('0');
  } else {
    out.append(all.substr(0, whole));
  }
  if (scale == 0) return;
  out.append('.');
  out.append_repeated('0', scale - (all.size() - whole));
  out.append(all.substr(whole));
}

Datum numeric_from_integer(int64_t value, Arena& arena) { return make_small(value, 0, arena); }

Datum numeric_from_scaled(int64_t unscaled, int scale, Arena& arena) {
  return make_small(unscaled, scale, arena);
}

// PostgreSQL goes through the decimal text of DBL_DIG and FLT_DIG digits.
Datum numeric_from_float8(double value, Arena& arena) { return from_float(value, 15, arena); }

Datum numeric_from_float4(float value, Arena& arena) { return from_float(value, 6, arena); }

int64_t numeric_to_integer(Datum value, size_t width) {
  if (is_special(value)) throw_cannot_convert(value, width);
  Int128 whole;
  int scale = scale_of(value);
  if (is_small(value) && scale <= max_power) {
    Int128 unscaled = small_unscaled(value);
    Uint128 divisor = power_of_ten[static_cast<size_t>(scale)];
    Uint128 magnitude = magnitude_of(unscaled);
    Uint128 quotient = magnitude / divisor;
    Uint128 remainder = magnitude % divisor;
    if (remainder != 0 && remainder >= divisor - remainder) ++quotient;
    whole = unscaled < 0 ? -static_cast<Int128>(quotient) : static_cast<Int128>(quotient);
  } else {
    Decimal decimal = decimal_of(value);
    mpz_class rounded = rescale(decimal.unscaled, decimal.scale, 0);
    if (!rounded.fits_slong_p()) throw_integer_out_of_range(width);
    whole = rounded.get_si();
  }
  Int128 limit = (Int128{1} << (8 * width - 1)) - 1;
  if (whole > limit || whole < -limit - 1) throw_integer_out_of_range(width);
  return static_cast<int64_t>(whole);
}

double numeric_to_float8(Datum value) {
  if (is_special(value)) return special_to_float<double>(value);
  // Both exact in a double: the quotient is correctly rounded.
  constexpr Int128 exact_limit = Int128{1} << 53;
  if (is_small(value) && scale_of(value) <= 22) {
    Int128 unscaled = small_unscaled(value);
    if (unscaled <= exact_limit && unscaled >= -exact_limit) {
      return static_cast<double>(unscaled) /
             static_cast<double>(power_of_ten[static_cast<size_t>(scale_of(value))]);
    }
  }
  return through_text<double>(value, "double precision");
}

float numeric_to_float4(Datum value) {
  if (is_special(value)) return special_to_float<float>(value);
  return through_text<float>(value, "real");
}

}  // namespace pgsilo
