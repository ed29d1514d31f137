// Reads the fields of one message's body; the framing (type, length) was checked before. Everything
// the client could get wrong throws SqlError 08P01 with PostgreSQL's words. Thread safety: none.
// Views point into the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/byte_order.h"

namespace pgsilo {

class MessageReader {
 public:
  explicit MessageReader(std::string_view body) : rest_(body) {}

  uint8_t byte() { return static_cast<uint8_t>(bytes(1)[0]); }
  uint16_t uint16() { return load_be16(bytes(2).data()); }
  uint32_t uint32() { return load_be32(bytes(4).data()); }
  int16_t int16() { return static_cast<int16_t>(uint16()); }
  int32_t int32() { return static_cast<int32_t>(uint32()); }
  std::string_view bytes(size_t count) {
    if (count > rest_.size()) [[unlikely]]
      throw_insufficient_data();
    std::string_view taken(rest_.data(), count);
    rest_.remove_prefix(count);
    return taken;
  }
  // Up to its NUL, which is taken too.
  std::string_view cstring();
  std::string_view rest() const { return rest_; }
  // Nothing may be left.
  void end() const {
    if (!rest_.empty()) [[unlikely]]
      throw_invalid_format();
  }

 private:
  [[noreturn]] static void throw_insufficient_data();
  [[noreturn]] static void throw_invalid_format();
  size_t find_end() const;

  std::string_view rest_;
};

}  // namespace pgsilo
