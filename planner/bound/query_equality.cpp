// Whether two bound queries compute the same.
#include <algorithm>

#include "planner/bound/expression_tree.h"
#include "planner/bound/query_tree.h"

namespace pgsilo {

namespace {

bool equal_lists(ExpressionList left, ExpressionList right) {
  return std::ranges::equal(left, right, equal_expressions);
}

bool equal_optional(const BoundQuery* left, const BoundQuery* right) {
  if (left == nullptr || right == nullptr) return left == right;
  return equal_queries(*left, *right);
}

// Copies of one that was copied with the query that has it.
bool equal_with_queries(const BoundCte* left, const BoundCte* right) {
  if (left == right || left == nullptr || right == nullptr) return left == right;
  return left->mode == right->mode && equal_queries(*left->query, *right->query);
}

bool equal_relations(const BoundRelation* left, const BoundRelation* right) {
  if (left == right) return true;
  return left->kind == right->kind && left->lateral == right->lateral &&
         left->table == right->table && left->distinct_rows == right->distinct_rows &&
         left->keeps_rows == right->keeps_rows && left->expands_rows == right->expands_rows &&
         equal_with_queries(left->cte, right->cte) && left->cte_levels_up == right->cte_levels_up &&
         left->with_ordinality == right->with_ordinality &&
         equal_lists(left->calls, right->calls) &&
         std::ranges::equal(left->returns_set, right->returns_set) &&
         std::ranges::equal(left->rows, right->rows, equal_lists) &&
         equal_optional(left->query, right->query);
}

bool equal_shapes(const FromItem* left, const FromItem* right) {
  if (left == nullptr || right == nullptr) return left == right;
  return left->relation == right->relation && left->join_type == right->join_type &&
         equal_shapes(left->left, right->left) && equal_shapes(left->right, right->right) &&
         equal_expressions(left->condition, right->condition);
}

bool equal_targets(const BoundTarget& left, const BoundTarget& right) {
  return left.is_junk == right.is_junk && equal_expressions(left.expression, right.expression);
}

bool equal_sort_keys(const QuerySortKey& left, const QuerySortKey& right) {
  return left.target == right.target && left.descending == right.descending &&
         left.nulls_first == right.nulls_first;
}

bool equal_marks(const BoundRowMark& left, const BoundRowMark& right) {
  return left.relation == right.relation && left.strength == right.strength &&
         left.wait == right.wait;
}

bool equal_sources(const BoundQuery& left, const BoundQuery& right) {
  return std::ranges::equal(left.relations, right.relations, equal_relations) &&
         std::ranges::equal(left.from, right.from, equal_shapes) &&
         equal_expressions(left.where, right.where) &&
         std::ranges::equal(left.row_marks, right.row_marks, equal_marks);
}

bool equal_groups(const BoundQuery& left, const BoundQuery& right) {
  return left.is_grouped == right.is_grouped && equal_lists(left.group_by, right.group_by) &&
         equal_expressions(left.having, right.having);
}

bool equal_set_operations(const BoundQuery& left, const BoundQuery& right) {
  return left.set_operation == right.set_operation && left.set_all == right.set_all &&
         equal_optional(left.left, right.left) && equal_optional(left.right, right.right) &&
         equal_lists(left.left_columns, right.left_columns) &&
         equal_lists(left.right_columns, right.right_columns);
}

bool equal_results(const BoundQuery& left, const BoundQuery& right) {
  return left.visible_targets == right.visible_targets && left.distinct == right.distinct &&
         std::ranges::equal(left.targets, right.targets, equal_targets) &&
         std::ranges::equal(left.distinct_on, right.distinct_on) &&
         std::ranges::equal(left.order_by, right.order_by, equal_sort_keys) &&
         equal_expressions(left.limit_count, right.limit_count) &&
         left.with_ties == right.with_ties &&
         equal_expressions(left.limit_offset, right.limit_offset);
}

}  // namespace

bool shares_result(const BoundExpression* left, const BoundExpression* right) {
  return left == right || (equal_expressions(left, right) && !calls_volatile(*left));
}

bool equal_queries(const BoundQuery& left, const BoundQuery& right) {
  return equal_sources(left, right) && equal_groups(left, right) &&
         equal_set_operations(left, right) && equal_results(left, right);
}

}  // namespace pgsilo
