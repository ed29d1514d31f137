// The packed form of numeric (numeric.h), taken apart and put together. Internal to the
// numeric_*.cpp files, which are the only ones that see GMP. Thread safety: pure functions.
#pragma once

#include <gmpxx.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/byte_order.h"
#include "sql/types/datum.h"

namespace pgsilo::numeric {

using Int128 = __int128;
using Uint128 = unsigned __int128;

inline constexpr uint16_t form_mask = 0xc000;
inline constexpr uint16_t form_small = 0x0000;
inline constexpr uint16_t form_positive = 0x4000;
inline constexpr uint16_t form_negative = 0x8000;
inline constexpr uint16_t form_special = 0xc000;
inline constexpr uint16_t special_nan = 0xc000;
inline constexpr uint16_t special_infinity = 0xc001;
inline constexpr uint16_t special_minus_infinity = 0xc002;
inline constexpr uint16_t scale_mask = 0x3fff;
inline constexpr size_t header_bytes = 2;

// Scales that PostgreSQL's rules name: significant digits that a quotient has at least, the largest
// scale that division and functions choose themselves, the bound on explicit rounding.
inline constexpr int min_significant_digits = 16;
inline constexpr int max_display_scale = 1000;
inline constexpr int max_result_scale = 2000;
// PostgreSQL's digits hold four decimal digits; its choice of scales depends on that.
inline constexpr int digits_per_group = 4;

inline constexpr int max_power = 38;
inline constexpr auto power_of_ten = [] {
  std::array<Uint128, max_power + 1> powers{};
  powers[0] = 1;
  for (int i = 1; i <= max_power; ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

inline uint16_t header_of(Datum value) { return load_le16(value.ptr); }
inline bool is_small(Datum value) { return (header_of(value) & form_mask) == form_small; }
inline bool is_special(Datum value) { return (header_of(value) & form_mask) == form_special; }
inline bool is_nan(Datum value) { return header_of(value) == special_nan; }
inline int scale_of(Datum value) { return header_of(value) & scale_mask; }

// `count` (1 to 8) little-endian bytes, sign-extended, by loads of fixed width.
inline int64_t load_signed(const char* from, size_t count) {
  auto byte = [&](size_t at) {
    return static_cast<uint64_t>(static_cast<unsigned char>(from[at]));
  };
  uint64_t word = 0;
  switch (count) {
    case 8:
      return static_cast<int64_t>(load_le64(from));
    case 7:
      word = byte(6) << 48;
      [[fallthrough]];
    case 6:
      word |= byte(5) << 40;
      [[fallthrough]];
    case 5:
      word |= byte(4) << 32;
      [[fallthrough]];
    case 4:
      word |= load_le32(from);
      break;
    case 3:
      word = byte(2) << 16;
      [[fallthrough]];
    case 2:
      word |= load_le16(from);
      break;
    default:
      word = byte(0);
  }
  int unused = static_cast<int>(64 - 8 * count);
  return static_cast<int64_t>(word << unused) >> unused;
}

inline Int128 small_unscaled(Datum value) {
  size_t bytes = value.length - header_bytes;
  const char* from = value.ptr + header_bytes;
  if (bytes == 0) return 0;
  if (bytes <= 8) return load_signed(from, bytes);
  return static_cast<Int128>(load_signed(from + 8, bytes - 8)) << 64 | load_le64(from);
}

inline Uint128 magnitude_of(Int128 value) {
  return value < 0 ? Uint128{0} - static_cast<Uint128>(value) : static_cast<Uint128>(value);
}
inline bool fits_small(Int128 value) { return magnitude_of(value) < power_of_ten[max_power]; }
// value * 10^power, power >= 0; false when it does not fit 128 bits.
inline bool scale_up(Int128 value, int power, Int128* result) {
  if (power == 0 || value == 0) {
    *result = value;
    return true;
  }
  if (power <= 18 && value == static_cast<int64_t>(value)) {
    *result = value * static_cast<int64_t>(power_of_ten[static_cast<size_t>(power)]);
    return true;
  }
  return power <= max_power &&
         !__builtin_mul_overflow(
             value, static_cast<Int128>(power_of_ten[static_cast<size_t>(power)]), result);
}

// Decimal digits of a magnitude; 1 for 0.
int count_digits(Uint128 magnitude);

// |unscaled| < 10^38, scale in 0..16383.
Datum make_small(Int128 unscaled, int scale, Arena& arena);
Datum make_special(uint16_t header);
inline Datum make_nan() { return make_special(special_nan); }
inline Datum make_infinity(bool negative) {
  return make_special(negative ? special_minus_infinity : special_infinity);
}

// A finite number of any size.
struct Decimal {
  mpz_class unscaled;
  int scale = 0;
};
Decimal decimal_of(Datum value);
// Packs; throws 22003 "value overflows numeric format" beyond PostgreSQL's limits.
Datum make_number(const mpz_class& unscaled, int scale, Arena& arena);
inline Datum make_number(const Decimal& value, Arena& arena) {
  return make_number(value.unscaled, value.scale, arena);
}
[[noreturn]] void throw_overflow();

mpz_class power_of_ten_big(int power);
// Quotient rounded half away from zero; divisor not zero.
mpz_class divide_rounded(const mpz_class& dividend, const mpz_class& divisor);
// The number at another scale: rounded half away from zero, or truncated.
mpz_class rescale(const mpz_class& unscaled, int from_scale, int to_scale);
mpz_class rescale_truncated(const mpz_class& unscaled, int from_scale, int to_scale);
int count_digits(const mpz_class& value);
mpz_class to_big(Int128 value);

// Sign of a number or infinity: -1, 0, 1; NaN is 0.
int sign_of(Datum value);

// The leading group of four decimal digits, aligned at the decimal point, and its position: what
// PostgreSQL calls the first digit and the weight. 0 and 0 for zero.
struct LeadingGroup {
  int weight = 0;
  int digits = 0;
};
LeadingGroup leading_group(const mpz_class& unscaled, int scale);
LeadingGroup leading_group(Int128 unscaled, int scale);

// The decimal digits of the magnitude of a finite number, without sign, point and leading zeros
// ("0" for zero). Those of a small one are in a buffer of the object itself.
class Digits {
 public:
  explicit Digits(Datum value);
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
  std::string_view view() const { return view_; }

 private:
  char small_[max_power + 2];
  std::string large_;
  std::string_view view_;
};

}  // namespace pgsilo::numeric
