#include "catalog/catalog_view.h"

#include <algorithm>
#include <new>
#include <ranges>
#include <set>
#include <span>
#include <unordered_set>

#include "base/byte_buffer.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/parker.h"
#include "catalog/sequence/sequence_state.h"
#include "catalog/temporary_schema.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/worker_context.h"

namespace pgsilo {

CatalogView::CatalogView(Catalog& catalog)
    : catalog_(&catalog), path_{.schemas = {system_oid::schema_public}} {
  take_newest();
}

void CatalogView::refresh() {
  if (!held_ && base_ != catalog_->version()) take_newest();
}

void CatalogView::take_newest() {
  std::shared_ptr<const CatalogSnapshot> newest = catalog_->snapshot();
  if (newest == nullptr) return;  // the server is starting
  uint64_t base = newest->version();
  if (has_local_changes()) {
    CatalogSnapshotBuilder builder(*newest);
    builder.apply(last_changes());
    builder.apply(schema_changes_);
    builder.apply(object_changes_);
    newest = builder.build(catalog_->next_local_version());
  }
  snapshot_ = std::move(newest);
  base_ = base;
}

// Who committed at the boundary or before has published when nobody is in between, and who had
// published by then had committed before the boundary.
bool CatalogView::hold(uint64_t version) {
  if (catalog_->is_changing()) return false;
  take_newest();
  held_ = base_ == version;
  return held_;
}

const SchemaDescriptor* CatalogView::find_schema(std::string_view name) const {
  return name == TemporarySchema::alias ? temporary_schema() : snapshot_->find_schema(name);
}

const SchemaDescriptor* CatalogView::temporary_schema() const {
  if (temporary_ == nullptr || !temporary_->is_taken()) return nullptr;
  return snapshot_->find_schema(temporary_->name());
}

void CatalogView::use_temporary_schema(TemporarySchema* schema) {
  temporary_ = schema;
  update_temporary_number();
}

void CatalogView::set_search_path(std::vector<Oid> path, TemporaryPlace temporary) {
  path_.schemas = std::move(path);
  path_.temporary_place = temporary;
  update_temporary_number();
}

void CatalogView::update_temporary_number() {
  path_.temporary_number = temporary_ != nullptr ? temporary_->number() : 0;
}

const std::string& CatalogView::name_temporary_schema() {
  if (temporary_ == nullptr) {
    throw SqlError(sqlstate::invalid_table_definition,
                   "temporary objects can only be made by a session");
  }
  temporary_->take(catalog_->temporary_numbers(), {catalog_->snapshot(), snapshot_});
  update_temporary_number();
  return temporary_->name();
}

bool CatalogView::has_commit_actions() {
  const SchemaDescriptor* schema = temporary_schema();
  if (schema == nullptr) return false;
  if (actions_version_ == version()) return has_actions_;
  has_actions_ = false;
  for (const auto& [address, same] : snapshot_->members(schema->oid)) {
    const TableDescriptor* table = snapshot_->find_table(address.oid);
    has_actions_ |= table != nullptr && table->on_commit != OnCommit::preserve_rows;
  }
  actions_version_ = version();
  return has_actions_;
}

bool CatalogView::is_foreign_temporary(const SchemaDescriptor& schema) const {
  if (!TemporarySchema::is_name(schema.name)) return false;
  const SchemaDescriptor* own = temporary_schema();
  return own == nullptr || own->oid != schema.oid;
}

const TableDescriptor* CatalogView::find_table(std::string_view schema,
                                               std::string_view name) const {
  if (!schema.empty()) {
    const SchemaDescriptor* found = find_schema(schema);
    return found != nullptr ? snapshot_->find_table(found->oid, name) : nullptr;
  }
  if (const SchemaDescriptor* temporary = implicit_temporary_schema()) {
    if (const TableDescriptor* table = snapshot_->find_table(temporary->oid, name)) return table;
  }
  bool names_catalog = std::find(path_.schemas.begin(), path_.schemas.end(),
                                 system_oid::schema_pg_catalog) != path_.schemas.end();
  if (!names_catalog) {
    if (const TableDescriptor* table = snapshot_->find_table(system_oid::schema_pg_catalog, name))
      return table;
  }
  for (Oid candidate : path_.schemas) {
    if (const TableDescriptor* table = snapshot_->find_table(candidate, name)) return table;
  }
  return nullptr;
}

// Built-in types are not among these: find_named_type() looks for both.
std::shared_ptr<const TypeDescriptor> CatalogView::find_type(std::string_view schema,
                                                             std::string_view name) const {
  if (!schema.empty()) {
    const SchemaDescriptor* found = find_schema(schema);
    return found != nullptr ? snapshot_->find<TypeDescriptor>(found->oid, name) : nullptr;
  }
  if (const SchemaDescriptor* temporary = implicit_temporary_schema()) {
    if (auto type = snapshot_->find<TypeDescriptor>(temporary->oid, name)) return type;
  }
  for (Oid candidate : path_.schemas) {
    if (auto type = snapshot_->find<TypeDescriptor>(candidate, name)) return type;
  }
  return nullptr;
}

bool CatalogView::hides_built_in(const TypeDescriptor& type) const {
  const SchemaDescriptor* temporary = implicit_temporary_schema();
  if (temporary != nullptr && temporary->oid == type.schema) return true;
  auto catalog = std::ranges::find(path_.schemas, Oid{system_oid::schema_pg_catalog});
  return catalog != path_.schemas.end() &&
         std::find(path_.schemas.begin(), catalog, type.schema) != catalog;
}

std::shared_ptr<const TableDescriptor> CatalogView::newest_committed(Oid oid) const {
  std::shared_ptr<const CatalogSnapshot> newest = catalog_->snapshot();
  const std::shared_ptr<const TableDescriptor>* found = newest->tables().find(oid);
  return found != nullptr ? *found : nullptr;
}

const IndexDescriptor* CatalogView::find_index(std::string_view schema, std::string_view name,
                                               const TableDescriptor** table) const {
  if (!schema.empty()) {
    const SchemaDescriptor* found = find_schema(schema);
    return found != nullptr ? snapshot_->find_index(found->oid, name, table) : nullptr;
  }
  if (const SchemaDescriptor* temporary = implicit_temporary_schema()) {
    if (const IndexDescriptor* index = snapshot_->find_index(temporary->oid, name, table))
      return index;
  }
  if (const IndexDescriptor* index =
          snapshot_->find_index(system_oid::schema_pg_catalog, name, table))
    return index;
  for (Oid candidate : path_.schemas) {
    if (const IndexDescriptor* index = snapshot_->find_index(candidate, name, table)) return index;
  }
  return nullptr;
}

const SchemaDescriptor* CatalogView::creation_schema() const {
  for (Oid candidate : path_.schemas) {
    if (const SchemaDescriptor* schema = snapshot_->find_schema(candidate)) return schema;
  }
  return nullptr;
}

const CatalogView& CatalogView::told_by(Transaction& transaction) const {
  transaction.rest_on(snapshot_->epoch());
  return *this;
}

// Where there is no memory, the change is neither shown nor remembered. Statements that are still
// running hold the old snapshot.
template <typename Change>
void CatalogView::add(std::vector<Change>& changes, Change change) {
  CatalogSnapshotBuilder builder(*snapshot_);
  builder.apply(std::span<const Change>(&change, 1));
  std::shared_ptr<const CatalogSnapshot> changed = builder.build(catalog_->next_local_version());
  changes.push_back(std::move(change));
  snapshot_ = std::move(changed);
}

void CatalogView::put_table(std::shared_ptr<const TableDescriptor> table) {
  Oid oid = table->oid;
  add(changes_, CatalogChange{oid, std::move(table)});
}

void CatalogView::remove_table(Oid oid) { add(changes_, CatalogChange{oid, nullptr}); }

void CatalogView::put_schema(SchemaDescriptor schema) {
  add(schema_changes_, SchemaChange{std::move(schema), false});
}

void CatalogView::remove_schema(Oid oid) { add(schema_changes_, SchemaChange{{oid, {}}, true}); }

void CatalogView::put_object(std::shared_ptr<const CatalogObject> object) {
  ObjectAddress address = object->address;
  add(object_changes_, ObjectChange{address, std::move(object)});
}

void CatalogView::remove_object(const ObjectAddress& address) {
  add(object_changes_, ObjectChange{address, nullptr});
}

CatalogRecord CatalogView::committed_record(system_oid::Table of, Oid oid) const {
  const SystemTable& table = catalog_->system_tables().table(of);
  Datum value = Datum::of_int(oid);
  ByteBuffer key;
  table.primary_key().encode_prefix({&value, 1}, key);
  Relation* relation = catalog_->relations().find(table.relation_id());
  Record* record = relation->tree().get(key.view()).record;
  PGSILO_CHECK(record != nullptr);
  return {record, record->tid_word().load().tid()};
}

// The descriptor with the records that its committed rows now are.
std::shared_ptr<const TableDescriptor> CatalogView::with_record(
    const TableDescriptor& table) const {
  auto complete = std::make_shared<TableDescriptor>(table);
  complete->record = committed_record(system_oid::pg_class, table.oid);
  if (table.row_type == invalid_oid) {
    complete->type_record = complete->record;
  } else if (table.type_record.record == nullptr) {
    complete->type_record = committed_record(system_oid::pg_type, table.row_type);
  }
  if (table.sequence != nullptr) table.sequence->state->created_in(complete->record.tid.epoch());
  return complete;
}

// As others see it from now on.
std::vector<ObjectChange> CatalogView::committed_objects() const {
  std::set<std::pair<Oid, Oid>> seen;
  std::vector<ObjectChange> committed;
  for (const ObjectChange& change : std::views::reverse(object_changes_)) {
    if (!seen.insert({change.address.catalog, change.address.oid}).second) continue;
    committed.push_back(change);
    if (change.object == nullptr) continue;
    std::shared_ptr<CatalogObject> object = change.object->committed();
    object->record = committed_record(change.address.catalog, change.address.oid);
    committed.back().object = std::move(object);
  }
  std::ranges::reverse(committed);
  return committed;
}

// Of each object its last change, in order.
std::vector<CatalogChange> CatalogView::last_changes() const {
  std::unordered_set<Oid> seen;
  std::vector<CatalogChange> last;
  for (const CatalogChange& change : std::views::reverse(changes_)) {
    if (seen.insert(change.oid).second) last.push_back(change);
  }
  std::ranges::reverse(last);
  return last;
}

TransactionStatus CatalogView::before_commit(Transaction& transaction) {
  if (has_local_changes() && !changing_) {
    catalog_->begin_change();
    changing_ = true;
  }
  if (!dropped_relations_.empty()) transaction.frees_space();
  if (changes_.empty()) return TransactionStatus::ok;
  auto state_of = [](const TableDescriptor* table) -> SequenceState* {
    return table != nullptr && table->sequence != nullptr ? table->sequence->state.get() : nullptr;
  };
  std::shared_ptr<const CatalogSnapshot> committed = catalog_->snapshot();
  TransactionStatus status = transaction.begin_statement();
  for (const CatalogChange& change : last_changes()) {
    if (status != TransactionStatus::ok) break;
    SequenceState* before = state_of(committed->find_table(change.oid));
    SequenceState* after = state_of(change.table.get());
    if (before == after) continue;
    if (before != nullptr) status = before->remove_row(transaction);
    if (after != nullptr && status == TransactionStatus::ok)
      status = after->insert_row(transaction);
  }
  return status;
}

void CatalogView::publish(const Transaction& transaction) {
  Pin pin(transaction.worker().reclaimer());
  std::vector<CatalogChange> changes = last_changes();
  for (CatalogChange& change : changes) {
    if (change.table != nullptr) change.table = with_record(*change.table);
  }
  catalog_->publish(transaction.commit_tid().epoch(), changes, schema_changes_,
                    committed_objects());
}

// What is done is forgotten before the next step may fail.
void CatalogView::committed(const Transaction& transaction) {
  if (has_local_changes()) {
    publish(transaction);
    forget_changes();
  }
  // Only now: whoever pins from here on finds a snapshot without them.
  while (!dropped_relations_.empty()) {
    transaction.worker().drop_relation(dropped_relations_.back());
    dropped_relations_.pop_back();
  }
  end_change();
}

void CatalogView::committed(const Transaction& transaction, Parker& parker) noexcept {
  auto is_done = [&] {
    try {
      committed(transaction);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  };
  // Behind the handler, for this waits.
  while (!is_done()) parker.park(monotonic_us() + change_poll_us);
}

void CatalogView::end_change() {
  if (changing_) catalog_->end_change();
  changing_ = false;
}

void CatalogView::forget_changes() {
  changes_.clear();
  schema_changes_.clear();
  object_changes_.clear();
  take_newest();
}

void CatalogView::forget_local() {
  end_change();
  if (has_local_changes()) forget_changes();
  dropped_relations_.clear();
}

CatalogView::Mark CatalogView::mark() const {
  return {snapshot_,
          base_,
          changes_.size(),
          dropped_relations_.size(),
          schema_changes_.size(),
          object_changes_.size()};
}

void CatalogView::rollback_to(const Mark& mark) {
  // Also of DDL that failed before it changed the view.
  dropped_relations_.resize(mark.dropped_relations);
  if (changes_.size() == mark.changes && schema_changes_.size() == mark.schema_changes &&
      object_changes_.size() == mark.object_changes) {
    return;
  }
  changes_.resize(mark.changes);
  object_changes_.resize(mark.object_changes);
  schema_changes_.resize(mark.schema_changes);
  snapshot_ = mark.snapshot;
  base_ = mark.base;
}

}  // namespace pgsilo
