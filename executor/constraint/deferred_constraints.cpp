// Foreign keys that are checked when the transaction ends, or when SET CONSTRAINTS says so.
#include <algorithm>

#include "catalog/catalog_view.h"
#include "executor/constraint/referential_actions.h"
#include "executor/execution_context.h"
#include "executor/transaction_status.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

std::span<const Datum> copy_values(const TableDescriptor& table,
                                   const std::vector<int16_t>& columns,
                                   std::span<const Datum> values, Arena& memory) {
  auto copied = memory.make_span<Datum>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const ColumnDescriptor& column = table.columns[static_cast<size_t>(columns[i]) - 1];
    copied[i] = copy_datum(values[i], type_info(column.type), memory);
  }
  return copied;
}

}  // namespace

bool ReferentialActions::is_deferred(const ConstraintDescriptor& constraint) const {
  if (!constraint.deferrable || at_commit_) return false;
  if (auto found = modes_.find(constraint.oid); found != modes_.end()) return found->second;
  return all_given_ ? all_deferred_ : constraint.initially_deferred;
}

// Actions that change rows are taken at once, whatever the constraint says, as in PostgreSQL.
bool ReferentialActions::defers(const Subject& subject, const ReferenceEvent& event) const {
  return is_deferred(subject.constraint) &&
         (event.kind == ReferenceEvent::Kind::refers ||
          action_of(subject, event) == ReferentialAction::no_action);
}

void ReferentialActions::defer(const Subject& subject, const ReferenceEvent& event) {
  const std::vector<int16_t>& columns = subject.key().referenced_columns;
  ReferenceEvent kept = event;
  kept.row_key = deferred_memory_.copy_string(event.row_key);
  kept.old_values = copy_values(subject.referenced, columns, event.old_values, deferred_memory_);
  kept.new_values = copy_values(subject.referenced, columns, event.new_values, deferred_memory_);
  deferred_.push_back({kept});
}

// A constraint that a definition has taken away since asks for nothing any more.
bool ReferentialActions::waits(const DeferredEvent& each) const {
  if (each.settled != 0) return false;
  const TableDescriptor* table = context_.catalog->find_table(each.event.reference.table);
  return table != nullptr && table->find_constraint(each.event.reference.constraint) != nullptr;
}

void ReferentialActions::refuse_pending(const TableDescriptor& table,
                                        std::string_view command) const {
  for (const DeferredEvent& each : deferred_) {
    if (!waits(each)) continue;
    bool refers = each.event.kind == ReferenceEvent::Kind::refers;
    Oid changed = refers ? each.event.reference.table : subject_of(each.event).referenced.oid;
    if (changed != table.oid) continue;
    throw SqlError(sqlstate::object_in_use, concat("cannot ", command, " \"", table.name,
                                                   "\" because it has pending trigger events"));
  }
}

void ReferentialActions::settle_deferred() {
  if (deferred_.empty()) return;
  at_commit_ = true;
  try {
    settle_pending();
  } catch (...) {
    at_commit_ = false;
    throw;
  }
  at_commit_ = false;
}

// A statement of the transaction; under READ COMMITTED no conflict of it is the client's.
void ReferentialActions::settle_pending() {
  Transaction& transaction = *context_.transaction;
  context_.may_read_past = false;  // that was of the statement before
  Mark before = mark();
  for (;;) {
    try {
      require_ok_status(transaction.begin_statement());
      settle_pending_events();
      return require_ok_status(transaction.end_statement());
    } catch (const TransactionConflict& conflict) {
      bool again = transaction.mode() == TransactionMode::interactive &&
                   transaction.isolation() == Isolation::read_committed &&
                   conflict.status() != TransactionStatus::deadlock &&
                   transaction.restart_statement() == TransactionStatus::ok;
      if (!again) throw;
    }
    rollback_to(before);
    context_.maybe_yield();
  }
}

void ReferentialActions::settle_pending_events() {
  ++settled_;
  // What the events do may leave others.
  for (;;) {
    auto queue = std::make_unique<ReferenceQueue>();
    for (DeferredEvent& each : deferred_) {
      if (!waits(each) || is_deferred(subject_of(each.event).constraint)) continue;
      each.settled = settled_;
      queue->events.push_back(each.event);
    }
    if (queue->events.empty()) return;
    settle(std::move(queue));
  }
}

void ReferentialActions::set_constraints(std::span<const Oid> constraints, bool deferred) {
  if (constraints.empty()) {
    modes_.clear();
    all_given_ = true;
    all_deferred_ = deferred;
  }
  for (Oid constraint : constraints) modes_[constraint] = deferred;
  if (!deferred && !deferred_.empty()) settle_pending();
}

void ReferentialActions::forget_transaction() {
  if (!deferred_.empty()) {
    deferred_.clear();
    deferred_memory_.reset();
  }
  if (!modes_.empty()) modes_.clear();
  all_given_ = all_deferred_ = false;
  settled_ = 0;
}

ReferentialActions::Mark ReferentialActions::mark() const {
  return {deferred_.size(), settled_, modes_, all_given_, all_deferred_};
}

void ReferentialActions::rollback_to(const Mark& mark) {
  deferred_.resize(std::min(deferred_.size(), mark.events));
  if (settled_ > mark.settled) {
    for (DeferredEvent& each : deferred_) {
      if (each.settled > mark.settled) each.settled = 0;
    }
    settled_ = mark.settled;
  }
  modes_ = mark.modes;
  all_given_ = mark.all_given;
  all_deferred_ = mark.all_deferred;
}

}  // namespace pgsilo
