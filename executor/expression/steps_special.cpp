// Steps for the procedures that run most: comparisons of everything that compares as an integer, integer arithmetic, equality of
// text. They save the argument copies and the call.
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
  registers[step->result] = left.null || right.null
                                ? Datum()
                                : Datum::of_bool((left.bytes() == right.bytes()) == equal);
  return step + 1;
}

template <typename Int>
struct Arithmetic {
  static constexpr Step::Run add = integer_arithmetic<Int, int_add<Int>>;
  static constexpr Step::Run subtract = integer_arithmetic<Int, int_sub<Int>>;
  static constexpr Step::Run multiply = integer_arithmetic<Int, int_mul<Int>>;
};

}  // namespace

Step::Run specialised_call2(Oid procedure) {
  switch (procedure) {
    // boolean, int2/4/8 in every mixture, oid, date, time, timestamp, timestamptz
    case 60: case 63: case 65: case 158: case 159: case 184: case 467: case 474: case 852: case 1086:
    case 1145: case 1152: case 1850: case 1856: case 2052:
      return compare_integers<Equal>;
    case 84: case 144: case 145: case 164: case 165: case 185: case 468: case 475: case 853: case 1091:
    case 1106: case 1153: case 1851: case 1857: case 2053:
      return compare_integers<NotEqual>;
    case 56: case 64: case 66: case 160: case 161: case 469: case 476: case 716: case 854: case 1087:
    case 1102: case 1154: case 1852: case 1858: case 2054:
      return compare_integers<Less>;
    case 148: case 149: case 166: case 167: case 471: case 478: case 717: case 856: case 1088: case 1103:
    case 1155: case 1691: case 1854: case 1860: case 2055:
      return compare_integers<LessOrEqual>;
    case 57: case 146: case 147: case 162: case 163: case 470: case 477: case 855: case 1089: case 1104:
    case 1157: case 1638: case 1853: case 1859: case 2057:
      return compare_integers<Greater>;
    case 150: case 151: case 168: case 169: case 472: case 479: case 857: case 1090: case 1105: case 1156:
    case 1639: case 1692: case 1855: case 1861: case 2056:
      return compare_integers<GreaterOrEqual>;
    // the wider of both widths decides what overflows
    case 176: return Arithmetic<int16_t>::add;
    case 180: return Arithmetic<int16_t>::subtract;
    case 152: return Arithmetic<int16_t>::multiply;
    case 177: case 178: case 179: return Arithmetic<int32_t>::add;
    case 181: case 182: case 183: return Arithmetic<int32_t>::subtract;
    case 141: case 170: case 171: return Arithmetic<int32_t>::multiply;
    case 463: case 837: case 841: case 1274: case 1278: return Arithmetic<int64_t>::add;
    case 464: case 838: case 942: case 1275: case 1279: return Arithmetic<int64_t>::subtract;
    case 465: case 839: case 943: case 1276: case 1280: return Arithmetic<int64_t>::multiply;
    case 67: return compare_texts<true>;
    case 157: return compare_texts<false>;
    default: return nullptr;
  }
}

}  // namespace pgsilo::steps
