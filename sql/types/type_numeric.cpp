// numeric: its entry in the table of types, and the binary form.
#include <string>

#include "sql/sql_error.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_value.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {

// The wire's signs.
constexpr uint16_t wire_positive = 0x0000;
constexpr uint16_t wire_negative = 0x4000;
constexpr uint16_t wire_nan = 0xc000;
constexpr uint16_t wire_infinity = 0xd000;
constexpr uint16_t wire_minus_infinity = 0xf000;
constexpr int wire_base = 10000;
constexpr size_t wire_header_bytes = 8;

[[noreturn]] void throw_malformed(std::string_view what) {
  throw SqlError(sqlstate::invalid_binary_representation,
                 concat("invalid ", what, " in external \"numeric\" value"));
}

void send_header(ByteBuffer& out, size_t groups, int weight, uint16_t sign, int scale) {
  out.append_be16(static_cast<uint16_t>(groups));
  out.append_be16(static_cast<uint16_t>(weight));
  out.append_be16(sign);
  out.append_be16(static_cast<uint16_t>(scale));
}

// A finite number's text from groups of four digits.
std::string text_of_groups(std::string_view groups, int weight, bool negative) {
  std::string text(negative ? "-" : "+");
  for (size_t at = 0; at < groups.size(); at += 2) {
    int group = load_be16(groups.data() + at);
    if (group >= wire_base) throw_malformed("digit");
    std::string digits = std::to_string(group);
    text.append(4 - digits.size(), '0').append(digits);
  }
  auto count = static_cast<int>(groups.size() / 2);
  if (count == 0) return "0";
  text += concat("e", 4 * (weight - count + 1));
  return text;
}

}  // namespace

Datum parse_numeric(const TypeInfo&, std::string_view text, int32_t typmod, TypeContext& ctx) {
  return pgsilo::parse_numeric(text, typmod, *ctx.arena);
}

void print_numeric(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  pgsilo::print_numeric(value, out);
}

Datum receive_numeric(const TypeInfo&, std::string_view bytes, int32_t typmod, TypeContext& ctx) {
  if (bytes.size() < wire_header_bytes) exact_bytes(bytes, wire_header_bytes);
  size_t count = load_be16(bytes.data());
  int weight = static_cast<int16_t>(load_be16(bytes.data() + 2));
  uint16_t sign = load_be16(bytes.data() + 4);
  uint16_t scale = load_be16(bytes.data() + 6);
  std::string_view groups = bytes.substr(wire_header_bytes);
  if (groups.size() != 2 * count) exact_bytes(groups, 2 * count);
  if ((scale & numeric::scale_mask) != scale) throw_malformed("scale");
  Datum value;
  if (sign == wire_positive || sign == wire_negative) {
    std::string text = text_of_groups(groups, weight, sign == wire_negative);
    // Digits beyond the scale are dropped, missing ones are zeros.
    Datum exact = pgsilo::parse_numeric(text, no_typmod, *ctx.arena);
    numeric::Decimal decimal = numeric::decimal_of(exact);
    value = numeric::make_number(numeric::rescale_truncated(decimal.unscaled, decimal.scale, scale),
                                 scale, *ctx.arena);
  } else if (sign == wire_nan) {
    value = numeric::make_nan();
  } else if (sign == wire_infinity || sign == wire_minus_infinity) {
    value = numeric::make_infinity(sign == wire_minus_infinity);
  } else {
    throw_malformed("sign");
  }
  return numeric_apply_typmod(value, typmod, false, *ctx.arena);
}

void send_numeric(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  if (numeric::is_special(value)) {
    bool nan = numeric::is_nan(value);
    bool negative = numeric::sign_of(value) < 0;
    uint16_t sign = nan ? wire_nan : negative ? wire_minus_infinity : wire_infinity;
    send_header(out, 0, 0, sign, nan ? 0 : 32);
    return;
  }
  int scale = numeric::scale_of(value);
  std::string digits(numeric::Digits(value).view());
  // All digits after the point, with the zeros in front of them.
  if (digits.size() < static_cast<size_t>(scale)) {
    digits.insert(0, static_cast<size_t>(scale) - digits.size(), '0');
  }
  // Whole groups on both sides of the point, then without the zero groups at both ends.
  digits.append(static_cast<size_t>((4 - scale % 4) % 4), '0');
  size_t fraction_groups = static_cast<size_t>((scale + 3) / 4);
  digits.insert(0, (4 - digits.size() % 4) % 4, '0');
  size_t first = 0;
  size_t end = digits.size() / 4;
  auto is_zero = [&](size_t group) { return digits.compare(4 * group, 4, "0000") == 0; };
  int weight = static_cast<int>(end - fraction_groups) - 1;
  while (first < end && is_zero(first)) {
    ++first;
    --weight;
  }
  while (end > first && is_zero(end - 1)) --end;
  if (first == end) weight = 0;
  send_header(out, end - first, weight, numeric::sign_of(value) < 0 ? wire_negative : wire_positive,
              scale);
  for (size_t group = first; group < end; ++group) {
    const char* at = digits.data() + 4 * group;
    out.append_be16(static_cast<uint16_t>((at[0] - '0') * 1000 + (at[1] - '0') * 100 +
                                          (at[2] - '0') * 10 + (at[3] - '0')));
  }
}

int compare_numeric(const TypeInfo&, Datum left, Datum right) {
  return pgsilo::numeric_compare(left, right);
}
bool equal_numeric(const TypeInfo&, Datum left, Datum right) {
  return pgsilo::numeric_equal(left, right);
}
uint64_t hash_numeric(const TypeInfo&, Datum value) { return pgsilo::numeric_hash(value); }

}  // namespace pgsilo::types
