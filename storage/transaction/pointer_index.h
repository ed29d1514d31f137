// Finds a pointer's position in a vector of entries that each hold one: linearly among few, hashed
// among many. The index stores positions only; the vector's owner tells it which pointer is at a
// position. Entries are added and go at the vector's end; what goes costs what it is, however many
// stay. Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/append.h"
#include "base/hash.h"

namespace pgsilo {

class PointerIndex {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  // The position of `pointer` among the first `count`, or none. `pointer_at(position)` yields the
  // pointer there.
  template <typename PointerAt>
  uint32_t find(const void* pointer, size_t count, PointerAt pointer_at) const {
    if (count <= few) {
      for (uint32_t i = 0; i < count; ++i) {
        if (pointer_at(i) == pointer) return i;
      }
      return none;
    }
    for (size_t slot = first_slot(pointer);; slot = next_slot(slot)) {
      if (slots_[slot] == 0) return none;
      if (pointer_at(slots_[slot] - 1) == pointer) return slots_[slot] - 1;
    }
  }

  // For a find() that comes soon.
  void prefetch(const void* pointer, size_t count) const {
    if (count > few) __builtin_prefetch(&slots_[first_slot(pointer)]);
  }

  // Makes room for position `count`, so that add() cannot fail. Throws std::bad_alloc.
  template <typename PointerAt>
  void prepare(size_t count, PointerAt pointer_at) {
    if (count < few || (count > few && used_ >= 2 * (count + 1))) return;
    size_t slots = count == few ? smallest : 2 * used_;
    if (slots > slots_.size()) slots_.resize(slots);
    rebuild(slots, count, pointer_at);
  }
  // `pointer` is now at position `position`, the last one.
  void add(const void* pointer, uint32_t position) {
    if (position >= few) place(pointer, position);
  }
  // Of `size` positions those from `count` on are about to go. What stays was placed before them,
  // while their slots were empty, so no search for it leads across these. Allocates nothing.
  template <typename PointerAt>
  void truncate(size_t size, size_t count, PointerAt pointer_at) {
    if (count <= few) return;
    for (size_t position = size; position-- > count;) {
      size_t slot = first_slot(pointer_at(static_cast<uint32_t>(position)));
      while (slots_[slot] != position + 1) slot = next_slot(slot);
      slots_[slot] = 0;
    }
  }
  // Everything is gone. Keeps the memory of ordinary sizes.
  void clear() {
    if (slots_.size() > ordinary) free_memory(slots_);
  }

 private:
  static constexpr size_t few = 8;
  static constexpr size_t smallest = 64;
  static constexpr size_t ordinary = 8192;

  size_t first_slot(const void* pointer) const {
    return hash_integer(reinterpret_cast<uintptr_t>(pointer)) & (used_ - 1);
  }
  size_t next_slot(size_t slot) const { return (slot + 1) & (used_ - 1); }
  void place(const void* pointer, uint32_t position) {
    size_t slot = first_slot(pointer);
    while (slots_[slot] != 0) slot = next_slot(slot);
    slots_[slot] = position + 1;
  }
  template <typename PointerAt>
  void rebuild(size_t slots, size_t count, PointerAt pointer_at) {
    used_ = slots;
    std::fill_n(slots_.begin(), slots, 0);
    for (uint32_t i = 0; i < count; ++i) place(pointer_at(i), i);
  }

  // Position + 1, open addressing; stale while there are few. Only the first `used_` slots are the
  // table, a power of two: what a larger transaction needed is not cleared for each after it.
  std::vector<uint32_t> slots_;
  size_t used_ = 0;
};

}  // namespace pgsilo
