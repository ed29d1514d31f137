// A count that one thread keeps and any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace pgsilo {

class Counter {
 public:
  // The owner. No read-modify-write that others would have to wait for.
  void add(uint64_t count = 1) {
    count_.store(count_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  int64_t value() const { return static_cast<int64_t>(count_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<uint64_t> count_{0};
};

}  // namespace pgsilo
