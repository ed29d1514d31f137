#include "server/session/statement_class.h"

#include "sql/ast/ast.h"

namespace pgsilo {

StatementClass statement_class(const ast::Node& statement) {
  using Kind = ast::NodeKind;
  switch (statement.kind) {
    case Kind::create_table_stmt:
    case Kind::create_table_as_stmt:
    case Kind::drop_stmt:
    case Kind::create_index_stmt:
    case Kind::alter_table_stmt:
    case Kind::rename_stmt:
    case Kind::comment_stmt:
    case Kind::create_schema_stmt:
    case Kind::create_enum_stmt:
    case Kind::alter_enum_stmt:
    case Kind::create_domain_stmt:
    case Kind::create_statistics_stmt:
    case Kind::alter_statistics_stmt:
    case Kind::alter_domain_stmt:
    case Kind::set_schema_stmt:
    case Kind::change_owner_stmt:
    case Kind::create_sequence_stmt:
    case Kind::alter_sequence_stmt:
      return StatementClass::ddl;
    case Kind::insert_stmt:
    case Kind::update_stmt:
    case Kind::delete_stmt:
    case Kind::truncate_stmt:
      return StatementClass::mod;
    case Kind::copy_stmt:
      return ast::as<ast::CopyStmt>(&statement)->is_from ? StatementClass::mod
                                                         : StatementClass::all;
    case Kind::prepare_stmt:
      return statement_class(*ast::as<ast::PrepareStmt>(&statement)->query);
    default:
      return StatementClass::all;
  }
}

}  // namespace pgsilo
