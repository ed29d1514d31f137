// Single characters of valid UTF-8. Internal to sql.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pgsilo {

// Length of the character that begins at `at` (< text.size()).
inline size_t character_bytes(std::string_view text, size_t at) {
  auto first = static_cast<unsigned char>(text[at]);
  size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return length <= text.size() - at ? length : text.size() - at;
}

// Start of the character that ends before `at` (> 0).
inline size_t previous_character(std::string_view text, size_t at) {
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
  return at;
}

inline uint32_t code_point(std::string_view character) {
  auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(character[i]));
  };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return ((byte(0) & 0x1f) << 6) | (byte(1) & 0x3f);
    case 3:
      return ((byte(0) & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f);
    default:
      return ((byte(0) & 0x07) << 18) | ((byte(1) & 0x3f) << 12) | ((byte(2) & 0x3f) << 6) |
             (byte(3) & 0x3f);
  }
}

// Writes up to four bytes; returns the end.
inline char* put_code_point(char* to, uint32_t code) {
  if (code < 0x80) {
    *to++ = static_cast<char>(code);
    return to;
  }
  if (code < 0x800) {
    *to++ = static_cast<char>(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      *to++ = static_cast<char>(0xe0 | (code >> 12));
    } else {
      *to++ = static_cast<char>(0xf0 | (code >> 18));
      *to++ = static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    }
    *to++ = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
  }
  *to++ = static_cast<char>(0x80 | (code & 0x3f));
  return to;
}

}  // namespace pgsilo
