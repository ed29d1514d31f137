// Tells of most pointers that are not in a small set that they are not: a Bloom filter of one hash.
// Of a set of hundreds it tells nothing any more. Thread safety: none; one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pgsilo {

class PointerFilter {
 public:
  // False: it was not added.
  bool may_hold(const void* pointer) const {
    uint32_t hash = hash_of(pointer);
    return ((words_[word_of(hash)] >> bit_of(hash)) & 1) != 0;
  }
  void add(const void* pointer) {
    uint32_t hash = hash_of(pointer);
    words_[word_of(hash)] |= uint64_t{1} << bit_of(hash);
  }
  void clear() { words_ = {}; }

 private:
  // The highest bits of a product depend on all bits of the address that two of one worker's
  // records differ in. A multiplication by a constant of 32 bits needs no register for that.
  static uint32_t hash_of(const void* pointer) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer)) * 0x9e3779b1u;
  }
  static size_t word_of(uint32_t hash) { return hash >> 30; }
  static unsigned bit_of(uint32_t hash) { return (hash >> 24) & 63; }

  std::array<uint64_t, 4> words_{};
};

}  // namespace pgsilo
