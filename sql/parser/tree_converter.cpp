#include "sql/parser/tree_converter.h"

#include <cstdint>
#include <string>

#include "sql/sql_error.h"
#include "sql/text_position.h"

namespace pgsilo {

using namespace ast;

std::string_view TreeConverter::string_of(const PgNode* node) {
  const auto* string = try_node<::String>(node);
  return string != nullptr ? text(string->sval) : std::string_view();
}

NameList TreeConverter::names(const ::List* items) {
  return list<std::string_view>(items, [this](const PgNode* item) { return string_of(item); });
}

NodeList TreeConverter::nodes(const ::List* items) {
  return list<const Node*>(items, [this](const PgNode* item) { return expression(item); });
}

void TreeConverter::unsupported(std::string_view feature, int32_t location) {
  throw_unsupported(feature, character_position(sql_, location));
}

const Node* TreeConverter::unsupported_statement(std::string_view feature) {
  auto* to = make<UnsupportedStmt>();
  to->feature = feature;
  return to;
}

void TreeConverter::throw_misplaced_attribute(int constraint_type, int32_t location) {
  std::string_view clause;
  switch (constraint_type) {
    case CONSTR_ATTR_DEFERRABLE:
      clause = "DEFERRABLE";
      break;
    case CONSTR_ATTR_NOT_DEFERRABLE:
      clause = "NOT DEFERRABLE";
      break;
    case CONSTR_ATTR_DEFERRED:
      clause = "INITIALLY DEFERRED";
      break;
    default:
      clause = "INITIALLY IMMEDIATE";
      break;
  }
  throw SqlError(sqlstate::syntax_error, concat("misplaced ", clause, " clause"))
      .at(character_position(sql_, location));
}

const Node* TreeConverter::statement(const PgNode* node) {
  shared_source_ = nullptr;
  switch (node->type) {
    case T_SelectStmt:
      return select_statement(node_as<::SelectStmt>(node));
    case T_InsertStmt:
      return insert(node_as<::InsertStmt>(node));
    case T_UpdateStmt:
      return update(node_as<::UpdateStmt>(node));
    case T_DeleteStmt:
      return remove(node_as<::DeleteStmt>(node));
    case T_CreateStmt:
      return create_table(node_as<::CreateStmt>(node));
    case T_CreateTableAsStmt:
      return create_table_as(node_as<::CreateTableAsStmt>(node));
    case T_ViewStmt:
      return create_view(node_as<::ViewStmt>(node));
    case T_IndexStmt:
      return create_index(node_as<::IndexStmt>(node));
    case T_DropStmt:
      return drop(node_as<::DropStmt>(node));
    case T_AlterTableStmt:
      return alter_table(node_as<::AlterTableStmt>(node));
    case T_RenameStmt:
      return rename(node_as<::RenameStmt>(node));
    case T_TruncateStmt:
      return truncate(node_as<::TruncateStmt>(node));
    case T_CommentStmt:
      return comment(node_as<::CommentStmt>(node));
    case T_CreateSchemaStmt:
      return create_schema(node_as<::CreateSchemaStmt>(node));
    case T_CreateEnumStmt:
      return create_enum(node_as<::CreateEnumStmt>(node));
    case T_AlterEnumStmt:
      return alter_enum(node_as<::AlterEnumStmt>(node));
    case T_CreateDomainStmt:
      return create_domain(node_as<::CreateDomainStmt>(node));
    case T_CreateStatsStmt:
      return create_statistics(node_as<::CreateStatsStmt>(node));
    case T_AlterStatsStmt:
      return alter_statistics(node_as<::AlterStatsStmt>(node));
    case T_AlterDomainStmt:
      return alter_domain(node_as<::AlterDomainStmt>(node));
    case T_AlterObjectSchemaStmt:
      return set_schema(node_as<::AlterObjectSchemaStmt>(node));
    case T_AlterOwnerStmt:
      return change_owner(node_as<::AlterOwnerStmt>(node));
    case T_CreateSeqStmt:
      return create_sequence(node_as<::CreateSeqStmt>(node));
    case T_AlterSeqStmt:
      return alter_sequence(node_as<::AlterSeqStmt>(node));
    default:
      break;
  }
  if (const Node* converted = utility(node)) return converted;
  return unsupported_statement(feature_name(node));
}

}  // namespace pgsilo
