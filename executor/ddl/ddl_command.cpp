#include "executor/ddl/ddl_command.h"

#include <algorithm>

#include "executor/constraint/referential_actions.h"
#include "executor/session_statements.h"
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
  static_cast<void>(state.session.told_catalog());  // notices tell of it
}

DdlRun::~DdlRun() = default;

int DdlRun::position(int32_t location) {
  if (location < 0) return -1;
  size_t bytes = std::min(static_cast<size_t>(location), binding_.text.size());
  if (bytes < counted_bytes_) counted_bytes_ = 0, counted_characters_ = 0;
  auto more = static_cast<int32_t>(bytes - counted_bytes_);
  counted_characters_ += character_position(binding_.text.substr(counted_bytes_), more) - 1;
  counted_bytes_ = bytes;
  return counted_characters_ + 1;
}

void DdlRun::send_notices() {
  for (const SqlDiagnostic& diagnostic : definition_.notices()) {
    if (state_.session.notices == nullptr) continue;
    SqlError notice(diagnostic.severity, diagnostic.state, diagnostic.message);
    notice.amend() = diagnostic;
    state_.session.notices->notice(notice);
  }
  definition_.notices().clear();
  for (const SqlError& warning : binding_.warnings) {
    if (state_.session.notices != nullptr) state_.session.notices->notice(warning);
  }
  binding_.warnings.clear();
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

NamedRelation DdlRun::find_named(const ast::RangeVar& name, bool missing_ok) {
  std::string_view database = state_.session.database_name;
  if (!missing_ok) return require_relation(catalog(), database, name);
  NamedRelation found = pgsilo::find_relation(catalog(), database, name);
  if (!found.exists()) notice(concat("relation \"", name.name, "\" does not exist, skipping"));
  return found;
}

const TableDescriptor* DdlRun::find_relation(const ast::RangeVar& name, bool missing_ok) {
  if (missing_ok && !find_named(name, true).exists()) return nullptr;
  return &require_table(catalog(), state_.session.database_name, name);
}

const TableDescriptor* DdlRun::find_kind(RelationKind kind, std::string_view word,
                                         const ast::RangeVar& name, bool missing_ok) {
  NamedRelation found = find_named(name, missing_ok);
  if (!found.exists()) return nullptr;
  if (found.table != nullptr && found.table->kind == kind) return found.table;
  throw SqlError(sqlstate::wrong_object_type, concat("\"", name.name, "\" is not a ", word));
}

void DdlRun::refuse_in_use(const TableDescriptor& table, std::string_view command) {
  const SessionCursors* cursors = state_.session.cursors;
  if (cursors != nullptr) cursors->refuse_in_use(table, command);
  refuse_pending_events(table, command);
}

void DdlRun::refuse_pending_events(const TableDescriptor& table, std::string_view command) {
  const ReferentialActions* references = state_.session.references;
  if (references != nullptr) references->refuse_pending(table, command);
}

void DdlRun::refuse_foreign_temporary(const TableDescriptor& table, std::string_view verb) {
  if (!catalog().is_foreign_temporary(*catalog().snapshot().find_schema(table.schema))) return;
  throw SqlError(sqlstate::feature_not_supported,
                 concat("cannot ", verb, " temporary tables of other sessions"));
}

const TableDescriptor& DdlRun::table(Oid oid) {
  const TableDescriptor* table = catalog().find_table(oid);
  PGSILO_REQUIRE(table != nullptr);
  return *table;
}

void require_kind(const TableDescriptor& relation, ast::ObjectKind kind) {
  bool fits = (kind != ast::ObjectKind::view || relation.kind == RelationKind::view) &&
              (kind != ast::ObjectKind::sequence || relation.kind == RelationKind::sequence);
  if (fits) return;
  throw SqlError(sqlstate::wrong_object_type,
                 concat("\"", relation.name, "\" is not a ",
                        kind == ast::ObjectKind::view ? "view" : "sequence"));
}

std::string_view action_name(ast::AlterTableKind kind) {
  constexpr std::pair<ast::AlterTableKind, std::string_view> names[] = {
      {ast::AlterTableKind::add_column, "ADD COLUMN"},
      {ast::AlterTableKind::drop_column, "DROP COLUMN"},
      {ast::AlterTableKind::set_not_null, "ALTER COLUMN ... SET NOT NULL"},
      {ast::AlterTableKind::drop_not_null, "ALTER COLUMN ... DROP NOT NULL"},
      {ast::AlterTableKind::set_type, "ALTER COLUMN ... SET DATA TYPE"},
      {ast::AlterTableKind::add_constraint, "ADD CONSTRAINT"},
      {ast::AlterTableKind::drop_constraint, "DROP CONSTRAINT"},
      {ast::AlterTableKind::alter_constraint, "ALTER CONSTRAINT"},
      {ast::AlterTableKind::validate_constraint, "VALIDATE CONSTRAINT"},
      {ast::AlterTableKind::set_statistics, "ALTER COLUMN ... SET STATISTICS"},
      {ast::AlterTableKind::set_storage, "ALTER COLUMN ... SET STORAGE"},
      {ast::AlterTableKind::set_logged, "SET LOGGED"},
      {ast::AlterTableKind::set_unlogged, "SET UNLOGGED"},
      {ast::AlterTableKind::add_identity, "ALTER COLUMN ... ADD IDENTITY"},
      {ast::AlterTableKind::set_identity, "ALTER COLUMN ... SET"},
      {ast::AlterTableKind::drop_identity, "ALTER COLUMN ... DROP IDENTITY"},
      {ast::AlterTableKind::drop_expression, "ALTER COLUMN ... DROP EXPRESSION"},
  };
  for (const auto& [known, name] : names) {
    if (known == kind) return name;
  }
  return "of this kind";
}

std::string_view alter_tag(ast::ObjectKind kind) {
  switch (kind) {
    case ast::ObjectKind::index:
      return "ALTER INDEX";
    case ast::ObjectKind::sequence:
      return "ALTER SEQUENCE";
    case ast::ObjectKind::view:
      return "ALTER VIEW";
    case ast::ObjectKind::type:
      return "ALTER TYPE";
    case ast::ObjectKind::statistics:
      return "ALTER STATISTICS";
    case ast::ObjectKind::domain:
    case ast::ObjectKind::domain_constraint:
      return "ALTER DOMAIN";
    default:
      return "ALTER TABLE";
  }
}

}  // namespace pgsilo
