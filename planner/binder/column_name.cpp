// Names of result columns without AS: PostgreSQL's FigureColname.
#include "planner/binder/expression_binder.h"
#include "sql/ast/query.h"

namespace pgsilo {

namespace {

// Casts and CASE name the column only if nothing inside does so more strongly.
enum class Strength : uint8_t { none, weak, strong };

struct Figured {
  Strength strength = Strength::none;
  std::string_view name;
};

Figured figure(const ast::Node* node);

Figured figure_indirection(const ast::Indirection& node) {
  std::string_view field;
  for (const ast::IndirectionStep& step : node.steps) {
    if (step.kind == ast::IndirectionStep::Kind::field) field = step.field;
  }
  return field.empty() ? figure(node.argument) : Figured{Strength::strong, field};
}

Figured figure_sublink(const ast::SubLink& node) {
  switch (node.sublink_kind) {
    case ast::SubLinkKind::exists:
      return {Strength::strong, "exists"};
    case ast::SubLinkKind::array:
      return {Strength::strong, "array"};
    case ast::SubLinkKind::expression:
      break;
    default:
      return {};
  }
  // The name of the subquery's only column.
  const ast::SelectStmt* select = node.select;
  while (select->left != nullptr) select = select->left;
  if (!select->values_lists.empty()) return {Strength::strong, "column1"};
  if (select->targets.empty()) return {};
  const ast::Target& target = select->targets.front();
  return {Strength::strong,
          target.name.empty() ? figure_column_name(target.expression) : target.name};
}

std::string_view sql_value_name(ast::SqlValue value) {
  switch (value) {
    case ast::SqlValue::current_date:
      return "current_date";
    case ast::SqlValue::current_time:
    case ast::SqlValue::current_time_n:
      return "current_time";
    case ast::SqlValue::current_timestamp:
    case ast::SqlValue::current_timestamp_n:
      return "current_timestamp";
    case ast::SqlValue::localtime:
    case ast::SqlValue::localtime_n:
      return "localtime";
    case ast::SqlValue::localtimestamp:
    case ast::SqlValue::localtimestamp_n:
      return "localtimestamp";
    case ast::SqlValue::current_role:
      return "current_role";
    case ast::SqlValue::current_user:
      return "current_user";
    case ast::SqlValue::user:
      return "user";
    case ast::SqlValue::session_user:
      return "session_user";
    case ast::SqlValue::current_catalog:
      return "current_catalog";
    case ast::SqlValue::current_schema:
      return "current_schema";
  }
  return {};
}

Figured figure_cast(const ast::TypeCast& node) {
  Figured inside = figure(node.argument);
  if (inside.strength == Strength::strong) return inside;
  if (node.type->names.empty()) return {};  // of no tree that was written
  return {Strength::weak, node.type->names.back()};
}

Figured figure_case(const ast::CaseExpr& node) {
  Figured inside = node.otherwise != nullptr ? figure(node.otherwise) : Figured{};
  if (inside.strength == Strength::strong) return inside;
  return {Strength::weak, "case"};
}

Figured figure(const ast::Node* node) {
  switch (node->kind) {
    case ast::NodeKind::constant:
      return {};
    case ast::NodeKind::column_ref: {
      auto* reference = ast::as<ast::ColumnRef>(node);
      if (reference->fields.empty()) return {};
      return {Strength::strong, reference->fields.back()};
    }
    case ast::NodeKind::indirection:
      return figure_indirection(*ast::as<ast::Indirection>(node));
    case ast::NodeKind::func_call:
      return {Strength::strong, ast::as<ast::FuncCall>(node)->name.back()};
    case ast::NodeKind::operator_expr:
      if (ast::as<ast::OperatorExpr>(node)->operator_kind == ast::OperatorKind::nullif) {
        return {Strength::strong, "nullif"};
      }
      return {};
    case ast::NodeKind::type_cast:
      return figure_cast(*ast::as<ast::TypeCast>(node));
    case ast::NodeKind::collate_clause:
      return figure(ast::as<ast::CollateClause>(node)->argument);
    case ast::NodeKind::grouping_func:
      return {Strength::strong, "grouping"};
    case ast::NodeKind::sublink:
      return figure_sublink(*ast::as<ast::SubLink>(node));
    case ast::NodeKind::case_expr:
      return figure_case(*ast::as<ast::CaseExpr>(node));
    case ast::NodeKind::array_expr:
      return {Strength::strong, "array"};
    case ast::NodeKind::row_expr:
      return {Strength::strong, "row"};
    case ast::NodeKind::coalesce_expr:
      return {Strength::strong, "coalesce"};
    case ast::NodeKind::min_max_expr:
      return {Strength::strong, ast::as<ast::MinMaxExpr>(node)->is_least ? "least" : "greatest"};
    case ast::NodeKind::sql_value_function:
      return {Strength::strong, sql_value_name(ast::as<ast::SqlValueFunction>(node)->value)};
    default:
      return {};
  }
}

}  // namespace

std::string_view figure_column_name(const ast::Node* node) {
  Figured figured = figure(node);
  return figured.strength == Strength::none ? std::string_view("?column?") : figured.name;
}

}  // namespace pgsilo
