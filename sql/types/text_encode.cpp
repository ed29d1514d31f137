// encode() and decode(): bytea as hexadecimal, base64 and escaped text.
#include "base/byte_buffer.h"
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// RFC 2045: no line longer than this.
constexpr int line_length = 76;

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (is_digit(c)) return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

void encode_base64(std::string_view bytes, ByteBuffer& out) {
  int column = 0;
  size_t characters = (bytes.size() + 2) / 3 * 4;
  out.reserve(characters + characters / line_length);
  WorkMeter meter;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    meter.did(16);
    uint32_t word = 0;
    size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      word = (word << 8) | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0);
    }
    if (column == line_length) {
      out.append('\n');
      column = 0;
    }
    for (size_t i = 0; i < 4; ++i) {
      out.append(i <= count ? alphabet[(word >> (18 - 6 * i)) & 63] : '=');
    }
    column += 4;
  }
}

[[noreturn]] void throw_decode(std::string message) {
  throw SqlError(sqlstate::invalid_parameter_value, std::move(message));
}

std::string_view decode_base64(std::string_view text, Arena& arena) {
  char* bytes = static_cast<char*>(arena.allocate(text.size() + 1, 1));
  size_t count = 0;
  uint32_t word = 0;
  int position = 0;  // in the group of four
  // Bytes in the group where the first "=" stood, and in all after it, as PostgreSQL has it.
  int bytes_per_group = 3;
  WorkMeter meter;
  for (size_t at = 0; at < text.size(); ++at) {
    meter.did(4);
    char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    int value = base64_value(c);
    if (c == '=') {
      if (bytes_per_group == 3) {
        if (position < 2) throw_decode("unexpected \"=\" while decoding base64 sequence");
        bytes_per_group = position - 1;
      }
      value = 0;
    } else if (value < 0) {
      std::string_view rest = text.substr(at);
      throw_decode(concat("invalid symbol \"", rest.substr(0, text_prefix_bytes(rest, 1)),
                          "\" found while decoding base64 sequence"));
    }
    word = (word << 6) | static_cast<uint32_t>(value);
    if (++position < 4) continue;
    for (int i = 0; i < bytes_per_group; ++i) {
      bytes[count++] = static_cast<char>(word >> (16 - 8 * i));
    }
    word = 0;
    position = 0;
  }
  if (position != 0) {
    throw SqlError(sqlstate::invalid_parameter_value, "invalid base64 end sequence")
        .hint("Input data is missing padding, is truncated, or is otherwise corrupted.");
  }
  return {bytes, count};
}

// Only what no text may hold is escaped; print_bytea_escape escapes more.
void encode_escape(std::string_view bytes, ByteBuffer& out) {
  out.reserve(bytes.size());
  WorkMeter meter;
  for (char byte : bytes) {
    meter.did(4);
    auto code = static_cast<unsigned char>(byte);
    if (code == 0 || code >= 0x80) {
      out.append('\\');
      out.append(static_cast<char>('0' + (code >> 6)));
      out.append(static_cast<char>('0' + ((code >> 3) & 7)));
      out.append(static_cast<char>('0' + (code & 7)));
    } else {
      if (byte == '\\') out.append(byte);
      out.append(byte);
    }
  }
}

[[noreturn]] void throw_unrecognized(std::string_view encoding) {
  throw_decode(concat("unrecognized encoding: \"", encoding, "\""));
}

}  // namespace

std::string_view bytea_encode(std::string_view bytes, std::string_view encoding, Arena& arena) {
  ByteBuffer out;
  if (equal_ignoring_case(encoding, "hex")) {
    print_hex(bytes, out);
  } else if (equal_ignoring_case(encoding, "base64")) {
    encode_base64(bytes, out);
  } else if (equal_ignoring_case(encoding, "escape")) {
    encode_escape(bytes, out);
  } else {
    throw_unrecognized(encoding);
  }
  return copy_value(out.view(), arena);
}

std::string_view bytea_decode(std::string_view text, std::string_view encoding, Arena& arena) {
  if (equal_ignoring_case(encoding, "hex")) return decode_hex(text, arena);
  if (equal_ignoring_case(encoding, "base64")) return decode_base64(text, arena);
  if (equal_ignoring_case(encoding, "escape")) return decode_escape(text, arena);
  throw_unrecognized(encoding);
}

}  // namespace pgsilo
