#include "planner/bound/query_tree.h"

#include "planner/bound/expression_tree.h"

namespace pgsilo {

namespace {

using Visit = FunctionRef<void(const BoundExpression&)>;

void visit_optional(const BoundExpression* expression, Visit visit) {
  if (expression != nullptr) visit(*expression);
}

void visit_list(ExpressionList list, Visit visit) {
  for (const BoundExpression* expression : list) visit(*expression);
}

void visit_from(const FromItem& item, Visit visit) {
  if (item.relation >= 0) return;
  visit_from(*item.left, visit);
  visit_from(*item.right, visit);
  visit_optional(item.condition, visit);
}

}  // namespace

void for_each_expression(const BoundQuery& query, Visit visit) {
  for (const BoundRelation* relation : query.relations) {
    visit_list(relation->calls, visit);
    for (ExpressionList row : relation->rows) visit_list(row, visit);
  }
  for (const FromItem* item : query.from) visit_from(*item, visit);
  visit_optional(query.where, visit);
  for (const BoundTarget& target : query.targets) visit(*target.expression);
  visit_list(query.group_by, visit);
  visit_optional(query.having, visit);
  visit_optional(query.limit_count, visit);
  visit_optional(query.limit_offset, visit);
}

void walk_levels(const BoundExpression& expression, int32_t depth, LevelVisitor visit) {
  if (!visit(expression, depth)) return;
  for_each_child(expression,
                 [&](const BoundExpression& child) { walk_levels(child, depth, visit); });
  if (auto* sublink = try_as<SublinkExpression>(&expression))
    walk_levels(*sublink->query, depth + 1, visit);
}

void walk_levels(const BoundQuery& query, int32_t depth, LevelVisitor visit) {
  for_each_expression(
      query, [&](const BoundExpression& expression) { walk_levels(expression, depth, visit); });
  for (const BoundRelation* relation : query.relations) {
    if (relation->query != nullptr) walk_levels(*relation->query, depth + 1, visit);
    if (relation->cte != nullptr)
      walk_levels(*relation->cte->query, depth + 1 - relation->cte_levels_up, visit);
  }
  if (query.left != nullptr) walk_levels(*query.left, depth + 1, visit);
  if (query.right != nullptr) walk_levels(*query.right, depth + 1, visit);
}

}  // namespace pgsilo
