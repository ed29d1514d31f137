// The order of a border node's entries in one 64-bit word (Masstree section 4.6.2): the low 4 bits
// are the number of entries; position i, the entry with the i-th smallest key, lies in slot nibble
// i+1; the nibbles behind the live ones name the free slots. So an insert prepares a free slot that
// no reader looks at and publishes it with a single store. Thread safety: a value. Invariant: the
// 15 slot nibbles are a permutation of 0 to 14.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace pgsilo {

class Permutation {
 public:
  static constexpr int width = 15;

  // No entries.
  constexpr Permutation() = default;
  // Entries 0 to count-1 in slots 0 to count-1.
  static constexpr Permutation sorted(int count) {
    return Permutation((identity & ~uint64_t{15}) | static_cast<unsigned>(count));
  }
  static constexpr Permutation from_bits(uint64_t bits) { return Permutation(bits); }
  constexpr uint64_t bits() const { return bits_; }

  constexpr int size() const { return static_cast<int>(bits_ & 15); }
  constexpr bool full() const { return size() == width; }
  constexpr int slot(int position) const {
    return static_cast<int>(bits_ >> (4 * position + 4)) & 15;
  }
  // The slot that the next insert will fill; not if full.
  constexpr int free_slot() const { return slot(size()); }

  // free_slot() becomes the entry at `position`.
  constexpr Permutation with_inserted(int position) const {
    PGSILO_DCHECK(!full() && position <= size());
    uint64_t slot_taken = static_cast<uint64_t>(free_slot());
    int low_bits = 4 * position + 4;           // nibbles that stay
    int moved_bits = 4 * (size() - position);  // live nibbles that move up by one
    uint64_t low = bits_ & mask(low_bits);
    uint64_t moved = (bits_ >> low_bits) & mask(moved_bits);
    uint64_t high = bits_ & ~mask(low_bits + moved_bits + 4);
    return Permutation((high | moved << low_bits << 4 | slot_taken << low_bits | low) + 1);
  }

  // The entry at `position` goes; its slot becomes the last of the free ones, so that it is reused
  // as late as possible.
  constexpr Permutation with_removed(int position) const {
    PGSILO_DCHECK(position < size());
    uint64_t slot_freed = static_cast<uint64_t>(slot(position));
    int low_bits = 4 * position + 4;
    uint64_t low = bits_ & mask(low_bits);
    uint64_t above = low_bits + 4 == 64 ? 0 : bits_ >> (low_bits + 4) << low_bits;
    return Permutation((above | slot_freed << 60 | low) - 1);
  }

  friend constexpr bool operator==(Permutation, Permutation) = default;

 private:
  static constexpr uint64_t identity = 0xEDCBA98765432100;
  static constexpr uint64_t mask(int bits) {
    return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  }
  explicit constexpr Permutation(uint64_t bits) : bits_(bits) {}

  uint64_t bits_ = identity;
};

}  // namespace pgsilo
