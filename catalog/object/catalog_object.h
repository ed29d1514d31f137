// What the objects of the catalog have in common: where their row is, schema, name, owner. One
// descriptor for each kind derives from it; a snapshot of the catalog has them all, by OID and by
// name. (Tables, views and sequences, of which there are most and which have most, are in
// descriptors.h.) A descriptor never changes; DDL makes new ones. Who relies on one holds the
// snapshot, or the descriptor, and rests on its record: every change of the object rewrites its
// row. Thread safety: immutable once published.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/system_tables.h"
#include "sql/types/type_oid.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

class Record;

// A record of the catalog and the TID word under which it was read.
struct CatalogRecord {
  Record* record = nullptr;  // null: this transaction's own, not committed yet
  Tid tid;
};

// An object by the catalog that it has a row in.
struct ObjectAddress {
  system_oid::Table catalog;
  Oid oid = invalid_oid;
  bool operator==(const ObjectAddress&) const = default;
};

struct CatalogObject {
  ObjectAddress address;
  Oid schema = invalid_oid;
  std::string schema_name;
  std::string name;
  Oid owner = system_oid::role_postgres;
  CatalogRecord record;

  explicit CatalogObject(system_oid::Table catalog) : address{catalog} {}
  virtual ~CatalogObject() = default;
  // What is found under these names in its schema, its own first.
  virtual std::vector<std::string_view> names() const { return {name}; }
  // The object as others see it, once the transaction that made or changed it has committed.
  virtual std::shared_ptr<CatalogObject> committed() const = 0;

 protected:
  CatalogObject(const CatalogObject&) = default;
};

}  // namespace pgsilo
