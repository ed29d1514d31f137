#include "sql/ast/constant.h"

#include <charconv>

#include "sql/ast/make_node.h"

namespace pgsilo::ast {

NumberValue number_value(std::string_view digits, bool negative) {
  constexpr uint64_t int8_limit = uint64_t{1} << 63;
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  bool is_integer = error == std::errc() && end == digits.data() + digits.size() &&
                    (negative ? magnitude <= int8_limit : magnitude < int8_limit);
  if (!is_integer) return {};
  auto integer = static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
  bool fits_int4 = integer == static_cast<int32_t>(integer);
  return {fits_int4 ? type_oid::int4 : type_oid::int8, integer};
}

NumberValue number_value(const Constant& decimal) {
  bool negative = decimal.text.starts_with('-');
  return number_value(decimal.text.substr(negative ? 1 : 0), negative);
}

Constant* make_constant(Arena& arena, ConstantKind kind, int32_t location) {
  auto* constant = make_node<Constant>(arena, location);
  constant->constant_kind = kind;
  return constant;
}

Constant* make_integer(Arena& arena, int32_t value, int32_t location) {
  Constant* constant = make_constant(arena, ConstantKind::integer, location);
  constant->integer = value;
  return constant;
}

Constant* make_boolean(Arena& arena, bool value, int32_t location) {
  Constant* constant = make_constant(arena, ConstantKind::boolean, location);
  constant->boolean = value;
  return constant;
}

Constant* make_text_constant(Arena& arena, ConstantKind kind, std::string_view text,
                             int32_t location) {
  Constant* constant = make_constant(arena, kind, location);
  constant->text = arena.copy_string(text);
  return constant;
}

Constant* make_number(Arena& arena, std::string_view digits, bool negative, int32_t location) {
  NumberValue value = number_value(digits, /*negative=*/false);
  if (value.type == type_oid::int4) {
    auto integer = static_cast<int32_t>(value.integer);
    return make_integer(arena, negative ? -integer : integer, location);
  }
  Constant* constant = make_constant(arena, ConstantKind::decimal, location);
  constant->text = signed_digits(arena, digits, negative);
  return constant;
}

std::string_view signed_digits(Arena& arena, std::string_view digits, bool negative) {
  if (!negative) return arena.copy_string(digits);
  auto* copy = static_cast<char*>(arena.allocate(digits.size() + 1, 1));
  copy[0] = '-';
  digits.copy(copy + 1, digits.size());
  return {copy, digits.size() + 1};
}

}  // namespace pgsilo::ast
