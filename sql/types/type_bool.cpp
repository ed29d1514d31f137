// boolean and "char".
#include "sql/sql_error.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {

namespace {
// Whether `text` is a prefix of `word` of at least `least` letters, in any letter case.
bool abbreviates(std::string_view text, std::string_view word, size_t least) {
  return text.size() >= least && text.size() <= word.size() &&
         equal_ignoring_case(text, word.substr(0, text.size()));
}
bool is_octal(char c) { return c >= '0' && c <= '7'; }
}  // namespace

Datum parse_bool(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  std::string_view word = trim_space(text);
  if (abbreviates(word, "true", 1) || abbreviates(word, "yes", 1) || word == "1" ||
      abbreviates(word, "on", 2)) {
    return Datum::of_bool(true);
  }
  if (abbreviates(word, "false", 1) || abbreviates(word, "no", 1) || word == "0" ||
      abbreviates(word, "off", 2)) {
    return Datum::of_bool(false);
  }
  throw_invalid_syntax("boolean", text);
}

void print_bool(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append(value.as_bool() ? 't' : 'f');
}

Datum receive_bool(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  return Datum::of_bool(*exact_bytes(bytes, 1) != 0);
}

void send_bool(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append(static_cast<char>(value.i64));
}

Datum parse_single_char(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  if (text.size() == 4 && text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) &&
      is_octal(text[3])) {
    int code = ((text[1] - '0') << 6) + ((text[2] - '0') << 3) + (text[3] - '0');
    return Datum::of_int(code & 0xff);
  }
  return Datum::of_int(text.empty() ? 0 : static_cast<unsigned char>(text[0]));
}

void print_single_char(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  int code = static_cast<int>(value.i64);
  if (code >= 0x80) {
    out.append('\\');
    out.append(static_cast<char>('0' + (code >> 6)));
    out.append(static_cast<char>('0' + ((code >> 3) & 7)));
    out.append(static_cast<char>('0' + (code & 7)));
  } else if (code != 0) {
    out.append(static_cast<char>(code));
  }
}

Datum receive_single_char(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  return Datum::of_int(static_cast<unsigned char>(*exact_bytes(bytes, 1)));
}

void send_single_char(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append(static_cast<char>(value.i64));
}

}  // namespace pgsilo::types
