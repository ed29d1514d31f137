#include "sql/types/key_numeric.h"

#include <string_view>

#include "base/byte_buffer.h"
#include "sql/types/numeric.h"

namespace pgsilo {
namespace {

enum SignClass : char { minus_infinity = 0, negative, zero, positive, plus_infinity, nan };
constexpr uint32_t exponent_bias = 1u << 23;

// What follows the class, for the digits of `text` = [-]ddd[.ddd].
void encode_digits(std::string_view text, char mask, ByteBuffer& out) {
  size_t point = text.find('.');
  size_t whole = point == std::string_view::npos ? text.size() : point;
  size_t first = text.find_first_of("123456789");
  size_t last = text.find_last_of("123456789");
  // 0.d1d2...: the exponent is how many digits stand before the point, counted from the first that
  // is not zero.
  int64_t exponent = first < whole ? static_cast<int64_t>(whole - first)
                                   : static_cast<int64_t>(whole) + 1 - static_cast<int64_t>(first);
  auto biased = static_cast<uint32_t>(exponent + exponent_bias);
  for (int shift = 16; shift >= 0; shift -= 8)
    out.append(static_cast<char>(static_cast<char>(biased >> shift) ^ mask));
  int pending = -1;
  for (size_t i = first; i <= last; ++i) {
    if (text[i] == '.') continue;
    int digit = text[i] - '0';
    if (pending < 0) {
      pending = digit * 10;
    } else {
      out.append(static_cast<char>(static_cast<char>(pending + digit + 1) ^ mask));
      pending = -1;
    }
  }
  if (pending >= 0) out.append(static_cast<char>(static_cast<char>(pending + 1) ^ mask));
  out.append(mask);
}

}  // namespace

void encode_numeric_key(Datum value, ByteBuffer& out) {
  if (numeric_is_nan(value)) {
    out.append(static_cast<char>(nan));
    return;
  }
  ByteBuffer digits;
  print_numeric(value, digits);
  std::string_view text = digits.view();
  bool is_negative = text.front() == '-';
  if (is_negative) text.remove_prefix(1);
  if (numeric_is_infinite(value)) {
    out.append(static_cast<char>(is_negative ? minus_infinity : plus_infinity));
    return;
  }
  if (text.find_first_of("123456789") == std::string_view::npos) {
    out.append(static_cast<char>(zero));
    return;
  }
  out.append(static_cast<char>(is_negative ? negative : positive));
  encode_digits(text, is_negative ? static_cast<char>(0xff) : '\0', out);
}

}  // namespace pgsilo
