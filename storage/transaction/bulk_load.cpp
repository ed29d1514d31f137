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

namespace {

bool is_cancelled(const WaitSettings& settings) {
  return settings.cancelled != nullptr && settings.cancelled->load(std::memory_order_acquire);
}

}  // namespace

BulkLoad::BulkLoad(WorkSharing& sharing, const WaitSettings& settings)
    : sharing_(sharing), cancelled_(settings.cancelled) {
  free_.reserve(max_batches);
}

// ---- the owner ----

TransactionStatus BulkLoad::add(WorkerContext& worker, const WaitSettings& settings,
                                Relation& relation, std::string_view key, std::string_view row) {
  if (open_ == nullptr) {
    TransactionStatus status = open_batch(worker, settings);
    if (status != TransactionStatus::ok) return status;
  }
  Batch& batch = *open_;
  size_t size = key.size() + row.size();
  Row added{&relation, nullptr, batch.bytes.size(), key.size(), row.size()};
  if (size > RowStreamer::slice_bytes) {
    // One copy of a wide row is enough, and the one that the relation's account knows of.
    added.record = relation.records().create_filled(key, row, Tid(), worker.reclaimer());
  } else {
    batch.bytes.reserve(size);
    batch.bytes.append(key);
    batch.bytes.append(row);
  }
  batch.rows.push_back(added);  // has room: a full batch does not stay open
  batch.size += size;
  return batch.full() ? hand_over(worker) : TransactionStatus::ok;
}

// A batch to fill.
TransactionStatus BulkLoad::open_batch(WorkerContext& worker, const WaitSettings& settings) {
  if (batches_ < max_batches) {
    auto batch = std::make_unique<Batch>();
    batch->rows.reserve(RowStreamer::slice_rows);
    open_ = std::move(batch);
    ++batches_;
    return TransactionStatus::ok;
  }
  Lock lock(mutex_);
  while (failure_ == TransactionStatus::ok && free_.empty())
    work_or_wait(lock, max_batches / 2, worker, settings);
  if (failure_ != TransactionStatus::ok) return failure_;
  open_ = std::move(free_.back());
  free_.pop_back();
  return TransactionStatus::ok;
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
    offers = !offered_ && full_.size() >= worth_offering;
    offered_ |= offers;
  }
  if (offers) offer();
  return TransactionStatus::ok;
}

void BulkLoad::offer() {
  try {
    sharing_.offer(shared_from_this());
  } catch (const std::bad_alloc&) {
    decline();  // it goes without
  }
}

TransactionStatus BulkLoad::finish(WorkerContext& worker, const WaitSettings& settings) {
  if (open_ != nullptr) open_->floor = worker.last_tid();
  Lock lock(mutex_);
  if (open_ != nullptr) full_.push_back(std::move(open_));
  while (failure_ == TransactionStatus::ok && (loading_ || !full_.empty()))
    work_or_wait(lock, batches_, worker, settings);
  worker.set_last_tid(std::max(worker.last_tid(), newest_));
  return failure_;
}

void BulkLoad::cancel(WorkerContext& worker, const WaitSettings& settings) {
  Lock lock(mutex_);
  if (failure_ == TransactionStatus::ok) failure_ = TransactionStatus::cancelled;
  while (loading_) wait_for_free(lock, 1, settings);
  lock.unlock();
  // With failure_ set nobody else looks at the queue any more.
  if (open_ != nullptr) destroy_records(*open_, worker);
  for (BatchPointer& batch : full_) destroy_records(*batch, worker);
  full_.clear();
  streamer_.clear();
}

// One step towards more free batches: the owner loads one, or waits while somebody else has one.
void BulkLoad::work_or_wait(Lock& lock, size_t wanted, WorkerContext& worker,
                            const WaitSettings& settings) {
  if (BatchPointer batch = take(settings)) {
    lock.unlock();
    load_and_return(std::move(batch), worker, settings);
    lock.lock();
    return;
  }
  wait_for_free(lock, wanted, settings);
  if (is_cancelled(settings) && failure_ == TransactionStatus::ok)
    failure_ = TransactionStatus::cancelled;
}

// Parks the owner until so many batches are free, or for a while; the lock is released meanwhile.
void BulkLoad::wait_for_free(Lock& lock, size_t wanted, const WaitSettings& settings) {
  // Who waits for the log finds out that the statement was cancelled only if somebody wakes it.
  if (is_cancelled(settings) && loader_ != nullptr) loader_->unpark();
  wanted_free_ = wanted;
  owner_ = settings.parker;
  lock.unlock();
  settings.parker->park(monotonic_us() + patience_us);
  lock.lock();
  owner_ = nullptr;
}

// ---- owner or helper ----

bool BulkLoad::help(WorkerContext& worker, const WaitSettings& settings) noexcept {
  BatchPointer batch;
  {
    std::lock_guard lock(mutex_);
    batch = take(settings);
    if (batch == nullptr) {
      offered_ = false;
      return false;
    }
  }
  WaitSettings cancellable = settings;
  cancellable.cancelled = cancelled_;
  load_and_return(std::move(batch), worker, cancellable);
  return true;
}

void BulkLoad::decline() noexcept {
  std::lock_guard lock(mutex_);
  offered_ = false;
}

// The front batch; null: there is none, or somebody has it. The lock is held.
BulkLoad::BatchPointer BulkLoad::take(const WaitSettings& settings) {
  if (failure_ != TransactionStatus::ok || loading_ || full_.empty()) return nullptr;
  BatchPointer batch = std::move(full_.front());
  full_.pop_front();
  loading_ = true;
  loader_ = settings.parker;
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
  loader_ = nullptr;
  newest_ = std::max(newest_, worker.last_tid());
  if (failure_ == TransactionStatus::ok) failure_ = status;
  // Under the lock: the owner cannot be gone before it has had the lock again.
  bool enough = free_.size() >= wanted_free_ || failure_ != TransactionStatus::ok;
  if (owner_ != nullptr && enough) owner_->unpark();
}

TransactionStatus BulkLoad::load(Batch& batch, WorkerContext& worker,
                                 const WaitSettings& settings) {
  Pin pin(worker.reclaimer());
  for (Row& row : batch.rows) {
    if (row.record == nullptr) make_record(batch, row, worker);
    if (streamer_.insert(worker, *row.relation, row.record) != nullptr) {
      rejected_ = {std::string(row.record->key()), std::string(row.record->quiet_row())};
      return TransactionStatus::duplicate_key;
    }
    row.record = nullptr;  // the tree's now
  }
  return streamer_.stream(worker, settings, batch.floor);
}

void BulkLoad::make_records(Batch& batch, WorkerContext& worker) {
  for (Row& row : batch.rows) {
    if (row.record == nullptr) make_record(batch, row, worker);
  }
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
  batch.size = 0;
}

}  // namespace pgsilo
