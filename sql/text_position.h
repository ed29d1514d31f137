// Positions in a statement's text: the syntax tree counts bytes from 0, error reports count
// characters from 1. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgsilo {

// What SqlError::at() wants for the byte offset of a syntax tree node; -1 (absent) for an offset
// below 0. Offsets behind the text count as its end. `text` is valid UTF-8.
inline int character_position(std::string_view text, int32_t byte_offset) {
  if (byte_offset < 0) return -1;
  int characters = 1;
  size_t end = static_cast<size_t>(byte_offset) < text.size() ? static_cast<size_t>(byte_offset)
                                                              : text.size();
  for (size_t i = 0; i < end; ++i)
    characters += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  return characters;
}

}  // namespace pgsilo
