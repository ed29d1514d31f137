// UNION, INTERSECT and EXCEPT.
#include "planner/binder/coercion.h"
#include "planner/binder/operator_call.h"
#include "planner/binder/query_binder.h"
#include "planner/binder/sort_clause.h"
#include "planner/bound/make_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

bool is_leaf(const ast::SelectStmt& select) {
  return select.operation == ast::SetOperation::none || !select.order_by.empty() ||
         select.limit_count != nullptr || select.limit_offset != nullptr || select.with != nullptr;
}

std::string_view operation_name(ast::SetOperation operation) {
  switch (operation) {
    case ast::SetOperation::union_:
      return "UNION";
    case ast::SetOperation::intersect:
      return "INTERSECT";
    case ast::SetOperation::except:
      return "EXCEPT";
    case ast::SetOperation::none:
      break;
  }
  return {};
}

// One side: a query whose unknown literals may still become what the other side makes them.
struct Side {
  BoundQuery* query = nullptr;
  bool leaf = false;
};

BoundQuery* bind_node(StatementBinding& binding, const ast::SelectStmt& select, Scope& scope,
                      const BetweenSides& between = nullptr);

void check_unlocked(std::span<const ast::LockingClause> clauses) {
  if (clauses.empty()) return;
  throw SqlError(
      sqlstate::feature_not_supported,
      concat(lock_clause_name(clauses[0].strength), " is not allowed with UNION/INTERSECT/EXCEPT"));
}

Side bind_side(StatementBinding& binding, const ast::SelectStmt& select, Scope& scope) {
  check_select_supported(binding, select);
  check_unlocked(select.locking);
  if (is_leaf(select)) return {bind_query(binding, select, &scope, false), true};
  // A query of its own to everybody who counts how far out a column is.
  Scope inner(binding, &scope);
  return {bind_node(binding, select, inner), false};
}

const BoundExpression* column_of(Arena& arena, const Side& side, size_t i) {
  const BoundExpression* target = side.query->targets[i].expression;
  return make_column(arena, 0, static_cast<int32_t>(i), target->type, target->typmod,
                     target->location);
}

// The side's column as the common type. An unknown literal is read as that type where it stands.
const BoundExpression* coerce_side(StatementBinding& binding, const Side& side, size_t i, Oid type,
                                   std::string_view context) {
  const BoundExpression* target = side.query->targets[i].expression;
  if (side.leaf && target->type == type_oid::unknown) {
    std::span<BoundTarget> targets = binding.arena.copy_span(side.query->targets);
    targets[i].expression = coerce_to_common_type(binding, target, type, context);
    side.query->targets = targets;
  }
  return coerce_to_common_type(binding, column_of(binding.arena, side, i), type, context);
}

// What a side of INTERSECT or EXCEPT keeps from recursion: what is taken away, or counted.
Side bind_side(StatementBinding& binding, const ast::SelectStmt& select, Scope& scope,
               bool is_right) {
  RecursionBarrier barrier = RecursionBarrier::none;
  if (select.operation == ast::SetOperation::intersect && select.all)
    barrier = RecursionBarrier::intersect;
  if (select.operation == ast::SetOperation::except && (select.all || is_right))
    barrier = RecursionBarrier::except;
  BarrierGuard guard(scope, barrier);
  return bind_side(binding, is_right ? *select.right : *select.left, scope);
}

BoundQuery* bind_node(StatementBinding& binding, const ast::SelectStmt& select, Scope& scope,
                      const BetweenSides& between) {
  DepthGuard depth(binding);
  Arena& arena = binding.arena;
  std::string_view name = operation_name(select.operation);
  Side left = bind_side(binding, select, scope, /*is_right=*/false);
  if (between) between(*left.query);
  Side right = bind_side(binding, select, scope, /*is_right=*/true);
  size_t width = left.query->visible_targets;
  if (width != static_cast<size_t>(right.query->visible_targets)) {
    int32_t location =
        right.query->targets.empty() ? -1 : right.query->targets.front().expression->location;
    throw SqlError(sqlstate::syntax_error,
                   concat("each ", name, " query must have the same number of columns"))
        .at(binding.position(location));
  }
  auto* query = arena.make<BoundQuery>();
  auto left_columns = arena.make_span<const BoundExpression*>(width);
  auto right_columns = arena.make_span<const BoundExpression*>(width);
  auto targets = arena.make_span<BoundTarget>(width);
  for (size_t i = 0; i < width; ++i) {
    const BoundExpression* both[2] = {left.query->targets[i].expression,
                                      right.query->targets[i].expression};
    Oid type = select_common_type(binding, both, name);
    left_columns[i] = coerce_side(binding, left, i, type, name);
    right_columns[i] = coerce_side(binding, right, i, type, name);
    const BoundExpression* sides[2] = {left_columns[i], right_columns[i]};
    if (!select.all) require_equality(binding, type, both[0]->location);
    targets[i].name = left.query->targets[i].name;
    targets[i].expression = make_column(arena, 0, static_cast<int32_t>(i), type,
                                        select_common_typmod(sides, type), both[0]->location);
  }
  query->set_operation = static_cast<QuerySetOperation>(select.operation);
  query->set_all = select.all;
  query->left = left.query;
  query->right = right.query;
  query->left_columns = left_columns;
  query->right_columns = right_columns;
  query->targets = targets;
  query->visible_targets = static_cast<int32_t>(width);
  return query;
}

}  // namespace

BoundQuery* bind_set_operation(StatementBinding& binding, const ast::SelectStmt& select,
                               Scope* parent, const BetweenSides& between) {
  Scope scope(binding, parent);
  std::span<BoundCte* const> ctes = bind_with(scope, select.with);
  BoundQuery* query = bind_node(binding, select, scope, between);
  query->ctes = ctes;
  query->with_recursive = select.with != nullptr && select.with->recursive;
  std::vector<BoundTarget> targets(query->targets.begin(), query->targets.end());
  // ORDER BY may name the result's columns; what else it holds is bound against them for its own
  // errors.
  ScopeItem result;
  for (const BoundTarget& target : targets)
    result.columns.push_back({target.name, target.expression});
  scope.items.push_back(std::move(result));
  query->order_by = binding.arena.copy_span(bind_set_order_by(scope, select.order_by, targets));
  scope.items.clear();
  query->targets = binding.arena.copy_span(targets);
  bind_limits(scope, select, *query);
  check_unlocked(select.locking);
  return query;
}

}  // namespace pgsilo
