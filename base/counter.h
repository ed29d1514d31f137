// A count that one thread at a time keeps and any thread reads.
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
  // For the largest of something.
  void raise_to(uint64_t value) {
    if (value > count_.load(std::memory_order_relaxed))
      count_.store(value, std::memory_order_relaxed);
  }
  int64_t value() const { return static_cast<int64_t>(count_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<uint64_t> count_{0};
};

}  // namespace pgsilo
