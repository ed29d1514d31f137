// A session's view of the catalog: the committed snapshot it last refreshed to, and, inside a
// transaction that has run DDL, its own changes on top. What these concern stays as it is in newer
// snapshots, for the transaction has the locks that changes of it take. Names without a schema are
// found by the search path. Thread safety: none; one per session.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/name_path.h"
#include "catalog/object/type_descriptor.h"

namespace pgsilo {

class Parker;
class TemporarySchema;
class Transaction;

class CatalogView {
 public:
  explicit CatalogView(Catalog& catalog);
  CatalogView(const CatalogView&) = delete;
  CatalogView& operator=(const CatalogView&) = delete;

  Catalog& catalog() { return *catalog_; }

  // Takes the newest committed snapshot, with the transaction's own changes on top, unless it reads
  // the past. Called with the storage transaction open, at the start of every statement (and of
  // each re-run after a conflict): the transaction's pin is what keeps the relations and records
  // alive that the snapshot's descriptors point at. One atomic load when nothing changed. Throws
  // std::bad_alloc and has then changed nothing.
  void refresh();

  // For a transaction that reads the past: until release() the view stays as it is. hold() is
  // called when the storage snapshot is complete, `version` was the newest version before that was
  // opened. False: a change of the catalog came between, and which side it is on is not known.
  bool hold(uint64_t version);
  void release() { held_ = false; }

  const CatalogSnapshot& snapshot() const { return *snapshot_; }
  std::shared_ptr<const CatalogSnapshot> shared_snapshot() const { return snapshot_; }
  // Versions of uncommitted views differ from every committed one.
  uint64_t version() const { return snapshot_->version(); }
  bool has_local_changes() const {
    return !changes_.empty() || !schema_changes_.empty() || !object_changes_.empty();
  }

  // Tables by name: in `schema` when given, else in the first schema of the search path that has
  // it. Null: none.
  const TableDescriptor* find_table(std::string_view schema, std::string_view name) const;
  const TableDescriptor* find_table(Oid oid) const { return snapshot_->find_table(oid); }
  // Of the newest snapshot, whatever this view shows.
  std::shared_ptr<const TableDescriptor> newest_committed(Oid oid) const;
  const IndexDescriptor* find_index(std::string_view schema, std::string_view name,
                                    const TableDescriptor** table = nullptr) const;
  // pg_temp is temporary_schema().
  const SchemaDescriptor* find_schema(std::string_view name) const;

  // A type that a user made, of arrays of one too; names as find_table().
  std::shared_ptr<const TypeDescriptor> find_type(std::string_view schema,
                                                  std::string_view name) const;
  // Of one that was found by the path: whether its schema is searched before pg_catalog.
  bool hides_built_in(const TypeDescriptor& type) const;
  std::shared_ptr<const TypeDescriptor> find_type(Oid oid) const {
    return snapshot_->find<TypeDescriptor>(oid);
  }

  // As in NamePath. The temporary schema is searched for relations and types only.
  using TemporaryPlace = NamePath::TemporaryPlace;
  void set_search_path(std::vector<Oid> path, TemporaryPlace temporary = TemporaryPlace::implicit);
  const NamePath& name_path() const { return path_; }
  // Where CREATE without a schema creates; null when the path names no existing schema.
  const SchemaDescriptor* creation_schema() const;
  // It does so in the temporary schema, which need not be there yet.
  bool creates_temporary() const { return path_.temporary_place == TemporaryPlace::named_first; }

  // Where what the session makes temporarily is to be; must outlive the view. Null (at first):
  // nowhere.
  void use_temporary_schema(TemporarySchema* schema);
  // Null: the session has made nothing temporarily yet.
  const SchemaDescriptor* temporary_schema() const;
  // Searched before all others; null: there is none, or the path names it.
  const SchemaDescriptor* implicit_temporary_schema() const {
    return path_.temporary_place == TemporaryPlace::implicit ? temporary_schema() : nullptr;
  }
  // Takes a name for it. Only for who makes the schema then. 42P16: the view is nobody's.
  const std::string& name_temporary_schema();
  // Whether a commit has to do anything for the tables in it (ON COMMIT).
  bool has_commit_actions();
  // Whether it is some session's temporary one, but not this one's.
  bool is_foreign_temporary(const SchemaDescriptor& schema) const;
  // For an answer that tells what the catalog has, or has not, without the transaction's having
  // read a row of it: the transaction rests on its last change.
  const CatalogView& told_by(Transaction& transaction) const;

  // --- the transaction's own DDL (catalog/data_definition.h) ---
  // Later statements of the transaction see `table`.
  void put_table(std::shared_ptr<const TableDescriptor> table);
  void remove_table(Oid oid);
  void put_schema(SchemaDescriptor schema);
  void remove_schema(Oid oid);
  void put_object(std::shared_ptr<const CatalogObject> object);
  void remove_object(const ObjectAddress& address);
  // A tree that nothing refers to once the transaction has committed.
  void drop_relation_at_commit(RelationId id) { dropped_relations_.push_back(id); }

  // The transaction is about to commit: brings and takes the rows that tell where the sequences
  // that it made, changed and dropped stand.
  TransactionStatus before_commit(Transaction& transaction);
  // The storage transaction has committed: publishes its changes to everybody and drops the trees
  // they left behind. Called at once after Transaction::commit(), without parking in between.
  // Nothing to do, nothing done. Throws std::bad_alloc: what is committed must be seen, so it is
  // called again; what was done is not done again.
  void committed(const Transaction& transaction);
  // The same, called again after a while as long as there is no memory. What else may be thrown
  // stops the process: the statement is committed, and others would not see it.
  void committed(const Transaction& transaction, Parker& parker) noexcept;
  // How long to wait for a change of the catalog: about what it takes to commit and publish one.
  static constexpr int64_t change_poll_us = 200;
  // The transaction was rolled back (or its commit failed): its own changes are forgotten.
  void forget_local();

  // For savepoints: where the transaction's own changes stand, and going back to it.
  struct Mark {
    std::shared_ptr<const CatalogSnapshot> snapshot;
    uint64_t base = 0;
    size_t changes = 0;
    size_t dropped_relations = 0;
    size_t schema_changes = 0;
    size_t object_changes = 0;
  };
  Mark mark() const;
  void rollback_to(const Mark& mark);

 private:
  CatalogRecord committed_record(system_oid::Table of, Oid oid) const;
  std::shared_ptr<const TableDescriptor> with_record(const TableDescriptor& table) const;
  void update_temporary_number();
  template <typename Change>
  void add(std::vector<Change>& changes, Change change);
  std::vector<CatalogChange> last_changes() const;
  std::vector<ObjectChange> committed_objects() const;
  void take_newest();
  void publish(const Transaction& transaction);
  void forget_changes();
  void end_change();

  Catalog* catalog_;
  std::shared_ptr<const CatalogSnapshot> snapshot_;
  uint64_t base_ = 0;  // version of the committed snapshot that this one has the changes on top of
  std::vector<CatalogChange> changes_;  // in order; a later one of the same table counts
  std::vector<SchemaChange> schema_changes_;
  std::vector<ObjectChange> object_changes_;
  std::vector<RelationId> dropped_relations_;
  NamePath path_;
  TemporarySchema* temporary_ = nullptr;
  uint64_t actions_version_ = 0;  // of the snapshot for which has_actions_ was found
  bool has_actions_ = false;
  bool held_ = false;
  bool changing_ = false;  // between before_commit() and the end of the commit
};

}  // namespace pgsilo
