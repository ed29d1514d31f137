// Reads the fields of a message; what is not there is zero, and is_whole() tells.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo::sessions {

class MessageReader {
 public:
  explicit MessageReader(std::string_view body) : rest_(body) {}

  int byte() { return static_cast<int>(number(1)); }
  char letter() { return static_cast<char>(number(1)); }
  int int16() { return static_cast<int16_t>(number(2)); }
  int32_t int32() { return static_cast<int32_t>(number(4)); }
  std::string_view text() {
    size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return fail();
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view bytes(size_t count) {
    if (count > rest_.size()) return fail();
    std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  // Nothing was missing, and nothing is left.
  bool is_whole() const { return !is_short_ && rest_.empty(); }

 private:
  std::string_view fail() {
    is_short_ = true;
    rest_ = {};
    return {};
  }
  uint32_t number(size_t count) {
    uint32_t value = 0;
    for (char each : bytes(count)) value = value << 8 | static_cast<unsigned char>(each);
    return value;
  }

  std::string_view rest_;
  bool is_short_ = false;
};

}  // namespace pgsilo::sessions
