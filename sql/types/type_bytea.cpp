// bytea: text forms and binary form.
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"
#include "sql/types/type_functions.h"

namespace pgsilo {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  char lower = lower_letter(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string_view first_character(std::string_view text) {
  return text.substr(0, text_prefix_bytes(text, 1));
}

}  // namespace

std::string_view decode_hex(std::string_view text, Arena& arena) {
  char* bytes = static_cast<char*>(arena.allocate(text.size() / 2 + 1, 1));
  size_t count = 0;
  WorkMeter meter;
  for (size_t at = 0; at < text.size();) {
    meter.did(8);
    if (text[at] == ' ' ||
        (text[at] >= '\t' && text[at] <= '\r' && text[at] != '\v' && text[at] != '\f')) {
      ++at;
      continue;
    }
    int high = hex_value(text[at]);
    if (high < 0) {
      throw SqlError(
          sqlstate::invalid_parameter_value,
          concat("invalid hexadecimal digit: \"", first_character(text.substr(at)), "\""));
    }
    if (++at == text.size()) {
      throw SqlError(sqlstate::invalid_parameter_value,
                     "invalid hexadecimal data: odd number of digits");
    }
    int low = hex_value(text[at]);
    if (low < 0) {
      throw SqlError(
          sqlstate::invalid_parameter_value,
          concat("invalid hexadecimal digit: \"", first_character(text.substr(at)), "\""));
    }
    ++at;
    bytes[count++] = static_cast<char>((high << 4) | low);
  }
  return {bytes, count};
}

std::string_view decode_escape(std::string_view text, Arena& arena) {
  char* bytes = static_cast<char*>(arena.allocate(text.size() + 1, 1));
  size_t count = 0;
  WorkMeter meter;
  for (size_t at = 0; at < text.size();) {
    meter.did(2);
    if (text[at] != '\\') {
      bytes[count++] = text[at++];
      continue;
    }
    std::string_view rest = text.substr(at + 1);
    auto octal = [&](size_t i, char limit) { return rest[i] >= '0' && rest[i] <= limit; };
    if (rest.size() >= 3 && octal(0, '3') && octal(1, '7') && octal(2, '7')) {
      bytes[count++] =
          static_cast<char>(((rest[0] - '0') << 6) | ((rest[1] - '0') << 3) | (rest[2] - '0'));
      at += 4;
    } else if (!rest.empty() && rest[0] == '\\') {
      bytes[count++] = '\\';
      at += 2;
    } else {
      throw_invalid_syntax_plain("bytea");
    }
  }
  return {bytes, count};
}

std::string_view parse_bytea(std::string_view text, Arena& arena) {
  if (text.starts_with("\\x")) return decode_hex(text.substr(2), arena);
  return decode_escape(text, arena);
}

void print_hex(std::string_view bytes, ByteBuffer& out) {
  char* to = out.reserve(2 * bytes.size());
  in_blocks(bytes.size(), [&](size_t begin, size_t end) {
    for (char byte : bytes.substr(begin, end - begin)) {
      auto code = static_cast<unsigned char>(byte);
      *to++ = hex_digits[code >> 4];
      *to++ = hex_digits[code & 15];
    }
  });
  out.commit_to(to);
}

void print_bytea_hex(std::string_view bytes, ByteBuffer& out) {
  out.append("\\x");
  print_hex(bytes, out);
}

void print_bytea_escape(std::string_view bytes, ByteBuffer& out) {
  WorkMeter meter;
  for (char byte : bytes) {
    meter.did(2);
    auto code = static_cast<unsigned char>(byte);
    if (byte == '\\') {
      out.append("\\\\");
    } else if (code < 0x20 || code > 0x7e) {
      out.append('\\');
      out.append(static_cast<char>('0' + (code >> 6)));
      out.append(static_cast<char>('0' + ((code >> 3) & 7)));
      out.append(static_cast<char>('0' + (code & 7)));
    } else {
      out.append(byte);
    }
  }
}

namespace types {

Datum parse_bytea(const TypeInfo&, std::string_view text, int32_t, TypeContext& ctx) {
  return Datum::of_bytes(pgsilo::parse_bytea(text, *ctx.arena));
}

void print_bytea(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext& ctx) {
  if (ctx.bytea_output == ByteaOutput::hex) {
    print_bytea_hex(value.bytes(), out);
  } else {
    print_bytea_escape(value.bytes(), out);
  }
}

Datum receive_bytea(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  return Datum::of_bytes(bytes);
}

}  // namespace types
}  // namespace pgsilo
