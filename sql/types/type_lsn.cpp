// pg_lsn in its text form, two halves in hexadecimal with a slash between them, and its binary one.
#include <array>
#include <cinttypes>
#include <cstdio>

#include "sql/types/lsn.h"
#include "sql/types/scan.h"
#include "sql/types/type_functions.h"

namespace pgsilo::types {
namespace {

constexpr size_t longest_half = 8;

int hexadecimal(char c) {
  if (is_digit(c)) return c - '0';
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Takes the digits off the front of `text`. False: there are none, or too many.
bool take_half(std::string_view* text, uint64_t* value) {
  size_t digits = 0;
  *value = 0;
  while (digits < text->size() && hexadecimal((*text)[digits]) >= 0) {
    *value = (*value << 4) | static_cast<uint64_t>(hexadecimal((*text)[digits]));
    if (++digits > longest_half) return false;
  }
  text->remove_prefix(digits);
  return digits > 0;
}

}  // namespace

Datum parse_lsn(const TypeInfo&, std::string_view text, int32_t, TypeContext&) {
  std::string_view rest = text;
  uint64_t high = 0;
  uint64_t low = 0;
  bool valid = take_half(&rest, &high) && rest.starts_with('/');
  if (valid) rest.remove_prefix(1);
  if (!valid || !take_half(&rest, &low) || !rest.empty()) throw_invalid_syntax("pg_lsn", text);
  return datum_of_lsn((high << 32) | low);
}

void print_lsn(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  uint64_t place = lsn_of(value);
  std::array<char, 20> text;
  int size = std::snprintf(text.data(), text.size(), "%" PRIX64 "/%" PRIX64, place >> 32,
                           place & UINT32_MAX);
  out.append(std::string_view(text.data(), static_cast<size_t>(size)));
}

Datum receive_lsn(const TypeInfo&, std::string_view bytes, int32_t, TypeContext&) {
  return datum_of_lsn(load_be64(exact_bytes(bytes, 8)));
}

void send_lsn(const TypeInfo&, Datum value, ByteBuffer& out, const TypeContext&) {
  out.append_be64(lsn_of(value));
}

}  // namespace pgsilo::types
