#include "wal/tool/printable.h"

namespace pgsilo {

void append_quoted(std::string& to, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  to += '"';
  for (char byte : bytes) {
    auto value = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      to += '\\';
      to += byte;
    } else if (value >= 0x20 && value < 0x7f) {
      to += byte;
    } else {
      to += "\\x";
      to += digits[value >> 4];
      to += digits[value & 15];
    }
  }
  to += '"';
}

}  // namespace pgsilo
