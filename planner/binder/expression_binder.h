// Binding expressions: syntax tree in, typed tree out.
// Thread safety: none; see Scope.
#pragma once

#include <string_view>

#include "planner/binder/scope.h"

namespace pgsilo {

// In the scope's present place. The result may still be of type unknown (a literal, NULL or
// parameter).
const BoundExpression* bind_expression(Scope& scope, const ast::Node* node);
const BoundExpression* bind_expression(Scope& scope, const ast::Node* node, ExpressionPlace place);

// A condition: WHERE, ON, HAVING, FILTER ... named `construct` in messages. Null for null.
const BoundExpression* bind_condition(Scope& scope, const ast::Node* node, ExpressionPlace place,
                                      std::string_view construct);

// Literals and parameters that stayed unknown become text.
const BoundExpression* resolve_unknown(StatementBinding& binding,
                                       const BoundExpression* expression);

// A type name with its modifiers. Throws 42704 `type "x" does not exist` and the like.
struct BoundType {
  Oid type = 0;
  int32_t typmod = -1;
};
BoundType bind_type(StatementBinding& binding, const ast::TypeName& name);
// Tells the client of a precision of times that is more than they can have, and lowered.
void warn_of_precision(StatementBinding& binding, Oid type, int32_t precision, int32_t location);

// The name that a result column without AS gets (PostgreSQL's FigureColname).
std::string_view figure_column_name(const ast::Node* node);

}  // namespace pgsilo
