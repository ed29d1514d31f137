// What point_get, index_scan and sequential_scan share: columns fetched from the encoded row into
// registers, the filter, locking and row handles. Thread safety: none; one operator.
#pragma once

#include "catalog/descriptors.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

struct ColumnFetch {
  uint16_t column = 0;
  Register target = 0;
};

// What happens to the rows that UPDATE and DELETE are going to change.
enum class RowHandleUse : uint8_t {
  none,
  // The changing operator takes each row before the next is read: the handle is the scan's own
  // RowRef. The scan locks the row (interactive transactions) once its conditions hold, and checks
  // them again if that brought a newer version.
  direct,
  // Rows are kept in between (joins, sorts): the handle is a copy, and the changing operator locks.
  kept,
};

struct CompiledTableScan : CompiledOperator {
  const TableDescriptor* table = nullptr;
  std::vector<ColumnFetch> filter_columns;  // fetched first
  std::vector<ColumnFetch> other_columns;   // fetched from rows that pass the filter
  ExpressionProgram filter;
  bool has_filter = false;
  ExpressionProgram recheck;  // the index condition, for rows that changed under a lock
  RowHandleUse handle_use = RowHandleUse::none;
  Register handle = 0;

  void prepare(const TableScan& node, const BoundExpression* index_condition, PlanCompiler& plan);
};

class TableScanOperator : public Operator {
 protected:
  TableScanOperator(const CompiledTableScan& compiled, ExecutionState& state)
      : Operator(state), scan_(compiled), scratch_(state), buffer_(buffer_memory_) {}

  // Takes the row in row_: true if it passes; then the registers hold it. `locked`: it was read for
  // update.
  bool accept(bool locked);
  Relation& primary() const { return *scan_.table->relation; }

  const CompiledTableScan& scan_;
  Scratch scratch_;
  RowRef row_;
  Arena buffer_memory_;
  RowBuffer buffer_;

 private:
  void fetch(const std::vector<ColumnFetch>& columns);
  bool passes_filter();
  bool lock();

  Arena padding_;  // of the present row's char(n) values
};

}  // namespace pgsilo
