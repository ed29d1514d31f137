// The step kinds that programs are made of, and the choice of specialised steps for common
// procedures. Thread safety: pure functions on the registers they are given.
#pragma once

#include "executor/expression/expression_program.h"
#include "sql/types/type.h"

namespace pgsilo::steps {

// result <- a
const Step* move(const Step* step, Datum* registers, RowContext& context);

// Jumps by c when the register a is ...
const Step* jump(const Step* step, Datum* registers, RowContext& context);
const Step* jump_if_not_true(const Step* step, Datum* registers, RowContext& context);
const Step* jump_if_true(const Step* step, Datum* registers, RowContext& context);
const Step* jump_if_null(const Step* step, Datum* registers, RowContext& context);
const Step* jump_if_not_null(const Step* step, Datum* registers, RowContext& context);
// ... false (true) and not null.
const Step* jump_if_false(const Step* step, Datum* registers, RowContext& context);

// Three-valued: result <- result AND a, result OR a, NOT a.
const Step* combine_and(const Step* step, Datum* registers, RowContext& context);
const Step* combine_or(const Step* step, Datum* registers, RowContext& context);
const Step* logical_not(const Step* step, Datum* registers, RowContext& context);

const Step* is_null(const Step* step, Datum* registers, RowContext& context);
const Step* is_not_null(const Step* step, Datum* registers, RowContext& context);
// c is the BooleanTest.
const Step* boolean_test(const Step* step, Datum* registers, RowContext& context);

// Calls. data is a CallData; arguments are c registers from a on, or a and b.
struct CallData {
  ScalarFunction function = nullptr;
  CallSite site;
};
const Step* call1_strict(const Step* step, Datum* registers, RowContext& context);
const Step* call2_strict(const Step* step, Datum* registers, RowContext& context);
const Step* call_strict(const Step* step, Datum* registers, RowContext& context);
const Step* call(const Step* step, Datum* registers, RowContext& context);

// a IS DISTINCT FROM b; data is the CallData of the equality. c != 0: negated.
const Step* distinct_from(const Step* step, Datum* registers, RowContext& context);
// result <- the lesser (c != 0) or greater of result and a, nulls skipped; data is the TypeInfo.
const Step* min_max(const Step* step, Datum* registers, RowContext& context);

// x IN (constants): data is a ConstantSet, a is x.
struct ConstantSet {
  const TypeInfo* type = nullptr;
  std::span<const Datum> slots;  // open addressing; free ones are null
  bool has_null = false;
  bool negated = false;
};
const Step* in_constants(const Step* step, Datum* registers, RowContext& context);

// x op ANY/ALL (array): a is x, b the array; data is an ArrayComparisonData.
struct ArrayComparisonData {
  CallData comparison;
  bool strict = true;
  bool is_all = false;
};
const Step* compare_with_array(const Step* step, Datum* registers, RowContext& context);
// ARRAY[...]: c registers from a on; data is the element's TypeInfo.
const Step* make_array(const Step* step, Datum* registers, RowContext& context);

// Through the text form: data is an IoConversion.
struct IoConversion {
  const TypeInfo* from = nullptr;
  const TypeInfo* to = nullptr;
  int32_t typmod = -1;
};
const Step* io_conversion(const Step* step, Datum* registers, RowContext& context);

// The value made to fit a modifier: data is a TypmodCoercion.
struct TypmodCoercion {
  const TypeInfo* type = nullptr;  // has apply_typmod
  int32_t typmod = -1;
  bool is_explicit = false;
};
const Step* typmod_coercion(const Step* step, Datum* registers, RowContext& context);

// CURRENT_DATE and its kin: c is the SqlValueKind, b the precision + 1 (0: none).
const Step* sql_value(const Step* step, Datum* registers, RowContext& context);

// A subplan: data is a SubplanSite (operator/subplan.h).
const Step* subplan(const Step* step, Datum* registers, RowContext& context);

// The specialised step for a strict procedure of two arguments, or null. It must do exactly what
// the procedure does.
Step::Run specialised_call2(Oid procedure);

}  // namespace pgsilo::steps
