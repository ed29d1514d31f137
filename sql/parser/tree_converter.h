// PostgreSQL's parse tree to our syntax tree. Internal to sql/parser; recursion is as deep as
// the tree, so it runs on the large stack and only on texts that passed check_nesting(). Thread
// safety: none; one per parse().
#pragma once

#include <cstddef>
#include <string_view>

#include "base/arena.h"
#include "sql/ast/ast.h"
#include "sql/ast/make_node.h"
#include "sql/parser/constant_rows.h"
#include "sql/parser/postgres_tree.h"

namespace pgsilo {

class TreeConverter {
 public:
  // `rows`: what was taken out of the text before it was parsed.
  TreeConverter(std::string_view sql, Arena& arena, ConstantRows& rows)
      : sql_(sql), arena_(arena), rows_(rows) {}
  const ast::Node* statement(const PgNode* node);

 private:
  // --- tree_converter.cpp ---
  std::string_view text(const char* from) {
    return from == nullptr ? std::string_view() : arena_.copy_string(from);
  }
  std::string_view string_of(const PgNode* node);  // of a String node
  ast::NameList names(const ::List* items);
  ast::NameList object_name(const PgNode* from);
  ast::NodeList nodes(const ::List* items);  // expressions
  template <typename T, typename Convert>
  ast::List<T> list(const ::List* items, Convert convert) {
    std::span<const ListCell> from = cells(items);
    std::span<T> converted = arena_.make_span<T>(from.size());
    for (size_t i = 0; i < from.size(); ++i) converted[i] = convert(node_in(from[i]));
    return converted;
  }
  [[noreturn]] void unsupported(std::string_view feature, int32_t location);
  const ast::Node* unsupported_statement(std::string_view feature);
  // What a statement we do not have is called (feature_names.cpp).
  static std::string_view feature_name(const PgNode* node);
  static std::string_view drop_feature(::ObjectType type);
  static std::string_view alter_feature_of(::ObjectType type);
  [[noreturn]] void throw_misplaced_attribute(int constraint_type, int32_t location);

  // --- convert_expression.cpp ---
  const ast::Node* expression(const PgNode* node);  // null for null
  const ast::Node* expression(const ::Expr* node) {
    return expression(reinterpret_cast<const PgNode*>(node));
  }
  const ast::Node* constant_of(const ::A_Const& from);
  const ast::Node* operator_expr(const ::A_Expr& from);
  const ast::Node* bool_expr(const ::BoolExpr& from);
  const ast::Node* column_ref(const ::ColumnRef& from);
  const ast::Node* func_call(const ::FuncCall& from);
  const ast::Node* sublink(const ::SubLink& from);
  const ast::Node* case_expr(const ::CaseExpr& from);
  const ast::Node* indirection(const ::A_Indirection& from);
  const ast::Node* multi_assign(const ::MultiAssignRef& from);
  const ast::Node* test_expr(const PgNode* node);  // IS NULL, IS TRUE
  const ast::Node* other_expression(const PgNode* node);
  const ast::Node* rare_expression(const PgNode* node);
  ast::List<ast::IndirectionStep> indirection_steps(const ::List* items);
  const ast::TypeName* type_name(const ::TypeName* from);
  const ast::CollateClause* collate_clause(const ::CollateClause* from);
  ast::SortBy sort_by(const PgNode* node);
  ast::WindowDef window_def(const ::WindowDef& from);

