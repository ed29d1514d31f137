// Expressions and predicates of indexes, made and read. Thread safety: none; see Scope.
#pragma once

#include <span>

#include "planner/binder/scope.h"
#include "planner/bound/index_keys.h"
#include "planner/stored/stored_tree.h"

namespace pgsilo {

// What an index computes, over columns that `column` makes.
IndexKeys bind_index_keys(StatementBinding& binding, const IndexDescriptor& index,
                          ColumnMaker column);
// Of all indexes of the table that compute, over the table as relation 0.
std::span<const IndexKeys> bind_index_keys(StatementBinding& binding, const TableDescriptor& table);

// Whether the value rests on nothing but the row: no function in it that is stable or volatile.
bool is_immutable(const BoundExpression& expression);

}  // namespace pgsilo
