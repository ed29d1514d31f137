#include "executor/operator/table_scan.h"

#include "planner/bound/expression_tree.h"

namespace pgsilo {

void CompiledTableScan::prepare(const TableScan& node, const BoundExpression* index_condition,
                                PlanCompiler& plan) {
  table = node.table;
  output = plan.new_register_list(node.columns.size());
  std::vector<bool> in_filter(node.table_columns.size());
  has_filter = node.filter != nullptr;
  if (has_filter) {
    contains(*node.filter, [&](const BoundExpression& part) {
      if (const auto* slot = try_as<SlotExpression>(&part)) {
        auto index = static_cast<size_t>(slot->slot);
        if (index < in_filter.size()) in_filter[index] = true;
      }
      return false;
    });
    filter = plan.condition(node.filter, output);
  }
  for (size_t i = 0; i < node.table_columns.size(); ++i) {
    ColumnFetch fetch{static_cast<uint16_t>(node.table_columns[i]), output[i]};
    (in_filter[i] ? filter_columns : other_columns).push_back(fetch);
  }
  if (node.returns_row_handle) {
    handle = output.back();
    handle_use = plan.handle_use();
    if (handle_use == RowHandleUse::direct) recheck = plan.condition(index_condition, output);
  }
}

void TableScanOperator::fetch(const std::vector<ColumnFetch>& columns) {
  const RowLayout& layout = scan_.table->layout;
  Datum* file = registers();
  for (const ColumnFetch& column : columns)
    file[column.target] = layout.get(row_.row, column.column, padding_);
}

bool TableScanOperator::passes_filter() {
  if (padding_.bytes_reserved() != 0) padding_.reset();
  fetch(scan_.filter_columns);
  if (!scan_.has_filter) return true;
  scratch_.begin_row();
  return scan_.filter.is_true(registers(), state_.rows);
}

bool TableScanOperator::accept(bool locked) {
  state_.session.maybe_yield();
  if (!passes_filter()) return false;
  switch (scan_.handle_use) {
    case RowHandleUse::none:
      break;
    case RowHandleUse::direct:
      if (!locked && !lock()) return false;
      at(scan_.handle) = Datum::of_bytes({reinterpret_cast<const char*>(&row_), sizeof row_});
      break;
    case RowHandleUse::kept: {
      auto* copy = state_.memory.make<RowRef>(row_);
      copy->row = {};  // its bytes are the scan's
      at(scan_.handle) = Datum::of_bytes({reinterpret_cast<const char*>(copy), sizeof row_});
      break;
    }
  }
  fetch(scan_.other_columns);
  return true;
}

bool TableScanOperator::lock() {
  TransactionStatus status = state_.transaction().lock_row(&row_, buffer_);
  if (status == TransactionStatus::ok) return true;
  if (status == TransactionStatus::not_found || status == TransactionStatus::self_modified)
    return false;
  if (status != TransactionStatus::row_changed) state_.raise(status);
  if (!passes_filter()) return false;
  fetch(scan_.other_columns);
  return scan_.recheck.is_true(registers(), state_.rows);
}

}  // namespace pgsilo
