// LOCK TABLE: the lock that statements take by themselves, in any of the eight modes.
#include "executor/ddl/lock_table.h"

#include <set>

#include "base/clock.h"
#include "base/parker.h"
#include "catalog/named_relation.h"
#include "executor/catalog_binding.h"
#include "executor/execution_state.h"
#include "executor/transaction_status.h"
#include "planner/binder/query_binder.h"
#include "planner/plan/transaction_plan.h"
#include "sql/ast/utility.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

SqlError not_lockable(const ast::RangeVar& name, std::string_view kind) {
  return SqlError(sqlstate::wrong_object_type, concat("cannot lock relation \"", name.name, "\""))
      .detail(concat("This operation is not supported for ", kind, "."));
}

const TableDescriptor& find_lockable(const ExecutionContext& session, const ast::RangeVar& name) {
  const auto [table, index] = require_relation(*session.catalog, session.database_name, name);
  if (index != nullptr) throw not_lockable(name, "indexes");
  if (table->kind == RelationKind::sequence) throw not_lockable(name, "sequences");
  return *table;
}

// The tables and views that a view names, those of subqueries among them.
std::vector<ast::RangeVar> tables_of_view(ExecutionState& state, const TableDescriptor& view) {
  CatalogBinding bound(state.session, state.session.types);
  bound.binding().keeps_views = true;
  bind_view_query(bound.binding(), view);
  std::vector<ast::RangeVar> names;
  for (const TableDescriptor* table : bound.binding().tables) {
    names.emplace_back();
    names.back().schema_name = table->schema_name;
    names.back().name = table->name;
  }
  return names;
}

class LockTableCommand final : public UtilityCommand {
 public:
  explicit LockTableCommand(std::shared_ptr<const PlannedStatement> planned)
      : planned_(std::move(planned)) {}

  StatementKind kind() const override { return StatementKind::utility; }
  std::string_view tag() const override { return "LOCK TABLE"; }
  bool read_only() const override { return true; }

  void run(ExecutionState& state, ResultSink&) const override {
    require_block(state.session.place, tag());
    // In a query of several statements outside of a block, too.
    state.check(state.transaction().become_interactive());
    std::set<Oid> views;  // that are locked, with what they read
    for (const ast::RangeVar* name : syntax().relations) lock(state, *name, views);
  }

 private:
  // While it waited, the name may have come to mean something else.
  void lock(ExecutionState& state, const ast::RangeVar& name, std::set<Oid>& views) const {
    CatalogView& catalog = *state.session.catalog;
    for (;;) {
      std::shared_ptr<const CatalogSnapshot> owner = catalog.shared_snapshot();
      const TableDescriptor& table = find_lockable(state.session, name);
      if (table.kind == RelationKind::view && !views.insert(table.oid).second) return;
      if (table.is_system() && table.kind == RelationKind::view) {
        for (const ast::RangeVar& read : tables_of_view(state, table)) lock(state, read, views);
        return;
      }
      lock(state, name, *table.relation);
      if (is_current(table) && table.kind == RelationKind::view) {
        for (const ast::RangeVar& read : tables_of_view(state, table)) lock(state, read, views);
        return;
      }
      views.erase(table.oid);
      // Who reads a snapshot is in nobody's way.
      if (state.transaction().mode() == TransactionMode::snapshot || is_current(table)) return;
      // Whoever changed it commits before he tells everybody.
      constexpr int64_t moment_us = 100;
      state.session.parker->park(monotonic_us() + moment_us);
      state.session.check_budget();
      catalog.refresh();
    }
  }
  void lock(ExecutionState& state, const ast::RangeVar& name, Relation& relation) const {
    WaitPolicy policy = syntax().nowait ? WaitPolicy::no_wait : WaitPolicy::wait;
    TransactionStatus status =
        state.transaction().lock_relation(relation, static_cast<LockMode>(syntax().mode), policy);
    if (status == TransactionStatus::lock_not_available) {
      throw SqlError(sqlstate::lock_not_available,
                     concat("could not obtain lock on relation \"", name.name, "\""));
    }
    state.check(status);
  }
  // Nobody changes its row while we have the lock.
  static bool is_current(const TableDescriptor& table) {
    const CatalogRecord& row = table.record;
    return row.record == nullptr || row.record->tid_word().load().tid() == row.tid;
  }
  const ast::LockStmt& syntax() const { return *ast::as<ast::LockStmt>(planned_->syntax); }

  std::shared_ptr<const PlannedStatement> planned_;
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_lock_table(
    const std::shared_ptr<const PlannedStatement>& planned) {
  return std::make_unique<LockTableCommand>(planned);
}

}  // namespace pgsilo
