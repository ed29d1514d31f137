// Type conversion as PostgreSQL's parse_coerce.c decides it: which casts exist in which context,
// the common type of several expressions, and literals of unknown type and parameters taking the
// type they are needed as. Source: PostgreSQL 15 manual, chapter 10. Thread safety: none; see
// StatementBinding.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "planner/bound/expression.h"

namespace pgsilo {

struct StatementBinding;

enum class CoercionContext : uint8_t { implicit, assignment, explicit_ };
enum class CoercionMethod : uint8_t { none, relabel, function, io, array };

struct CoercionPath {
  CoercionMethod method = CoercionMethod::none;
  Oid procedure = 0;
};

CoercionPath find_coercion_path(Oid source, Oid target, CoercionContext context);

// Polymorphic targets (anyelement ...) accept everything that fits their family; consistency
// between arguments is find_polymorphic_types()'s matter.
bool can_coerce(Oid source, Oid target, CoercionContext context);

// To `target`, which can_coerce() allows. Literals are read here: throws what the type's input
// function throws, at the literal's position.
const BoundExpression* coerce_type(StatementBinding& binding, const BoundExpression* expression,
                                   Oid target, int32_t typmod, CoercionContext context,
                                   CallForm form, int32_t location);

// The same with the length coercion to `typmod`; null when there is no cast.
const BoundExpression* coerce_to_target(StatementBinding& binding,
                                        const BoundExpression* expression, Oid target,
                                        int32_t typmod, CoercionContext context, CallForm form,
                                        int32_t location);

// `construct` names the clause in the message: "argument of WHERE must be type boolean, not type
// integer".
const BoundExpression* coerce_to_boolean(StatementBinding& binding,
                                         const BoundExpression* expression,
                                         std::string_view construct);
const BoundExpression* coerce_to_specific(StatementBinding& binding,
                                          const BoundExpression* expression, Oid target,
                                          std::string_view construct);

// The type that all of them can take, by PostgreSQL's rule for UNION, CASE and so on; text when all
// are unknown. Without a match: throws 42804 "<context> types integer and text cannot be matched",
// or returns 0 when `context` is empty.
Oid select_common_type(StatementBinding& binding,
                       std::span<const BoundExpression* const> expressions,
                       std::string_view context);
// The typmod that all share, given the common type; else -1.
int32_t select_common_typmod(std::span<const BoundExpression* const> expressions, Oid common_type);
const BoundExpression* coerce_to_common_type(StatementBinding& binding,
                                             const BoundExpression* expression, Oid target,
                                             std::string_view context);

// Of known types; 0 where they have none that all can become.
Oid select_common_type(std::span<const Oid> types);

bool is_polymorphic(Oid type);

}  // namespace pgsilo
