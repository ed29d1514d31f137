// libpg_query's protobuf tree to our syntax tree. Internal to sql/parser; recursion is as deep as
// the tree, so it runs on the large stack and only on texts that passed check_nesting(). Thread
// safety: none; one per parse().
#pragma once

#include <pg_query/pg_query.pb-c.h>

#include <cstddef>
#include <string_view>

#include "base/arena.h"
#include "sql/ast/ast.h"
#include "sql/ast/make_node.h"
#include "sql/parser/constant_rows.h"

namespace pgsilo {

class TreeConverter {
 public:
  // `rows`: what was taken out of the text before it was parsed.
  TreeConverter(std::string_view sql, Arena& arena, ConstantRows& rows)
      : sql_(sql), arena_(arena), rows_(rows) {}
  const ast::Node* statement(const PgQuery__Node* node);

 private:
  using PgNode = PgQuery__Node;

  // --- tree_converter.cpp ---
  std::string_view text(const char* from) {
    return from == nullptr ? std::string_view() : arena_.copy_string(from);
  }
  std::string_view string_of(const PgNode* node);  // of a String node
  ast::NameList names(PgNode* const* items, size_t count);
  ast::NodeList nodes(PgNode* const* items, size_t count);  // expressions
  template <typename T, typename Convert>
  ast::List<T> list(PgNode* const* items, size_t count, Convert convert) {
    std::span<T> converted = arena_.make_span<T>(count);
    for (size_t i = 0; i < count; ++i) converted[i] = convert(items[i]);
    return converted;
  }
  [[noreturn]] void unsupported(std::string_view feature, int32_t location);
  const ast::Node* unsupported_statement(std::string_view feature);
  // What a statement we do not have is called (feature_names.cpp).
  static std::string_view feature_name(const PgNode* node);
  static std::string_view drop_feature(PgQuery__ObjectType type);
  static std::string_view alter_feature_of(PgQuery__ObjectType type);
  [[noreturn]] void throw_misplaced_attribute(int constraint_type, int32_t location);
  // The SQL text of an expression (default, check), printed from its tree.
  std::string_view expression_text(PgNode* expression);

  // --- convert_expression.cpp ---
  const ast::Node* expression(const PgNode* node);  // null for null
  const ast::Node* constant_of(const PgQuery__AConst& from);
  const ast::Node* operator_expr(const PgQuery__AExpr& from);
  const ast::Node* bool_expr(const PgQuery__BoolExpr& from);
  const ast::Node* column_ref(const PgQuery__ColumnRef& from);
  const ast::Node* func_call(const PgQuery__FuncCall& from);
  const ast::Node* sublink(const PgQuery__SubLink& from);
  const ast::Node* case_expr(const PgQuery__CaseExpr& from);
  const ast::Node* indirection(const PgQuery__AIndirection& from);
  const ast::Node* multi_assign(const PgQuery__MultiAssignRef& from);
  const ast::Node* test_expr(const PgNode* node);  // IS NULL, IS TRUE
  const ast::Node* other_expression(const PgNode* node);
  const ast::Node* rare_expression(const PgNode* node);
  ast::List<ast::IndirectionStep> indirection_steps(PgNode* const* items, size_t count);
  const ast::TypeName* type_name(const PgQuery__TypeName* from);
  const ast::CollateClause* collate_clause(const PgQuery__CollateClause* from);
  ast::SortBy sort_by(const PgNode* node);
  ast::WindowDef window_def(const PgQuery__WindowDef& from);

