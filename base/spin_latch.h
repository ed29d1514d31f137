// A latch for what is held for some tens of instructions: never across a wait, a system call or an
// allocation. Who finds it taken reads until it looks free before he writes again, so that the
// waiters share the line instead of taking it from its holder in turn, and gives his CPU away when
// that lasts: the holder may have lost its own.
// Thread safety: any thread.
#pragma once

#include <atomic>

#include "base/backoff.h"

namespace pgsilo {

class SpinLatch {
 public:
  void lock() {
    if (taken_.exchange(true, std::memory_order_acquire)) lock_contended();
  }
  // Acquire in both pairs with unlock().
  bool try_lock() {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  [[gnu::noinline]] void lock_contended() {
    Backoff backoff;
    do {
      while (taken_.load(std::memory_order_relaxed)) backoff.pause();
    } while (taken_.exchange(true, std::memory_order_acquire));
  }

  std::atomic<bool> taken_{false};
};

}  // namespace pgsilo
