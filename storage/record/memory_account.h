// What one owner (a tree) holds: bytes as rows and as nodes, and how many rows; and where each
// thread stands in the row ids that it has taken for itself. Counted without a shared write on
// anybody's path: each thread adds to a cell of its own, by its ReclaimerHandle's index; readers
// sum. All in one cell, because whoever adds a row adds its bytes as well.
// Thread safety: any thread, each with its own index. Sums are exact when nobody is adding,
// estimates otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "storage/record/thread_cells.h"

namespace pgsilo {

enum class MemoryKind : uint8_t { rows, nodes };

class MemoryAccount {
 public:
  void add(unsigned thread_index, size_t bytes, MemoryKind kind = MemoryKind::rows) {
    auto which = static_cast<size_t>(kind);
    if (Cell* cell = cells_.mine(thread_index)) [[likely]] {
      raise(cell->bytes[which], bytes);
    } else {
      common_.bytes[which].fetch_add(bytes, std::memory_order_relaxed);
    }
  }
  void subtract(unsigned thread_index, size_t bytes, MemoryKind kind = MemoryKind::rows) {
    // Counts wrap below zero by themselves: a thread may free what another allocated.
    add(thread_index, size_t{0} - bytes, kind);
  }
  // By who makes the owner, before any thread uses it.
  void begin_with(size_t bytes, MemoryKind kind) {
    common_.bytes[static_cast<size_t>(kind)].store(bytes, std::memory_order_relaxed);
  }
  size_t bytes(MemoryKind kind) const {
    auto which = static_cast<size_t>(kind);
    size_t sum = common_.bytes[which].load(std::memory_order_relaxed);
    cells_.visit(
        [&](const Cell& cell) { sum += cell.bytes[which].load(std::memory_order_relaxed); });
    return sum;
  }
  size_t bytes() const { return bytes(MemoryKind::rows) + bytes(MemoryKind::nodes); }

  void add_rows(unsigned thread_index, int64_t difference) {
    if (Cell* cell = cells_.mine(thread_index)) [[likely]] {
      raise(cell->rows, difference);
    } else {
      common_.rows.fetch_add(difference, std::memory_order_relaxed);
    }
  }
  int64_t rows() const {
    int64_t sum = common_.rows.load(std::memory_order_relaxed);
    cells_.visit([&](const Cell& cell) { sum += cell.rows.load(std::memory_order_relaxed); });
    return sum;
  }

  // The thread's own word for ids it has taken, 0 at first; null: no memory for it.
  uint64_t* row_ids(unsigned thread_index) {
    Cell* cell = cells_.mine(thread_index);
    return cell == nullptr ? nullptr : &cell->next_row_id;
  }

 private:
  struct Counts {
    std::array<std::atomic<size_t>, 2> bytes{};  // by kind
    std::atomic<int64_t> rows{0};
  };
  struct alignas(64) Cell : Counts {
    uint64_t next_row_id = 0;  // nobody else reads it
  };
  // Its thread is the only writer; atomic for those who sum.
  template <typename T>
  static void raise(std::atomic<T>& count, T difference) {
    count.store(count.load(std::memory_order_relaxed) + difference, std::memory_order_relaxed);
  }

  ThreadCells<Cell> cells_;
  Counts common_;  // of threads that there was no memory for
};

}  // namespace pgsilo
