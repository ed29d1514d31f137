// What point_get, index_scan and sequential_scan share: columns fetched from the encoded row into
// registers, the filter, locking and row handles. Thread safety: none; one operator.
#pragma once

#include "catalog/descriptors.h"
#include "catalog/row_columns.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

struct ColumnFetch {
  uint16_t column = 0;
  Register target = 0;
};

// What happens to the rows that UPDATE and DELETE change and SELECT ... FOR locks.
enum class RowHandleUse : uint8_t {
  none,
  // The operator above takes each row before the next is read: the handle is the scan's own RowRef.
  // The scan locks the row (interactive transactions) once its conditions hold, and checks them
  // again if that brought a newer version.
  direct,
  // Rows are kept in between (joins, sorts): the handle is a copy, and the operator above locks.
  kept,
};

// True when `child` hands each row straight on, so that scans may lock and lend their rows.
bool hands_rows_on(const PlanNode* child);

RowLock row_lock(const RowMark& mark);
// The answer to NOWAIT: 55P03.
[[noreturn]] void raise_row_not_available(const TableDescriptor& table);

struct CompiledTableScan : CompiledOperator {
  const TableDescriptor* table = nullptr;
  std::vector<ColumnFetch> filter_columns;  // fetched first
  std::vector<ColumnFetch> other_columns;   // fetched from rows that pass the filter
  RowColumns columns;                       // all of them
  bool is_narrow = false;                   // nothing else of a row matters
  size_t wanted_bytes = RowBuffer::whole;   // of a row; nothing behind them matters
  ExpressionProgram filter;
  bool has_filter = false;
  ExpressionProgram recheck;  // the index condition, for rows that changed under a lock
  RowHandleUse handle_use = RowHandleUse::none;
  RowLock row_lock;
  Register handle = 0;
  bool passes_locked_rows = false;  // SKIP LOCKED: what is not locked is not registered either

  void prepare(const TableScan& node, const BoundExpression* index_condition, PlanCompiler& plan);
};

class TableScanOperator : public Operator {
 protected:
  TableScanOperator(const CompiledTableScan& compiled, ExecutionState& state)
      : Operator(state), scan_(compiled), scratch_(state), buffer_(state, compiled.wanted_bytes) {}

  // Takes the row in row_: true if it passes; then the registers hold it. `locked`: it was read for
  // update.
  bool accept(bool locked);
  // False: not the row of this answer, for it is locked by another. Throws what else there is.
  bool check_lock(TransactionStatus status);
  // Reads the row of a whole key into row_: of the primary tree's, or of a unique index's.
  TransactionStatus get(const IndexDescriptor* index, std::string_view key, RowBuffer& entry_buffer,
                        ReadPurpose row_purpose);
  // Before a range of the table's rows is read (Caution::tables).
  void keep_range();
  ReadPurpose purpose() const {
    return scan_.passes_locked_rows ? ReadPurpose::passing : ReadPurpose::plain;
  }
  Relation& primary() const { return *scan_.table->relation; }

  const CompiledTableScan& scan_;
  Scratch scratch_;
  RowRef row_;
  ReadBuffer buffer_;

 private:
  TransactionStatus get_cautiously(const IndexDescriptor* index, std::string_view key,
                                   RowBuffer& entry_buffer);
  TransactionStatus get_row(const IndexDescriptor* index, std::string_view key,
                            RowBuffer& entry_buffer, ReadPurpose row_purpose, RowLock row_lock);
  void narrow();
  void fetch(const std::vector<ColumnFetch>& columns);
  bool passes_filter();
  bool satisfies_index();
  bool lock();

  Arena padding_;                 // of the present row's char(n) values
  std::vector<RowRange> ranges_;  // of its columns
};

}  // namespace pgsilo
