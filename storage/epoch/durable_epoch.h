// The seam through which the log tells the engine how far it is durable: D, the newest epoch such
// that every log holds all of it and everything before it (Silo section 4.10). wal publishes,
// workers read. Thread safety: publish() by one thread at a time; get() by any. Invariant: D never
// decreases.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/check.h"
#include "storage/epoch/epoch.h"

namespace pgsilo {

class alignas(64) DurableEpoch {
 public:
  explicit DurableEpoch(Epoch recovered = Epoch(0)) : value_(recovered.value()) {}

  // Everything of `epoch` and before it is on disk.
  void publish(Epoch epoch) {
    PGSILO_CHECK(epoch.value() >= value_.load(std::memory_order_relaxed));
    value_.store(epoch.value(), std::memory_order_release);  // pairs with get()
  }

  Epoch get() const { return Epoch(value_.load(std::memory_order_acquire)); }
  bool covers(Epoch epoch) const { return epoch <= get(); }

 private:
  std::atomic<uint64_t> value_;
};

}  // namespace pgsilo
