#include "catalog/catalog_snapshot.h"

#include <algorithm>

#include "base/check.h"

namespace pgsilo {

namespace {

template <typename Map, typename Key>
auto find_pointer(const Map& map, const Key& key) {
  const auto* found = map.find(key);
  return found != nullptr ? found->get() : nullptr;
}

template <typename Links>
std::span<const Oid> linked(const Links& links, Oid from) {
  const std::vector<Oid>* found = links.find(from);
  return found != nullptr ? std::span<const Oid>(*found) : std::span<const Oid>();
}

template <typename Links>
void add_link(Links& links, Oid from, Oid to) {
  std::span<const Oid> before = linked(links, from);
  if (std::ranges::find(before, to) != before.end()) return;
  std::vector<Oid> all(before.begin(), before.end());
  all.push_back(to);
  links.set(from, std::move(all));
}

template <typename Links>
void remove_link(Links& links, Oid from, Oid to) {
  std::span<const Oid> before = linked(links, from);
  if (std::ranges::find(before, to) == before.end()) return;
  std::vector<Oid> rest;
  std::ranges::remove_copy(before, std::back_inserter(rest), to);
  if (rest.empty()) {
    links.erase(from);
  } else {
    links.set(from, std::move(rest));
  }
}

// visit(index) for each of `from` that `in` has not, or has in another form; both in a table's
// order.
template <typename Indexes, typename Visit>
void for_each_missing(const Indexes& from, const Indexes& in, Visit visit) {
  auto at = in.begin();
  for (const auto& index : from) {
    while (at != in.end() && *at != index && precedes(**at, *index)) ++at;
    if (at == in.end() || *at != index) {
      visit(index);
    } else {
      ++at;
    }
  }
}

template <typename Visit>
void for_each_expression(const TableDescriptor& table, Visit visit) {
  for (const ColumnDescriptor& column : table.columns) visit(column.default_value);
  for (const ConstraintDescriptor& constraint : table.constraints) visit(constraint.check);
  for (const auto& index : table.indexes) {
    for (const IndexExpression& expression : index->expressions) visit(expression.value);
    visit(index->predicate);
  }
}

// visit(sequence) for each that an expression of the table names.
template <typename Visit>
void for_each_used_sequence(const TableDescriptor& table, Visit visit) {
  for_each_expression(table, [&](const StoredExpression& expression) {
    for (Oid sequence : expression.uses.sequences) visit(sequence);
  });
}

// visit(type) for each type of users that a column or an expression of the table has.
template <typename Visit>
void for_each_used_type(const TableDescriptor& table, Visit visit) {
  for (const ColumnDescriptor& column : table.columns) {
    if (column.user_type != nullptr) visit(column.user_type->type().oid);
  }
  for_each_expression(table, [&](const StoredExpression& expression) {
    for (Oid type : expression.uses.types) visit(type);
  });
}

}  // namespace

const TableDescriptor* CatalogSnapshot::find_table(Oid oid) const {
  return find_pointer(tables_, oid);
}

const TableDescriptor* CatalogSnapshot::find_table(Oid schema, std::string_view name) const {
  const Named* found = names_.find({schema, name});
  return found != nullptr ? found->table.get() : nullptr;
}

const IndexDescriptor* CatalogSnapshot::find_index(Oid oid, const TableDescriptor** table) const {
  const IndexDescriptor* index = find_pointer(indexes_, oid);
  if (index != nullptr && table != nullptr) *table = find_table(index->table_oid);
  return index;
}

const IndexDescriptor* CatalogSnapshot::find_index(Oid schema, std::string_view name,
                                                   const TableDescriptor** table) const {
  const Named* found = names_.find({schema, name});
  if (found == nullptr || found->index == nullptr) return nullptr;
  if (table != nullptr) *table = find_table(found->index->table_oid);
  return found->index.get();
}

const SchemaDescriptor* CatalogSnapshot::find_schema(std::string_view name) const {
  return find_pointer(schema_names_, NameKey{invalid_oid, name});
}

const SchemaDescriptor* CatalogSnapshot::find_schema(Oid oid) const {
  return find_pointer(schemas_, oid);
}

bool CatalogSnapshot::relation_name_taken(Oid schema, std::string_view name) const {
  return names_.find({schema, name}) != nullptr;
}

std::span<const Oid> CatalogSnapshot::owned_sequences(Oid table) const {
  return linked(owned_sequences_, table);
}

std::span<const Oid> CatalogSnapshot::sequence_users(Oid sequence) const {
  return linked(sequence_users_, sequence);
}

CatalogSnapshot::ObjectPointer CatalogSnapshot::find_object(const ObjectAddress& address) const {
  const ObjectPointer* found = objects_.find(address);
  return found != nullptr ? *found : nullptr;
}

CatalogSnapshot::ObjectPointer CatalogSnapshot::find_object(system_oid::Table catalog, Oid schema,
                                                            std::string_view name) const {
  const ObjectPointer* found = object_names_.find({catalog, schema, name});
  return found != nullptr ? *found : nullptr;
}

// The indexes that stay as they are, keep their places: a table may have thousands.
void CatalogSnapshotBuilder::put_table(std::shared_ptr<const TableDescriptor> table) {
  const auto* found = snapshot_->tables_.find(table->oid);
  std::shared_ptr<const TableDescriptor> before =
      found != nullptr ? *found : std::make_shared<const TableDescriptor>();
  PGSILO_DCHECK(found == nullptr || before->schema == table->schema);
  for_each_missing(before->indexes, table->indexes,
                   [&](const auto& index) { forget_index(*before, *index); });
  if (found != nullptr) {
    forget_name(*before, before->name);
    remove_links(*before);
  }
  snapshot_->names_.set({table->schema, table->name}, {table, nullptr});
  for_each_missing(table->indexes, before->indexes, [&](const auto& index) {
    snapshot_->names_.set({table->schema, index->name}, {nullptr, index});
    snapshot_->indexes_.set(index->oid, index);
  });
  add_links(*table);
  if (found == nullptr) add_member(table->schema, {system_oid::pg_class, table->oid});
  Oid oid = table->oid;
  snapshot_->tables_.set(oid, std::move(table));
}

void CatalogSnapshotBuilder::remove_table(Oid oid) {
  const auto* found = snapshot_->tables_.find(oid);
  if (found == nullptr) return;
  std::shared_ptr<const TableDescriptor> table = *found;
  forget_name(*table, table->name);
  for (const auto& index : table->indexes) forget_index(*table, *index);
  remove_links(*table);
  remove_member(table->schema, {system_oid::pg_class, oid});
  snapshot_->tables_.erase(oid);
}

void CatalogSnapshotBuilder::forget_index(const TableDescriptor& table,
                                          const IndexDescriptor& index) {
  forget_name(table, index.name);
  snapshot_->indexes_.erase(index.oid);
}

// Unless it stands for another table's by now: that was put before this one gave it up.
void CatalogSnapshotBuilder::forget_name(const TableDescriptor& table, std::string_view name) {
  const CatalogSnapshot::Named* named = snapshot_->names_.find({table.schema, name});
  if (named != nullptr && named->table_oid() == table.oid)
    snapshot_->names_.erase({table.schema, name});
}

void CatalogSnapshotBuilder::add_links(const TableDescriptor& table) {
  for_each_used_sequence(
      table, [&](Oid sequence) { add_link(snapshot_->sequence_users_, sequence, table.oid); });
  if (table.sequence != nullptr && table.sequence->owner_table != invalid_oid)
    add_link(snapshot_->owned_sequences_, table.sequence->owner_table, table.oid);
  for_each_used_type(table, [&](Oid type) {
    const auto* found = snapshot_->type_users_.find(type);
    CatalogSnapshot::OidSet users = found != nullptr ? *found : CatalogSnapshot::OidSet();
    users.set(table.oid, table.oid);
    snapshot_->type_users_.set(type, std::move(users));
  });
}

void CatalogSnapshotBuilder::remove_links(const TableDescriptor& table) {
  for_each_used_sequence(
      table, [&](Oid sequence) { remove_link(snapshot_->sequence_users_, sequence, table.oid); });
  if (table.sequence != nullptr)
    remove_link(snapshot_->owned_sequences_, table.sequence->owner_table, table.oid);
  for_each_used_type(table, [&](Oid type) {
    const auto* found = snapshot_->type_users_.find(type);
    if (found == nullptr) return;
    CatalogSnapshot::OidSet users = *found;
    users.erase(table.oid);
    if (users.begin() == users.end()) {
      snapshot_->type_users_.erase(type);
    } else {
      snapshot_->type_users_.set(type, std::move(users));
    }
  });
}

void CatalogSnapshotBuilder::add_member(Oid schema, const ObjectAddress& address) {
  CatalogSnapshot::AddressSet members = snapshot_->members(schema);
  members.set(address, address);
  snapshot_->members_.set(schema, std::move(members));
}

void CatalogSnapshotBuilder::remove_member(Oid schema, const ObjectAddress& address) {
  CatalogSnapshot::AddressSet members = snapshot_->members(schema);
  members.erase(address);
  if (members.size() == 0) {
    snapshot_->members_.erase(schema);
  } else {
    snapshot_->members_.set(schema, std::move(members));
  }
}

void CatalogSnapshotBuilder::put_schema(SchemaDescriptor schema) {
  remove_schema(schema.oid);
  auto added = std::make_shared<const SchemaDescriptor>(std::move(schema));
  snapshot_->schemas_.set(added->oid, added);
  snapshot_->schema_names_.set({invalid_oid, added->name}, added);
}

void CatalogSnapshotBuilder::remove_schema(Oid oid) {
  const auto* found = snapshot_->schemas_.find(oid);
  if (found == nullptr) return;
  std::shared_ptr<const SchemaDescriptor> schema = *found;
  CatalogSnapshot::NameKey name{invalid_oid, schema->name};
  const auto* named = snapshot_->schema_names_.find(name);
  if (named != nullptr && (*named)->oid == oid) snapshot_->schema_names_.erase(name);
  snapshot_->schemas_.erase(oid);
}

// Changes are published in another order than they were committed in.
void CatalogSnapshotBuilder::committed_in(Epoch epoch) {
  if (epoch > snapshot_->epoch_) snapshot_->epoch_ = epoch;
}

void CatalogSnapshotBuilder::apply(std::span<const CatalogChange> changes) {
  for (const CatalogChange& change : changes) {
    if (change.table != nullptr) {
      put_table(change.table);
    } else {
      remove_table(change.oid);
    }
  }
}

void CatalogSnapshotBuilder::apply(std::span<const SchemaChange> changes) {
  for (const SchemaChange& change : changes) {
    if (change.dropped) {
      remove_schema(change.schema.oid);
    } else {
      put_schema(change.schema);
    }
  }
}

void CatalogSnapshotBuilder::put_object(std::shared_ptr<const CatalogObject> object) {
  ObjectAddress address = object->address;
  remove_object(address);
  add_member(object->schema, address);
  for (std::string_view name : object->names())
    snapshot_->object_names_.set({address.catalog, object->schema, name}, object);
  snapshot_->objects_.set(address, std::move(object));
}

// A name may stand for another object by now, which was put before this one gave it up.
void CatalogSnapshotBuilder::remove_object(const ObjectAddress& address) {
  std::shared_ptr<const CatalogObject> object = snapshot_->find_object(address);
  if (object == nullptr) return;
  for (std::string_view name : object->names()) {
    CatalogSnapshot::ObjectName key{address.catalog, object->schema, name};
    const auto* named = snapshot_->object_names_.find(key);
    if (named != nullptr && (*named)->address == address) snapshot_->object_names_.erase(key);
  }
  remove_member(object->schema, address);
  snapshot_->objects_.erase(address);
}

void CatalogSnapshotBuilder::apply(std::span<const ObjectChange> changes) {
  for (const ObjectChange& change : changes) {
    if (change.object != nullptr) {
      put_object(change.object);
    } else {
      remove_object(change.address);
    }
  }
}

std::shared_ptr<const CatalogSnapshot> CatalogSnapshotBuilder::build(uint64_t version) {
  snapshot_->version_ = version;
  return std::move(snapshot_);
}

}  // namespace pgsilo
