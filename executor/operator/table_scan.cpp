#include "executor/operator/table_scan.h"

#include "planner/bound/expression_tree.h"
#include "sql/ast/query.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// A lock that was only to help.
bool is_in_vain(TransactionStatus status) {
  return status == TransactionStatus::deadlock || status == TransactionStatus::lock_timeout ||
         status == TransactionStatus::lock_not_available;
}

}  // namespace

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
  columns = RowColumns(node.table->layout, node.table_columns);
  is_narrow = node.mark == nullptr && columns.are_few();
  if (is_narrow && columns.lie_in_head()) wanted_bytes = node.table->layout.head_bytes();
  if (node.mark != nullptr) {
    handle = output.back();
    handle_use = plan.handle_use();
    row_lock = pgsilo::row_lock(*node.mark);
    passes_locked_rows = node.mark->wait == ast::LockWait::skip_locked;
    recheck = plan.condition(index_condition, output);
  }
}

bool hands_rows_on(const PlanNode* child) {
  while (const auto* project = try_as<ProjectNode>(child)) child = project->child;
  return child->kind == PlanKind::point_get || child->kind == PlanKind::index_scan ||
         child->kind == PlanKind::sequential_scan;
}

RowLock row_lock(const RowMark& mark) {
  constexpr LockMode modes[] = {LockMode::key_share, LockMode::for_share, LockMode::no_key_update,
                                LockMode::update};
  bool waits = mark.wait == ast::LockWait::block;
  return {modes[static_cast<int>(mark.strength)], waits ? WaitPolicy::wait : WaitPolicy::no_wait};
}

void raise_row_not_available(const TableDescriptor& table) {
  throw SqlError(sqlstate::lock_not_available,
                 concat("could not obtain lock on row in relation \"", table.name, "\""));
}

void TableScanOperator::fetch(const std::vector<ColumnFetch>& columns) {
  if (columns.empty()) return;
  RowLayout::Row row(scan_.table->layout, row_.row);
  Datum* file = registers();
  for (const ColumnFetch& column : columns) file[column.target] = row.get(column.column, padding_);
}

bool TableScanOperator::passes_filter() {
  if (padding_.bytes_reserved() != 0) padding_.reset();
  fetch(scan_.filter_columns);
  if (!scan_.has_filter) return true;
  scratch_.begin_row();
  return scan_.filter.is_true(registers(), state_.rows);
}

// Others may change the other columns of the row.
void TableScanOperator::narrow() {
  if (row_.read_index == RowRef::not_registered) return;
  std::optional<RowPart> part = scan_.columns.find(row_.row, &ranges_);
  if (!part) return;
  TransactionStatus status = state_.transaction().narrow_read(row_, *part);
  if (status != TransactionStatus::ok) state_.raise(status);
}

bool TableScanOperator::accept(bool locked) {
  state_.session.maybe_yield();
  if (scan_.is_narrow && state_.transaction().keeps_reads()) narrow();
  if (!passes_filter()) return false;
  // Entry and row were read at different times, and nothing tells whether they fit together.
  if (scan_.passes_locked_rows && !satisfies_index()) return false;
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

// Who waits in a cycle goes on without the lock.
TransactionStatus TableScanOperator::get_cautiously(const IndexDescriptor* index,
                                                    std::string_view key, RowBuffer& entry_buffer) {
  TransactionStatus status = get_row(index, key, entry_buffer, ReadPurpose::for_update,
                                     {.mode = LockMode::no_key_update, .is_cautious = true});
  return is_in_vain(status) ? get_row(index, key, entry_buffer, ReadPurpose::plain, {}) : status;
}

void TableScanOperator::keep_range() {
  const bool is_own = scan_.handle_use == RowHandleUse::none && !scan_.table->is_system();
  if (state_.session.caution < Caution::tables || !is_own) return;
  TransactionStatus status = state_.transaction().keep_writers_out(primary());
  if (status != TransactionStatus::ok) state_.raise(status);
}

TransactionStatus TableScanOperator::get(const IndexDescriptor* index, std::string_view key,
                                         RowBuffer& entry_buffer, ReadPurpose row_purpose) {
  if (state_.session.caution != Caution::none && row_purpose == ReadPurpose::plain &&
      !scan_.table->is_system()) [[unlikely]]
    return get_cautiously(index, key, entry_buffer);
  return get_row(index, key, entry_buffer, row_purpose, scan_.row_lock);
}

TransactionStatus TableScanOperator::get_row(const IndexDescriptor* index, std::string_view key,
                                             RowBuffer& entry_buffer, ReadPurpose row_purpose,
                                             RowLock row_lock) {
  Transaction& transaction = state_.transaction();
  if (index == nullptr)
    return transaction.get(primary(), key, buffer_.rows(), &row_, row_purpose, row_lock);
  RowRef entry;
  TransactionStatus status =
      transaction.get(*index->relation, key, entry_buffer, &entry, purpose());
  if (status != TransactionStatus::ok) return status;
  entry.row = index->key.primary_key_of(entry.key(), entry.row);
  return transaction.get_via_entry(primary(), entry, buffer_.rows(), &row_, row_purpose, row_lock);
}

bool TableScanOperator::check_lock(TransactionStatus status) {
  if (status != TransactionStatus::lock_not_available) state_.raise(status);
  if (!scan_.passes_locked_rows) raise_row_not_available(*scan_.table);
  return false;
}

bool TableScanOperator::lock() {
  TransactionStatus status = state_.transaction().lock_row(&row_, buffer_.rows(), scan_.row_lock);
  if (status == TransactionStatus::ok) return true;
  if (status == TransactionStatus::not_found || status == TransactionStatus::self_modified)
    return false;
  if (status != TransactionStatus::row_changed) return check_lock(status);
  return passes_filter() && satisfies_index();
}

bool TableScanOperator::satisfies_index() {
  fetch(scan_.other_columns);
  return scan_.recheck.is_true(registers(), state_.rows);
}

}  // namespace pgsilo
