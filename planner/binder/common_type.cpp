// Common types (PostgreSQL's select_common_type).
#include <algorithm>

#include "planner/binder/binding.h"
#include "planner/binder/coercion.h"
#include "planner/bound/expression_tree.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

char category_of(Oid type) {
  const TypeInfo* info = find_type(type);
  return info == nullptr ? 'X' : info->category;
}

bool is_preferred(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->preferred;
}

// Whether a next type of the same category takes over from the one chosen so far.
bool takes_over(Oid chosen, Oid next) {
  return !is_preferred(chosen) && can_coerce(chosen, next, CoercionContext::implicit) &&
         !can_coerce(next, chosen, CoercionContext::implicit);
}

}  // namespace

Oid select_common_type(StatementBinding& binding,
                       std::span<const BoundExpression* const> expressions,
                       std::string_view context) {
  Oid chosen = expressions.front()->type;
  bool are_alike = chosen != type_oid::unknown &&
                   std::ranges::all_of(expressions, [&](const BoundExpression* each) {
                     return each->type == chosen;
                   });
  // Only so the result is of a domain.
  if (are_alike) return chosen;
  chosen = base_type_of(chosen);
  for (const BoundExpression* expression : expressions.subspan(1)) {
    Oid next = base_type_of(expression->type);
    if (next == type_oid::unknown || next == chosen) continue;
    if (chosen == type_oid::unknown) {
      chosen = next;
    } else if (category_of(next) != category_of(chosen)) {
      if (context.empty()) return invalid_oid;
      throw SqlError(sqlstate::datatype_mismatch,
                     concat(context, " types ", type_name(chosen), " and ", type_name(next),
                            " cannot be matched"))
          .at(binding.position(first_location(*expression)));
    } else if (takes_over(chosen, next)) {
      chosen = next;
    }
  }
  return chosen == type_oid::unknown ? type_oid::text : chosen;
}

int32_t select_common_typmod(std::span<const BoundExpression* const> expressions, Oid common_type) {
  int32_t typmod = expressions.front()->typmod;
  for (const BoundExpression* expression : expressions) {
    if (expression->type != common_type || expression->typmod != typmod) return no_typmod;
  }
  return typmod;
}

const BoundExpression* coerce_to_common_type(StatementBinding& binding,
                                             const BoundExpression* expression, Oid target,
                                             std::string_view context) {
  if (expression->type == target) return expression;
  if (!can_coerce(expression->type, target, CoercionContext::implicit)) {
    throw SqlError(sqlstate::cannot_coerce,
                   concat(context, " could not convert type ", type_name(expression->type), " to ",
                          type_name(target)))
        .at(binding.position(first_location(*expression)));
  }
  return coerce_type(binding, expression, target, no_typmod, CoercionContext::implicit,
                     CallForm::implicit_cast, -1);
}

Oid select_common_type(std::span<const Oid> types) {
  Oid chosen = types.front();
  if (std::ranges::all_of(types, [&](Oid type) { return type == chosen; })) return chosen;
  chosen = base_type_of(chosen);
  for (Oid given : types.subspan(1)) {
    Oid next = base_type_of(given);
    if (next == chosen) continue;
    if (category_of(next) != category_of(chosen)) return invalid_oid;
    if (takes_over(chosen, next)) chosen = next;
  }
  for (Oid type : types) {
    if (!can_coerce(type, chosen, CoercionContext::implicit)) return invalid_oid;
  }
  return chosen;
}

}  // namespace pgsilo
