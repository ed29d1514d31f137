#include "storage/epoch/reclaimer.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

namespace pgsilo {

namespace {
// While batches wait, what is retired next is collected until it is worth a batch.
constexpr size_t full_batch_objects = 64;
constexpr size_t full_batch_bytes = 64 * 1024;
// A spare batch keeps no more room than this.
constexpr size_t kept_objects = 1024;
// An advance reads a line of each thread: each waiting thread lets this part of their number go by
// in calls, in which another may advance for all.
constexpr size_t threads_per_refusal = 8;
constexpr unsigned most_refusals = 1024;
}  // namespace

// ---- all threads ----

Reclaimer::~Reclaimer() {
  Cell* cell = shared_.cells.load(std::memory_order_acquire);
  while (cell != nullptr) {
    PGSILO_CHECK(!cell->taken.load(std::memory_order_acquire));
    std::list<RetiredBatch> left;
    while (cell->batches.take_first(RetiredBatches::none, left)) {
    }
    for (RetiredBatch& batch : left) {
      for (Retired& retired : batch.objects) retired.deleter(retired.object);
    }
    Cell* following = cell->next;
    delete cell;
    cell = following;
  }
}

Reclaimer::Cell* Reclaimer::take_cell() {
  for (Cell* cell = shared_.cells.load(std::memory_order_acquire); cell != nullptr;
       cell = cell->next) {
    if (!cell->taken.exchange(true, std::memory_order_acq_rel)) return cell;
  }
  auto* cell = new Cell;
  cell->taken.store(true, std::memory_order_relaxed);  // published by the exchange below
  Cell* head = shared_.cells.load(std::memory_order_acquire);
  do {
    cell->next = head;
    cell->index = head == nullptr ? 0 : head->index + 1;
    // Before the fence of the cell's first announcement: who advances and does not see the cell
    // comes before that fence.
  } while (!shared_.cells.compare_exchange_weak(head, cell, std::memory_order_acq_rel,
                                                std::memory_order_acquire));
  return cell;
}

size_t Reclaimer::cell_count() const {
  const Cell* newest = shared_.cells.load(std::memory_order_acquire);
  return newest == nullptr ? 0 : newest->index + 1;
}

uint64_t Reclaimer::oldest_announced(Cell** oldest) const {
  uint64_t least = idle;
  for (Cell* cell = shared_.cells.load(std::memory_order_acquire); cell != nullptr;
       cell = cell->next) {
    // Acquire pairs with the end of a pin.
    uint64_t announced = cell->announced.load(std::memory_order_acquire);
    if (announced >= least) continue;
    least = announced;
    *oldest = cell;
  }
  return least;
}

Generation Reclaimer::oldest_pin() const {
  Cell* oldest = nullptr;
  return Generation(std::min(oldest_announced(&oldest), current().value()));
}

size_t Reclaimer::pending_bytes() const {
  size_t bytes = 0;
  for (Cell* cell = shared_.cells.load(std::memory_order_acquire); cell != nullptr;
       cell = cell->next) {
    bytes += cell->pending_bytes.load(std::memory_order_relaxed);
  }
  return bytes;
}

Reclaimer::Advance Reclaimer::try_advance() {
  if (!advancing_.try_lock()) return {};
  std::lock_guard guard(advancing_, std::adopt_lock);
  advances_.store(advances_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // Before looking who is unattended: who is left so later finds that nobody is awaited.
  await_nobody();
  uint64_t generation = shared_.generation.load(std::memory_order_relaxed) + 1;
  shared_.generation.store(generation, std::memory_order_seq_cst);
  full_fence();
  Cell* holder = nullptr;
  uint64_t oldest = oldest_announced(&holder);
  // A pin may announce less than was safe before: it read G long ago. What is safe stays so.
  uint64_t safe =
      std::max(shared_.safe.load(std::memory_order_relaxed), std::min(oldest, generation));
  // Release: the reads of the pins that have ended happen-before the frees.
  shared_.safe.store(safe, std::memory_order_release);
  Advance advance = judge_unattended(safe);
  if (advance.again && await_end_of(holder, oldest)) advance.again = false;
  return advance;
}

Reclaimer::Advance Reclaimer::judge_unattended(uint64_t safe) const {
  Advance advance{.done = true};
  for (Cell* cell = shared_.cells.load(std::memory_order_acquire); cell != nullptr;
       cell = cell->next) {
    if (!cell->batches.unattended()) continue;
    if (cell->batches.newest() >= safe) advance.again = true;
    if (cell->batches.oldest() < safe) advance.helps = true;
  }
  return advance;
}

void Reclaimer::await_nobody() {
  if (awaited_ == nullptr) return;
  awaited_->awaited.store(idle, std::memory_order_relaxed);
  awaited_ = nullptr;
  shared_.somebody_awaited.store(false, std::memory_order_seq_cst);
}

bool Reclaimer::await_end_of(Cell* holder, uint64_t announced) {
  if (holder == nullptr) return false;
  awaited_ = holder;
  holder->awaited.store(announced, std::memory_order_seq_cst);
  shared_.somebody_awaited.store(true, std::memory_order_seq_cst);
  // Its pin may have ended before it could see that somebody waits.
  if (holder->announced.load(std::memory_order_seq_cst) == announced) return true;
  await_nobody();
  return false;
}

void Reclaimer::adopt_abandoned(Cell& adopter) {
  // Acquire pairs with the end of the handle: its batches are in its list.
  if (!shared_.abandoned.exchange(false, std::memory_order_acq_rel)) return;
  for (Cell* cell = shared_.cells.load(std::memory_order_acquire); cell != nullptr;
       cell = cell->next) {
    if (!cell->taken.load(std::memory_order_acquire) && !cell->batches.empty())
      adopter.batches.adopt(cell->batches);
  }
}

// ---- one thread ----

// The cell last: making the lists may throw, and then nobody would give it back.
ReclaimerHandle::ReclaimerHandle(Reclaimer& reclaimer) : reclaimer_(reclaimer), spare_(1) {
  cell_ = reclaimer.take_cell();
  unfinished_ = !cell_->batches.empty();
}

ReclaimerHandle::~ReclaimerHandle() {
  PGSILO_CHECK(oldest_ == nullptr);
  reclaim_slow(SIZE_MAX);
  for (int more = 0; more < 4 && hurries(); ++more) reclaim_slow(SIZE_MAX);
  close_open_batch();
  add_pending(size_t{0} - open_bytes_);  // without memory for a batch: nobody can be told of these
  bool leaves_some = !cell_->batches.empty();
  cell_->batches.leave_unattended(leaves_some);
  cell_->taken.store(false, std::memory_order_release);  // pairs with the exchange in take_cell()
  if (leaves_some) reclaimer_.shared_.abandoned.store(true, std::memory_order_release);
}

bool ReclaimerHandle::has_spare() {
  try {
    if (spare_.empty()) spare_.emplace_back();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void ReclaimerHandle::close_open_batch() {
  if (open_.empty() || !has_spare()) return;
  RetiredBatch& batch = spare_.front();
  batch.objects.swap(open_);
  open_bytes_ = 0;
  // What was unlinked is out of reach for whoever finds G beyond the stamp (memory_reclamation.md).
  full_fence();
  batch.stamp = reclaimer_.shared_.generation.load(std::memory_order_relaxed);
  cell_->batches.append(spare_);
  static_cast<void>(has_spare());  // if there is memory now: the end of the handle may need it
  if (failures_ < patience_at_rest) return;
  // Whoever ends the pin that is awaited will look for it here. Nobody: then it is up to us.
  full_fence();
  if (reclaimer_.shared_.somebody_awaited.load(std::memory_order_seq_cst)) return;
  failures_ = patience_at_rest - 1;
  refusals_left_ = 0;
}

bool ReclaimerHandle::should_close() const {
  bool full = open_.size() >= full_batch_objects || open_bytes_ >= full_batch_bytes;
  // Nothing was added since the last call: the thread may be about to sleep.
  bool quiet = open_.size() == open_at_last_call_;
  return full || quiet || cell_->batches.empty() || failures_ + 1 == patience_at_rest;
}

// Something of ours begins to wait, or somebody has advanced meanwhile.
void ReclaimerHandle::begin_anew() {
  failures_ = 0;
  refusals_left_ = static_cast<unsigned>(reclaimer_.cell_count() / threads_per_refusal);
  cell_->batches.leave_unattended(false);
}

bool ReclaimerHandle::advance_is_due() {
  if (cell_->batches.empty()) return false;
  if (refusals_left_ == 0) return true;
  --refusals_left_;
  return false;
}

unsigned ReclaimerHandle::pause_after_failures() const {
  if (failures_ < patience_at_rest) return 0;  // the holder may have ended its pin just now
  unsigned shift = std::min(failures_, 16u);
  size_t pause = (reclaimer_.cell_count() / threads_per_refusal + 1) << shift;
  return static_cast<unsigned>(std::min<size_t>(pause, most_refusals));
}

void ReclaimerHandle::advance() {
  RetiredBatches& batches = cell_->batches;
  // The last time before we may sleep: who holds us up shall know.
  if (failures_ + 1 >= patience_at_rest) batches.leave_unattended(true);
  Reclaimer::Advance result = reclaimer_.try_advance();
  if (!result.done) return;
  advances_again_ = result.again;
  helping_ |= result.helps || result.again;
  safe_seen_ = reclaimer_.shared_.safe.load(std::memory_order_relaxed);
  if (batches.oldest() < safe_seen_) {
    begin_anew();
    return;
  }
  failures_ = advances_again_ ? std::min(failures_ + 1, patience_at_rest - 1) : failures_ + 1;
  refusals_left_ = pause_after_failures();
}

size_t ReclaimerHandle::free_from(RetiredBatches& batches, size_t budget) {
  // Acquire pairs with who advanced.
  uint64_t safe = reclaimer_.shared_.safe.load(std::memory_order_acquire);
  size_t freed = 0;
  size_t freed_bytes = 0;
  while (freed < budget && (!freeable_.empty() || batches.take_first(safe, freeable_))) {
    std::vector<Retired>& objects = freeable_.front().objects;
    while (freed < budget && !objects.empty()) {
      Retired retired = objects.back();
      objects.pop_back();
      retired.deleter(retired.object);
      freed_bytes += retired.bytes;
      ++freed;
    }
    if (!objects.empty()) break;
    if (spare_.empty() && objects.capacity() <= kept_objects) {
      spare_.splice(spare_.end(), freeable_, freeable_.begin());
    } else {
      freeable_.pop_front();
    }
  }
  add_pending(size_t{0} - freed_bytes);
  return freed;
}

size_t ReclaimerHandle::help_unattended(size_t budget) {
  if (budget == 0) return 0;
  size_t freed = 0;
  for (Reclaimer::Cell* cell = reclaimer_.shared_.cells.load(std::memory_order_acquire);
       cell != nullptr && freed < budget; cell = cell->next) {
    if (cell->batches.unattended()) freed += free_from(cell->batches, budget - freed);
  }
  helping_ = freed != 0 || advances_again_ || is_awaited();
  return freed;
}

size_t ReclaimerHandle::reclaim_slow(size_t budget) {
  if (others_left_some()) reclaimer_.adopt_abandoned(*cell_);
  uint64_t safe = reclaimer_.shared_.safe.load(std::memory_order_relaxed);
  if (!unfinished_ || safe != safe_seen_) {
    safe_seen_ = safe;
    begin_anew();
  }
  if (should_close()) close_open_batch();
  open_at_last_call_ = open_.size();
  size_t freed = free_from(cell_->batches, budget);
  if (is_awaited()) helping_ = true;
  if (is_awaited() || advances_again_ || advance_is_due()) {
    advance();
    freed += free_from(cell_->batches, budget - freed);
  }
  if (helping_) freed += help_unattended(budget - freed);
  unfinished_ = helping_ || !freeable_.empty() || !cell_->batches.empty() || !open_.empty();
  return freed;
}

}  // namespace pgsilo
