// numeric: rounding, scales, declared precision, and the integer functions gcd, lcm, width_bucket.
#include <algorithm>

#include "sql/limits.h"
#include "sql/sql_error.h"
#include "sql/types/integer.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_value.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

using namespace numeric;

namespace {

enum class Direction { nearest, zero, up, down };

// Whether dropping `remainder` (of a division by `divisor`, of the sign of the dividend) moves the
// quotient away from zero.
bool moves_away(Direction direction, int sign, bool any, bool half) {
  switch (direction) {
    case Direction::nearest:
      return half;
    case Direction::zero:
      return false;
    case Direction::up:
      return any && sign > 0;
    case Direction::down:
      return any && sign < 0;
  }
  __builtin_unreachable();
}

// The number with its digits below 10^-scale dropped; unscaled at that scale (which may be
// negative).
mpz_class drop_digits(const mpz_class& unscaled, int digits, Direction direction) {
  mpz_class divisor = power_of_ten_big(digits);
  mpz_class quotient;
  mpz_class remainder;
  mpz_tdiv_qr(quotient.get_mpz_t(), remainder.get_mpz_t(), unscaled.get_mpz_t(),
              divisor.get_mpz_t());
  int sign = sgn(unscaled);
  bool any = remainder != 0;
  remainder *= 2;
  bool half = mpz_cmpabs(remainder.get_mpz_t(), divisor.get_mpz_t()) >= 0;
  if (moves_away(direction, sign, any, half)) quotient += sign;
  return quotient;
}

Int128 drop_digits(Int128 unscaled, int digits, Direction direction) {
  Int128 divisor = static_cast<Int128>(power_of_ten[static_cast<size_t>(digits)]);
  Int128 quotient = unscaled / divisor;
  Uint128 remainder = magnitude_of(unscaled % divisor);
  int sign = unscaled < 0 ? -1 : 1;
  bool half = remainder >= static_cast<Uint128>(divisor) - remainder;
  if (moves_away(direction, sign, remainder != 0, half)) quotient += sign;
  return quotient;
}

// To `scale` digits after the point, before it when negative; the result's own scale is never
// negative.
Datum change_scale(Datum value, int scale, Direction direction, Arena& arena) {
  if (is_special(value)) return value;
  int dropped = scale_of(value) - scale;
  int kept_scale = std::max(scale, 0);
  if (dropped == 0) return value;
  if (is_small(value)) {
    Int128 unscaled = small_unscaled(value);
    Int128 result;
    if (dropped < 0) {
      if (scale_up(unscaled, -dropped, &result) && fits_small(result)) {
        return make_small(result, kept_scale, arena);
      }
    } else if (dropped <= max_power) {
      result = drop_digits(unscaled, dropped, direction);
      if (scale_up(result, kept_scale - scale, &result) && fits_small(result)) {
        return make_small(result, kept_scale, arena);
      }
    }
  }
  Decimal decimal = decimal_of(value);
  if (dropped < 0) {
    return make_number(decimal.unscaled * power_of_ten_big(-dropped), kept_scale, arena);
  }
  mpz_class result = drop_digits(decimal.unscaled, dropped, direction);
  return make_number(result * power_of_ten_big(kept_scale - scale), kept_scale, arena);
}

// No number has digits beyond these places.
int clamp_scale(int32_t scale) {
  return std::clamp(scale, -limits::max_numeric_integer_digits - 1,
                    limits::max_numeric_fraction_digits);
}

int least_scale(Datum value) {
  int scale = scale_of(value);
  if (sign_of(value) == 0) return 0;
  if (is_small(value)) {
    Int128 unscaled = small_unscaled(value);
    for (; scale > 0 && unscaled % 10 == 0; --scale) unscaled /= 10;
    return scale;
  }
  mpz_class unscaled = decimal_of(value).unscaled;
  while (scale > 0 && mpz_divisible_ui_p(unscaled.get_mpz_t(), 10)) {
    unscaled /= 10;
    --scale;
  }
  return scale;
}

int typmod_precision(int32_t typmod) { return ((typmod - typmod_header) >> 16) & 0xffff; }
// Eleven bits, signed.
int typmod_scale(int32_t typmod) { return (((typmod - typmod_header) & 0x7ff) ^ 1024) - 1024; }

[[noreturn]] void throw_field_overflow(int precision, int scale, std::string end) {
  throw SqlError(sqlstate::numeric_value_out_of_range, "numeric field overflow")
      .detail(concat("A field with precision ", precision, ", scale ", scale, " ", end));
}

}  // namespace

Datum numeric_round(Datum value, int32_t scale, Arena& arena) {
  return change_scale(value, clamp_scale(scale), Direction::nearest, arena);
}

Datum numeric_trunc(Datum value, int32_t scale, Arena& arena) {
  return change_scale(value, clamp_scale(scale), Direction::zero, arena);
}

Datum numeric_ceil(Datum value, Arena& arena) {
  return change_scale(value, 0, Direction::up, arena);
}

Datum numeric_floor(Datum value, Arena& arena) {
  return change_scale(value, 0, Direction::down, arena);
}

Datum numeric_scale(Datum value) {
  return is_special(value) ? Datum::null_value() : Datum::of_int(scale_of(value));
}

