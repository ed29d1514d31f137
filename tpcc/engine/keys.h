// Keys of the tables (TPC-C clause 1.3): the numbers of the primary key in order, four bytes each,
// big-endian; the key's columns lie there and not in the row as well. Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/byte_order.h"

namespace pgsilo::tpcc {

template <size_t count>
class Key {
 public:
  template <typename... Number>
  explicit Key(Number... numbers) {
    char* to = bytes_;
    ((store_be32(to, static_cast<uint32_t>(numbers)), to += 4), ...);
  }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  char bytes_[4 * count];
};
template <typename... Number>
Key(Number...) -> Key<sizeof...(Number)>;

// The number at `index` of a key.
inline uint32_t key_number(std::string_view key, size_t index) {
  return load_be32(key.data() + 4 * index);
}

// The secondary key of customers, (warehouse, district, last name, first name, customer), names
// padded with zero bytes. Its entries come in the order of first names.
class CustomerNameKey {
 public:
  static constexpr size_t name_bytes = 16;

  CustomerNameKey(uint32_t warehouse, uint32_t district, std::string_view last,
                  std::string_view first, uint32_t customer)
      : CustomerNameKey(warehouse, district, last, '\0') {
    std::memcpy(bytes_ + 8 + name_bytes, first.data(), first.size());
    store_be32(bytes_ + 8 + 2 * name_bytes, customer);
  }
  // Bounds of all entries of one last name, none of which they are.
  static CustomerNameKey before(uint32_t warehouse, uint32_t district, std::string_view last) {
    return {warehouse, district, last, '\0'};
  }
  static CustomerNameKey after(uint32_t warehouse, uint32_t district, std::string_view last) {
    return {warehouse, district, last, '\xff'};
  }
  std::string_view view() const { return {bytes_, sizeof bytes_}; }

 private:
  CustomerNameKey(uint32_t warehouse, uint32_t district, std::string_view last, char filling) {
    store_be32(bytes_, warehouse);
    store_be32(bytes_ + 4, district);
    std::memset(bytes_ + 8, '\0', name_bytes);
    std::memcpy(bytes_ + 8, last.data(), last.size());
    std::memset(bytes_ + 8 + name_bytes, filling, sizeof bytes_ - 8 - name_bytes);
  }

  char bytes_[8 + 2 * name_bytes + 4];
};

}  // namespace pgsilo::tpcc
