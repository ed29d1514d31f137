// The one place where rows of tables are written: the primary tree and every secondary index stay
// in step, NOT NULL and uniqueness hold. INSERT, UPDATE, DELETE and COPY use it. Thread safety:
// none; one statement. Invariant (I9): after each call that returns, every visible row has exactly
// its index entries; of an index that is being built it may have none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "catalog/descriptors.h"
#include "executor/constraint/index_keys.h"
#include "sql/types/datum.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

class ReferenceWatch;
class RowPatches;
struct ExecutionContext;
struct ExecutionState;
struct RowChanges;

// A row of this transaction's reads that becomes another.
struct RowUpdate {
  const RowRef& old;
  // All columns; read only where there are any `indexes`, or where the table has foreign keys.
  std::span<const Datum> old_row;
  std::span<const Datum> new_row;
  // Those whose entries may change; with `changes_primary_key` all are looked at.
  std::span<const IndexDescriptor* const> indexes;
  bool changes_primary_key = false;
  // What it uses and changes of the row; null: the row as a whole. Only if no key changes.
  const RowPatches* patches = nullptr;
};

class TableWriter {
 public:
  // They outlive the writer; the session's transaction may change between statements. `keys`: of
  // the indexes that compute, if there are any.
  TableWriter(ExecutionState& state, const TableDescriptor& table, const RowChanges& changes,
              const IndexKeySource& keys = {});
  ~TableWriter();

  // `row` has all columns of the table (dropped ones are ignored), coerced to their types and
  // modifiers.
  void insert(std::span<const Datum> row);
  // ON CONFLICT: as insert(), but if there is a row with the same key of one of `arbiters`, nothing
  // has changed and that index is returned; else null. `updates`: that row is to be changed; else
  // that it is there is the statement's answer.
  const IndexDescriptor* insert_unless_conflict(std::span<const Datum> row,
                                                std::span<const IndexDescriptor* const> arbiters,
                                                bool updates);
  // The row that it met, locked. False: it has gone. Throws 21000 if this very statement has
  // written it.
  bool find_conflicting(const IndexDescriptor& index, std::span<const Datum> row, RowBuffer& buffer,
                        RowRef* found);
  // As insert(), for many rows of one statement: where nothing but their number can be said of them
  // afterwards (no unique key), a second worker may write them later (Transaction::load).
  void load(std::span<const Datum> row);
  // Everything loaded is written.
  void finish_load();
  // False: this very statement has changed the row before.
  bool update(const RowUpdate& update);
  bool remove(const RowRef& old, std::span<const Datum> old_row);

  // 23502 for a null in one of `columns` (0-based).
  void check_not_null(std::span<const Datum> row, std::span<const int32_t> columns) const;
  // 23514.
  [[noreturn]] void raise_check_violation(std::span<const Datum> row,
                                          std::string_view constraint) const;

  // 55000: a row that ON CONFLICT DO UPDATE met.
  [[noreturn]] static void raise_not_visible(std::string_view view);
  // 44000: of WITH CHECK OPTION.
  [[noreturn]] void raise_view_violation(std::span<const Datum> row, std::string_view view) const;

  const TableDescriptor& table() const { return table_; }

  // The run is over: only memory of ordinary size stays.
  void trim() {
    if (row_.capacity() > limits::kept_arena_bytes) row_ = ByteBuffer();
  }

 private:
  Transaction& transaction() const;
  bool encode_entry(const IndexDescriptor& index, std::span<const Datum> row,
                    std::string_view primary_key, ByteBuffer& out);
  bool encode_old_entry(const IndexDescriptor& index, std::span<const Datum> row,
                        std::string_view primary_key);
  void insert_entry(const IndexDescriptor& index, std::span<const Datum> row,
                    std::string_view primary_key);
  void encode(std::span<const Datum> row);
  void insert_primary(std::span<const Datum> row);
  TransactionStatus try_insert(const IndexDescriptor* index, std::span<const Datum> row,
                               bool answers);
  const IndexDescriptor* insert_all(std::span<const Datum> row, bool answers,
                                    const Transaction::Mark& mark);
  void take_back(const Transaction::Mark& mark);
  const IndexDescriptor* find_arbiter(std::span<const IndexDescriptor* const> arbiters,
                                      std::span<const Datum> row, bool updates);
  bool changes_unique_key(const RowUpdate& update);
  bool encode_unique(const IndexDescriptor& index, std::span<const Datum> row);
  void encode_primary_key(std::span<const Datum> row);
  void remove_entry(const IndexDescriptor& index, std::span<const Datum> row,
                    std::string_view primary_key);
  bool has_entry(const IndexDescriptor& index, std::string_view primary_key);
  bool update_row(const RowUpdate& update, bool* moves);
  TransactionStatus update_encoded(const RowUpdate& update);
  void update_entries(const RowUpdate& update);
  bool remove_row(const RowRef& old, std::span<const Datum> old_row);
  bool move(const RowUpdate& update);
  [[noreturn]] void raise_duplicate(const IndexDescriptor& index, std::span<const Datum> row) const;
  std::string shown_key(const IndexDescriptor& index, std::span<const Datum> row) const;
  std::string failing_row(std::span<const Datum> row) const;
  static void check(TransactionStatus status);
  void admit_insert();
  void admit_update(const RowRef& old);
  void cover_commit();

  ExecutionContext& context_;
  const TableDescriptor& table_;
  std::unique_ptr<ReferenceWatch> watch_;  // null: no foreign keys
  std::vector<const IndexDescriptor*> secondary_;
  bool unique_secondary_ = false;  // there is one
  bool may_load_;                  // no row can be rejected
  ByteBuffer key_;
  ByteBuffer row_;
  std::vector<RowPatch> patches_;
  IndexKeySource keys_;
  std::vector<Datum> key_values_;  // of an index that computes
  ByteBuffer entry_;
  ByteBuffer new_entry_;
  Arena entry_memory_;
  RowBuffer entry_buffer_;
};

}  // namespace pgsilo
