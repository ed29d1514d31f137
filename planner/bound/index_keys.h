// What an index computes of a row: the keys that are no columns, and which rows it has.
// Thread safety: values.
#pragma once

#include "planner/bound/expression.h"

namespace pgsilo {

struct IndexDescriptor;

struct IndexKeys {
  const IndexDescriptor* index = nullptr;
  ExpressionList expressions;                  // of its columns without a number, in order
  const BoundExpression* predicate = nullptr;  // null: it has all rows
};

}  // namespace pgsilo
