#include "sql/types/key_numeric.h"

#include <string_view>

#include "base/byte_buffer.h"
#include "sql/types/numeric_value.h"

namespace pgsilo {

namespace {

constexpr char class_minus_infinity = 0;
constexpr char class_negative = 1;
constexpr char class_zero = 2;
constexpr char class_positive = 3;
constexpr char class_infinity = 4;
constexpr char class_nan = 5;
constexpr int exponent_bias = 1 << 23;

char special_class(Datum value) {
  if (numeric::is_nan(value)) return class_nan;
  return numeric::sign_of(value) < 0 ? class_minus_infinity : class_infinity;
}

}  // namespace

void encode_numeric_key(Datum value, ByteBuffer& out) {
  if (numeric::is_special(value)) {
    out.append(special_class(value));
    return;
  }
  int sign = numeric::sign_of(value);
  if (sign == 0) {
    out.append(class_zero);
    return;
  }
  out.append(sign < 0 ? class_negative : class_positive);
  size_t start = out.size();
  numeric::Digits all(value);
  std::string_view digits = all.view();
  // 0.d1d2d3... * 10^exponent
  int exponent = static_cast<int>(digits.size()) - numeric::scale_of(value);
  auto biased = static_cast<uint32_t>(exponent + exponent_bias);
  out.append(static_cast<char>(biased >> 16));
  out.append_be16(static_cast<uint16_t>(biased));
  while (digits.back() == '0') digits.remove_suffix(1);
  for (size_t i = 0; i < digits.size(); i += 2) {
    int pair = (digits[i] - '0') * 10 + (i + 1 < digits.size() ? digits[i + 1] - '0' : 0);
    out.append(static_cast<char>(pair + 1));
  }
  out.append('\0');
  if (sign > 0) return;
  for (char* byte = out.data() + start; byte != out.data() + out.size(); ++byte) {
    *byte = static_cast<char>(~*byte);
  }
}

}  // namespace pgsilo
