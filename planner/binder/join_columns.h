// The columns of a join: USING and NATURAL merge pairs into one.
// Thread safety: none; see Scope.
#pragma once

#include <vector>

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

struct JoinColumns {
  int32_t merged = 0;
  std::vector<ScopeColumn> columns;  // merged ones first, then the left's, then the right's
  const BoundExpression* condition =
      nullptr;  // equality of the merged pairs; null without USING or NATURAL
};

JoinColumns join_columns(Scope& scope, const ast::JoinExpr& join,
                         const std::vector<ScopeItem>& left, const std::vector<ScopeItem>& right);

}  // namespace pgsilo
