// Bytes held by one owner (a tree), counted without a shared write on anybody's path: each thread
// adds to a cell chosen by its ReclaimerHandle's index; readers sum. Thread safety: any thread. The
// sum is exact when nobody is adding, an estimate otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pgsilo {

class MemoryAccount {
 public:
  void add(unsigned thread_index, size_t bytes) {
    cell(thread_index).fetch_add(bytes, std::memory_order_relaxed);
  }
  void subtract(unsigned thread_index, size_t bytes) {
    cell(thread_index).fetch_sub(bytes, std::memory_order_relaxed);
  }
  size_t bytes() const {
    size_t sum =
        0;  // cells wrap below zero by themselves: a thread may free what another allocated
    for (const Cell& cell : cells_) sum += cell.bytes.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  // More threads than cells share cells, hence read-modify-writes; they are uncontended up to this
  // many threads.
  static constexpr unsigned cell_count = 16;
  struct alignas(64) Cell {
    std::atomic<size_t> bytes{0};
  };
  std::atomic<size_t>& cell(unsigned thread_index) {
    return cells_[thread_index % cell_count].bytes;
  }
  std::array<Cell, cell_count> cells_;
};

}  // namespace pgsilo
