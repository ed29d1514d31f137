// nextval() and its kin. They act at once and for good: neither a rollback nor a re-run of the
// statement takes anything back.
#include "catalog/catalog_view.h"
#include "catalog/named_relation.h"
#include "catalog/sequence/sequence_session.h"
#include "catalog/temporary_schema.h"
#include "executor/catalog_names.h"
#include "executor/execution_context.h"
#include "executor/functions/function.h"
#include "executor/transaction_status.h"
#include "sql/sql_error.h"

namespace pgsilo::functions {
namespace {

const TableDescriptor& find_any_sequence(EvalContext& context, Datum relation) {
  const CatalogView& catalog = *context.execution->catalog;
  auto oid = static_cast<Oid>(relation.i64);
  const TableDescriptor* table = catalog.find_table(oid);
  if (table != nullptr && table->kind == RelationKind::sequence) return *table;
  const IndexDescriptor* index = catalog.snapshot().find_index(oid);
  if (table == nullptr && index == nullptr) {
    throw SqlError(sqlstate::internal_error, concat("could not open relation with OID ", oid));
  }
  throw SqlError(
      sqlstate::wrong_object_type,
      concat("\"", table != nullptr ? table->name : index->name, "\" is not a sequence"));
}

const TableDescriptor& find_sequence(EvalContext& context, Datum relation) {
  const TableDescriptor& sequence = find_any_sequence(context, relation);
  require_own_rows(*context.execution->catalog, sequence);
  return sequence;
}

void check(TransactionStatus status) {
  if (status != TransactionStatus::ok) raise_transaction_status(status);
}

void check_may_write(const EvalContext& context, std::string_view function) {
  if (!context.execution->read_only) return;
  throw SqlError(sqlstate::read_only_sql_transaction,
                 concat("cannot execute ", function, "() in a read-only transaction"));
}

Datum nextval(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  const TableDescriptor& sequence = find_sequence(context, a[0]);
  check_may_write(context, "nextval");
  int64_t value;
  check(session.sequences->next(*session.transaction, *session.catalog, sequence, &value));
  return Datum::of_int(value);
}

Datum set(EvalContext& context, const Datum* a, bool is_called) {
  ExecutionContext& session = *context.execution;
  const TableDescriptor& sequence = find_sequence(context, a[0]);
  check_may_write(context, "setval");
  check(session.sequences->set(*session.transaction, *session.catalog, sequence, a[1].i64,
                               is_called));
  return a[1];
}
Datum setval(EvalContext& context, const Datum* a) { return set(context, a, true); }
Datum setval_is_called(EvalContext& context, const Datum* a) {
  return set(context, a, a[2].as_bool());
}

Datum currval(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  const TableDescriptor& sequence = find_sequence(context, a[0]);
  int64_t value;
  if (session.sequences->current(*session.transaction, sequence, &value))
    return Datum::of_int(value);
  throw SqlError(
      sqlstate::object_not_in_prerequisite_state,
      concat("currval of sequence \"", sequence.name, "\" is not yet defined in this session"));
}

Datum lastval(EvalContext& context, const Datum*) {
  ExecutionContext& session = *context.execution;
  int64_t value;
  if (session.sequences->last(*session.transaction, *session.catalog, &value))
    return Datum::of_int(value);
  throw SqlError(sqlstate::object_not_in_prerequisite_state,
                 "lastval is not yet defined in this session");
}

// NULL of another session's.
Datum last_value(EvalContext& context, const Datum* a) {
  const CatalogView& catalog = *context.execution->catalog;
  const TableDescriptor& sequence = find_any_sequence(context, a[0]);
  if (catalog.is_foreign_temporary(*catalog.snapshot().find_schema(sequence.schema)))
    return Datum();
  Epoch epoch;
  SequencePosition position = sequence.sequence->state->show(&epoch);
  context.execution->transaction->rest_on(epoch);
  return position.is_called ? Datum::of_int(position.last_value) : Datum();
}

Datum serial_sequence(EvalContext& context, const Datum* a) {
  ExecutionContext& session = *context.execution;
  auto oid = static_cast<Oid>(session.types.object_names->find(type_oid::regclass, a[0].bytes()));
  const CatalogView& catalog = session.told_catalog();
  const TableDescriptor* table = catalog.find_table(oid);
  const ColumnDescriptor* column = table != nullptr ? table->find_column(a[1].bytes()) : nullptr;
  if (column == nullptr) {
    throw SqlError(sqlstate::undefined_column,
                   concat("column \"", a[1].bytes(), "\" of relation \"",
                          split_qualified_name(a[0].bytes()).back(), "\" does not exist"));
  }
  for (Oid owned : catalog.snapshot().owned_sequences(oid)) {
    const TableDescriptor& sequence = *catalog.find_table(owned);
    if (sequence.sequence->owner_column != column->number) continue;
    const SchemaDescriptor* temporary = catalog.temporary_schema();
    bool is_temporary = temporary != nullptr && temporary->oid == sequence.schema;
    std::string_view schema = is_temporary ? TemporarySchema::alias : sequence.schema_name;
    return Datum::of_bytes(context.arena->copy_string(qualified_name(schema, sequence.name)));
  }
  return Datum();
}

constexpr FunctionEntry entries[] = {
    {1574, nextval}, {1575, currval},    {1576, setval},          {1765, setval_is_called},
    {2559, lastval}, {4032, last_value}, {1665, serial_sequence},
};

}  // namespace

std::span<const FunctionEntry> sequence() { return entries; }

}  // namespace pgsilo::functions
