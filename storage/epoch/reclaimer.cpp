#include "storage/epoch/reclaimer.h"

#include <algorithm>
#include <new>
#include <utility>

namespace pgsilo {

namespace {
// A closing fetch_add writes a line that every new pin reads, so small batches wait until the one
// before is gone.
constexpr size_t full_batch_objects = 64;
constexpr size_t full_batch_bytes = 64 * 1024;
}  // namespace

Reclaimer::~Reclaimer() {
  for (Batch& batch : orphans_) {
    for (Retired& retired : batch.objects) retired.deleter(retired.object);
  }
  Cell* cell = cells_.load(std::memory_order_acquire);
  while (cell != nullptr) {
    PGSILO_CHECK(!cell->taken.load(std::memory_order_acquire));
    Cell* following = cell->next;
    delete cell;
    cell = following;
  }
}

size_t Reclaimer::Batch::bytes() const {
  size_t bytes = 0;
  for (const Retired& retired : objects) bytes += retired.bytes;
  return bytes;
}

Reclaimer::Cell* Reclaimer::take_cell() {
  for (Cell* cell = cells_.load(std::memory_order_acquire); cell != nullptr; cell = cell->next) {
    if (!cell->taken.exchange(true, std::memory_order_acq_rel)) return cell;
  }
  auto* cell = new Cell;
  cell->taken.store(true, std::memory_order_relaxed);  // published by the exchange below
  Cell* head = cells_.load(std::memory_order_acquire);
  do {
    cell->next = head;
    cell->index = head == nullptr ? 0 : head->index + 1;
    // seq_cst: a scan that does not see the cell precedes its first announcement in the total
    // order.
  } while (!cells_.compare_exchange_weak(head, cell, std::memory_order_seq_cst,
                                         std::memory_order_acquire));
  return cell;
}

uint64_t Reclaimer::oldest_announced() const {
  uint64_t oldest = idle;
  for (Cell* cell = cells_.load(std::memory_order_seq_cst); cell != nullptr; cell = cell->next) {
    oldest = std::min(oldest, cell->announced.load(std::memory_order_seq_cst));
  }
  return oldest;
}

Generation Reclaimer::oldest_pin() const {
  return Generation(std::min(oldest_announced(), current().value()));
}

size_t Reclaimer::pending_bytes() const {
  size_t bytes = orphans_bytes_.load(std::memory_order_relaxed);
  for (Cell* cell = cells_.load(std::memory_order_acquire); cell != nullptr; cell = cell->next) {
    bytes += cell->pending_bytes.load(std::memory_order_relaxed);
  }
  return bytes;
}

// The cell last: making the lists may throw, and then nobody would give it back.
ReclaimerHandle::ReclaimerHandle(Reclaimer& reclaimer) : reclaimer_(reclaimer) {
  cell_ = reclaimer.take_cell();
}

ReclaimerHandle::~ReclaimerHandle() {
  PGSILO_CHECK(oldest_ == nullptr);
  try {
    reclaim_slow(SIZE_MAX);
    close_open_batch();
  } catch (const std::bad_alloc&) {  // the lists are as they were
  }
  try {
    leave_orphans();
  } catch (const std::bad_alloc&) {  // nobody can be told of the rest
  }
  cell_->pending_bytes.store(0, std::memory_order_relaxed);
  cell_->taken.store(false, std::memory_order_release);  // pairs with the exchange in take_cell()
}

void ReclaimerHandle::leave_orphans() {
  if (closed_.empty()) return;
  std::lock_guard guard(reclaimer_.orphans_mutex_);
  for (Reclaimer::Batch& batch : closed_) {
    size_t bytes = batch.bytes();
    reclaimer_.orphans_.push_back(std::move(batch));
    reclaimer_.orphans_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
}

void ReclaimerHandle::close_open_batch() {
  if (open_.empty()) return;
  closed_.emplace_back();
  closed_.back().objects.swap(open_);
  open_bytes_ = 0;
  // Release: the unlinks happen-before every pin that reads the new generation. seq_cst: precedes
  // the scan.
  closed_.back().stamp = reclaimer_.generation_.fetch_add(1, std::memory_order_seq_cst);
}

void ReclaimerHandle::adopt_orphans() {
  std::unique_lock guard(reclaimer_.orphans_mutex_, std::try_to_lock);
  if (!guard.owns_lock()) return;
  std::deque<Reclaimer::Batch>& orphans = reclaimer_.orphans_;
  try {
    for (; !orphans.empty(); orphans.pop_front()) {
      size_t bytes = orphans.front().bytes();
      closed_.push_back(std::move(orphans.front()));
      reclaimer_.orphans_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
      add_pending(bytes);
    }
  } catch (const std::bad_alloc&) {  // the rest another time
  }
  std::sort(closed_.begin(), closed_.end(),
            [](const auto& a, const auto& b) { return a.stamp < b.stamp; });
}

size_t ReclaimerHandle::reclaim_slow(size_t budget) {
  if (orphans_waiting()) adopt_orphans();
  bool full = open_.size() >= full_batch_objects || open_bytes_ >= full_batch_bytes;
  if (full || closed_.empty()) close_open_batch();
  uint64_t oldest = reclaimer_.oldest_announced();
  size_t freed = 0;
  size_t freed_bytes = 0;
  while (freed < budget && !closed_.empty() && closed_.front().stamp < oldest) {
    std::vector<Reclaimer::Retired>& objects = closed_.front().objects;
    while (freed < budget && !objects.empty()) {
      Reclaimer::Retired retired = objects.back();
      objects.pop_back();
      retired.deleter(retired.object);
      freed_bytes += retired.bytes;
      ++freed;
    }
    if (objects.empty()) closed_.pop_front();
  }
  add_pending(size_t{0} - freed_bytes);
  return freed;
}

}  // namespace pgsilo
