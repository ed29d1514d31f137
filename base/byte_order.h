// Loads and stores of fixed-width integers at any address in a named byte order: big-endian for the
// wire and for order-preserving keys, little-endian for everything we write for ourselves.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace pgsilo {

inline uint16_t byte_swap(uint16_t value) { return __builtin_bswap16(value); }
inline uint32_t byte_swap(uint32_t value) { return __builtin_bswap32(value); }
inline uint64_t byte_swap(uint64_t value) { return __builtin_bswap64(value); }

template <typename Unsigned>
Unsigned load_be(const void* from) {
  Unsigned value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::big ? value : byte_swap(value);
}

template <typename Unsigned>
Unsigned load_le(const void* from) {
  Unsigned value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : byte_swap(value);
}

template <typename Unsigned>
void store_be(void* to, Unsigned value) {
  if constexpr (std::endian::native != std::endian::big) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

template <typename Unsigned>
void store_le(void* to, Unsigned value) {
  if constexpr (std::endian::native != std::endian::little) value = byte_swap(value);
  std::memcpy(to, &value, sizeof value);
}

inline uint16_t load_be16(const void* from) { return load_be<uint16_t>(from); }
inline uint32_t load_be32(const void* from) { return load_be<uint32_t>(from); }
inline uint64_t load_be64(const void* from) { return load_be<uint64_t>(from); }
inline uint16_t load_le16(const void* from) { return load_le<uint16_t>(from); }
inline uint32_t load_le32(const void* from) { return load_le<uint32_t>(from); }
inline uint64_t load_le64(const void* from) { return load_le<uint64_t>(from); }
inline void store_be16(void* to, uint16_t value) { store_be(to, value); }
inline void store_be32(void* to, uint32_t value) { store_be(to, value); }
inline void store_be64(void* to, uint64_t value) { store_be(to, value); }
inline void store_le16(void* to, uint16_t value) { store_le(to, value); }
inline void store_le32(void* to, uint32_t value) { store_le(to, value); }
inline void store_le64(void* to, uint64_t value) { store_le(to, value); }

}  // namespace pgsilo
