// The catalog at one moment: an immutable digest of the catalog rows, by name and by OID. A
// snapshot is made when the server starts and after each committed DDL; a transaction that runs DDL
// makes its own on top (CatalogView). Thread safety: immutable; shared by reference count. Take one
// when planning, not per row or per statement.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catalog/descriptors.h"

namespace pgsilo {

class CatalogSnapshot {
 public:
  // Grows with every published change; equal versions are the same snapshot.
  uint64_t version() const { return version_; }

  // Null when there is none. Pointers live as long as the snapshot.
  const TableDescriptor* find_table(Oid oid) const;
  const TableDescriptor* find_table(Oid schema, std::string_view name) const;
  // An index by its own OID or name; `table` (may be null) receives its table.
  const IndexDescriptor* find_index(Oid oid, const TableDescriptor** table = nullptr) const;
  const IndexDescriptor* find_index(Oid schema, std::string_view name,
                                    const TableDescriptor** table = nullptr) const;
  const SchemaDescriptor* find_schema(std::string_view name) const;
  const SchemaDescriptor* find_schema(Oid oid) const;
  // Whether a table or index of the schema has the name.
  bool relation_name_taken(Oid schema, std::string_view name) const;

  const std::unordered_map<Oid, std::shared_ptr<const TableDescriptor>>& tables() const {
    return tables_;
  }
  const std::vector<SchemaDescriptor>& schemas() const { return schemas_; }

 private:
  friend class CatalogSnapshotBuilder;
  struct NameKey {
    Oid schema;
    std::string name;
    bool operator==(const NameKey&) const = default;
  };
  struct NameHash {
    size_t operator()(const NameKey& key) const;
  };
  // What a name or an OID of pg_class stands for: a table, or index number `index` of it.
  struct Entry {
    Oid table = invalid_oid;
    Oid index = invalid_oid;  // 0: the table itself
  };

  uint64_t version_ = 0;
  std::unordered_map<Oid, std::shared_ptr<const TableDescriptor>> tables_;
  std::unordered_map<NameKey, Entry, NameHash> names_;
  std::unordered_map<Oid, Oid> index_tables_;  // index -> table
  std::vector<SchemaDescriptor> schemas_;
};

// Makes a snapshot from another by replacing tables. Thread safety: none.
class CatalogSnapshotBuilder {
 public:
  CatalogSnapshotBuilder() : snapshot_(std::make_shared<CatalogSnapshot>()) {}
  explicit CatalogSnapshotBuilder(const CatalogSnapshot& base)
      : snapshot_(std::make_shared<CatalogSnapshot>(base)) {}

  void put_table(std::shared_ptr<const TableDescriptor> table);
  void remove_table(Oid oid);
  void put_schema(SchemaDescriptor schema);
  void remove_schema(Oid oid);
  std::shared_ptr<const CatalogSnapshot> build(uint64_t version);

 private:
  std::shared_ptr<CatalogSnapshot> snapshot_;
};

}  // namespace pgsilo
