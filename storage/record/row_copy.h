// The one place where row bytes are read while somebody may be overwriting them. The race is by
// design: a reader copies whatever is there and then finds from the TID word whether it may keep it
// (seqlock, Silo section 4.5). To make the race well defined, bytes that can be overwritten in
// place are only ever touched as whole 64-bit words by relaxed atomics, or by vector moves that the
// compiler cannot look into (racing_vector.h); the ordering comes from the TID word
// (ordered_load.h). Record::quiet_row() alone reads them plainly, of rows that nobody can write.
// Rows are stored from an 8-byte boundary in a whole number of words; the bytes after the row's end
// in its last word are zero.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/racing_vector.h"

namespace pgsilo {

constexpr size_t row_words(size_t bytes) { return (bytes + 7) / 8; }
constexpr size_t round_up_to_words(size_t bytes) { return row_words(bytes) * 8; }

// Calls copy(i) for each i below `words`, four to a round: the compiler unrolls no atomics. Behind
// vector moves there is one left at most.
template <typename Copy>
void for_each_word(size_t words, Copy copy) {
  size_t i = 0;
#ifndef PGSILO_RACING_VECTORS
  for (; i + 4 <= words; i += 4) {
    copy(i);
    copy(i + 1);
    copy(i + 2);
    copy(i + 3);
  }
#endif
  for (; i < words; ++i) copy(i);
}

// Moves as many words as make whole vectors, four vectors to a round; returns how many.
#ifdef PGSILO_RACING_VECTORS
inline size_t move_racing_vectors(char* to, const char* from, size_t words) {
  auto move = [&](size_t at) { store_racing_vector(to + at, load_racing_vector(from + at)); };
  size_t bytes = words / 2 * 16, at = 0;
  for (; at + 64 <= bytes; at += 64) {
    move(at);
    move(at + 16);
    move(at + 32);
    move(at + 48);
  }
  for (; at < bytes; at += 16) move(at);
  return bytes / 8;
}
#else
inline size_t move_racing_vectors(char*, const char*, size_t) { return 0; }
#endif

// Copies `words` words out of a row that may be changing into private memory.
inline void copy_racing_row_out(uint64_t* to, const uint64_t* from, size_t words) {
  size_t moved =
      move_racing_vectors(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), words);
  to += moved;
  from += moved;
  for_each_word(words - moved, [=](size_t i) {
    to[i] =
        std::atomic_ref<uint64_t>(const_cast<uint64_t&>(from[i])).load(std::memory_order_relaxed);
  });
}

// Whether `bytes` bytes from `offset` on of a row that may be changing are those at `expected`.
inline bool equals_racing_row(const uint64_t* row, size_t offset, size_t bytes,
                              const char* expected) {
  while (bytes > 0) {
    uint64_t word;
    copy_racing_row_out(&word, row + offset / 8, 1);
    size_t begin = offset % 8;
    size_t length = bytes < 8 - begin ? bytes : 8 - begin;
    if (std::memcmp(reinterpret_cast<const char*>(&word) + begin, expected, length) != 0)
      return false;
    offset += length;
    expected += length;
    bytes -= length;
  }
  return true;
}

// Copies `bytes` bytes of private memory into a row that others may be reading.
inline void copy_racing_row_in(uint64_t* to, const void* from, size_t bytes) {
  const char* source = static_cast<const char*>(from);
  size_t whole = bytes / 8;
  size_t moved = move_racing_vectors(reinterpret_cast<char*>(to), source, whole);
  source += moved * 8;
  to += moved;
  for_each_word(whole - moved, [=](size_t i) {
    uint64_t word;
    std::memcpy(&word, source + i * 8, 8);
    std::atomic_ref<uint64_t>(to[i]).store(word, std::memory_order_relaxed);
  });
  if (size_t rest = bytes % 8; rest != 0) {
    uint64_t word = 0;
    std::memcpy(&word, source + (whole - moved) * 8, rest);
    std::atomic_ref<uint64_t>(to[whole - moved]).store(word, std::memory_order_relaxed);
  }
}

// Copies `bytes` (not 0) bytes into a row that nobody else can find yet.
inline void copy_first_row_in(uint64_t* to, const void* from, size_t bytes) {
  to[row_words(bytes) - 1] = 0;
  std::memcpy(to, from, bytes);
}

}  // namespace pgsilo
