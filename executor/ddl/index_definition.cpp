#include "executor/ddl/index_definition.h"

#include "executor/constant_evaluator.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/index_expressions.h"
#include "planner/bound/expression_tree.h"
#include "planner/rewrite/fold.h"
#include "planner/stored/stored_tree.h"
#include "sql/types/type.h"

namespace pgsilo {

IndexBinder::IndexBinder(DdlRun& run, const TableShape& shape)
    : run_(run), shape_(shape), scope_(run.binding(), nullptr), read_(shape.columns.size()) {
  add_columns(scope_, shape);
}

void IndexBinder::define(const ast::Node& expression, IndexColumnDefinition* column) {
  const BoundExpression* bound =
      bind_expression(scope_, &expression, ExpressionPlace::index_expression);
  if (const auto* slot = try_as<SlotExpression>(bound)) {
    column->column = shape_.names[static_cast<size_t>(slot->slot)];
    return;
  }
  std::string_view name = figure_column_name(&expression);
  column->column = name == "?column?" ? "expr" : name;
  IndexExpression& made = column->expression.emplace();
  made.type = bound->type;
  made.typmod = bound->typmod;
  made.user_type = share_user_type(bound->type);
  made.collation = type_info(bound->type).collation;
  made.value = store(*bound, "index expression");
}

StoredExpression IndexBinder::predicate(const ast::Node* where) {
  const BoundExpression* bound =
      bind_condition(scope_, where, ExpressionPlace::index_predicate, "WHERE");
  if (bound == nullptr || is_constant_true(bound)) return {};
  return store(*bound, "index predicate");
}

// As PostgreSQL, what constants alone decide may be computed by anything.
StoredExpression IndexBinder::store(const BoundExpression& expression, std::string_view what) {
  ExecutorConstantEvaluator evaluator(run_.state().session);
  // A constraint that comes later, or that a row which is there breaks, would keep the row from
  // being found by its old key.
  bool checks_domain = contains(expression, [](const BoundExpression& part) {
    return part.kind == ExpressionKind::domain_coercion;
  });
  if (checks_domain) throw_unsupported("a cast to a domain in an index");
  if (!is_immutable(*fold_expression(run_.arena(), &evaluator, &expression))) {
    throw SqlError(sqlstate::invalid_object_definition,
                   concat("functions in ", what, " must be marked IMMUTABLE"));
  }
  contains(expression, [&](const BoundExpression& part) {
    if (const auto* slot = try_as<SlotExpression>(&part))
      read_[static_cast<size_t>(slot->slot)] = true;
    return false;
  });
  return store_expression(run_.catalog(), expression);
}

std::vector<std::string> IndexBinder::read_columns() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < read_.size(); ++i) {
    if (read_[i]) names.push_back(shape_.names[i]);
  }
  return names;
}

}  // namespace pgsilo
