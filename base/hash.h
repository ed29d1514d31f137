// Hashing of integers and byte strings for in-memory tables. Not stable across versions: never
// written to disk, never part of an order a user can see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pgsilo {

// Both halves of the 128-bit product folded together: every input bit reaches every output bit.
inline uint64_t hash_mix(uint64_t left, uint64_t right) {
  unsigned __int128 product = static_cast<unsigned __int128>(left) * right;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hash_integer(uint64_t value) {
  return hash_mix(value ^ 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u);
}

inline uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return hash_mix(seed ^ 0xa0761d6478bd642fu, value ^ 0xe7037ed1a0b428dbu);
}

inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t state = 0x9e3779b97f4a7c15u ^ bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  while (left >= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    state = hash_mix(state ^ word, 0xd6e8feb86659fd93u);
    at += 8;
    left -= 8;
  }
  uint64_t tail = 0;
  if (left != 0) std::memcpy(&tail, at, left);
  return hash_mix(state ^ tail, 0xa0761d6478bd642fu);
}

}  // namespace pgsilo
