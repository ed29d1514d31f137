// ORDER BY, GROUP BY and DISTINCT: finding what their items mean and adding what the targets lack.
// Thread safety: none; see Scope.
#pragma once

#include <string_view>
#include <vector>

#include "planner/binder/scope.h"
#include "sql/ast/query.h"

namespace pgsilo {

// Direction and place of nulls of one item over a bound expression. Throws 42883 for types without
// order.
BoundSortKey make_sort_key(Scope& scope, const BoundExpression* expression,
                           const ast::SortBy& item);

// The items as targets: a name or number of a result column, or an expression, added as junk if no
// target has it.
std::vector<QuerySortKey> bind_order_by(Scope& scope, ast::List<ast::SortBy> items,
                                        std::vector<BoundTarget>& targets);
// SQL-92 names only: ORDER BY of a set operation sees its result columns and nothing else.
std::vector<QuerySortKey> bind_set_order_by(Scope& scope, ast::List<ast::SortBy> items,
                                            std::vector<BoundTarget>& targets);

std::vector<const BoundExpression*> bind_group_by(Scope& scope, ast::NodeList items,
                                                  std::vector<BoundTarget>& targets);

// DISTINCT: checks that every ORDER BY item is a visible target. DISTINCT ON: its targets, first
// those of ORDER BY.
void check_distinct(Scope& scope, const std::vector<BoundTarget>& targets,
                    const std::vector<QuerySortKey>& order_by);
std::vector<int32_t> bind_distinct_on(Scope& scope, ast::NodeList items,
                                      std::vector<BoundTarget>& targets,
                                      const std::vector<QuerySortKey>& order_by);

}  // namespace pgsilo
