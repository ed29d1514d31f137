// Writes rows of system tables through a storage transaction and keeps the secondary trees in step.
// Thread safety: none; the transaction's fiber.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "catalog/system_row.h"
#include "storage/record/row_buffer.h"
#include "storage/transaction/abort_reason.h"

namespace pgsilo {

class Relation;
class RelationDirectory;
class Transaction;
struct RowRef;

// The engine's answer to a step of a definition when it is not ok: thrown inside catalog/ only, and
// returned as a status by the operation it ends.
struct EngineOutcome {
  TransactionStatus status;
};

// Throws EngineOutcome unless ok.
inline void require_ok(TransactionStatus status) {
  if (status != TransactionStatus::ok) throw EngineOutcome{status};
}

// A row that must exist and is missing is a conflict with a definition that committed meanwhile.
// Writing is what definitions of thousands of things have in common: it gives way (did_work()).
class CatalogWriter {
 public:
  CatalogWriter(Transaction& transaction, RelationDirectory& relations, Arena& arena)
      : transaction_(transaction), relations_(relations), arena_(arena), buffer_(arena) {}

  // The row's keys are new. Another transaction that took one of them at the same time is a
  // conflict (conflict_unique). One that this transaction has taken itself is an error (23505), as
  // in PostgreSQL: no further run would find it free.
  void insert(const SystemRow& row);
  // Replaces the row of the same primary key, which exists.
  void update(const SystemRow& row);
  // Looks one of the table's unique indexes up by all its columns; `row` receives the table's row.
  // Where there is none, the caller inserts one.
  bool find_by_index(const SystemTable& table, RelationId index, std::initializer_list<Datum> key,
                     std::string* row);
  // The row with this primary key stays until the transaction ends, as what a foreign key refers
  // to. False if there is none.
  bool hold(const SystemTable& table, std::initializer_list<Datum> primary_key);
  // Nobody holds the row, or will, until the transaction ends. It exists.
  void lock(const SystemTable& table, std::initializer_list<Datum> primary_key);
  // Removes the row with this primary key, which exists.
  void remove(const SystemTable& table, std::span<const Datum> primary_key);

 private:
  Relation& relation(RelationId id);
  [[noreturn]] void key_is_taken(const SystemTable& table, Relation& keys, std::string_view key);
  static void require_found(TransactionStatus status);
  RowRef find(const SystemTable& table, std::string_view key);
  void insert_entry(const SystemTable& table, const SystemTable::Index& index,
                    std::string_view entry_key, std::string_view primary_key);
  void remove_entry(const SystemTable::Index& index, std::string_view entry_key);

  Transaction& transaction_;
  RelationDirectory& relations_;
  Arena& arena_;
  RowBuffer buffer_;
};

}  // namespace pgsilo
