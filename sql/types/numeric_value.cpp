#include "sql/types/numeric_value.h"

#include <charconv>

#include "sql/limits.h"
#include "sql/sql_error.h"

namespace pgsilo::numeric {

namespace {

// How many bytes the two's complement of `value` needs; none for 0.
size_t bytes_needed(Int128 value) {
  Uint128 bits = static_cast<Uint128>(value < 0 ? ~value : value);
  auto high = static_cast<uint64_t>(bits >> 64);
  auto low = static_cast<uint64_t>(bits);
  if (value == 0) return 0;
  int used = high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
  return static_cast<size_t>(used) / 8 + 1;
}

int floor_divide(int dividend, int divisor) {
  int quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

int count_digits(Uint128 magnitude) {
  // 10^k is about 2^(3.32 k): one comparison corrects the estimate by bits.
  auto high = static_cast<uint64_t>(magnitude >> 64);
  auto low = static_cast<uint64_t>(magnitude);
  int bits = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(low | 1);
  int estimate = bits * 1233 >> 12;
  int digits = estimate + (magnitude >= power_of_ten[static_cast<size_t>(estimate)] ? 1 : 0);
  return digits == 0 ? 1 : digits;
}

Datum make_small(Int128 unscaled, int scale, Arena& arena) {
  size_t bytes = bytes_needed(unscaled);
  // Stored whole, of which `bytes` count: cheaper than a copy of a length that varies.
  char* place = static_cast<char*>(arena.allocate(header_bytes + (bytes <= 8 ? 8 : 16), 1));
  store_le16(place, static_cast<uint16_t>(scale));
  store_le64(place + header_bytes, static_cast<uint64_t>(unscaled));
  if (bytes > 8) {
    store_le64(place + header_bytes + 8,
               static_cast<uint64_t>(static_cast<Uint128>(unscaled) >> 64));
  }
  return Datum::of_bytes({place, header_bytes + bytes});
}

Datum make_special(uint16_t header) {
  static constexpr char nan[] = {'\x00', '\xc0'};
  static constexpr char infinity[] = {'\x01', '\xc0'};
  static constexpr char minus_infinity[] = {'\x02', '\xc0'};
  const char* bytes = header == special_nan        ? nan
                      : header == special_infinity ? infinity
                                                   : minus_infinity;
  return Datum::of_bytes({bytes, header_bytes});
}

void throw_overflow() {
  throw SqlError(sqlstate::numeric_value_out_of_range, "value overflows numeric format");
}

mpz_class to_big(Int128 value) {
  mpz_class result;
  Uint128 magnitude = magnitude_of(value);
  mpz_import(result.get_mpz_t(), 1, -1, sizeof magnitude, 0, 0, &magnitude);
  if (value < 0) mpz_neg(result.get_mpz_t(), result.get_mpz_t());
  return result;
}

Decimal decimal_of(Datum value) {
  Decimal decimal;
  decimal.scale = scale_of(value);
  if (is_small(value)) {
    decimal.unscaled = to_big(small_unscaled(value));
    return decimal;
  }
  mpz_import(decimal.unscaled.get_mpz_t(), (value.length - header_bytes) / 8, -1, 8, -1, 0,
             value.ptr + header_bytes);
  if ((header_of(value) & form_mask) == form_negative) {
    mpz_neg(decimal.unscaled.get_mpz_t(), decimal.unscaled.get_mpz_t());
  }
  return decimal;
}

int count_digits(const mpz_class& value) {
  if (value == 0) return 1;
  // mpz_sizeinbase may be one too large.
  auto digits = static_cast<int>(mpz_sizeinbase(value.get_mpz_t(), 10));
  mpz_class bound = power_of_ten_big(digits - 1);
  return mpz_cmpabs(value.get_mpz_t(), bound.get_mpz_t()) < 0 ? digits - 1 : digits;
}

Datum make_number(const mpz_class& unscaled, int scale, Arena& arena) {
  if (scale > limits::max_numeric_fraction_digits) throw_overflow();
  size_t bits = mpz_sizeinbase(unscaled.get_mpz_t(), 2);
  if (bits <= 127) {
    Uint128 magnitude = 0;
    mpz_export(&magnitude, nullptr, -1, sizeof magnitude, 0, 0, unscaled.get_mpz_t());
    if (magnitude < power_of_ten[max_power]) {
      Int128 value = static_cast<Int128>(magnitude);
      return make_small(unscaled < 0 ? -value : value, scale, arena);
    }
  }
  // 3 bits are less than a decimal digit: only numbers near the limit are counted exactly.
  if (bits / 3 > static_cast<size_t>(limits::max_numeric_integer_digits) &&
      count_digits(unscaled) - scale > limits::max_numeric_integer_digits) {
    throw_overflow();
  }
  size_t limbs = (bits + 63) / 64;
  size_t bytes = header_bytes + 8 * limbs;
  char* place = static_cast<char*>(arena.allocate(bytes, 1));
  uint16_t form = unscaled < 0 ? form_negative : form_positive;
  store_le16(place, static_cast<uint16_t>(form | scale));
  mpz_export(place + header_bytes, nullptr, -1, 8, -1, 0, unscaled.get_mpz_t());
  return Datum::of_bytes({place, bytes});
}

mpz_class power_of_ten_big(int power) {
  mpz_class result;
  mpz_ui_pow_ui(result.get_mpz_t(), 10, static_cast<unsigned long>(power));
  return result;
}

mpz_class divide_rounded(const mpz_class& dividend, const mpz_class& divisor) {
  mpz_class quotient;
  mpz_class remainder;
  mpz_tdiv_qr(quotient.get_mpz_t(), remainder.get_mpz_t(), dividend.get_mpz_t(),
              divisor.get_mpz_t());
  mpz_mul_2exp(remainder.get_mpz_t(), remainder.get_mpz_t(), 1);
  if (mpz_cmpabs(remainder.get_mpz_t(), divisor.get_mpz_t()) >= 0) {
    bool negative = (dividend < 0) != (divisor < 0);
    quotient += negative ? -1 : 1;
  }
  return quotient;
}

mpz_class rescale(const mpz_class& unscaled, int from_scale, int to_scale) {
  if (to_scale >= from_scale) return unscaled * power_of_ten_big(to_scale - from_scale);
  return divide_rounded(unscaled, power_of_ten_big(from_scale - to_scale));
}

mpz_class rescale_truncated(const mpz_class& unscaled, int from_scale, int to_scale) {
  if (to_scale >= from_scale) return unscaled * power_of_ten_big(to_scale - from_scale);
  return unscaled / power_of_ten_big(from_scale - to_scale);
}

int sign_of(Datum value) {
  switch (header_of(value) & form_mask) {
    case form_positive:
      return 1;
    case form_negative:
      return -1;
    case form_small: {
      Int128 unscaled = small_unscaled(value);
      return unscaled < 0 ? -1 : unscaled > 0;
    }
    default:
      return is_nan(value) ? 0 : header_of(value) == special_infinity ? 1 : -1;
  }
}

LeadingGroup leading_group(const mpz_class& unscaled, int scale) {
  if (unscaled == 0) return {};
  int digits = count_digits(unscaled);
  int exponent = digits - 1 - scale;
  int weight = floor_divide(exponent, digits_per_group);
  int in_group = exponent - weight * digits_per_group + 1;
  mpz_class group = abs(unscaled);
  if (digits >= in_group) {
    group /= power_of_ten_big(digits - in_group);
  } else {
    group *= power_of_ten_big(in_group - digits);
  }
  return {weight, static_cast<int>(group.get_si())};
}

LeadingGroup leading_group(Int128 unscaled, int scale) {
  if (unscaled == 0) return {};
  Uint128 group = magnitude_of(unscaled);
  int digits = count_digits(group);
  int exponent = digits - 1 - scale;
  int weight = floor_divide(exponent, digits_per_group);
  int in_group = exponent - weight * digits_per_group + 1;
  if (digits >= in_group) {
    group /= power_of_ten[static_cast<size_t>(digits - in_group)];
  } else {
    group *= power_of_ten[static_cast<size_t>(in_group - digits)];
  }
  return {weight, static_cast<int>(group)};
}

Digits::Digits(Datum value) {
  if (!is_small(value)) {
    mpz_class magnitude = abs(decimal_of(value).unscaled);
    large_ = magnitude.get_str();
    view_ = large_;
    return;
  }
  Uint128 magnitude = magnitude_of(small_unscaled(value));
  char* const end = small_ + sizeof small_;
  char* at = small_;
  // Two halves of at most 19 digits, which fit 64 bits.
  constexpr auto half = static_cast<uint64_t>(power_of_ten[19]);
  if (magnitude >= half) {
    at = std::to_chars(at, end, static_cast<uint64_t>(magnitude / half)).ptr;
    auto low = static_cast<uint64_t>(magnitude % half);
    for (int i = 18; i >= 0; --i) {
      at[i] = static_cast<char>('0' + low % 10);
      low /= 10;
    }
    at += 19;
  } else {
    at = std::to_chars(at, end, static_cast<uint64_t>(magnitude)).ptr;
  }
  view_ = {small_, static_cast<size_t>(at - small_)};
}

}  // namespace pgsilo::numeric
