// Arithmetic and bits of int2, int4 and int8, alone and mixed; mixed operands compute in the wider
// type.
#include "sql/types/integer.h"
#include "executor/functions/function.h"

namespace pgsilo::functions {
namespace {

template <typename Int>
using BinaryOperation = Int (*)(Int, Int);

template <typename Int, BinaryOperation<Int> operation>
Datum binary(EvalContext&, const Datum* a) {
  return Datum::of_int(operation(static_cast<Int>(a[0].i64), static_cast<Int>(a[1].i64)));
}
template <typename Int, Int (*operation)(Int)>
Datum unary(EvalContext&, const Datum* a) {
  return Datum::of_int(operation(static_cast<Int>(a[0].i64)));
}
template <typename Int, Int (*operation)(Int, int32_t)>
Datum shift(EvalContext&, const Datum* a) {
  return Datum::of_int(operation(static_cast<Int>(a[0].i64), static_cast<int32_t>(a[1].i64)));
}

// Sign extension keeps bit operations of every width right in 64 bits.
Datum bit_and(EvalContext&, const Datum* a) { return Datum::of_int(a[0].i64 & a[1].i64); }
Datum bit_or(EvalContext&, const Datum* a) { return Datum::of_int(a[0].i64 | a[1].i64); }
Datum bit_xor(EvalContext&, const Datum* a) { return Datum::of_int(a[0].i64 ^ a[1].i64); }
Datum bit_not(EvalContext&, const Datum* a) { return Datum::of_int(~a[0].i64); }
Datum identity(EvalContext&, const Datum* a) { return a[0]; }

#define ARITHMETIC(Int, add, sub, mul, div)                           \
  {add, binary<Int, int_add<Int>>}, {sub, binary<Int, int_sub<Int>>}, \
      {mul, binary<Int, int_mul<Int>>}, {                             \
    div, binary<Int, int_div<Int>>                                    \
  }
#define ONE_WIDTH(Int, mod, abs, minus, plus)                        \
  {mod, binary<Int, int_mod<Int>>}, {abs, unary<Int, int_abs<Int>>}, \
      {minus, unary<Int, int_negate<Int>>}, {                        \
    plus, identity                                                   \
  }
#define BITS(Int, and_, or_, xor_, not_, left, right)               \
  {and_, bit_and}, {or_, bit_or}, {xor_, bit_xor}, {not_, bit_not}, \
      {left, shift<Int, int_shift_left<Int>>}, {                    \
    right, shift<Int, int_shift_right<Int>>                         \
  }

constexpr FunctionEntry entries[] = {
    ARITHMETIC(int16_t, 176, 180, 152, 153),
    ARITHMETIC(int32_t, 177, 181, 141, 154),
    ARITHMETIC(int64_t, 463, 464, 465, 466),
    ARITHMETIC(int32_t, 178, 182, 170, 172),      // int2, int4
    ARITHMETIC(int32_t, 179, 183, 171, 173),      // int4, int2
    ARITHMETIC(int64_t, 841, 942, 943, 948),      // int2, int8
    ARITHMETIC(int64_t, 837, 838, 839, 840),      // int8, int2
    ARITHMETIC(int64_t, 1278, 1279, 1280, 1281),  // int4, int8
    ARITHMETIC(int64_t, 1274, 1275, 1276, 1277),  // int8, int4
    ONE_WIDTH(int16_t, 155, 1253, 213, 1911),
    ONE_WIDTH(int32_t, 156, 1251, 212, 1912),
    ONE_WIDTH(int64_t, 945, 1230, 462, 1910),
    {940, binary<int16_t, int_mod<int16_t>>},  // mod()
    {941, binary<int32_t, int_mod<int32_t>>},
    {947, binary<int64_t, int_mod<int64_t>>},
    {1398, unary<int16_t, int_abs<int16_t>>},  // abs()
    {1397, unary<int32_t, int_abs<int32_t>>},
    {1396, unary<int64_t, int_abs<int64_t>>},
    {5044, binary<int32_t, int_gcd<int32_t>>},
    {5045, binary<int64_t, int_gcd<int64_t>>},
    {5046, binary<int32_t, int_lcm<int32_t>>},
    {5047, binary<int64_t, int_lcm<int64_t>>},
    BITS(int16_t, 1892, 1893, 1894, 1895, 1896, 1897),
    BITS(int32_t, 1898, 1899, 1900, 1901, 1902, 1903),
    BITS(int64_t, 1904, 1905, 1906, 1907, 1908, 1909),
};

#undef ARITHMETIC
#undef ONE_WIDTH
#undef BITS

}  // namespace

std::span<const FunctionEntry> integer() { return entries; }

}  // namespace pgsilo::functions
