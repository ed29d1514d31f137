// The raw syntax tree: what the text says, no name resolved. Close to PostgreSQL's raw parse nodes,
// but only what SQL needs. Nodes live in an Arena (base/arena.h), are trivially destructible and
// never change after sql/parser built them.
//
// Conventions
// - `location` is a byte offset into the text handed to parse(), or -1 where the grammar records
// none.
// - A `const Node*` that may be null says so; spans hold no null pointers unless said otherwise.
// - Strings point into the Arena; identifiers are already case-folded and truncated as PostgreSQL
// does. Thread safety: immutable, so free.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sql/internal_error.h"

namespace pgsilo::ast {

enum class NodeKind : uint8_t {
  // expressions.h
  constant,
  column_ref,
  star,
  param_ref,
  func_call,
  operator_expr,
  bool_expr,
  null_test,
  boolean_test,
  case_expr,
  coalesce_expr,
  min_max_expr,
  type_cast,
  collate_clause,
  sublink,
  row_expr,
  array_expr,
  indirection,
  sql_value_function,
  set_to_default,
  grouping_set,
  grouping_func,
  named_argument,
  current_of,
  multi_assign_ref,
  // query.h: items of FROM
  range_var,
  range_subselect,
  range_function,
  join_expr,
  // query.h: statements
  select_stmt,
  insert_stmt,
  update_stmt,
  delete_stmt,
  // ddl.h
  column_def,
  constraint,
  table_like,
  create_table_stmt,
  create_table_as_stmt,
  drop_stmt,
  create_index_stmt,
  create_view_stmt,
  alter_table_stmt,
  rename_stmt,
  truncate_stmt,
  comment_stmt,
  create_schema_stmt,
  create_enum_stmt,
  alter_enum_stmt,
  create_domain_stmt,
  create_statistics_stmt,
  alter_statistics_stmt,
  alter_domain_stmt,
  set_schema_stmt,
  change_owner_stmt,
  create_sequence_stmt,
  alter_sequence_stmt,
  // utility.h
  copy_stmt,
  transaction_stmt,
  set_stmt,
  show_stmt,
  prepare_stmt,
  execute_stmt,
  deallocate_stmt,
  discard_stmt,
  explain_stmt,
  vacuum_stmt,
  checkpoint_stmt,
  lock_stmt,
  declare_cursor_stmt,
  fetch_stmt,
  close_portal_stmt,
  set_constraints_stmt,
  unsupported_stmt,
};

struct Node {
  NodeKind kind = NodeKind::unsupported_stmt;
  int32_t location = -1;
};

template <typename T>
using List = std::span<const T>;
using NodeList = List<const Node*>;
using NameList = List<std::string_view>;

// T must be the node's type; T::node_kind says which kind that is.
template <typename T>
const T* as(const Node* node) {
  PGSILO_REQUIRE(node != nullptr && node->kind == T::node_kind);
  return static_cast<const T*>(node);
}

// Null when the node is null or of another type.
template <typename T>
const T* try_as(const Node* node) {
  return node != nullptr && node->kind == T::node_kind ? static_cast<const T*>(node) : nullptr;
}

// One statement of a text.
struct RawStatement {
  const Node* statement = nullptr;  // never null
  int32_t start;                    // byte offset of its first token's text
  int32_t length;  // bytes up to its semicolon or the end of the text, trailing blanks not included
};

}  // namespace pgsilo::ast
