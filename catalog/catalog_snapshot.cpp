#include "catalog/catalog_snapshot.h"

#include <algorithm>

#include "base/hash.h"

namespace pgsilo {

size_t CatalogSnapshot::NameHash::operator()(const NameKey& key) const {
  return hash_combine(hash_bytes(key.name), key.schema);
}

const TableDescriptor* CatalogSnapshot::find_table(Oid oid) const {
  auto found = tables_.find(oid);
  return found != tables_.end() ? found->second.get() : nullptr;
}

const TableDescriptor* CatalogSnapshot::find_table(Oid schema, std::string_view name) const {
  auto found = names_.find({schema, std::string(name)});
  if (found == names_.end() || found->second.index != invalid_oid) return nullptr;
  return find_table(found->second.table);
}

const IndexDescriptor* CatalogSnapshot::find_index(Oid oid, const TableDescriptor** table) const {
  auto found = index_tables_.find(oid);
  if (found == index_tables_.end()) return nullptr;
  const TableDescriptor* owner = find_table(found->second);
  if (table != nullptr) *table = owner;
  return owner->find_index(oid);
}

const IndexDescriptor* CatalogSnapshot::find_index(Oid schema, std::string_view name,
                                                   const TableDescriptor** table) const {
  auto found = names_.find({schema, std::string(name)});
  if (found == names_.end() || found->second.index == invalid_oid) return nullptr;
  return find_index(found->second.index, table);
}

const SchemaDescriptor* CatalogSnapshot::find_schema(std::string_view name) const {
  auto found = std::find_if(schemas_.begin(), schemas_.end(),
                            [&](const SchemaDescriptor& schema) { return schema.name == name; });
  return found != schemas_.end() ? &*found : nullptr;
}

const SchemaDescriptor* CatalogSnapshot::find_schema(Oid oid) const {
  auto found = std::find_if(schemas_.begin(), schemas_.end(),
                            [&](const SchemaDescriptor& schema) { return schema.oid == oid; });
  return found != schemas_.end() ? &*found : nullptr;
}

bool CatalogSnapshot::relation_name_taken(Oid schema, std::string_view name) const {
  return names_.contains({schema, std::string(name)});
}

void CatalogSnapshotBuilder::put_table(std::shared_ptr<const TableDescriptor> table) {
  remove_table(table->oid);
  snapshot_->names_[{table->schema, table->name}] = {table->oid, invalid_oid};
  for (const auto& index : table->indexes) {
    snapshot_->names_[{table->schema, index->name}] = {table->oid, index->oid};
    snapshot_->index_tables_[index->oid] = table->oid;
  }
  snapshot_->tables_[table->oid] = std::move(table);
}

void CatalogSnapshotBuilder::remove_table(Oid oid) {
  auto found = snapshot_->tables_.find(oid);
  if (found == snapshot_->tables_.end()) return;
  const TableDescriptor& table = *found->second;
  snapshot_->names_.erase({table.schema, table.name});
  for (const auto& index : table.indexes) {
    snapshot_->names_.erase({table.schema, index->name});
    snapshot_->index_tables_.erase(index->oid);
  }
  snapshot_->tables_.erase(found);
}

void CatalogSnapshotBuilder::put_schema(SchemaDescriptor schema) {
  remove_schema(schema.oid);
  snapshot_->schemas_.push_back(std::move(schema));
}

void CatalogSnapshotBuilder::remove_schema(Oid oid) {
  std::erase_if(snapshot_->schemas_,
                [&](const SchemaDescriptor& schema) { return schema.oid == oid; });
}

std::shared_ptr<const CatalogSnapshot> CatalogSnapshotBuilder::build(uint64_t version) {
  snapshot_->version_ = version;
  return std::move(snapshot_);
}

}  // namespace pgsilo