  // --- convert_query.cpp ---
  const ast::SelectStmt* select(const ::SelectStmt& from);
  void fill_plain_select(const ::SelectStmt& from, ast::SelectStmt* to);
  const ast::Node* select_statement(const ::SelectStmt& from);
  const ast::Node* insert(const ::InsertStmt& from);
  const ast::Node* update(const ::UpdateStmt& from);
  const ast::Node* remove(const ::DeleteStmt& from);
  const ast::OnConflict* on_conflict(const ::OnConflictClause* from);
  const ast::WithClause* with_clause(const ::WithClause* from);
  const ast::IntoClause* into_clause(const ::IntoClause* from);
  const ast::Alias* alias(const ::Alias* from);
  const ast::RangeVar* range_var(const ::RangeVar* from);
  ast::List<const ast::RangeVar*> range_vars(const ::List* items);
  const ast::Node* from_item(const PgNode* node);
  const ast::Node* range_function(const ::RangeFunction& from);
  const ast::Node* join(const ::JoinExpr& from);
  ast::List<ast::NodeList> values_lists(const ::SelectStmt& from);
  ast::NodeList from_items(const ::List* items);
  ast::List<ast::Target> targets(const ::List* items);
  ast::List<ast::Assignment> assignments(const ::List* items);
  ast::LockingClause locking_clause(const ::LockingClause& from);

  // --- convert_ddl.cpp ---
  const ast::Node* create_table(const ::CreateStmt& from);
  const ast::Node* create_table_as(const ::CreateTableAsStmt& from);
  const ast::Node* create_view(const ::ViewStmt& from);
  const ast::Node* create_index(const ::IndexStmt& from);
  const ast::Node* drop(const ::DropStmt& from);
  const ast::Node* alter_table(const ::AlterTableStmt& from);
  ast::AlterTableCommand alter_table_command(const ::AlterTableCmd& from);
  void fill_alter_column(const ::AlterTableCmd& from, ast::AlterTableCommand& to);
  const ast::Node* rename(const ::RenameStmt& from);
  const ast::Node* truncate(const ::TruncateStmt& from);
  const ast::Node* comment(const ::CommentStmt& from);
  const ast::Node* create_schema(const ::CreateSchemaStmt& from);
  ast::NameList type_words(const ::TypeName& from);
  const ast::Node* create_enum(const ::CreateEnumStmt& from);
  const ast::Node* alter_enum(const ::AlterEnumStmt& from);
  ast::List<const ast::Constraint*> domain_constraints(const ::List* items);
  const ast::Node* create_domain(const ::CreateDomainStmt& from);
  const ast::Node* create_statistics(const ::CreateStatsStmt& from);
  const ast::Node* alter_statistics(const ::AlterStatsStmt& from);
  const ast::Node* alter_domain(const ::AlterDomainStmt& from);
  const ast::Node* set_schema(const ::AlterObjectSchemaStmt& from);
  const ast::Node* change_owner(const ::AlterOwnerStmt& from);
  ast::NameList domain_constraint_words(const ::List& from);
  const ast::Node* create_sequence(const ::CreateSeqStmt& from);
  const ast::Node* alter_sequence(const ::AlterSeqStmt& from);
  const ast::ColumnDef* column_def(const ::ColumnDef& from);
  ast::List<const ast::ColumnDef*> column_defs(const ::List* items);
  ast::List<const ast::Constraint*> column_constraints(const ::ColumnDef& from);
  ast::Constraint* constraint(const ::Constraint& from);
  ast::IndexElement index_element(const ::IndexElem& from);
  ast::List<ast::IndexElement> index_elements(const ::List* items);
  ast::DefElem def_elem(const ::DefElem& from);
  ast::List<ast::DefElem> def_elems(const ::List* items);

  // --- convert_utility.cpp ---
  // Null if the statement is none of these.
  const ast::Node* utility(const PgNode* node);
  const ast::Node* session_statement(const PgNode* node);
  const ast::Node* copy(const ::CopyStmt& from);
  const ast::Node* transaction(const ::TransactionStmt& from);
  const ast::Node* set(const ::VariableSetStmt& from);
  const ast::Node* prepare(const ::PrepareStmt& from);
  const ast::Node* vacuum(const ::VacuumStmt& from);
  const ast::Node* declare_cursor(const ::DeclareCursorStmt& from);
  const ast::Node* fetch(const ::FetchStmt& from);

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
