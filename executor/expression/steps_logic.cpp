#include "executor/expression/steps.h"
#include "planner/bound/expression.h"

namespace pgsilo::steps {

const Step* move(const Step* step, Datum* registers, RowContext&) {
  registers[step->result] = registers[step->a];
  return step + 1;
}

const Step* without_sign(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  registers[step->result] = value.null ? Datum() : Datum::of_int(static_cast<uint32_t>(value.i64));
  return step + 1;
}

const Step* with_sign(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  registers[step->result] = value.null ? Datum() : Datum::of_int(static_cast<int32_t>(value.i64));
  return step + 1;
}

const Step* jump(const Step* step, Datum*, RowContext&) { return step + step->c; }

const Step* jump_if_not_true(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  return step + (!value.null && value.i64 != 0 ? 1 : step->c);
}

const Step* jump_if_true(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  return step + (!value.null && value.i64 != 0 ? step->c : 1);
}

const Step* jump_if_false(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  return step + (!value.null && value.i64 == 0 ? step->c : 1);
}

const Step* jump_if_null(const Step* step, Datum* registers, RowContext&) {
  return step + (registers[step->a].null ? step->c : 1);
}

const Step* jump_if_not_null(const Step* step, Datum* registers, RowContext&) {
  return step + (registers[step->a].null ? 1 : step->c);
}

const Step* combine_and(const Step* step, Datum* registers, RowContext&) {
  // `result` is true or null here: false has jumped.
  const Datum& value = registers[step->a];
  Datum& result = registers[step->result];
  if (value.null) {
    result = Datum();
  } else if (value.i64 == 0) {
    result = Datum::of_bool(false);
  }
  return step + 1;
}

const Step* combine_or(const Step* step, Datum* registers, RowContext&) {
  // `result` is false or null here: true has jumped.
  const Datum& value = registers[step->a];
  Datum& result = registers[step->result];
  if (value.null) {
    result = Datum();
  } else if (value.i64 != 0) {
    result = Datum::of_bool(true);
  }
  return step + 1;
}

const Step* logical_not(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  registers[step->result] = value.null ? Datum() : Datum::of_bool(value.i64 == 0);
  return step + 1;
}

const Step* is_null(const Step* step, Datum* registers, RowContext&) {
  registers[step->result] = Datum::of_bool(registers[step->a].null);
  return step + 1;
}

const Step* is_not_null(const Step* step, Datum* registers, RowContext&) {
  registers[step->result] = Datum::of_bool(!registers[step->a].null);
  return step + 1;
}

const Step* boolean_test(const Step* step, Datum* registers, RowContext&) {
  const Datum& value = registers[step->a];
  bool is_true = !value.null && value.i64 != 0;
  bool is_false = !value.null && value.i64 == 0;
  bool result = false;
  switch (static_cast<BooleanTest>(step->c)) {
    case BooleanTest::is_true:
      result = is_true;
      break;
    case BooleanTest::is_not_true:
      result = !is_true;
      break;
    case BooleanTest::is_false:
      result = is_false;
      break;
    case BooleanTest::is_not_false:
      result = !is_false;
      break;
    case BooleanTest::is_unknown:
      result = value.null;
      break;
    case BooleanTest::is_not_unknown:
      result = !value.null;
      break;
  }
  registers[step->result] = Datum::of_bool(result);
  return step + 1;
}

}  // namespace pgsilo::steps