Datum numeric_min_scale(Datum value) {
  return is_special(value) ? Datum::null_value() : Datum::of_int(least_scale(value));
}

Datum numeric_trim_scale(Datum value, Arena& arena) {
  if (is_special(value)) return value;
  return change_scale(value, least_scale(value), Direction::zero, arena);
}

Datum numeric_apply_typmod(Datum value, int32_t typmod, bool, Arena& arena) {
  if (typmod < typmod_header || is_nan(value)) return value;
  int precision = typmod_precision(typmod);
  int scale = typmod_scale(typmod);
  if (is_special(value)) throw_field_overflow(precision, scale, "cannot hold an infinite value.");
  Datum rounded = change_scale(value, scale, Direction::nearest, arena);
  if (sign_of(rounded) == 0) return rounded;
  int digits = is_small(rounded) ? count_digits(magnitude_of(small_unscaled(rounded)))
                                 : count_digits(decimal_of(rounded).unscaled);
  int integer_digits = precision - scale;
  if (digits - scale_of(rounded) > integer_digits) {
    throw_field_overflow(
        precision, scale,
        concat("must round to an absolute value less than ", integer_digits == 0 ? "" : "10^",
               integer_digits == 0 ? 1 : integer_digits, "."));
  }
  return rounded;
}

// Euclid on the unscaled numbers at the larger scale.
Datum numeric_gcd(Datum left, Datum right, Arena& arena) {
  if (is_nan(left) || is_nan(right) || is_special(left) || is_special(right)) return make_nan();
  Decimal a = decimal_of(left);
  Decimal b = decimal_of(right);
  int scale = std::max(a.scale, b.scale);
  return make_number(gcd(rescale(a.unscaled, a.scale, scale), rescale(b.unscaled, b.scale, scale)),
                     scale, arena);
}

Datum numeric_lcm(Datum left, Datum right, Arena& arena) {
  if (is_nan(left) || is_nan(right) || is_special(left) || is_special(right)) return make_nan();
  Decimal a = decimal_of(left);
  Decimal b = decimal_of(right);
  int scale = std::max(a.scale, b.scale);
  return make_number(lcm(rescale(a.unscaled, a.scale, scale), rescale(b.unscaled, b.scale, scale)),
                     scale, arena);
}

int32_t numeric_width_bucket(Datum operand, Datum low, Datum high, int32_t count, Arena& arena) {
  auto fail = [](std::string_view message) {
    throw SqlError(sqlstate::invalid_argument_for_width_bucket_function, std::string(message));
  };
  if (count <= 0) fail("count must be greater than zero");
  if (is_nan(operand) || is_nan(low) || is_nan(high)) {
    fail("operand, lower bound, and upper bound cannot be NaN");
  }
  if (is_special(low) || is_special(high)) fail("lower and upper bounds must be finite");
  int direction = numeric_compare(low, high);
  if (direction == 0) fail("lower bound cannot equal upper bound");
  bool ascending = direction < 0;
  int from_low = numeric_compare(operand, low);
  int from_high = numeric_compare(operand, high);
  if (ascending ? from_low < 0 : from_low > 0) return 0;
  if (ascending ? from_high >= 0 : from_high <= 0) return int_add<int32_t>(count, 1);
  Datum distance = numeric_sub(operand, low, arena);
  Datum width = numeric_sub(high, low, arena);
  Datum scaled = numeric_mul(distance, numeric_from_integer(count, arena), arena);
  Datum bucket = numeric_div_trunc(scaled, width, arena);
  return static_cast<int32_t>(numeric_to_integer(bucket, 4)) + 1;
}

namespace types {

Datum apply_numeric_typmod(const TypeInfo&, Datum value, int32_t typmod, bool explicit_cast,
                           TypeContext& ctx) {
  return numeric_apply_typmod(value, typmod, explicit_cast, *ctx.arena);
}

int32_t make_numeric_typmod(std::span<const int32_t> modifiers) {
  if (modifiers.empty() || modifiers.size() > 2) {
    throw SqlError(sqlstate::invalid_parameter_value, "invalid NUMERIC type modifier");
  }
  int32_t precision = modifiers[0];
  int32_t scale = modifiers.size() == 2 ? modifiers[1] : 0;
  if (precision < 1 || precision > limits::max_numeric_precision) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("NUMERIC precision ", precision, " must be between 1 and ",
                          limits::max_numeric_precision));
  }
  if (scale < limits::min_numeric_scale || scale > limits::max_numeric_scale) {
    throw SqlError(sqlstate::invalid_parameter_value,
                   concat("NUMERIC scale ", scale, " must be between ", limits::min_numeric_scale,
                          " and ", limits::max_numeric_scale));
  }
  return ((precision << 16) | (scale & 0x7ff)) + typmod_header;
}

void print_numeric_typmod(int32_t typmod, ByteBuffer& out) {
  if (typmod < typmod_header) return;
  out.append('(');
  out.append_decimal(typmod_precision(typmod));
  out.append(',');
  out.append_decimal(typmod_scale(typmod));
  out.append(')');
}

}  // namespace types
}  // namespace pgsilo
