// numeric: the four operations, remainder, sign, comparison and hashing.
#include <algorithm>

#include "base/hash.h"
#include "sql/limits.h"
#include "sql/types/integer.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_value.h"

namespace pgsilo {

using namespace numeric;

namespace {

// The scale of a quotient: at least 16 significant digits, not less than either input's
// (PostgreSQL: select_div_scale).
int quotient_scale(const LeadingGroup& left, const LeadingGroup& right, int left_scale,
                   int right_scale) {
  int weight = left.weight - right.weight;
  if (left.digits <= right.digits) --weight;
  int scale = min_significant_digits - weight * digits_per_group;
  scale = std::max({scale, left_scale, right_scale, 0});
  return std::min(scale, max_display_scale);
}

// Both at the larger scale.
int align(Decimal* left, Decimal* right) {
  int scale = std::max(left->scale, right->scale);
  left->unscaled = rescale(left->unscaled, left->scale, scale);
  right->unscaled = rescale(right->unscaled, right->scale, scale);
  left->scale = right->scale = scale;
  return scale;
}

// The same for small numbers; false when one does not fit.
bool align_small(Datum left, Datum right, Int128* a, Int128* b, int* scale) {
  if (!is_small(left) || !is_small(right)) return false;
  int left_scale = scale_of(left);
  int right_scale = scale_of(right);
  *scale = std::max(left_scale, right_scale);
  return scale_up(small_unscaled(left), *scale - left_scale, a) &&
         scale_up(small_unscaled(right), *scale - right_scale, b);
}

// Infinity is its own sign, so adding signs tells Infinity + -Infinity.
Datum add_special(Datum left, Datum right, bool subtract) {
  if (is_nan(left) || is_nan(right)) return make_nan();
  int left_sign = is_special(left) ? sign_of(left) : 0;
  int right_sign = is_special(right) ? sign_of(right) : 0;
  if (subtract) right_sign = -right_sign;
  int sum = left_sign + right_sign;
  return sum == 0 ? make_nan() : make_infinity(sum < 0);
}

Datum add(Datum left, Datum right, bool subtract, Arena& arena) {
  if (is_special(left) || is_special(right)) return add_special(left, right, subtract);
  Int128 a;
  Int128 b;
  int scale;
  if (align_small(left, right, &a, &b, &scale)) {
    Int128 sum;
    bool overflow =
        subtract ? __builtin_sub_overflow(a, b, &sum) : __builtin_add_overflow(a, b, &sum);
    if (!overflow && fits_small(sum)) return make_small(sum, scale, arena);
  }
  Decimal x = decimal_of(left);
  Decimal y = decimal_of(right);
  scale = align(&x, &y);
  if (subtract) {
    x.unscaled -= y.unscaled;
  } else {
    x.unscaled += y.unscaled;
  }
  return make_number(x.unscaled, scale, arena);
}

Int128 divide_rounded(Int128 dividend, Int128 divisor) {
  Int128 quotient = dividend / divisor;
  Uint128 remainder = magnitude_of(dividend % divisor);
  Uint128 half_up =
      magnitude_of(divisor) - remainder;  // remainder >= divisor / 2, without overflow
  if (remainder >= half_up) quotient += (dividend < 0) != (divisor < 0) ? -1 : 1;
  return quotient;
}

}  // namespace

Datum numeric_add(Datum left, Datum right, Arena& arena) { return add(left, right, false, arena); }

Datum numeric_sub(Datum left, Datum right, Arena& arena) { return add(left, right, true, arena); }

Datum numeric_mul(Datum left, Datum right, Arena& arena) {
  if (is_special(left) || is_special(right)) {
    if (is_nan(left) || is_nan(right)) return make_nan();
    int sign = sign_of(left) * sign_of(right);
    return sign == 0 ? make_nan() : make_infinity(sign < 0);
  }
  int scale = scale_of(left) + scale_of(right);
  if (is_small(left) && is_small(right) && scale <= limits::max_numeric_fraction_digits) {
    Int128 product;
    if (!__builtin_mul_overflow(small_unscaled(left), small_unscaled(right), &product) &&
        fits_small(product)) {
      return make_small(product, scale, arena);
    }
  }
  mpz_class product = decimal_of(left).unscaled * decimal_of(right).unscaled;
  int kept = std::min(scale, limits::max_numeric_fraction_digits);
  return make_number(rescale(product, scale, kept), kept, arena);
}

Datum numeric_div(Datum left, Datum right, Arena& arena) {
  if (is_nan(left) || is_nan(right)) return make_nan();
  if (is_special(left)) {
    if (is_special(right)) return make_nan();
    if (sign_of(right) == 0) throw_division_by_zero();
    return make_infinity(sign_of(left) * sign_of(right) < 0);
  }
  if (is_special(right)) return make_small(0, 0, arena);
  if (sign_of(right) == 0) throw_division_by_zero();
  int left_scale = scale_of(left);
  int right_scale = scale_of(right);
  if (is_small(left) && is_small(right)) {
    Int128 a = small_unscaled(left);
    Int128 b = small_unscaled(right);
    int scale = quotient_scale(leading_group(a, left_scale), leading_group(b, right_scale),
                               left_scale, right_scale);
    // More digits than a quotient ever has: they are cut below.
    int shift = scale + right_scale - left_scale;
    if (shift >= 0 && scale_up(a, shift, &a)) {
      Int128 quotient = divide_rounded(a, b);
      if (fits_small(quotient)) return make_small(quotient, scale, arena);
    }
  }
  Decimal x = decimal_of(left);
  Decimal y = decimal_of(right);
  int scale = quotient_scale(leading_group(x.unscaled, left_scale),
                             leading_group(y.unscaled, right_scale), left_scale, right_scale);
  int shift = scale + right_scale - left_scale;
  if (shift >= 0) {
    x.unscaled *= power_of_ten_big(shift);
  } else {
    y.unscaled *= power_of_ten_big(-shift);
  }
  return make_number(divide_rounded(x.unscaled, y.unscaled), scale, arena);
}

Datum numeric_mod(Datum left, Datum right, Arena& arena) {
  if (is_nan(left) || is_nan(right)) return make_nan();
  if (is_special(left)) {
    if (sign_of(right) == 0) throw_division_by_zero();
    return make_nan();
  }
  if (is_special(right)) return left;
  if (sign_of(right) == 0) throw_division_by_zero();
  Int128 a;
  Int128 b;
  int scale;
  if (align_small(left, right, &a, &b, &scale)) return make_small(a % b, scale, arena);
  Decimal x = decimal_of(left);
  Decimal y = decimal_of(right);
  scale = align(&x, &y);
  return make_number(x.unscaled % y.unscaled, scale, arena);
}

Datum numeric_div_trunc(Datum left, Datum right, Arena& arena) {
  if (is_special(left) || is_special(right)) return numeric_div(left, right, arena);
  if (sign_of(right) == 0) throw_division_by_zero();
  Int128 a;
  Int128 b;
  int scale;
  if (align_small(left, right, &a, &b, &scale)) {
    return make_number(to_big(a) / to_big(b), 0, arena);
  }
  Decimal x = decimal_of(left);
  Decimal y = decimal_of(right);
  align(&x, &y);
  return make_number(x.unscaled / y.unscaled, 0, arena);
}

Datum numeric_negate(Datum value, Arena& arena) {
  if (is_special(value)) return is_nan(value) ? value : make_infinity(sign_of(value) > 0);
  if (is_small(value)) return make_small(-small_unscaled(value), scale_of(value), arena);
  // A large number's sign is a bit of its header.
  char* copy = static_cast<char*>(arena.allocate(value.length, 1));
  std::memcpy(copy, value.ptr, value.length);
  store_le16(copy, header_of(value) ^ (form_positive | form_negative));
  return Datum::of_bytes({copy, value.length});
}

Datum numeric_abs(Datum value, Arena& arena) {
  return sign_of(value) < 0 ? numeric_negate(value, arena) : value;
}

Datum numeric_sign(Datum value, Arena& arena) {
  return is_nan(value) ? value : make_small(sign_of(value), 0, arena);
}

int numeric_compare(Datum left, Datum right) {
  if (is_special(left) || is_special(right)) {
    // -Infinity < numbers < Infinity < NaN.
    auto rank = [](Datum value) {
      return !is_special(value) ? 0 : is_nan(value) ? 2 : sign_of(value);
    };
    int a = rank(left);
    int b = rank(right);
    return a < b ? -1 : a > b;
  }
  Int128 a;
  Int128 b;
  int scale;
  if (align_small(left, right, &a, &b, &scale)) return a < b ? -1 : a > b;
  Decimal x = decimal_of(left);
  Decimal y = decimal_of(right);
  align(&x, &y);
  int order = cmp(x.unscaled, y.unscaled);
  return order < 0 ? -1 : order > 0;
}

bool numeric_equal(Datum left, Datum right) {
  return left.bytes() == right.bytes() || numeric_compare(left, right) == 0;
}

// The value modulo the prime 2^61 - 1, so that 1.0 and 1.00 hash alike without finding their common
// form: division by 10^scale is multiplication by the inverse of 10 to that power.
uint64_t numeric_hash(Datum value) {
  constexpr uint64_t prime = (uint64_t{1} << 61) - 1;
  constexpr uint64_t inverse_of_ten = 2075258708292324556u;
  static_assert(static_cast<uint64_t>(static_cast<Uint128>(inverse_of_ten) * 10 % prime) == 1);
  if (is_special(value)) return hash_integer(header_of(value));
  uint64_t residue;
  if (is_small(value)) {
    Int128 unscaled = small_unscaled(value);
    residue = static_cast<uint64_t>(magnitude_of(unscaled) % prime);
  } else {
    residue = mpz_tdiv_ui(decimal_of(value).unscaled.get_mpz_t(), prime);
  }
  uint64_t factor = inverse_of_ten;
  for (int power = scale_of(value); power != 0; power >>= 1) {
    if (power & 1) residue = static_cast<uint64_t>(static_cast<Uint128>(residue) * factor % prime);
    factor = static_cast<uint64_t>(static_cast<Uint128>(factor) * factor % prime);
  }
  return hash_integer(sign_of(value) < 0 ? ~residue : residue);
}

bool numeric_is_nan(Datum value) { return is_nan(value); }

bool numeric_is_infinite(Datum value) { return is_special(value) && !is_nan(value); }

}  // namespace pgsilo
