#include "storage/transaction/bulk_load.h"

#include <algorithm>
#include <new>

#include "base/clock.h"
#include "base/parker.h"
#include "storage/epoch/reclaimer.h"
#include "storage/relation/relation.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/worker_context.h"

namespace pgsilo {

BulkLoad::BulkLoad(WorkSharing& sharing) : sharing_(sharing) { free_.reserve(max_batches); }

// ---- the owner ----

TransactionStatus BulkLoad::add(WorkerContext& worker, const WaitSettings& settings,
                                Relation& relation, std::string_view key, std::string_view row) {
  if (open_ == nullptr) {
    TransactionStatus status = open_batch(worker, settings);
    if (status != TransactionStatus::ok) return status;
  }
  Batch& batch = *open_;
  batch.bytes.reserve(key.size() + row.size());
  batch.rows.push_back({&relation, nullptr, batch.bytes.size(), key.size(), row.size()});
  batch.bytes.append(key);
  batch.bytes.append(row);
  return batch.full() ? hand_over(worker) : TransactionStatus::ok;
}

// The open batch goes to the end of the queue.
TransactionStatus BulkLoad::hand_over(WorkerContext& worker) {
  open_->floor = worker.last_tid();
  bool behind = false;
  {
    std::lock_guard lock(mutex_);
    behind = full_.size() >= helper_is_behind;
  }
  if (behind) make_records(*open_, worker);
  bool offers = false;
  {
    std::lock_guard lock(mutex_);
    if (failure_ != TransactionStatus::ok) return failure_;
    full_.push_back(std::move(open_));
    offers = !offered_ && !loading_;
    offered_ |= offers;
  }
  if (offers) sharing_.offer(shared_from_this());
  return TransactionStatus::ok;
}

// A batch to fill; the owner works on the queue itself when that is full and nobody else does.
TransactionStatus BulkLoad::open_batch(WorkerContext& worker, const WaitSettings& settings) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (failure_ != TransactionStatus::ok) return failure_;
    if (!free_.empty()) {
      open_ = std::move(free_.back());
      free_.pop_back();
      return TransactionStatus::ok;
    }
    if (batches_ < max_batches) {
      open_ = std::make_unique<Batch>();
      ++batches_;
      open_->rows.reserve(RowStreamer::slice_rows);
      return TransactionStatus::ok;
    }
    if (BatchPointer batch = take()) {
      lock.unlock();
      load_and_return(std::move(batch), worker, settings);
      lock.lock();
    } else {
      wait_for_free(lock, max_batches / 2, settings);
    }
  }
}

TransactionStatus BulkLoad::finish(WorkerContext& worker, const WaitSettings& settings) {
  if (open_ != nullptr) open_->floor = worker.last_tid();
  std::unique_lock lock(mutex_);
  if (open_ != nullptr) full_.push_back(std::move(open_));
  while (failure_ == TransactionStatus::ok && (loading_ || !full_.empty())) {
    if (BatchPointer batch = take()) {
      lock.unlock();
      load_and_return(std::move(batch), worker, settings);
      lock.lock();
    } else {
      wait_for_free(lock, batches_, settings);
    }
  }
  worker.set_last_tid(std::max(worker.last_tid(), newest_));
  return failure_;
}

void BulkLoad::cancel(WorkerContext& worker, const WaitSettings& settings) {
  if (open_ != nullptr) destroy_records(*open_, worker);
  std::unique_lock lock(mutex_);
  for (BatchPointer& batch : full_) {
    destroy_records(*batch, worker);
    free_.push_back(std::move(batch));
  }
  full_.clear();
  while (loading_) wait_for_free(lock, batches_, settings);
  streamer_.clear();
}

void BulkLoad::wait_for_free(std::unique_lock<std::mutex>& lock, size_t wanted,
                             const WaitSettings& settings) {
  wanted_free_ = wanted;
  owner_ = settings.parker;
  lock.unlock();
  settings.parker->park(monotonic_us() + patience_us);
  lock.lock();
  wanted_free_ = 0;
  owner_ = nullptr;
}

// ---- owner or helper ----

bool BulkLoad::help(WorkerContext& worker, const WaitSettings& settings) noexcept {
  BatchPointer batch;
  {
    std::lock_guard lock(mutex_);
    batch = take();
    if (batch == nullptr) {
      offered_ = false;
      return false;
    }
  }
  load_and_return(std::move(batch), worker, settings);
  return true;
}

BulkLoad::BatchPointer BulkLoad::take() {
  if (loading_ || full_.empty() || failure_ != TransactionStatus::ok) return nullptr;
  BatchPointer batch = std::move(full_.front());
  full_.pop_front();
  loading_ = true;
  return batch;
}

void BulkLoad::load_and_return(BatchPointer batch, WorkerContext& worker,
                               const WaitSettings& settings) noexcept {
  TransactionStatus status;
  try {
    status = load(*batch, worker, settings);
  } catch (const std::bad_alloc&) {
    status = TransactionStatus::out_of_memory;
  }
  destroy_records(*batch, worker);
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(batch));
  loading_ = false;
  newest_ = std::max(newest_, worker.last_tid());
  if (failure_ == TransactionStatus::ok) failure_ = status;
  // Under the lock: the owner cannot be gone before it has had the lock again.
  bool enough = free_.size() >= wanted_free_ || failure_ != TransactionStatus::ok;
  if (wanted_free_ != 0 && enough) owner_->unpark();
}

TransactionStatus BulkLoad::load(Batch& batch, WorkerContext& worker,
                                 const WaitSettings& settings) {
  Pin pin(worker.reclaimer());
  for (Row& row : batch.rows) {
    if (row.record == nullptr) make_record(batch, row, worker);
    if (streamer_.insert(worker, *row.relation, row.record) != nullptr) {
      rejected_ = {row.relation, std::string(row.record->key()),
                   std::string(row.record->quiet_row())};
      return TransactionStatus::duplicate_key;
    }
    row.record = nullptr;  // the tree's now
  }
  return streamer_.stream(worker, settings, batch.floor);
}

void BulkLoad::make_records(Batch& batch, WorkerContext& worker) {
  for (Row& row : batch.rows) make_record(batch, row, worker);
}

void BulkLoad::make_record(Batch& batch, Row& row, WorkerContext& worker) {
  std::string_view bytes = batch.bytes.view().substr(row.offset);
  row.record = row.relation->records().create_filled(bytes.substr(0, row.key_bytes),
                                                     bytes.substr(row.key_bytes, row.row_bytes),
                                                     Tid(), worker.reclaimer());
}

// Leaves the batch empty. Those that made it into a tree are not its own any more.
void BulkLoad::destroy_records(Batch& batch, WorkerContext& worker) {
  for (Row& row : batch.rows) {
    if (row.record != nullptr) row.relation->records().destroy(row.record, worker.reclaimer());
  }
  batch.rows.clear();
  batch.bytes.clear();
  if (batch.bytes.capacity() > 4 * RowStreamer::slice_bytes) batch.bytes = ByteBuffer();
}

}  // namespace pgsilo
