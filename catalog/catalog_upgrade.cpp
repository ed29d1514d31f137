#include "catalog/catalog_upgrade.h"

#include <vector>

#include "base/byte_order.h"
#include "base/check.h"
#include "catalog/catalog.h"
#include "catalog/catalog_loader.h"
#include "sql/sql_error.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {
namespace {

constexpr std::string_view version_key = "catalog_version";  // row: 4 bytes, big-endian
constexpr uint32_t version_untold = 1;

std::string key_of(const SystemRow& row) {
  ByteBuffer key;
  row.table().primary_key().encode_columns(row.values(), key);
  return std::string(key.view());
}

std::string bytes_of(const SystemRow& row) {
  ByteBuffer bytes;
  row.table().layout().encode(row.values(), bytes);
  return std::string(bytes.view());
}

std::vector<Datum> primary_key_values(const SystemRow& row) {
  std::vector<Datum> values;
  for (uint16_t column : row.table().primary_key().column_numbers())
    values.push_back(row.values()[column]);
  return values;
}

// Built-in rows are about objects with OIDs below those of users, which their keys begin with.
bool is_builtin(const SystemRow& row) {
  return static_cast<Oid>(primary_key_values(row).front().i64) < Catalog::first_user_oid;
}

// All rows of a tree, each as it lies in memory that the visit may keep until the next.
template <typename Visit>
void for_each_row(Relation& relation, WorkerContext& worker, Visit visit) {
  Pin pin(worker.reclaimer());
  Arena arena;
  RowBuffer buffer(arena);
  relation.tree().for_each([&](Record* record) {
    TidWord seen = record->stable_read(buffer);
    if (!seen.is_absent() && !seen.is_obsolete()) visit(record->key(), buffer.bytes());
  });
}

[[noreturn]] void refuse_newer(uint32_t version) {
  throw SqlError(Severity::fatal, sqlstate::feature_not_supported,
                 concat("the database has catalog version ", version,
                        ", this program knows versions up to ", catalog_version))
      .hint("Start the program that has opened the database before, or a newer one.");
}

// Every table with built-in rows has the object's name in its second column.
[[noreturn]] void refuse_taken_name(const SystemRow& row) {
  throw SqlError(
      Severity::fatal, sqlstate::duplicate_object,
      concat("an object of the database has the name of the built-in \"", row.values()[1].bytes(),
             "\" (", row.table().info().name, "), which this program has and older ones had not"))
      .hint("Rename the object with the program that has opened the database before.");
}

}  // namespace

bool CatalogUpgrade::run(const WaitSettings& waits) {
  Transaction transaction(worker_, waits);
  transaction.begin(TransactionMode::one_shot);
  try {
    require_ok(transaction.begin_statement());
    uint32_t stored = stored_version(transaction);
    if (stored > catalog_version) refuse_newer(stored);
    if (stored == catalog_version) {
      transaction.abort();
      return false;
    }
    CatalogWriter writer(transaction, relations_, arena_);
    collect_wanted();
    if (stored != 0) remove_others(writer);
    insert_missing(writer, stored == 0);
    store_version(transaction);
    require_ok(transaction.commit());
  } catch (const EngineOutcome& outcome) {
    transaction.abort();
    throw SqlError(
        Severity::fatal, sqlstate::internal_error,
        concat("could not write the catalog's built-in rows: ", name_of(outcome.status)));
  }
  return true;
}

uint32_t CatalogUpgrade::stored_version(Transaction& transaction) {
  RowBuffer buffer(arena_);
  RowRef row;
  TransactionStatus status = transaction.get(control_, version_key, buffer, &row);
  if (status == TransactionStatus::ok) return load_be<uint32_t>(row.row.data());
  if (status != TransactionStatus::not_found) require_ok(status);
  return CatalogLoader(tables_, relations_, worker_.reclaimer()).is_empty() ? 0 : version_untold;
}

void CatalogUpgrade::store_version(Transaction& transaction) {
  require_ok(transaction.begin_statement());
  char bytes[sizeof(uint32_t)];
  store_be<uint32_t>(bytes, catalog_version);
  std::string_view version(bytes, sizeof bytes);
  RowBuffer buffer(arena_);
  RowRef old;
  TransactionStatus status =
      transaction.get(control_, version_key, buffer, &old, ReadPurpose::for_update);
  if (status == TransactionStatus::not_found)
    return require_ok(transaction.insert(control_, version_key, version));
  require_ok(status);
  require_ok(transaction.update(old, version));
}

void CatalogUpgrade::collect_wanted() {
  visit_builtin_rows(tables_, [&](const SystemRow& row, RowOrigin origin) {
    wanted_[row.table().info().oid][key_of(row)] = {bytes_of(row), origin};
  });
}

// What differs goes as well, and comes back with what is missing: so no name is taken by a row that
// is about to get another.
void CatalogUpgrade::remove_others(CatalogWriter& writer) {
  for (auto& [oid, wanted] : wanted_) {
    const SystemTable& table = tables_.table(static_cast<system_oid::Table>(oid));
    std::vector<std::string> others;
    auto look_at = [&](std::string_view key, std::string_view bytes) {
      SystemRow row(table);
      row.assign(bytes);
      if (!is_builtin(row)) return;
      auto found = wanted.find(std::string(key));
      bool stays = found != wanted.end() &&
                   (found->second.origin == RowOrigin::seed || found->second.row == bytes);
      if (stays) {
        found->second.is_there = true;
      } else {
        others.emplace_back(bytes);
      }
    };
    for_each_row(*relations_.find(table.relation_id()), worker_, look_at);
    for (const std::string& bytes : others) {
      SystemRow row(table);
      row.assign(bytes);
      writer.remove(table, primary_key_values(row));
    }
  }
}

void CatalogUpgrade::insert_missing(CatalogWriter& writer, bool is_new) {
  visit_builtin_rows(tables_, [&](const SystemRow& row, RowOrigin origin) {
    if (wanted_.at(row.table().info().oid).at(key_of(row)).is_there) return;
    // A seed that is gone was dropped.
    if (origin == RowOrigin::seed && !is_new) return;
    try {
      writer.insert(row);
    } catch (const EngineOutcome& outcome) {
      if (outcome.status == TransactionStatus::conflict_unique) refuse_taken_name(row);
      throw;
    }
  });
}

}  // namespace pgsilo
