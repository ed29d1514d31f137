#include "catalog/catalog.h"

#include <cstring>

#include "base/byte_order.h"
#include "catalog/catalog_loader.h"
#include "catalog/catalog_upgrade.h"
#include "catalog/catalog_view.h"
#include "catalog/catalog_writer.h"
#include "catalog/data_definition.h"
#include "catalog/relation_encoding.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"
#include "sql/types/type_context.h"
#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

namespace {
// A relation of the catalog's own, not visible to SQL: key "next_oid", row 4 bytes big-endian, and
// what catalog_upgrade.h keeps.
constexpr RelationId control_relation(1);
constexpr std::string_view next_oid_key = "next_oid";
// As PostgreSQL's VAR_OID_PREFETCH: this many may be lost by a restart.
constexpr Oid oids_per_reservation = 8192;
// Local versions have this bit; committed ones never reach it.
constexpr uint64_t local_version_bit = uint64_t{1} << 63;

[[noreturn]] void refuse_left_over(std::string_view kind, std::string_view name,
                                   std::string_view why, TransactionStatus status) {
  throw SqlError(Severity::fatal, sqlstate::internal_error,
                 concat("could not drop ", kind, " \"", name, "\", ", why, ": ", name_of(status)));
}

}  // namespace

Catalog::Catalog(RelationDirectory& relations)
    : relations_(relations), local_versions_(local_version_bit) {}

Catalog::~Catalog() = default;

void Catalog::create_system_relations() {
  relations_.get_or_create(control_relation, RelationOptions{});
  relations_.get_or_create(sequence_states, RelationOptions{});
  relations_.get_or_create(relation_encodings, RelationOptions{});
  for (const SystemTable& table : tables_.all()) {
    relations_.get_or_create(table.relation_id(), RelationOptions{});
    for (const SystemTable::Index& index : table.secondary_indexes()) {
      relations_.get_or_create(index.relation_id, RelationOptions{});
    }
  }
  relations_.raise_id_floor(RelationId(first_user_oid));
}

std::unique_ptr<IndexEvaluator> Catalog::index_evaluator(CatalogView& view,
                                                         const TableDescriptor& table,
                                                         const IndexDescriptor& index) const {
  if (!index.computes()) return nullptr;
  PGSILO_REQUIRE(make_index_evaluator_ != nullptr);
  return make_index_evaluator_(view, table, index);
}

std::vector<RelationId> Catalog::live_relations(ReclaimerHandle& handle) const {
  return CatalogLoader(tables_, relations_, handle).live_relations();
}

bool Catalog::open(WorkerContext& worker, const WaitSettings& waits) {
  bool committed =
      CatalogUpgrade(tables_, relations_, *relations_.find(control_relation), worker).run(waits);
  set_snapshot(CatalogLoader(tables_, relations_, worker.reclaimer()).load(version() + 1));
  discard_temporary_schemas(worker, waits);
  discard_invalid_indexes(worker, waits);
  return committed;
}

// Runs `define` in a transaction of its own and publishes it. Alone, nothing but a machine without
// memory or disk makes it fail.
template <typename Define>
TransactionStatus Catalog::define_alone(WorkerContext& worker, const WaitSettings& waits,
                                        Define define) {
  Transaction transaction(worker, waits);
  CatalogView view(*this);
  TypeContext types;
  transaction.begin(TransactionMode::one_shot);
  DataDefinition definition(view, transaction, types);
  TransactionStatus status = define(definition);
  if (status == TransactionStatus::ok) status = view.before_commit(transaction);
  if (status == TransactionStatus::ok) status = transaction.commit();
  if (status == TransactionStatus::ok) {
    view.committed(transaction);
  } else {
    transaction.abort();
  }
  return status;
}

void Catalog::discard_temporary_schemas(WorkerContext& worker, const WaitSettings& waits) {
  std::shared_ptr<const CatalogSnapshot> found = snapshot();
  for (const auto& [oid, schema] : found->schemas()) {
    if (!TemporarySchema::is_name(schema->name)) continue;
    TransactionStatus status = define_alone(worker, waits, [&](DataDefinition& definition) {
      return definition.drop_temporary_schema(oid);
    });
    if (status != TransactionStatus::ok)
      refuse_left_over("schema", schema->name, "whose session is over", status);
  }
}

