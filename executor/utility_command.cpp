#include "executor/utility_command.h"

#include "executor/copy/copy_command.h"
#include "executor/ddl/ddl_command.h"
#include "executor/ddl/lock_table.h"
#include "executor/ddl/vacuum.h"
#include "executor/explain/explain_command.h"
#include "planner/plan/transaction_plan.h"
#include "sql/ast/ast.h"
#include "sql/sql_error.h"

namespace pgsilo {

std::unique_ptr<const UtilityCommand> make_utility_command(
    const std::shared_ptr<const PlannedStatement>& planned) {
  if (planned->kind == PlannedKind::explain) return make_explain(planned);
  switch (planned->syntax->kind) {
    case ast::NodeKind::create_table_stmt:
      return make_create_table(planned);
    case ast::NodeKind::create_table_as_stmt:
      return make_create_table_as(planned);
    case ast::NodeKind::create_view_stmt:
      return make_create_view(planned);
    case ast::NodeKind::create_index_stmt:
      return make_create_index(planned);
    case ast::NodeKind::create_schema_stmt:
      return make_create_schema(planned);
    case ast::NodeKind::create_enum_stmt:
      return make_create_enum(planned);
    case ast::NodeKind::alter_enum_stmt:
      return make_alter_enum(planned);
    case ast::NodeKind::create_statistics_stmt:
      return make_create_statistics(planned);
    case ast::NodeKind::alter_statistics_stmt:
      return make_alter_statistics(planned);
    case ast::NodeKind::create_domain_stmt:
      return make_create_domain(planned);
    case ast::NodeKind::alter_domain_stmt:
      return make_alter_domain(planned);
    case ast::NodeKind::set_schema_stmt:
      return make_set_schema(planned);
    case ast::NodeKind::change_owner_stmt:
      return make_change_owner(planned);
    case ast::NodeKind::create_sequence_stmt:
      return make_create_sequence(planned);
    case ast::NodeKind::alter_sequence_stmt:
      return make_alter_sequence(planned);
    case ast::NodeKind::drop_stmt:
      return make_drop(planned);
    case ast::NodeKind::alter_table_stmt:
      return make_alter_table(planned);
    case ast::NodeKind::rename_stmt:
      return make_rename(planned);
    case ast::NodeKind::truncate_stmt:
      return make_truncate(planned);
    case ast::NodeKind::copy_stmt:
      return make_copy(planned);
    case ast::NodeKind::vacuum_stmt:
      return make_vacuum(planned);
    case ast::NodeKind::comment_stmt:
      return make_comment(planned);
    case ast::NodeKind::lock_stmt:
      return make_lock_table(planned);
    case ast::NodeKind::set_constraints_stmt:
      throw_unsupported("SET CONSTRAINTS");
    case ast::NodeKind::unsupported_stmt:
      throw_unsupported(ast::as<ast::UnsupportedStmt>(planned->syntax)->feature);
    default:
      throw SqlError(sqlstate::internal_error, "this statement is not the executor's");
  }
}

}  // namespace pgsilo
