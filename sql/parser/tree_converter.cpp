#include "sql/parser/tree_converter.h"

#include <pg_query.h>

#include <cstdint>
#include <vector>

#include "sql/sql_error.h"
#include "sql/text_position.h"

namespace pgsilo {

using namespace ast;

std::string_view TreeConverter::string_of(const PgNode* node) {
  return node->node_case == PG_QUERY__NODE__NODE_STRING ? text(node->string->sval)
                                                        : std::string_view();
}

NameList TreeConverter::names(PgNode* const* items, size_t count) {
  return list<std::string_view>(items, count,
                                [this](const PgNode* item) { return string_of(item); });
}

NodeList TreeConverter::nodes(PgNode* const* items, size_t count) {
  return list<const Node*>(items, count, [this](const PgNode* item) { return expression(item); });
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
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE:
      clause = "DEFERRABLE";
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_NOT_DEFERRABLE:
      clause = "NOT DEFERRABLE";
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED:
      clause = "INITIALLY DEFERRED";
      break;
    default:
      clause = "INITIALLY IMMEDIATE";
      break;
  }
  throw SqlError(sqlstate::syntax_error, concat("misplaced ", clause, " clause"))
      .at(character_position(sql_, location));
}

// Printed by libpg_query's deparser as the only column of a SELECT.
std::string_view TreeConverter::expression_text(PgNode* expression) {
  PgQuery__ResTarget target = PG_QUERY__RES_TARGET__INIT;
  target.val = expression;
  PgQuery__Node target_node = PG_QUERY__NODE__INIT;
  target_node.node_case = PG_QUERY__NODE__NODE_RES_TARGET;
  target_node.res_target = &target;
  PgQuery__Node* target_nodes[] = {&target_node};
  PgQuery__SelectStmt select = PG_QUERY__SELECT_STMT__INIT;
  select.target_list = target_nodes;
  select.n_target_list = 1;
  select.limit_option = PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_DEFAULT;
  select.op = PG_QUERY__SET_OPERATION__SETOP_NONE;
  PgQuery__Node select_node = PG_QUERY__NODE__INIT;
  select_node.node_case = PG_QUERY__NODE__NODE_SELECT_STMT;
  select_node.select_stmt = &select;
  PgQuery__RawStmt raw = PG_QUERY__RAW_STMT__INIT;
  raw.stmt = &select_node;
  PgQuery__RawStmt* statements[] = {&raw};
  PgQuery__ParseResult tree = PG_QUERY__PARSE_RESULT__INIT;
  tree.stmts = statements;
  tree.n_stmts = 1;

  std::vector<uint8_t> packed(pg_query__parse_result__get_packed_size(&tree));
  pg_query__parse_result__pack(&tree, packed.data());
  PgQueryDeparseResult printed =
      pg_query_deparse_protobuf({packed.size(), reinterpret_cast<char*>(packed.data())});
  std::string_view prefix = "SELECT ";
  std::string_view result;
  if (printed.error == nullptr) result = text(printed.query).substr(prefix.size());
  pg_query_free_deparse_result(printed);
  if (result.empty()) unsupported("this expression in a definition", -1);
  return result;
}

const Node* TreeConverter::statement(const PgNode* node) {
  shared_source_ = nullptr;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
      return select_statement(*node->select_stmt);
    case PG_QUERY__NODE__NODE_INSERT_STMT:
      return insert(*node->insert_stmt);
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
      return update(*node->update_stmt);
    case PG_QUERY__NODE__NODE_DELETE_STMT:
      return remove(*node->delete_stmt);
    case PG_QUERY__NODE__NODE_CREATE_STMT:
      return create_table(*node->create_stmt);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
      return create_table_as(*node->create_table_as_stmt);
    case PG_QUERY__NODE__NODE_INDEX_STMT:
      return create_index(*node->index_stmt);
    case PG_QUERY__NODE__NODE_DROP_STMT:
      return drop(*node->drop_stmt);
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
      return alter_table(*node->alter_table_stmt);
    case PG_QUERY__NODE__NODE_RENAME_STMT:
      return rename(*node->rename_stmt);
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
      return truncate(*node->truncate_stmt);
    case PG_QUERY__NODE__NODE_COMMENT_STMT:
      return comment(*node->comment_stmt);
    case PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT:
      return create_schema(*node->create_schema_stmt);
    case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
      return create_enum(*node->create_enum_stmt);
    case PG_QUERY__NODE__NODE_ALTER_ENUM_STMT:
      return alter_enum(*node->alter_enum_stmt);
    case PG_QUERY__NODE__NODE_CREATE_SEQ_STMT:
      return create_sequence(*node->create_seq_stmt);
    case PG_QUERY__NODE__NODE_ALTER_SEQ_STMT:
      return alter_sequence(*node->alter_seq_stmt);
    default:
      break;
  }
  if (const Node* converted = utility(node)) return converted;
  return unsupported_statement(feature_name(node));
}

}  // namespace pgsilo
