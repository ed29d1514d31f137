// The server's catalog: the newest committed CatalogSnapshot, the OIDs given out, and the start of
// it all. The catalog's rows are ordinary records in ordinary trees with fixed RelationIds; this
// class only keeps their digest.
//
// Start-up
//   Catalog catalog(relations);
//   catalog.create_system_relations();            // before recovery: their trees have fixed ids
//   ... recovery fills their trees, then those that live_relations() names ...
//   catalog.open(worker, waits);                  // brings the built-in rows up to date, then
//   loads
//                                                 // the snapshot
//
// Thread safety: snapshot(), version() and allocate_oid() from any thread; publish() takes a mutex
// (DDL only); start-up is for one thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/strong_id.h"
#include "catalog/catalog_snapshot.h"
#include "catalog/index_evaluator.h"
#include "catalog/system_tables.h"
#include "catalog/temporary_schema.h"
#include "sql/types/type_oid.h"
#include "storage/relation/system_relations.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class ReclaimerHandle;
class RelationDirectory;
class Transaction;
class WorkerContext;
struct WaitSettings;

class Catalog {
 public:
  static constexpr Oid first_user_oid = first_user_relation.value();
  // Where sequences stand (sequence/sequence_state.h); not visible to SQL.
  static constexpr RelationId sequence_states{2};

  explicit Catalog(RelationDirectory& relations);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  void create_system_relations();
  // Recovery wants to know which user relations the catalog's rows name, before open(): reads the
  // system relations' trees. Sorted ascending.
  std::vector<RelationId> live_relations(ReclaimerHandle& handle) const;
  // Commits the built-in rows that the database lacks (catalog_upgrade.h; then true: the caller
  // waits until they are durable) and loads the snapshot; creates the trees of live relations that
  // are missing (UNLOGGED ones after a crash). Indexes whose building was cut short are dropped,
  // and so are temporary schemas, whose sessions are over. Throws SqlError where this program
  // cannot open the database. `waits`: for room in the log, which nobody else may be writing yet.
  bool open(WorkerContext& worker, const WaitSettings& waits);

  std::shared_ptr<const CatalogSnapshot> snapshot() const;
  // Of the newest snapshot. Acquire: whoever sees a version gets at least that snapshot.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  // For a transaction's own uncommitted snapshots: never a committed one's.
  uint64_t next_local_version() { return local_versions_.fetch_add(1, std::memory_order_relaxed); }

  // A new OID, never given out before, durable before anything that is committed with it. Ranges
  // are reserved by small transactions of their own on `worker`.
  Oid allocate_oid(WorkerContext& worker, const WaitSettings& waits);

  // From before a transaction that changes the catalog commits until its changes are published, or
  // it has failed. While nobody is in between, the newest snapshot has every commit that is
  // complete.
  void begin_change() { changing_.fetch_add(1, std::memory_order_relaxed); }
  void end_change() { changing_.fetch_sub(1, std::memory_order_release); }
  bool is_changing() const { return changing_.load(std::memory_order_acquire) != 0; }

  // The changes of a transaction that was committed in `epoch`; its pg_class rows are in their tree
  // now.
  void publish(Epoch epoch, std::span<const CatalogChange> tables,
               std::span<const SchemaChange> schemas, std::span<const ObjectChange> objects);

  // Before open(). Without it there may be no index that computes.
  void use_index_evaluators(MakeIndexEvaluator make) { make_index_evaluator_ = make; }
  // Null where the index computes nothing.
  std::unique_ptr<IndexEvaluator> index_evaluator(CatalogView& view, const TableDescriptor& table,
                                                  const IndexDescriptor& index) const;

  TemporaryNumbers& temporary_numbers() { return temporary_numbers_; }
  RelationDirectory& relations() { return relations_; }
  const SystemTables& system_tables() const { return tables_; }

 private:
  template <typename Define>
  TransactionStatus define_alone(WorkerContext& worker, const WaitSettings& waits, Define define);
  void discard_invalid_indexes(WorkerContext& worker, const WaitSettings& waits);
  void discard_temporary_schemas(WorkerContext& worker, const WaitSettings& waits);
  void reserve_oids(WorkerContext& worker, const WaitSettings& waits);
  TransactionStatus try_reserve_oids(Transaction& transaction, Oid* first);
  void set_snapshot(std::shared_ptr<const CatalogSnapshot> snapshot);

  RelationDirectory& relations_;
  const SystemTables tables_;
  MakeIndexEvaluator make_index_evaluator_ = nullptr;
  TemporaryNumbers temporary_numbers_;
  mutable std::mutex snapshot_mutex_;  // guards snapshot_
  std::shared_ptr<const CatalogSnapshot> snapshot_;
  std::atomic<uint64_t> version_{0};
  std::atomic<uint64_t> local_versions_;
  std::atomic<uint32_t> changing_{0};

  std::mutex oid_mutex_;  // guards the two below
  Oid next_oid_ = 0;
  Oid oid_limit_ = 0;
};

}  // namespace pgsilo
