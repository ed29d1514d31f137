// Steps for the procedures that run most: comparisons of everything that compares as an integer,
// integer arithmetic, equality of text. They save the argument copies and the call.
#include <algorithm>
#include <span>

#include "executor/expression/steps.h"
#include "sql/types/integer.h"

namespace pgsilo::steps {

namespace {

struct Equal {
  static bool test(int64_t left, int64_t right) { return left == right; }
};
struct NotEqual {
  static bool test(int64_t left, int64_t right) { return left != right; }
};
struct Less {
  static bool test(int64_t left, int64_t right) { return left < right; }
};
struct LessOrEqual {
  static bool test(int64_t left, int64_t right) { return left <= right; }
};
struct Greater {
  static bool test(int64_t left, int64_t right) { return left > right; }
};
struct GreaterOrEqual {
  static bool test(int64_t left, int64_t right) { return left >= right; }
};

template <typename Comparison>
const Step* compare_integers(const Step* step, Datum* registers, RowContext&) {
  const Datum& left = registers[step->a];
  const Datum& right = registers[step->b];
  registers[step->result] =
      left.null || right.null ? Datum() : Datum::of_bool(Comparison::test(left.i64, right.i64));
  return step + 1;
}

template <typename Int, Int (*operation)(Int, Int)>
const Step* integer_arithmetic(const Step* step, Datum* registers, RowContext&) {
  const Datum& left = registers[step->a];
  const Datum& right = registers[step->b];
  registers[step->result] =
      left.null || right.null
          ? Datum()
          : Datum::of_int(operation(static_cast<Int>(left.i64), static_cast<Int>(right.i64)));
  return step + 1;
}

template <bool equal>
const Step* compare_texts(const Step* step, Datum* registers, RowContext&) {
  const Datum& left = registers[step->a];
  const Datum& right = registers[step->b];
  registers[step->result] =
      left.null || right.null ? Datum() : Datum::of_bool((left.bytes() == right.bytes()) == equal);
  return step + 1;
}

template <typename Int>
struct Arithmetic {
  static constexpr Step::Run add = integer_arithmetic<Int, int_add<Int>>;
  static constexpr Step::Run subtract = integer_arithmetic<Int, int_sub<Int>>;
  static constexpr Step::Run multiply = integer_arithmetic<Int, int_mul<Int>>;
};

// boolean, int2/4/8 in every mixture, oid, date, time, timestamp and timestamptz compare as
// integers.
constexpr Oid equal[] = {60,  63,   65,   158,  159,  184,  467, 474,
                         852, 1086, 1145, 1152, 1850, 1856, 2052};
constexpr Oid not_equal[] = {84,  144,  145,  164,  165,  185,  468, 475,
                             853, 1091, 1106, 1153, 1851, 1857, 2053};
constexpr Oid less[] = {56,  64,   66,   160,  161,  469,  476, 716,
                        854, 1087, 1102, 1154, 1852, 1858, 2054};
constexpr Oid less_or_equal[] = {148,  149,  166,  167,  471,  478,  717, 856,
                                 1088, 1103, 1155, 1691, 1854, 1860, 2055};
constexpr Oid greater[] = {57,   146,  147,  162,  163,  470,  477, 855,
                           1089, 1104, 1157, 1638, 1853, 1859, 2057};
constexpr Oid greater_or_equal[] = {150,  151,  168,  169,  472,  479,  857, 1090,
                                    1105, 1156, 1639, 1692, 1855, 1861, 2056};
// The wider operand's width decides what overflows.
constexpr Oid add_int2[] = {176};
constexpr Oid subtract_int2[] = {180};
constexpr Oid multiply_int2[] = {152};
constexpr Oid add_int4[] = {177, 178, 179};
constexpr Oid subtract_int4[] = {181, 182, 183};
constexpr Oid multiply_int4[] = {141, 170, 171};
constexpr Oid add_int8[] = {463, 837, 841, 1274, 1278};
constexpr Oid subtract_int8[] = {464, 838, 942, 1275, 1279};
constexpr Oid multiply_int8[] = {465, 839, 943, 1276, 1280};
constexpr Oid text_equal[] = {67};
constexpr Oid text_not_equal[] = {157};

struct Specialised {
  std::span<const Oid> procedures;
  Step::Run run;
};

constexpr Specialised specialised[] = {
    {equal, compare_integers<Equal>},
    {not_equal, compare_integers<NotEqual>},
    {less, compare_integers<Less>},
    {less_or_equal, compare_integers<LessOrEqual>},
    {greater, compare_integers<Greater>},
    {greater_or_equal, compare_integers<GreaterOrEqual>},
    {add_int2, Arithmetic<int16_t>::add},
    {subtract_int2, Arithmetic<int16_t>::subtract},
    {multiply_int2, Arithmetic<int16_t>::multiply},
    {add_int4, Arithmetic<int32_t>::add},
    {subtract_int4, Arithmetic<int32_t>::subtract},
    {multiply_int4, Arithmetic<int32_t>::multiply},
    {add_int8, Arithmetic<int64_t>::add},
    {subtract_int8, Arithmetic<int64_t>::subtract},
    {multiply_int8, Arithmetic<int64_t>::multiply},
    {text_equal, compare_texts<true>},
    {text_not_equal, compare_texts<false>},
};

}  // namespace

Step::Run specialised_call2(Oid procedure) {
  for (const Specialised& kind : specialised) {
    if (std::find(kind.procedures.begin(), kind.procedures.end(), procedure) !=
        kind.procedures.end()) {
      return kind.run;
    }
  }
  return nullptr;
}

}  // namespace pgsilo::steps
