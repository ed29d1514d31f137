// array[subscript], array[lower:upper], and columns that are assigned to so. Thread safety: none;
// the binding's.
#pragma once

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

struct ColumnDescriptor;

const BoundExpression* bind_indirection(Scope& scope, const ast::Indirection& node);

// What is written behind a column that is assigned to. Without subscripts: the column itself.
struct SubscriptedTarget {
  const ColumnDescriptor* column = nullptr;
  int32_t location = -1;
  bool is_slice = false;
  size_t dimensions = 0;
  ExpressionList subscripts = {};  // all upper bounds, then of a slice the lower ones

  bool is_whole() const { return subscripts.empty(); }
};

SubscriptedTarget bind_target_subscripts(Scope& scope, const ast::Assignment& named,
                                         const ColumnDescriptor& column);

// The value as the target wants it: of the column's type, or an element's. Null: DEFAULT, which no
// part of a column can be.
const BoundExpression* coerce_to_subscripted(StatementBinding& binding,
                                             const BoundExpression* value,
                                             const SubscriptedTarget& target);
// The type of what coerce_to_subscripted() gives.
Oid assigned_type(const SubscriptedTarget& target);

// What the column becomes: `previous`, what it was, with the value in it.
const BoundExpression* assign_to_part(StatementBinding& binding, const SubscriptedTarget& target,
                                      const BoundExpression* previous,
                                      const BoundExpression* value);

}  // namespace pgsilo
