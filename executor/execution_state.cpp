#include "executor/execution_state.h"

#include "catalog/descriptors.h"
#include "catalog/object/type_descriptor.h"
#include "executor/constraint/reference_events.h"
#include "executor/executable_plan.h"
#include "executor/operator/cte.h"
#include "executor/operator/operator.h"
#include "executor/operator/subplan.h"
#include "executor/table_lock.h"
#include "executor/transaction_status.h"
#include "planner/plan/transaction_plan.h"
#include "sql/internal_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

ExecutionState::ExecutionState(std::shared_ptr<const ExecutablePlan> executable,
                               ExecutionContext& context)
    : plan(std::move(executable)),
      compiled(plan->compiled()),
      session(context),
      registers(compiled.registers),
      work_tables(compiled.planned->work_tables),
      subplans(compiled.subplans.size()),
      ctes(compiled.ctes.size()) {
  rows.types = &session.types;
  rows.execution = &session;
  rows.state = this;
  if (compiled.root != nullptr) root = compiled.root->instantiate(*this);
}

ExecutionState::~ExecutionState() = default;

void ExecutionState::raise(TransactionStatus status) { raise_transaction_status(status); }

SubplanRun& ExecutionState::subplan(uint32_t index) {
  std::unique_ptr<SubplanRun>& run = subplans[index];
  if (run == nullptr) run = std::make_unique<SubplanRun>(compiled.subplans[index], *this);
  return *run;
}

CteRun& ExecutionState::cte(int32_t index) {
  std::unique_ptr<CteRun>& run = ctes[static_cast<size_t>(index)];
  if (run == nullptr)
    run = std::make_unique<CteRun>(compiled.ctes[static_cast<size_t>(index)], *this);
  return *run;
}

void ExecutionState::start(std::span<const Datum> parameters) {
  PGSILO_REQUIRE(parameters.size() == compiled.parameter_count);
  std::copy(parameters.begin(), parameters.end(), registers.begin());
  if (memory.bytes_reserved() != 0) memory.reset();
  rows.forget_sets();
  rows_processed = 0;
  reference_events.reset();
  nested = started = finished = ran_no_query = false;
}

void ExecutionState::begin_statement() {
  started = true;
  session.types.transaction_timestamp = session.transaction_timestamp_us;
  session.types.statement_timestamp = session.statement_timestamp_us;
  // Locks of rows that are only read mean something until the transaction ends.
  if (!compiled.planned->lock_clause.empty()) check(transaction().become_interactive());
  check(nested ? transaction().continue_statement() : transaction().begin_statement());
  command = transaction().command();
  const PlannedStatement& planned = *compiled.planned;
  for (size_t i = 0; i < planned.tables.size(); ++i) {
    // What is read of a sequence is read outside of the transaction.
    if (planned.tables[i]->kind != RelationKind::sequence)
      use_table(*planned.tables[i], planned.table_uses[i]);
  }
  for (const auto& type : planned.user_types) {
    if (type->record.record != nullptr)
      check(transaction().use_descriptor(type->record.record, type->record.tid));
  }
  if (nested) return;
  // Behind the locks of tables, for their definitions are of the present.
  bool for_good = inserts_for_good();
  // The rows that it locks it looks at in the present, where it can be beaten.
  if (for_good && !planned.lock_clause.empty()) {
    transaction().keep_inserts_undoable();
    for_good = false;
  }
  bool only_reads = planned.kind == PlannedKind::query && planned.read_only;
  session.may_read_past = only_reads || for_good;
  if ((for_good || (only_reads && session.prefers_past)) && session.long_reader != nullptr)
    static_cast<void>(session.long_reader->read_snapshot());
}

bool ExecutionState::inserts_for_good() {
  const PlannedStatement& planned = *compiled.planned;
  if (planned.kind != PlannedKind::insert ||
      transaction().isolation() != Isolation::read_committed) {
    return false;
  }
  bool inserts = false;
  bool reads = false;
  for (size_t i = 0; i < planned.tables.size(); ++i) {
    const Relation* relation = planned.tables[i]->relation;
    if (relation == nullptr) continue;
    bool is_target = planned.table_uses[i] == TableUse::write;
    inserts |= is_target && relation->is_private();
    reads |= !is_target && !relation->is_private();
  }
  return inserts && reads;
}

void ExecutionState::use_table(const TableDescriptor& table, TableUse use) {
  const CatalogRecord& row = table.record;
  const CatalogRecord& type = table.type_record;
  bool one_shot_writes =
      use == TableUse::write && transaction().mode() != TransactionMode::interactive;
  if (one_shot_writes && row.record != nullptr) {
    check(transaction().use_written_descriptor({row.record, row.tid}, {type.record, type.tid}));
  } else if (type.record != nullptr) {
    check(transaction().use_descriptor(type.record, type.tid));
  }
  if (table.relation == nullptr) return;
  if (session.keeps_writers_out && !nested) check(transaction().keep_writers_out(*table.relation));
  check(lock_table(transaction(), table, use));
}

void ExecutionState::close() {
  rows.forget_sets();
  if (root != nullptr) root->close();
  for (auto& run : subplans) {
    if (run != nullptr) run->reset();
  }
  for (auto& run : ctes) {
    if (run != nullptr) run->reset();
  }
  Scratch::trim(scratches);
  ReadBuffer::trim(read_buffers);
  memory.trim();
}

}  // namespace pgsilo
