// Functions of enums, which are ordered as their positions are.
#include <vector>

#include "executor/functions/function.h"
#include "sql/sql_error.h"
#include "sql/types/array.h"
#include "sql/types/enum_labels.h"
#include "sql/types/type.h"
#include "sql/types/type_context.h"

namespace pgsilo::functions {
namespace {

template <typename Holds>
Datum compare(const Datum* a, Holds holds) {
  return Datum::of_bool(holds(a[0].i64, a[1].i64));
}
Datum equal(EvalContext&, const Datum* a) { return compare(a, std::equal_to()); }
Datum not_equal(EvalContext&, const Datum* a) { return compare(a, std::not_equal_to()); }
Datum less(EvalContext&, const Datum* a) { return compare(a, std::less()); }
Datum less_equal(EvalContext&, const Datum* a) { return compare(a, std::less_equal()); }
Datum greater(EvalContext&, const Datum* a) { return compare(a, std::greater()); }
Datum greater_equal(EvalContext&, const Datum* a) { return compare(a, std::greater_equal()); }
Datum order(EvalContext&, const Datum* a) {
  return Datum::of_int(a[0].i64 < a[1].i64 ? -1 : a[0].i64 > a[1].i64);
}
Datum smaller(EvalContext&, const Datum* a) { return a[0].i64 < a[1].i64 ? a[0] : a[1]; }
Datum larger(EvalContext&, const Datum* a) { return a[0].i64 > a[1].i64 ? a[0] : a[1]; }

// The argument says by its type alone which enum is meant.
Oid enum_of(EvalContext& context) { return context.call->argument_types[0]; }

std::span<const EnumLabel> labels(EvalContext& context) {
  const EnumLabels* found = context.types->object_names->find_labels(enum_of(context));
  if (found != nullptr) return found->all();
  throw SqlError(sqlstate::undefined_object,
                 concat("type ", format_type(enum_of(context)), " does not exist"));
}

// Yields values that nobody has written: those of labels that may yet be rolled back are refused.
Datum value_of(EvalContext& context, const EnumLabel& label) {
  if (label.is_new) {
    throw SqlError(sqlstate::unsafe_new_enum_value_usage,
                   concat("unsafe use of new value \"", label.name, "\" of enum type ",
                          format_type(enum_of(context))))
        .hint("New enum values must be committed before they can be used.");
  }
  return Datum::of_int(label.position);
}

Datum end_of(EvalContext& context, bool is_first) {
  std::span<const EnumLabel> all = labels(context);
  if (all.empty()) {
    throw SqlError(sqlstate::object_not_in_prerequisite_state,
                   concat("enum ", format_type(enum_of(context)), " contains no values"));
  }
  return value_of(context, is_first ? all.front() : all.back());
}
Datum first(EvalContext& context, const Datum*) { return end_of(context, true); }
Datum last(EvalContext& context, const Datum*) { return end_of(context, false); }

Datum values_between(EvalContext& context, const Datum& lower, const Datum& upper) {
  std::vector<Datum> values;
  for (const EnumLabel& label : labels(context)) {
    bool is_within =
        (lower.null || label.position >= lower.i64) && (upper.null || label.position <= upper.i64);
    if (is_within) values.push_back(value_of(context, label));
  }
  return make_array(type_info(enum_of(context)), ArrayShape::of_vector(values.size()), values,
                    *context.arena);
}
Datum range(EvalContext& context, const Datum* a) { return values_between(context, a[0], a[1]); }
Datum whole_range(EvalContext& context, const Datum*) {
  return values_between(context, Datum(), Datum());
}

constexpr FunctionEntry entries[] = {
    {3508, equal},       {3509, not_equal},     {3510, less},  {3511, greater},
    {3512, less_equal},  {3513, greater_equal}, {3514, order}, {3524, smaller},
    {3525, larger},      {3528, first},         {3529, last},  {3530, range},
    {3531, whole_range},
};

}  // namespace

std::span<const FunctionEntry> enumeration() { return entries; }

}  // namespace pgsilo::functions
