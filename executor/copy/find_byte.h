// Looking for a byte in text that is mostly short, where a call of memchr costs more than the first
// few bytes. Thread safety: plain functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace pgsilo {

inline constexpr size_t near_bytes = 16;

// Where `byte` is in `text` from `start` on; text.size() if it is not there.
inline size_t find_byte(std::string_view text, char byte, size_t start = 0) {
  size_t near = std::min(text.size(), start + near_bytes);
  for (; start < near; ++start) {
    if (text[start] == byte) return start;
  }
  if (start >= text.size()) return text.size();
  const void* found = std::memchr(text.data() + start, byte, text.size() - start);
  return found == nullptr ? text.size()
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace pgsilo
