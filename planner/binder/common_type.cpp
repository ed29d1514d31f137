// Common types (PostgreSQL's select_common_type) and polymorphic arguments.
#include <algorithm>
#include <vector>

#include "planner/binder/binding.h"
#include "planner/binder/coercion.h"
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

bool is_array_family(Oid declared) {
  return declared == type_oid::anyarray || declared == type_oid::anycompatiblearray;
}

bool is_compatible_family(Oid declared) {
  return declared == type_oid::anycompatible || declared == type_oid::anycompatiblearray ||
         declared == type_oid::anycompatiblenonarray;
}

// What the element type of a polymorphic argument is, 0 when it says nothing.
Oid element_of(Oid actual, Oid declared) {
  if (actual == type_oid::unknown) return invalid_oid;
  if (!is_array_family(declared)) return actual;
  const TypeInfo* info = find_type(actual);
  return info != nullptr ? info->element : invalid_oid;
}

Oid array_over(Oid element) {
  const TypeInfo* info = find_type(element);
  if (info != nullptr && info->array != invalid_oid) return info->array;
  throw SqlError(sqlstate::undefined_object,
                 concat("could not find array type for data type ", type_name(element)));
}

// anyelement and kin: all the same type. anycompatible and kin: one that all can become.
Oid choose_element(std::span<const Oid> actual, std::span<const Oid> declared, bool compatible) {
  Oid chosen = invalid_oid;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!is_polymorphic(declared[i]) || is_compatible_family(declared[i]) != compatible) continue;
    Oid element = element_of(actual[i], declared[i]);
    if (element == invalid_oid || element == chosen) continue;
    if (chosen == invalid_oid) {
      chosen = element;
    } else if (!compatible) {
      throw SqlError(
          sqlstate::datatype_mismatch,
          is_array_family(declared[i])
              ? "argument declared anyarray is not consistent with argument declared anyelement"
              : "arguments declared \"anyelement\" are not all alike")
          .detail(concat(type_name(chosen), " versus ", type_name(element)));
    } else if (category_of(chosen) != category_of(element)) {
      throw SqlError(sqlstate::datatype_mismatch,
                     "arguments of anycompatible family cannot be cast to a common type");
    } else if (takes_over(chosen, element)) {
      chosen = element;
    }
  }
  return chosen;
}

}  // namespace

Oid select_common_type(StatementBinding& binding,
                       std::span<const BoundExpression* const> expressions,
                       std::string_view context) {
  Oid chosen = expressions.front()->type;
  for (const BoundExpression* expression : expressions.subspan(1)) {
    Oid next = expression->type;
    if (next == type_oid::unknown || next == chosen) continue;
    if (chosen == type_oid::unknown) {
      chosen = next;
    } else if (category_of(next) != category_of(chosen)) {
      if (context.empty()) return invalid_oid;
      throw SqlError(sqlstate::datatype_mismatch,
                     concat(context, " types ", type_name(chosen), " and ", type_name(next),
                            " cannot be matched"))
          .at(binding.position(expression->location));
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
        .at(binding.position(expression->location));
  }
  return coerce_type(binding, expression, target, no_typmod, CoercionContext::implicit,
                     CallForm::implicit_cast, -1);
}

Oid resolve_polymorphic_types(std::span<const Oid> actual, std::span<Oid> declared, Oid result) {
  bool any_polymorphic = std::any_of(declared.begin(), declared.end(), is_polymorphic);
  if (!any_polymorphic) return result;
  Oid elements[2] = {choose_element(actual, declared, false),
                     choose_element(actual, declared, true)};
  auto resolve = [&](Oid type) {
    if (!is_polymorphic(type)) return type;
    Oid& element = elements[is_compatible_family(type) ? 1 : 0];
    if (element == invalid_oid) {
      if (!is_compatible_family(type)) {
        throw SqlError(sqlstate::datatype_mismatch,
                       "could not determine polymorphic type because input has type unknown");
      }
      element = type_oid::text;
    }
    return is_array_family(type) ? array_over(element) : element;
  };
  Oid resolved_result = resolve(result);
  for (Oid& type : declared) type = resolve(type);
  return resolved_result;
}

}  // namespace pgsilo
