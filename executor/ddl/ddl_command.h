// What all DDL statements share: the way to catalog/data_definition, notices, names.
// Thread safety: immutable; DdlRun belongs to one run.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/large_stack.h"
#include "catalog/data_definition.h"
#include "catalog/named_relation.h"
#include "executor/execution_state.h"
#include "executor/utility_command.h"
#include "planner/binder/scope.h"
#include "planner/plan/transaction_plan.h"
#include "sql/ast/ddl.h"

namespace pgsilo {

// One run of a DDL statement.
class DdlRun {
 public:
  DdlRun(ExecutionState& state, const PlannedStatement& planned);
  ~DdlRun();
  DdlRun(const DdlRun&) = delete;
  DdlRun& operator=(const DdlRun&) = delete;

  ExecutionState& state() { return state_; }
  CatalogView& catalog() { return *state_.session.catalog; }
  DataDefinition& definition() { return definition_; }
  StatementBinding& binding() { return binding_; }
  // As the binding's. Who asks for locations in the order of the text has it counted once.
  int position(int32_t location);
  Arena& arena() { return arena_; }
  TypeContext& types() { return types_; }

  // Sends what the definition had to say, and raises a status other than ok.
  void finish(TransactionStatus status);
  void notice(std::string message);

  // Of what is to be made, as schema_of() of catalog/named_relation.h.
  std::string_view schema_of(const ast::RangeVar& name) const {
    return pgsilo::schema_of(name, state_.session.database_name);
  }
  // As require_relation() of catalog/named_relation.h; with `missing_ok` a notice of what does not
  // exist.
  NamedRelation find_named(const ast::RangeVar& name, bool missing_ok);
  // As require_table() of catalog/named_relation.h; with `missing_ok` a notice and null of what
  // does not exist.
  const TableDescriptor* find_relation(const ast::RangeVar& name, bool missing_ok = false);
  // The same for tables or sequences only: 42809 `"s" is not a table`.
  const TableDescriptor* find_table(const ast::RangeVar& name, bool missing_ok = false) {
    return find_kind(RelationKind::table, "table", name, missing_ok);
  }
  const TableDescriptor* find_sequence(const ast::RangeVar& name, bool missing_ok = false) {
    return find_kind(RelationKind::sequence, "sequence", name, missing_ok);
  }
  const TableDescriptor* find_view(const ast::RangeVar& name) {
    return find_kind(RelationKind::view, "view", name, false);
  }
  // 55006 if deferred checks of the table's rows wait for the end of the transaction.
  void refuse_pending_events(const TableDescriptor& table, std::string_view command);
  // The same, or if a cursor still reads the table.
  void refuse_in_use(const TableDescriptor& table, std::string_view command);
  // 0A000: cannot "alter" temporary tables of other sessions.
  void refuse_foreign_temporary(const TableDescriptor& table, std::string_view verb);
  // The present descriptor of a table that an earlier step may have changed.
  const TableDescriptor& table(Oid oid);

 private:
  class Monitor;
  const TableDescriptor* find_kind(RelationKind kind, std::string_view word,
                                   const ast::RangeVar& name, bool missing_ok);
  void send_notices();

  ExecutionState& state_;
  Arena arena_;
  TypeContext types_;  // the session's, with an arena of its own
  StatementBinding binding_;
  size_t counted_bytes_ = 0;  // of the text, and the characters that these are
  int counted_characters_ = 0;
  std::unique_ptr<Monitor> monitor_;
  DataDefinition definition_;
};

class DdlCommand : public UtilityCommand {
 public:
  explicit DdlCommand(std::shared_ptr<const PlannedStatement> planned)
      : planned_(std::move(planned)) {}

  StatementKind kind() const final { return StatementKind::ddl; }
  void run(ExecutionState& state, ResultSink&) const final {
    DdlRun run(state, *planned_);
    // Expressions of definitions are as deep as any.
    run_on_large_stack([&] { execute(run); });
  }

 protected:
  virtual void execute(DdlRun& run) const = 0;
  template <typename T>
  const T& syntax() const {
    return *ast::as<T>(planned_->syntax);
  }

  std::shared_ptr<const PlannedStatement> planned_;
};

// 42809 `"t" is not a view`, where the statement's word is VIEW or SEQUENCE.
void require_kind(const TableDescriptor& relation, ast::ObjectKind kind);
// Everything belongs to the one role that can own something, and stays there: 42704 of others.
void require_own_role(std::string_view role);
// As messages call what ALTER TABLE does: "ADD COLUMN".
std::string_view action_name(ast::AlterTableKind kind);
// Of ALTER with that word behind it: "ALTER INDEX".
std::string_view alter_tag(ast::ObjectKind kind);

using PlannedOwner = std::shared_ptr<const PlannedStatement>;
std::unique_ptr<const UtilityCommand> make_create_table(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_table_as(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_view(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_index(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_schema(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_enum(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_alter_enum(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_domain(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_statistics(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_alter_statistics(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_alter_domain(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_set_schema(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_change_owner(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_create_sequence(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_alter_sequence(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_drop(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_truncate(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_alter_table(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_comment(const PlannedOwner& planned);
std::unique_ptr<const UtilityCommand> make_rename(const PlannedOwner& planned);

}  // namespace pgsilo
