// Defaults and checks: expressions that the catalog keeps as text.
#include "catalog/descriptors.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/make_expression.h"
#include "sql/internal_error.h"
#include "sql/parser/parser.h"
#include "sql/types/type.h"

namespace pgsilo {

const ast::Node* parse_expression(StatementBinding& binding, std::string_view text) {
  std::span<const ast::RawStatement> parsed = parse(concat("SELECT ", text), binding.arena);
  PGSILO_REQUIRE(parsed.size() == 1 && parsed[0].statement->kind == ast::NodeKind::select_stmt);
  const auto* select = ast::as<ast::SelectStmt>(parsed[0].statement);
  PGSILO_REQUIRE(select->targets.size() == 1);
  return select->targets[0].expression;
}

const BoundExpression* coerce_to_column(StatementBinding& binding, const BoundExpression* value,
                                        const ColumnDescriptor& column, int32_t location) {
  const BoundExpression* coerced =
      coerce_to_target(binding, value, column.type, column.typmod, CoercionContext::assignment,
                       CallForm::implicit_cast, -1);
  if (coerced != nullptr) return coerced;
  throw SqlError(sqlstate::datatype_mismatch,
                 concat("column \"", column.name, "\" is of type ", type_name(column.type),
                        " but expression is of type ", type_name(value->type)))
      .hint("You will need to rewrite or cast the expression.")
      .at(binding.position(value->location >= 0 ? value->location : location));
}

const BoundExpression* bind_column_default(StatementBinding& binding,
                                           const ColumnDescriptor& column) {
  bool is_identity = column.identity != IdentityKind::none;
  if (!column.has_default() && !is_identity) return make_null(binding.arena, column.type);
  KeptText kept(binding);
  Scope scope(binding, nullptr);
  const ast::Node* syntax = parse_expression(
      binding, is_identity ? sequence_default(column.identity_sequence) : column.default_text);
  const BoundExpression* value = bind_expression(scope, syntax, ExpressionPlace::column_default);
  return coerce_to_column(binding, value, column, -1);
}

std::span<const CheckConstraint> bind_checks(StatementBinding& binding,
                                             const TableDescriptor& table) {
  std::vector<CheckConstraint> checks;
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (constraint.type != ConstraintType::check) continue;
    KeptText kept(binding);
    Scope scope(binding, nullptr);
    ast::RangeVar name;
    name.name = table.name;
    add_table(scope, name, &table);
    const ast::Node* condition = parse_expression(binding, constraint.check_text);
    checks.push_back({constraint.name, bind_condition(scope, condition,
                                                      ExpressionPlace::check_constraint, "CHECK")});
  }
  return binding.arena.copy_span(checks);
}

}  // namespace pgsilo
