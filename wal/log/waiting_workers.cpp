#include "wal/log/waiting_workers.h"

#include <algorithm>

#include "wal/log/durable_listener.h"

namespace pgsilo {

void WaitingWorkers::set_listener(unsigned worker, DurableListener* listener) {
  std::lock_guard lock(cells_[worker].listener_mutex);
  cells_[worker].listener = listener;
}

void WaitingWorkers::want(Cell& cell, uint64_t epoch) {
  uint64_t before = cell.wanted.load(std::memory_order_relaxed);
  while (!cell.wanted.compare_exchange_weak(before, std::min(before, epoch),
                                            std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
}

bool WaitingWorkers::wait(unsigned worker, Epoch epoch) {
  Cell& cell = cells_[worker];
  if (cell.latest.load(std::memory_order_relaxed) < epoch.value()) {
    cell.latest.store(epoch.value(), std::memory_order_relaxed);  // published by the exchange below
  }
  want(cell, epoch.value());
  if (!durable_.covers(epoch)) return true;
  // D moved meanwhile, and whoever published it may have looked at the cell before.
  tell(cell, {});
  return false;
}

void WaitingWorkers::pass_on(unsigned worker) {
  std::atomic<uint64_t>& left = cells_[worker].share;
  // By an exchange: who left it may be about to take it back.
  if (left.load(std::memory_order_relaxed) == 0) return;
  if (uint64_t share = left.exchange(0, std::memory_order_acquire)) tell(Share::of(share));
}

void WaitingWorkers::tell(Share cells) {
  while (!cells.empty()) {
    Cell& cell = cells_[cells.begin++];
    uint32_t count = (cells.end - cells.begin) / share_divisor;
    Share share = count < least_share ? Share{} : Share{cells.end - count, cells.end};
    if (tell(cell, share)) cells.end = share.begin;
  }
}

bool WaitingWorkers::tell(Cell& cell, Share share) {
  Epoch durable = durable_.get();
  // A read-modify-write, so that it is ordered with the worker's (see the header).
  uint64_t wanted = cell.wanted.fetch_add(0, std::memory_order_acq_rel);
  bool more;
  do {
    if (wanted > durable.value()) return false;
    more = cell.latest.load(std::memory_order_relaxed) > durable.value();
  } while (!cell.wanted.compare_exchange_weak(wanted, more ? durable.value() + 1 : nothing,
                                              std::memory_order_acq_rel,
                                              std::memory_order_acquire));
  // Between the look at `latest` and the exchange the worker may have asked for more, without a
  // change of `wanted`, which was less: the exchange has not noticed.
  if (!more && cell.latest.load(std::memory_order_relaxed) > durable.value()) {
    want(cell, durable.value() + 1);
    if (durable_.covers(Epoch(durable.value() + 1))) return tell(cell, share);  // as in wait()
  }
  uint64_t none = 0;
  uint64_t left = share.packed();
  // One that it has not come to yet stays.
  if (share.empty() || !cell.share.compare_exchange_strong(none, left, std::memory_order_release,
                                                           std::memory_order_relaxed)) {
    wake(cell, durable);
    return false;
  }
  if (wake(cell, durable)) return true;
  // It is in the midst of something, which may be long. Acquire: what is taken back may have been
  // left by somebody else meanwhile, with a newer D.
  return !cell.share.compare_exchange_strong(left, 0, std::memory_order_acquire,
                                             std::memory_order_relaxed);
}

bool WaitingWorkers::wake(Cell& cell, Epoch durable) {
  std::lock_guard lock(cell.listener_mutex);
  return cell.listener != nullptr && cell.listener->on_durable(durable);
}

}  // namespace pgsilo
