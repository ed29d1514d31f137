// Moving expressions to the operator that evaluates them: columns become slots, what other queries
// provide becomes execution parameters, sublinks become subplans. Thread safety: none; see
// QueryContext.
#pragma once

#include <map>
#include <span>

#include "planner/access/planning.h"
#include "planner/plan/layout.h"

namespace pgsilo {

class ExpressionPlacer {
 public:
  // A column of the query that `layout` has not becomes an execution parameter of the child the
  // context is planning.
  ExpressionPlacer(QueryContext& context, const Layout& layout)
      : context_(context), layout_(layout) {}

  const BoundExpression* place(const BoundExpression* expression);
  ExpressionList place_list(std::span<const BoundExpression* const> list);
  // AND of the list; null for none.
  const BoundExpression* place_conjunction(std::span<const BoundExpression* const> list);
  // From now on `original`, the very node, is replaced by `placed`.
  void replace(const BoundExpression* original, const BoundExpression* placed) {
    replaced_[original] = placed;
  }

 private:
  const BoundExpression* place_sublink(const SublinkExpression& sublink);

  QueryContext& context_;
  const Layout& layout_;
  std::map<const BoundExpression*, const BoundExpression*> replaced_;
};

}  // namespace pgsilo
