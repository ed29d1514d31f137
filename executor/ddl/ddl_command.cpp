#include "executor/ddl/ddl_command.h"

#include "executor/constraint/referential_actions.h"
#include "sql/internal_error.h"

namespace pgsilo {

class DdlRun::Monitor final : public RowMonitor {
 public:
  explicit Monitor(ExecutionContext& session) : session_(session) {}
  void row() override { session_.maybe_yield(); }

 private:
  ExecutionContext& session_;
};

DdlRun::DdlRun(ExecutionState& state, const PlannedStatement& planned)
    : state_(state),
      types_(state.session.types),
      binding_{.arena = arena_,
               .catalog = *state.session.catalog,
               .text = planned.text,
               .database_name = state.session.database_name,
               .types = types_,
               .parameters = {},
               .tables = {}},
      monitor_(std::make_unique<Monitor>(state.session)),
      definition_(*state.session.catalog, state.transaction(), types_, monitor_.get()) {
  types_.arena = &arena_;
}

DdlRun::~DdlRun() = default;

void DdlRun::send_notices() {
  for (const SqlDiagnostic& diagnostic : definition_.notices()) {
    if (state_.session.notices == nullptr) continue;
    SqlError notice(diagnostic.severity, diagnostic.state, diagnostic.message);
    notice.amend() = diagnostic;
    state_.session.notices->notice(notice);
  }
  definition_.notices().clear();
}

void DdlRun::finish(TransactionStatus status) {
  send_notices();
  state_.check(status);
}

void DdlRun::notice(std::string message) {
  if (state_.session.notices == nullptr) return;
  state_.session.notices->notice(
      SqlError(Severity::notice, sqlstate::successful_completion, std::move(message)));
}

const TableDescriptor* DdlRun::find_table(const ast::RangeVar& name, bool missing_ok) {
  const TableDescriptor* table = find_relation(name, missing_ok);
  if (table == nullptr || table->kind == RelationKind::table) return table;
  throw SqlError(sqlstate::wrong_object_type, concat("\"", table->name, "\" is not a table"));
}

const TableDescriptor* DdlRun::find_relation(const ast::RangeVar& name, bool missing_ok) {
  const TableDescriptor* table = catalog().find_table(name.schema_name, name.name);
  if (table != nullptr) return table;
  std::string shown =
      name.schema_name.empty() ? std::string(name.name) : concat(name.schema_name, ".", name.name);
  if (!missing_ok) {
    throw SqlError(sqlstate::undefined_table, concat("relation \"", shown, "\" does not exist"));
  }
  notice(concat("relation \"", shown, "\" does not exist, skipping"));
  return nullptr;
}

void DdlRun::refuse_pending_events(const TableDescriptor& table, std::string_view command) {
  const ReferentialActions* references = state_.session.references;
  if (references != nullptr) references->refuse_pending(table, command);
}

const TableDescriptor& DdlRun::table(Oid oid) {
  const TableDescriptor* table = catalog().find_table(oid);
  PGSILO_REQUIRE(table != nullptr);
  return *table;
}

std::string_view alter_tag(ast::ObjectKind kind) {
  switch (kind) {
    case ast::ObjectKind::index:
      return "ALTER INDEX";
    case ast::ObjectKind::sequence:
      return "ALTER SEQUENCE";
    default:
      return "ALTER TABLE";
  }
}

}  // namespace pgsilo
