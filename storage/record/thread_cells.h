// A cell for each thread that has anything to count, with exactly one writer: so counting is a
// load and a store to a line that nobody else writes. Threads are told apart by the indexes of
// their ReclaimerHandles, of which one thread at a time has one. A cell exists from the first time
// that its thread asks for it: few of the threads write to most tables.
// Thread safety: any thread, each with its own index. Who reads all cells sees a moment's estimate,
// exact when nobody writes.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <new>

namespace pgsilo {

// Cell: aligned to a line of its own; its fields are atomics.
template <typename Cell>
class ThreadCells {
 public:
  ThreadCells() = default;
  ThreadCells(const ThreadCells&) = delete;
  ThreadCells& operator=(const ThreadCells&) = delete;
  ~ThreadCells() {
    for (size_t segment = 0; segment < segment_count; ++segment) {
      Slots* slots = segments_[segment].load(std::memory_order_acquire);
      if (slots == nullptr) continue;
      for (size_t i = 0; i < slots_in(segment); ++i)
        delete slot(slots, i).load(std::memory_order_acquire);
      delete[] slots;
    }
  }

  // The cell of the thread with this index, which is the caller. Null: there was no memory for it,
  // now or ever; then the caller counts elsewhere, by read-modify-writes.
  Cell* mine(unsigned index) {
    size_t segment = segment_of(index);
    if (segment < segment_count) [[likely]] {
      Slots* slots = segments_[segment].load(std::memory_order_acquire);
      if (slots != nullptr) [[likely]] {
        Cell* cell = slot(slots, place_of(index, segment)).load(std::memory_order_acquire);
        if (cell != nullptr) [[likely]]
          return cell;
      }
    }
    return make(index);
  }

  // f(const Cell&) for all cells there are.
  template <typename F>
  void visit(F f) const {
    for (size_t segment = 0; segment < segment_count; ++segment) {
      Slots* slots = segments_[segment].load(std::memory_order_acquire);
      if (slots == nullptr) continue;
      for (size_t i = 0; i < slots_in(segment); ++i) {
        const Cell* cell = slot(slots, i).load(std::memory_order_acquire);
        if (cell != nullptr) f(*cell);
      }
    }
  }

 private:
  static constexpr unsigned slots_per_line = 8;
  struct alignas(64) Slots {
    std::array<std::atomic<Cell*>, slots_per_line> line{};
  };
  // Indexes 0 to 7, 8 to 15, 16 to 31, 32 to 63, ...: up to 1,023.
  static constexpr size_t segment_count = 8;
  static constexpr unsigned first_segment = slots_per_line;

  static constexpr size_t segment_of(unsigned index) {
    return static_cast<size_t>(std::bit_width(index / first_segment));
  }
  static constexpr size_t slots_in(size_t segment) {
    return segment == 0 ? first_segment : size_t{first_segment} << (segment - 1);
  }
  static constexpr size_t place_of(unsigned index, size_t segment) {
    return segment == 0 ? index : index - slots_in(segment);
  }
  static std::atomic<Cell*>& slot(Slots* slots, size_t place) {
    return slots[place / slots_per_line].line[place % slots_per_line];
  }

  [[gnu::noinline]] Cell* make(unsigned index) {
    size_t segment = segment_of(index);
    if (segment >= segment_count) return nullptr;
    Slots* slots = segments_[segment].load(std::memory_order_acquire);
    if (slots == nullptr) {
      auto* fresh = new (std::nothrow) Slots[slots_in(segment) / slots_per_line];
      if (fresh == nullptr) return nullptr;
      // Release: who finds the slots finds them empty.
      if (segments_[segment].compare_exchange_strong(slots, fresh, std::memory_order_acq_rel,
                                                     std::memory_order_acquire)) {
        slots = fresh;
      } else {
        delete[] fresh;
      }
    }
    auto* cell = new (std::nothrow) Cell;
    // Release: who sums finds zeroes.
    if (cell != nullptr)
      slot(slots, place_of(index, segment)).store(cell, std::memory_order_release);
    return cell;
  }

  std::array<std::atomic<Slots*>, segment_count> segments_{};
};

}  // namespace pgsilo
