// Upper and lower case, by Unicode's simple mappings as PostgreSQL has them in a C.UTF-8 database.
#include <clocale>
#include <cwctype>

#include "base/long_work.h"
#include "sql/types/scan.h"
#include "sql/types/text.h"
#include "sql/types/text_characters.h"

namespace pgsilo {

namespace {

// The C library's tables for the locale that PostgreSQL uses; the process itself stays in "C".
locale_t unicode_locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

bool is_ascii(std::string_view text) {
  unsigned char bits = 0;
  in_blocks(text.size(), [&](size_t begin, size_t end) {
    for (char c : text.substr(begin, end - begin)) bits |= static_cast<unsigned char>(c);
  });
  return bits < 0x80;
}

template <char (*map)(char)>
std::string_view map_ascii(std::string_view text, Arena& arena) {
  char* mapped = static_cast<char*>(arena.allocate(text.size() + 1, 1));
  in_blocks(text.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) mapped[i] = map(text[i]);
  });
  return {mapped, text.size()};
}

// Code point by code point; `map` may look at what came before.
template <typename Map>
std::string_view map_characters(std::string_view text, Map map, Arena& arena) {
  // A character may grow when its case changes, to four bytes at most.
  char* mapped = static_cast<char*>(arena.allocate(text.size() * 4 + 1, 1));
  char* to = mapped;
  WorkMeter meter;
  for (size_t at = 0; at < text.size();) {
    size_t length = character_bytes(text, at);
    meter.did(8);
    to = put_code_point(to, map(code_point(text.substr(at, length))));
    at += length;
  }
  return {mapped, static_cast<size_t>(to - mapped)};
}

}  // namespace

std::string_view text_upper(std::string_view text, Arena& arena) {
  if (is_ascii(text)) return map_ascii<upper_letter>(text, arena);
  locale_t locale = unicode_locale();
  return map_characters(
      text, [&](uint32_t c) { return static_cast<uint32_t>(towupper_l(c, locale)); }, arena);
}

std::string_view text_lower(std::string_view text, Arena& arena) {
  if (is_ascii(text)) return map_ascii<lower_letter>(text, arena);
  locale_t locale = unicode_locale();
  return map_characters(
      text, [&](uint32_t c) { return static_cast<uint32_t>(towlower_l(c, locale)); }, arena);
}

std::string_view text_initcap(std::string_view text, Arena& arena) {
  locale_t locale = unicode_locale();
  bool in_word = false;
  return map_characters(
      text,
      [&](uint32_t c) {
        auto mapped =
            static_cast<uint32_t>(in_word ? towlower_l(c, locale) : towupper_l(c, locale));
        in_word = iswalnum_l(c, locale) != 0;
        return mapped;
      },
      arena);
}

}  // namespace pgsilo