void Catalog::discard_invalid_indexes(WorkerContext& worker, const WaitSettings& waits) {
  std::shared_ptr<const CatalogSnapshot> found = snapshot();
  for (const auto& [oid, table] : found->tables()) {
    for (const auto& index : table->indexes) {
      if (index->valid) continue;
      TransactionStatus status = define_alone(worker, waits, [&](DataDefinition& definition) {
        return definition.discard_index(oid, index->oid);
      });
      if (status != TransactionStatus::ok)
        refuse_left_over("index", index->name, "whose building was cut short", status);
    }
  }
}

std::shared_ptr<const CatalogSnapshot> Catalog::snapshot() const {
  std::lock_guard lock(snapshot_mutex_);
  return snapshot_;
}

void Catalog::set_snapshot(std::shared_ptr<const CatalogSnapshot> snapshot) {
  std::lock_guard lock(snapshot_mutex_);
  snapshot_ = std::move(snapshot);
  // Release: pairs with version().
  version_.store(snapshot_->version(), std::memory_order_release);
}

void Catalog::publish(Epoch epoch, std::span<const CatalogChange> tables,
                      std::span<const SchemaChange> schemas,
                      std::span<const ObjectChange> objects) {
  std::lock_guard lock(snapshot_mutex_);
  CatalogSnapshotBuilder builder(*snapshot_);
  builder.apply(tables);
  builder.apply(schemas);
  builder.apply(objects);
  builder.committed_in(epoch);
  snapshot_ = builder.build(snapshot_->version() + 1);
  // Release: pairs with version().
  version_.store(snapshot_->version(), std::memory_order_release);
}

Oid Catalog::allocate_oid(WorkerContext& worker, const WaitSettings& waits) {
  while (true) {
    {
      std::lock_guard lock(oid_mutex_);
      if (next_oid_ != oid_limit_) return next_oid_++;
    }
    reserve_oids(worker, waits);
  }
}

// Two workers may reserve at once; the later range wins and the other is lost.
void Catalog::reserve_oids(WorkerContext& worker, const WaitSettings& waits) {
  Transaction transaction(worker, waits);
  Oid first = 0;
  while (true) {
    transaction.begin(TransactionMode::one_shot);
    TransactionStatus status = try_reserve_oids(transaction, &first);
    if (status == TransactionStatus::ok) status = transaction.commit();
    if (status == TransactionStatus::ok) break;
    transaction.abort();
    // duplicate_key: the very first reservation, and another worker's came between look and insert.
    bool run_again = is_conflict(status) || status == TransactionStatus::duplicate_key;
    if (!run_again) throw EngineOutcome{status};
  }
  std::lock_guard lock(oid_mutex_);
  next_oid_ = first;
  oid_limit_ = first + oids_per_reservation;
}

TransactionStatus Catalog::try_reserve_oids(Transaction& transaction, Oid* first) {
  Arena arena;
  RowBuffer buffer(arena);
  RowRef row;
  Relation& control = *relations_.find(control_relation);
  TransactionStatus status = transaction.begin_statement();
  if (status != TransactionStatus::ok) return status;
  status = transaction.get(control, next_oid_key, buffer, &row);
  bool exists = status == TransactionStatus::ok;
  if (!exists && status != TransactionStatus::not_found) return status;
  *first = exists ? load_be<uint32_t>(row.row.data()) : first_user_oid;
  if (*first > UINT32_MAX - oids_per_reservation) {
    throw SqlError(sqlstate::program_limit_exceeded,
                   "the database has used up its object identifiers");
  }
  char next[sizeof(uint32_t)];
  store_be<uint32_t>(next, *first + oids_per_reservation);
  std::string_view bytes(next, sizeof next);
  return exists ? transaction.update(row, bytes) : transaction.insert(control, next_oid_key, bytes);
}

}  // namespace pgsilo
