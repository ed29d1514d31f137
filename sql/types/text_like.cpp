// LIKE and ILIKE.
#include "base/long_work.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"
#include "sql/types/text_characters.h"

namespace pgsilo {

namespace {

[[noreturn]] void throw_ends_with_escape() {
  throw SqlError(sqlstate::invalid_escape_sequence,
                 "LIKE pattern must not end with escape character");
}

struct Characters {
  static size_t width(std::string_view text, size_t at) { return character_bytes(text, at); }
};
struct Bytes {
  static size_t width(std::string_view, size_t) { return 1; }
};

// Only the last % met can take more: if what follows it cannot be found further on, no earlier %
// helps.
template <typename Unit>
bool matches(std::string_view text, std::string_view pattern) {
  size_t t = 0;
  size_t p = 0;
  size_t retry_text =
      std::string_view::npos;  // where the text goes on when the last % takes one more
  size_t retry_pattern = 0;
  WorkMeter meter;
  while (true) {
    meter.did(4);
    bool step = false;
    if (p < pattern.size() && pattern[p] == '%') {
      bool has_text = t < text.size();
      // Each _ behind it takes a character, whichever of them comes first.
      for (; p < pattern.size() && (pattern[p] == '%' || pattern[p] == '_'); ++p) {
        if (pattern[p] == '%') continue;
        if (t == text.size()) return false;
        t += Unit::width(text, t);
      }
      retry_pattern = p;
      retry_text = t;
      if (p == pattern.size()) return true;
      // Noticed only while there is text to compare, as in PostgreSQL.
      if (has_text && pattern[p] == '\\' && p + 1 == pattern.size()) throw_ends_with_escape();
      continue;
    }
    if (t == text.size()) return p == pattern.size();
    if (p < pattern.size()) {
      if (pattern[p] == '_') {
        t += Unit::width(text, t);
        ++p;
        step = true;
      } else {
        size_t literal = p;
        if (pattern[p] == '\\' && ++literal == pattern.size()) throw_ends_with_escape();
        if (pattern[literal] == text[t]) {
          ++t;
          p = literal + 1;
          step = true;
        }
      }
    }
    if (step) continue;
    if (retry_text == std::string_view::npos) return false;
    retry_text += Unit::width(text, retry_text);
    t = retry_text;
    p = retry_pattern;
  }
}

}  // namespace

bool text_like(std::string_view text, std::string_view pattern, bool ignore_case, Arena& arena) {
  if (ignore_case) return matches<Characters>(text_lower(text, arena), text_lower(pattern, arena));
  return matches<Characters>(text, pattern);
}

bool bytea_like(std::string_view bytes, std::string_view pattern) {
  return matches<Bytes>(bytes, pattern);
}

std::string_view like_escape(std::string_view pattern, std::string_view escape, Arena& arena) {
  if (escape == "\\") return pattern;
  if (!escape.empty() && character_bytes(escape, 0) != escape.size()) {
    throw SqlError(sqlstate::invalid_escape_sequence, "invalid escape string")
        .hint("Escape string must be empty or one character.");
  }
  char* start = static_cast<char*>(arena.allocate(2 * pattern.size() + 1, 1));
  char* to = start;
  bool escaped = false;
  WorkMeter meter;
  for (size_t at = 0; at < pattern.size();) {
    size_t length = character_bytes(pattern, at);
    meter.did(8);
    std::string_view character = pattern.substr(at, length);
    at += length;
    if (!escape.empty() && character == escape && !escaped) {
      *to++ = '\\';
      escaped = true;
      continue;
    }
    // A backslash is an ordinary character now; after the escape character it has its own backslash
    // already.
    if (character == "\\" && !escaped) *to++ = '\\';
    to += character.copy(to, length);
    escaped = false;
  }
  return {start, static_cast<size_t>(to - start)};
}

std::string_view like_prefix(std::string_view pattern, Arena& arena, bool* exact) {
  char* start = static_cast<char*>(arena.allocate(pattern.size() + 1, 1));
  char* to = start;
  size_t at = 0;
  for (; at < pattern.size() && pattern[at] != '%' && pattern[at] != '_'; ++at) {
    if (pattern[at] == '\\' && ++at == pattern.size()) break;
    *to++ = pattern[at];
  }
  *exact = at >= pattern.size();
  return {start, static_cast<size_t>(to - start)};
}

}  // namespace pgsilo
