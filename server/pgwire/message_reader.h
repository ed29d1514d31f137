// Reads the fields of one message's body; the framing (type, length) was checked before. Everything
// the client could get wrong throws SqlError 08P01 with PostgreSQL's words. Thread safety: none.
// Views point into the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pgsilo {

class MessageReader {
 public:
  explicit MessageReader(std::string_view body) : rest_(body) {}

  uint8_t byte();
  uint16_t uint16();
  uint32_t uint32();
  int16_t int16() { return static_cast<int16_t>(uint16()); }
  int32_t int32() { return static_cast<int32_t>(uint32()); }
  std::string_view bytes(size_t count);
  // Up to its NUL, which is taken too.
  std::string_view cstring();
  std::string_view rest() const { return rest_; }
  // Nothing may be left.
  void end() const;

 private:
  std::string_view rest_;
};

}  // namespace pgsilo
