// What a literal of SQL's text is: the one place that says so, for the parser, for who reads texts
// without it, and for the binder. Thread safety: pure functions; the arena's.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "sql/ast/expressions.h"
#include "sql/types/type_oid.h"

namespace pgsilo::ast {

// A number as PostgreSQL takes it (scan.l, doNegate, make_const): int4 or int8 if all of it is
// digits and the value fits, else numeric.
struct NumberValue {
  Oid type = type_oid::numeric;
  int64_t integer = 0;  // int4, int8
};
// `digits` without a sign.
NumberValue number_value(std::string_view digits, bool negative);
// Of a decimal constant, whose text has it.
NumberValue number_value(const Constant& decimal);

Constant* make_constant(Arena& arena, ConstantKind kind, int32_t location);
Constant* make_integer(Arena& arena, int32_t value, int32_t location);
Constant* make_boolean(Arena& arena, bool value, int32_t location);
// `text`: of decimal, string and bit_string; it is copied.
Constant* make_text_constant(Arena& arena, ConstantKind kind, std::string_view text,
                             int32_t location);
// As the grammar makes it: an integer if its digits alone fit int4, else a decimal.
Constant* make_number(Arena& arena, std::string_view digits, bool negative, int32_t location);
// The digits with their sign.
std::string_view signed_digits(Arena& arena, std::string_view digits, bool negative);

}  // namespace pgsilo::ast
