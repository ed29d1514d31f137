// Steps that look a value or a row up in a set.
#include "executor/expression/steps.h"

namespace pgsilo::steps {

namespace {
Datum outcome(Datum contained, bool negated) {
  return contained.null || !negated ? contained : Datum::of_bool(!contained.as_bool());
}

RunSet& set_of(const RunSetSite& site, RowContext& context) {
  return context.set(site.number, site.types);
}
}  // namespace

const Step* in_constants(const Step* step, Datum* registers, RowContext&) {
  const auto& site = *static_cast<const ConstantSetSite*>(step->data);
  registers[step->result] = outcome(site.set->contains(registers + step->a), site.negated);
  return step + 1;
}

const Step* fill_set(const Step* step, Datum*, RowContext& context) {
  RunSet& set = set_of(*static_cast<const RunSetSite*>(step->data), context);
  if (set.is_known()) return step + step->c;
  // An error may have ended its filling before.
  set.forget();
  set.around = context.arena;
  context.use_arena(set.memory());
  return step + 1;
}

const Step* add_row_to_set(const Step* step, Datum* registers, RowContext& context) {
  set_of(*static_cast<const RunSetSite*>(step->data), context).add(registers + step->a);
  return step + 1;
}

const Step* add_array_to_set(const Step* step, Datum* registers, RowContext& context) {
  set_of(*static_cast<const RunSetSite*>(step->data), context).add_array(registers[step->a]);
  return step + 1;
}

const Step* set_is_filled(const Step* step, Datum*, RowContext& context) {
  RunSet& set = set_of(*static_cast<const RunSetSite*>(step->data), context);
  set.filled();
  context.use_arena(*set.around);
  return step + 1;
}

const Step* in_set(const Step* step, Datum* registers, RowContext& context) {
  const auto& site = *static_cast<const RunSetSite*>(step->data);
  registers[step->result] =
      outcome(set_of(site, context).contains(registers + step->a), site.negated);
  return step + 1;
}

}  // namespace pgsilo::steps
