// Defaults and checks: expressions that the catalog keeps.
#include "catalog/builtin/builtin.h"
#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "planner/binder/coercion.h"
#include "planner/binder/expression_binder.h"
#include "planner/binder/modification_binder.h"
#include "planner/binder/modification_target.h"
#include "planner/binder/query_binder.h"
#include "planner/bound/make_expression.h"
#include "planner/stored/stored_tree.h"
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

const BoundExpression* make_next_value(StatementBinding& binding, Oid sequence, Oid type) {
  const BoundExpression* arguments[] = {
      make_constant(binding.arena, type_oid::regclass, Datum::of_int(sequence))};
  const BuiltinProcedure& nextval = find_procedures("nextval").front();
  const BoundExpression* value = make_call(binding.arena, nextval, type_oid::int8,
                                           binding.arena.copy_span(std::span(arguments)), -1);
  binding.calls_volatile = true;
  const BoundExpression* coerced = coerce_to_target(
      binding, value, type, -1, CoercionContext::assignment, CallForm::implicit_cast, -1);
  PGSILO_REQUIRE(coerced != nullptr);
  return coerced;
}

const BoundExpression* null_of_column(StatementBinding& binding, const ColumnDescriptor& column) {
  const BoundExpression* null = make_null(binding.arena, base_type_of(column.type));
  return coerce_type(binding, null, column.type, no_typmod, CoercionContext::assignment,
                     CallForm::implicit_cast, -1);
}

const BoundExpression* bind_column_default(StatementBinding& binding,
                                           const ColumnDescriptor& column) {
  if (column.identity != IdentityKind::none)
    return make_next_value(binding, column.identity_sequence, column.type);
  if (!column.has_default()) return bind_type_default(binding, column);
  return read_constant_expression(binding, column.default_value);
}

const BoundExpression* bind_type_default(StatementBinding& binding,
                                         const ColumnDescriptor& column) {
  auto type = column.user_type != nullptr ? binding.catalog.find_type(column.type) : nullptr;
  if (type == nullptr || type->domain == nullptr || type->domain->default_value.empty())
    return null_of_column(binding, column);
  return coerce_to_column(binding, read_constant_expression(binding, type->domain->default_value),
                          column, -1);
}

namespace {

// The table is relation 0.
struct TableColumns {
  StatementBinding& binding;
  const TableDescriptor& table;

  const BoundExpression* operator()(int16_t number, Oid type, int32_t typmod) const {
    require_column(number, table.columns.size());
    return make_column(binding.arena, 0, number - 1, type, typmod);
  }
};

template <typename Which>
std::span<const BoundAssignment> bind_generated_if(StatementBinding& binding,
                                                   const TableDescriptor& table, Which which) {
  std::vector<BoundAssignment> made;
  TableColumns columns{binding, table};
  for (const ColumnDescriptor& column : table.columns) {
    if (!column.generated || !which(column)) continue;
    made.push_back({column.number - 1, read_expression(binding, column.default_value, columns)});
  }
  return binding.arena.copy_span(made);
}

}  // namespace

std::span<const BoundAssignment> bind_generated(StatementBinding& binding,
                                                const TableDescriptor& table) {
  return bind_generated_if(binding, table, [](const ColumnDescriptor&) { return true; });
}

std::span<const BoundAssignment> bind_generated(StatementBinding& binding,
                                                const TableDescriptor& table,
                                                std::span<const BoundAssignment> assignments) {
  return bind_generated_if(binding, table, [&](const ColumnDescriptor& column) {
    return std::ranges::any_of(assignments, [&](const BoundAssignment& assignment) {
      return column.is_made_of(static_cast<int16_t>(assignment.column + 1));
    });
  });
}

std::span<const CheckConstraint> bind_checks(StatementBinding& binding,
                                             const ModificationTarget& target) {
  const TableDescriptor& table = *target.table;
  std::vector<CheckConstraint> checks;
  TableColumns columns{binding, table};
  for (const ConstraintDescriptor& constraint : table.constraints) {
    if (constraint.type != ConstraintType::check) continue;
    checks.push_back({constraint.name, read_expression(binding, constraint.check, columns)});
  }
  // As PostgreSQL; the order in which they were made says nothing.
  std::ranges::sort(checks, {}, &CheckConstraint::name);
  checks.insert(checks.end(), target.checks.begin(), target.checks.end());
  return binding.arena.copy_span(checks);
}

}  // namespace pgsilo
