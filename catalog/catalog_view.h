// A session's view of the catalog: the committed snapshot it last refreshed to, or, inside a
// transaction that has run DDL, its own changes on top. Names without a schema are found by the
// search path. Thread safety: none; one per session.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "catalog/catalog_snapshot.h"

namespace pgsilo {

class Catalog;

class CatalogView {
 public:
  explicit CatalogView(Catalog& catalog);
  CatalogView(const CatalogView&) = delete;
  CatalogView& operator=(const CatalogView&) = delete;

  Catalog& catalog() { return *catalog_; }

  // Takes the newest committed snapshot unless the transaction has changes of its own. Called at
  // the start of a statement (and of each re-run after a conflict): one atomic load when nothing
  // changed.
  void refresh();

  const CatalogSnapshot& snapshot() const { return *snapshot_; }
  std::shared_ptr<const CatalogSnapshot> shared_snapshot() const { return snapshot_; }
  // Versions of uncommitted views differ from every committed one.
  uint64_t version() const { return snapshot_->version(); }
  bool has_local_changes() const { return has_local_changes_; }

  // Tables by name: in `schema` when given, else in the first schema of the search path that has
  // it. Null: none.
  const TableDescriptor* find_table(std::string_view schema, std::string_view name) const;
  const TableDescriptor* find_table(Oid oid) const { return snapshot_->find_table(oid); }
  const IndexDescriptor* find_index(std::string_view schema, std::string_view name,
                                    const TableDescriptor** table = nullptr) const;
  const SchemaDescriptor* find_schema(std::string_view name) const {
    return snapshot_->find_schema(name);
  }

  // Schemas searched, in order; pg_catalog is searched first unless the path names it.
  void set_search_path(std::vector<Oid> path) { search_path_ = std::move(path); }
  const std::vector<Oid>& search_path() const { return search_path_; }
  // Where CREATE without a schema creates; null when the path names no existing schema.
  const SchemaDescriptor* creation_schema() const;

  // DDL of the running transaction: later statements of it see `snapshot`
  // (catalog/data_definition.h).
  void set_local(std::shared_ptr<const CatalogSnapshot> snapshot);
  // The transaction ended or rolled back to before its DDL: its own changes are forgotten.
  void forget_local();
  // For savepoints: what the view shows now, and going back to it.
  struct Mark {
    std::shared_ptr<const CatalogSnapshot> snapshot;
    bool has_local_changes = false;
  };
  Mark mark() const { return {snapshot_, has_local_changes_}; }
  void rollback_to(const Mark& mark);

 private:
  Catalog* catalog_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
  bool has_local_changes_ = false;
  std::vector<Oid> search_path_;
};

}  // namespace pgsilo
