// The families of expressions, one file each; expression_binder.cpp sends each node to its own.
// Thread safety: none; see Scope.
#pragma once

#include "planner/binder/expression_binder.h"
#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

const BoundExpression* bind_constant(StatementBinding& binding, const ast::Constant& constant);

// bind_operators.cpp
const BoundExpression* bind_operator_expression(Scope& scope, const ast::OperatorExpr& node);

// bind_conditionals.cpp: one result of several, all of a common type
const BoundExpression* bind_case(Scope& scope, const ast::CaseExpr& node);
const BoundExpression* bind_coalesce(Scope& scope, const ast::CoalesceExpr& node);
const BoundExpression* bind_min_max(Scope& scope, const ast::MinMaxExpr& node);
// `wanted`: the array type that it is cast to, invalid_oid: none.
const BoundExpression* bind_array(Scope& scope, const ast::ArrayExpr& node, BoundType wanted);

// bind_sublink.cpp
const BoundExpression* bind_sublink(Scope& scope, const ast::SubLink& node);
// (SELECT a, b ...) as values to compare with or assign: one scalar sublink per column. `mismatch`
// is the message for another number of columns; empty: "subquery has too few (many) columns".
std::vector<const BoundExpression*> bind_row_sublink(Scope& scope, const ast::SelectStmt& select,
                                                     size_t columns, int32_t location,
                                                     std::string_view mismatch = {});

// bind_type.cpp
const BoundExpression* bind_type_cast(Scope& scope, const ast::TypeCast& node);
const BoundExpression* bind_collate(Scope& scope, const ast::CollateClause& node);

}  // namespace pgsilo
