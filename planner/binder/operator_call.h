// Operators: finding one by name and operand types, and making the call.
// Thread safety: none; see Scope.
#pragma once

#include <span>
#include <string_view>

#include "planner/binder/scope.h"

namespace pgsilo {

struct BuiltinOperator;

// Throws 42883 and 42725 as PostgreSQL does. `left` is 0 for a prefix operator.
const BuiltinOperator& resolve_operator(StatementBinding& binding, std::string_view name, Oid left,
                                        Oid right, int32_t location);

// left (null: prefix) name right, operands coerced.
const BoundExpression* make_operator(StatementBinding& binding, std::string_view name,
                                     const BoundExpression* left, const BoundExpression* right,
                                     int32_t location);
const BoundExpression* make_operator(StatementBinding& binding, const BuiltinOperator& op,
                                     const BoundExpression* left, const BoundExpression* right,
                                     int32_t location);

// The word of a possibly qualified operator name; throws for schemas other than pg_catalog.
std::string_view operator_word(StatementBinding& binding, ast::NameList name, int32_t location);

// The type's own `=` and `<`: for DISTINCT, GROUP BY, ORDER BY, joins. Null when the type has none.
const BuiltinOperator* equality_operator(Oid type);
const BuiltinOperator* less_operator(Oid type);
// Throw 42883 "could not identify an equality (ordering) operator for type json".
void require_equality(StatementBinding& binding, Oid type, int32_t location);
void require_ordering(StatementBinding& binding, Oid type, int32_t location);

}  // namespace pgsilo
