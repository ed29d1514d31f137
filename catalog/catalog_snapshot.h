// The catalog at one moment: an immutable digest of the catalog rows, by name and by OID. A
// snapshot is made when the server starts and after each committed DDL; a transaction that runs DDL
// makes its own on top (CatalogView). It shares all but what was changed with the one before
// (PersistentMap), and tells what goes with an object by its OID, so that DDL costs the same
// however many tables there are, and of a table's indexes only those that were changed. Thread
// safety: immutable; shared by reference count. Take one when planning, not per row or per
// statement.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/persistent_map.h"
#include "catalog/descriptors.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class CatalogSnapshot {
 public:
  // Grows with every published change; equal versions are the same snapshot.
  uint64_t version() const { return version_; }
  // The newest epoch in which a change of it was committed.
  Epoch epoch() const { return epoch_; }

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

  // The sequences that the table's columns own, and the tables with expressions that name the
  // sequence. In no order.
  std::span<const Oid> owned_sequences(Oid table) const;
  std::span<const Oid> sequence_users(Oid sequence) const;

  // What is in the schema: relations that are no indexes, and objects. In no order.
  const auto& members(Oid schema) const {
    static const AddressSet none;
    const AddressSet* found = members_.find(schema);
    return found != nullptr ? *found : none;
  }

  // Each OID with its table, or its schema, in no order that means anything.
  const auto& tables() const { return tables_; }
  const auto& schemas() const { return schemas_; }

  // Objects of other kinds (catalog/object/); null when there is none.
  template <typename Object>
  std::shared_ptr<const Object> find(Oid oid) const {
    return std::static_pointer_cast<const Object>(find_object({Object::catalog, oid}));
  }
  // As long as the snapshot.
  template <typename Object>
  const Object* find_unowned(Oid oid) const {
    const ObjectPointer* found = objects_.find({Object::catalog, oid});
    return found != nullptr ? static_cast<const Object*>(found->get()) : nullptr;
  }
  template <typename Object>
  std::shared_ptr<const Object> find(Oid schema, std::string_view name) const {
    return std::static_pointer_cast<const Object>(find_object(Object::catalog, schema, name));
  }
  // visit(const std::shared_ptr<const CatalogObject>&) for each, in no order.
  template <typename Visit>
  void for_each_object(Visit visit) const {
    for (const auto& [address, object] : objects_) visit(object);
  }
  // visit(Oid) for each table with a column of the type, or of arrays of it, or with an expression
  // that names it, in no order.
  template <typename Visit>
  void for_each_type_user(Oid type, Visit visit) const {
    const OidSet* users = type_users_.find(type);
    if (users == nullptr) return;
    for (const auto& [user, same] : *users) visit(user);
  }

 private:
  friend class CatalogSnapshotBuilder;
  using TablePointer = std::shared_ptr<const TableDescriptor>;
  using SchemaPointer = std::shared_ptr<const SchemaDescriptor>;

  // OIDs are given out one after the other: as they are, they fill the nodes of a map.
  struct OidHash {
    uint64_t operator()(Oid oid) const { return oid; }
  };
  template <typename Value>
  using ByOid = PersistentMap<Oid, Value, OidHash>;
  using OidSet = ByOid<Oid>;

  // In a descriptor that what the name stands for keeps.
  struct NameKey {
    Oid schema;
    std::string_view name;
    bool operator==(const NameKey&) const = default;
  };
  struct NameHash {
    uint64_t operator()(const NameKey& key) const {
      return hash_combine(hash_bytes(key.name), key.schema);
    }
  };
  using IndexPointer = std::shared_ptr<const IndexDescriptor>;
  // What a name stands for: one of the two.
  struct Named {
    TablePointer table;
    IndexPointer index;
    Oid table_oid() const { return table != nullptr ? table->oid : index->table_oid; }
  };

  using ObjectPointer = std::shared_ptr<const CatalogObject>;
  struct AddressHash {
    uint64_t operator()(const ObjectAddress& address) const {
      return hash_combine(hash_integer(address.oid), address.catalog);
    }
  };
  // In an object that the name stands for keeps.
  struct ObjectName {
    system_oid::Table catalog;
    Oid schema;
    std::string_view name;
    bool operator==(const ObjectName&) const = default;
  };
  struct ObjectNameHash {
    uint64_t operator()(const ObjectName& key) const {
      return hash_combine(hash_combine(hash_bytes(key.name), key.schema), key.catalog);
    }
  };
  using AddressSet = PersistentMap<ObjectAddress, ObjectAddress, AddressHash>;
  ObjectPointer find_object(const ObjectAddress& address) const;
  ObjectPointer find_object(system_oid::Table catalog, Oid schema, std::string_view name) const;

  uint64_t version_ = 0;
  Epoch epoch_{0};
  ByOid<TablePointer> tables_;
  PersistentMap<NameKey, Named, NameHash> names_;
  ByOid<IndexPointer> indexes_;
  ByOid<std::vector<Oid>> owned_sequences_;  // table -> sequences
  ByOid<std::vector<Oid>> sequence_users_;   // sequence -> tables
  ByOid<SchemaPointer> schemas_;
  PersistentMap<NameKey, SchemaPointer, NameHash> schema_names_;  // schema: none
  PersistentMap<ObjectAddress, ObjectPointer, AddressHash> objects_;
  PersistentMap<ObjectName, ObjectPointer, ObjectNameHash> object_names_;
  ByOid<OidSet> type_users_;   // type (not of arrays) -> tables
  ByOid<AddressSet> members_;  // schema -> what is in it
};

// One object's new state; `table` null: it is gone.
struct CatalogChange {
  Oid oid = invalid_oid;
  std::shared_ptr<const TableDescriptor> table;
};
struct SchemaChange {
  SchemaDescriptor schema;
  bool dropped = false;
};

// `object` null: it is gone.
struct ObjectChange {
  ObjectAddress address;
  std::shared_ptr<const CatalogObject> object;
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
  void apply(std::span<const CatalogChange> changes);
  void apply(std::span<const SchemaChange> changes);
  void put_object(std::shared_ptr<const CatalogObject> object);
  void remove_object(const ObjectAddress& address);
  void apply(std::span<const ObjectChange> changes);
  // What was done so far was committed in `epoch`.
  void committed_in(Epoch epoch);
  std::shared_ptr<const CatalogSnapshot> build(uint64_t version);

 private:
  void forget_index(const TableDescriptor& table, const IndexDescriptor& index);
  void forget_name(const TableDescriptor& table, std::string_view name);
  void add_links(const TableDescriptor& table);
  void remove_links(const TableDescriptor& table);
  void add_member(Oid schema, const ObjectAddress& address);
  void remove_member(Oid schema, const ObjectAddress& address);

  std::shared_ptr<CatalogSnapshot> snapshot_;
};

}  // namespace pgsilo