  // --- convert_query.cpp ---
  const ast::SelectStmt* select(const PgQuery__SelectStmt& from);
  void fill_plain_select(const PgQuery__SelectStmt& from, ast::SelectStmt* to);
  const ast::Node* select_statement(const PgQuery__SelectStmt& from);
  const ast::Node* insert(const PgQuery__InsertStmt& from);
  const ast::Node* update(const PgQuery__UpdateStmt& from);
  const ast::Node* remove(const PgQuery__DeleteStmt& from);
  const ast::OnConflict* on_conflict(const PgQuery__OnConflictClause* from);
  const ast::WithClause* with_clause(const PgQuery__WithClause* from);
  const ast::IntoClause* into_clause(const PgQuery__IntoClause* from);
  const ast::Alias* alias(const PgQuery__Alias* from);
  const ast::RangeVar* range_var(const PgQuery__RangeVar* from);
  ast::List<const ast::RangeVar*> range_vars(PgNode* const* items, size_t count);
  const ast::Node* from_item(const PgNode* node);
  const ast::Node* range_function(const PgQuery__RangeFunction& from);
  const ast::Node* join(const PgQuery__JoinExpr& from);
  ast::List<ast::NodeList> values_lists(const PgQuery__SelectStmt& from);
  ast::NodeList from_items(PgNode* const* items, size_t count);
  ast::List<ast::Target> targets(PgNode* const* items, size_t count);
  ast::List<ast::Assignment> assignments(PgNode* const* items, size_t count);
  ast::LockingClause locking_clause(const PgQuery__LockingClause& from);

  // --- convert_ddl.cpp ---
  const ast::Node* create_table(const PgQuery__CreateStmt& from);
  const ast::Node* create_table_as(const PgQuery__CreateTableAsStmt& from);
  const ast::Node* create_index(const PgQuery__IndexStmt& from);
  const ast::Node* drop(const PgQuery__DropStmt& from);
  const ast::Node* alter_table(const PgQuery__AlterTableStmt& from);
  ast::AlterTableCommand alter_table_command(const PgQuery__AlterTableCmd& from);
  void fill_alter_column(const PgQuery__AlterTableCmd& from, ast::AlterTableCommand& to);
  const ast::Node* rename(const PgQuery__RenameStmt& from);
  const ast::Node* truncate(const PgQuery__TruncateStmt& from);
  const ast::Node* comment(const PgQuery__CommentStmt& from);
  const ast::Node* create_schema(const PgQuery__CreateSchemaStmt& from);
  ast::NameList type_words(const PgQuery__TypeName& from);
  const ast::Node* create_enum(const PgQuery__CreateEnumStmt& from);
  const ast::Node* alter_enum(const PgQuery__AlterEnumStmt& from);
  const ast::Node* create_sequence(const PgQuery__CreateSeqStmt& from);
  const ast::Node* alter_sequence(const PgQuery__AlterSeqStmt& from);
  const ast::ColumnDef* column_def(const PgQuery__ColumnDef& from);
  ast::List<const ast::ColumnDef*> column_defs(PgNode* const* items, size_t count);
  ast::List<const ast::Constraint*> column_constraints(const PgQuery__ColumnDef& from);
  ast::Constraint* constraint(const PgQuery__Constraint& from);
  ast::IndexElement index_element(const PgQuery__IndexElem& from);
  ast::List<ast::IndexElement> index_elements(PgNode* const* items, size_t count);
  ast::DefElem def_elem(const PgQuery__DefElem& from);
  ast::List<ast::DefElem> def_elems(PgNode* const* items, size_t count);

  // --- convert_utility.cpp ---
  // Null if the statement is none of these.
  const ast::Node* utility(const PgNode* node);
  const ast::Node* session_statement(const PgNode* node);
  const ast::Node* copy(const PgQuery__CopyStmt& from);
  const ast::Node* transaction(const PgQuery__TransactionStmt& from);
  const ast::Node* set(const PgQuery__VariableSetStmt& from);
  const ast::Node* prepare(const PgQuery__PrepareStmt& from);
  const ast::Node* vacuum(const PgQuery__VacuumStmt& from);
  const ast::Node* declare_cursor(const PgQuery__DeclareCursorStmt& from);
  const ast::Node* fetch(const PgQuery__FetchStmt& from);

  template <typename T>
  T* make(int32_t location = -1) {
    return ast::make_node<T>(arena_, location);
  }

  std::string_view sql_;
  Arena& arena_;
  ConstantRows& rows_;
  const ast::Node* shared_source_ = nullptr;  // of SET (a, b) = source
};

}  // namespace pgsilo
