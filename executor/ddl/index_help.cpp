#include "executor/ddl/index_help.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/parker.h"
#include "catalog/catalog_view.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

void IndexHelp::offer(WorkSharing& sharing) {
  {
    std::lock_guard lock(mutex_);
    if (offered_ || ranges_.empty()) return;
    offered_ = true;
  }
  try {
    sharing.offer(shared_from_this());
  } catch (const std::bad_alloc&) {
    decline();  // it goes without
  }
}

void IndexHelp::decline() noexcept {
  std::lock_guard lock(mutex_);
  offered_ = false;
}

void IndexHelp::stop(Parker& parker) noexcept {
  constexpr int64_t patience_us = 200;
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      if (!working_) return;
    }
    parker.park(monotonic_us() + patience_us);
  }
}

Epoch IndexHelp::newest_epoch() const {
  std::lock_guard lock(mutex_);
  return newest_epoch_;
}

std::optional<IndexRange> IndexHelp::begin_piece() {
  std::lock_guard lock(mutex_);
  std::optional<IndexRange> range;
  if (!stopped_) range = ranges_.take();
  working_ = range.has_value();
  offered_ = working_;
  return range;
}

// Whether the same helper may go on.
bool IndexHelp::end_piece(IndexRange range, bool went_well) noexcept {
  ranges_.give_back(std::move(range));
  std::lock_guard lock(mutex_);
  working_ = false;
  offered_ = went_well;
  return went_well;
}

bool IndexHelp::help(WorkerContext& worker, const WaitSettings& settings) noexcept {
  std::optional<IndexRange> range = begin_piece();
  if (!range) return false;
  bool went_well = false;
  try {
    went_well = add_some(worker, settings, *range);
  } catch (...) {
    // The owner will meet it as well.
  }
  return end_piece(std::move(*range), went_well);
}

bool IndexHelp::add_some(WorkerContext& worker, const WaitSettings& settings, IndexRange& range) {
  Transaction transaction(worker, settings);
  CatalogView view(catalog_);
  IndexBatch batch(transaction);
  int failures = 0;
  for (int done = 0; done < batches_each && !range.finished;) {
    TransactionStatus status = add_batch(view, transaction, batch, range);
    if (status == TransactionStatus::ok) {
      std::lock_guard lock(mutex_);
      newest_epoch_ = std::max(newest_epoch_, transaction.newest_epoch());
      batch.advance(range);
      ++done;
      continue;
    }
    transaction.abort();
    bool passes = is_conflict(status) && status != TransactionStatus::must_wait;
    if (!passes || ++failures == most_failures) return false;
    batch.shrink();
  }
  return true;
}

TransactionStatus IndexHelp::add_batch(CatalogView& view, Transaction& transaction,
                                       IndexBatch& batch, const IndexRange& range) {
  transaction.begin(TransactionMode::one_shot);
  view.refresh();
  const TableDescriptor* table = view.find_table(table_);
  bool is_there = table != nullptr && table->relation_id == range.tree;
  const IndexDescriptor* index = is_there ? table->find_index(index_) : nullptr;
  if (index == nullptr) return TransactionStatus::not_found;
  IndexEntries entries(*table, *index, catalog_.index_evaluator(view, *table, *index));
  TransactionStatus status = batch.add_entries(*table, *index, entries, range);
  return status == TransactionStatus::ok ? transaction.commit() : status;
}

}  // namespace pgsilo
