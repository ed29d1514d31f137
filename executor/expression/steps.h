// The step kinds that programs are made of, and the choice of specialised steps for common
// procedures. Thread safety: pure functions on the registers they are given.
#pragma once

#include "executor/expression/expression_program.h"
#include "sql/types/type.h"

namespace pgsilo::steps {

// result <- a
const Step* move(const Step* step, Datum* registers, RowContext& context);
// The same 32 bits: an oid of an int4, an int4 of an oid.
const Step* without_sign(const Step* step, Datum* registers, RowContext& context);
const Step* with_sign(const Step* step, Datum* registers, RowContext& context);

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
inline Datum invoke(const CallData& data, RowContext& context, const Datum* arguments) {
  context.call = &data.site;
  return data.function(context, arguments);
}
const Step* call1_strict(const Step* step, Datum* registers, RowContext& context);
const Step* call2_strict(const Step* step, Datum* registers, RowContext& context);
const Step* call_strict(const Step* step, Datum* registers, RowContext& context);
const Step* call(const Step* step, Datum* registers, RowContext& context);
// Of a function that acts outside of the transaction; b != 0: it is strict.
const Step* call_outside(const Step* step, Datum* registers, RowContext& context);

// a IS DISTINCT FROM b; data is the CallData of the equality. c != 0: negated.
const Step* distinct_from(const Step* step, Datum* registers, RowContext& context);
// result <- the lesser (c != 0) or greater of result and a, nulls skipped; data is the TypeInfo.
const Step* min_max(const Step* step, Datum* registers, RowContext& context);

// Whether the row from register a on is in a set of constants: data is a ConstantSetSite.
struct ConstantSetSite {
  const MembershipSet* set = nullptr;
  bool negated = false;
};
const Step* in_constants(const Step* step, Datum* registers, RowContext& context);

// A set that the run fills: data is a RunSetSite.
struct RunSetSite {
  uint32_t number = 0;
  std::span<const TypeInfo* const> types;
  bool negated = false;
};
// Jumps by c when the set is known, else what is evaluated next goes into its memory.
const Step* fill_set(const Step* step, Datum* registers, RowContext& context);
// The row from register a on; the elements of array a.
const Step* add_row_to_set(const Step* step, Datum* registers, RowContext& context);
const Step* add_array_to_set(const Step* step, Datum* registers, RowContext& context);
const Step* set_is_filled(const Step* step, Datum* registers, RowContext& context);
// Whether the row from register a on is in it.
const Step* in_set(const Step* step, Datum* registers, RowContext& context);

// x op ANY/ALL (array): a is x, b the array; data is an ArrayComparisonData.
struct ArrayComparisonData {
  CallData comparison;
  bool strict = true;
  bool is_all = false;
};
const Step* compare_with_array(const Step* step, Datum* registers, RowContext& context);
// ARRAY[...]: c registers from a on; data is the element's TypeInfo.
const Step* make_array(const Step* step, Datum* registers, RowContext& context);
// The same of arrays, which become the parts of one with a further dimension.
const Step* join_arrays(const Step* step, Datum* registers, RowContext& context);

// Through the text form: data is an IoConversion.
struct IoConversion {
  const TypeInfo* from = nullptr;
  const TypeInfo* to = nullptr;
  int32_t typmod = -1;
};
// Of a value that is not null.
Datum through_text(const IoConversion& conversion, Datum value, RowContext& context);
const Step* io_conversion(const Step* step, Datum* registers, RowContext& context);

// An array's elements by a function, through their text form (conversion.from is not null) or
// neither, then with the sign that the target has: data is an ArrayCoercion.
struct ArrayCoercion {
  const TypeInfo* target = nullptr;  // of the elements
  const CallData* call = nullptr;
  bool strict = true;
  bool is_explicit = false;
  bool relabels = false;  // changes no element
  IoConversion conversion;
};
const Step* convert_elements(const Step* step, Datum* registers, RowContext& context);

// The value made to fit a modifier: data is a TypmodCoercion.
struct TypmodCoercion {
  const TypeInfo* type = nullptr;  // has apply_typmod
  int32_t typmod = -1;
  bool is_explicit = false;
};
const Step* typmod_coercion(const Step* step, Datum* registers, RowContext& context);

// a, which the domain allows: data is its TypeInfo.
const Step* domain_coercion(const Step* step, Datum* registers, RowContext& context);

// CURRENT_DATE and its kin: c is the SqlValueKind, b the precision + 1 (0: none).
const Step* sql_value(const Step* step, Datum* registers, RowContext& context);

// A subplan: c is its number.
const Step* subplan(const Step* step, Datum* registers, RowContext& context);
// A hashed one, a its number: jumps with the result false where it has no rows.
const Step* jump_if_subplan_empty(const Step* step, Datum* registers, RowContext& context);

// The specialised step for a strict procedure of two arguments, or null. It must do exactly what
// the procedure does.
Step::Run specialised_call2(Oid procedure);

}  // namespace pgsilo::steps
