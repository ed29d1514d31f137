// Bytes held by one owner (a tree) as rows and as nodes, counted without a shared write on
// anybody's path: each thread adds to a cell chosen by its ReclaimerHandle's index; readers sum.
// Thread safety: any thread. The sum is exact when nobody is adding, an estimate otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pgsilo {

enum class MemoryKind : uint8_t { rows, nodes };

class MemoryAccount {
 public:
  void add(unsigned thread_index, size_t bytes, MemoryKind kind = MemoryKind::rows) {
    cell(thread_index, kind).fetch_add(bytes, std::memory_order_relaxed);
  }
  void subtract(unsigned thread_index, size_t bytes, MemoryKind kind = MemoryKind::rows) {
    cell(thread_index, kind).fetch_sub(bytes, std::memory_order_relaxed);
  }
  size_t bytes(MemoryKind kind) const {
    size_t sum =
        0;  // cells wrap below zero by themselves: a thread may free what another allocated
    for (const Cell& cell : cells_)
      sum += cell.bytes[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
    return sum;
  }
  size_t bytes() const { return bytes(MemoryKind::rows) + bytes(MemoryKind::nodes); }

 private:
  // More threads than cells share cells, hence read-modify-writes; they are uncontended up to this
  // many threads.
  static constexpr unsigned cell_count = 16;
  struct alignas(64) Cell {
    std::array<std::atomic<size_t>, 2> bytes{};  // by kind
  };
  std::atomic<size_t>& cell(unsigned thread_index, MemoryKind kind) {
    return cells_[thread_index % cell_count].bytes[static_cast<size_t>(kind)];
  }
  std::array<Cell, cell_count> cells_;
};

}  // namespace pgsilo
