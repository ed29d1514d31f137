#include "planner/access/like_prefix.h"

namespace pgsilo {

namespace {

// The next code point's UTF-8 form in place of the last one's; keys compare by bytes, so text must
// stay valid.
bool increment_last_character(std::string& text) {
  while (!text.empty()) {
    auto last = static_cast<unsigned char>(text.back());
    // ASCII below the last one can simply be counted up; other characters are dropped with what
    // they belong to.
    if (last < 0x7E) {
      text.back() = static_cast<char>(last + 1);
      return true;
    }
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
      text.pop_back();
    if (text.empty()) return false;
    auto lead = static_cast<unsigned char>(text.back());
    text.pop_back();
    if (lead >= 0xC2 && lead < 0xF4) {
      // The first character of the next lead byte: its smallest continuation bytes.
      auto next = static_cast<unsigned char>(lead + 1);
      text += static_cast<char>(next);
      int continuation = next < 0xE0 ? 1 : next < 0xF0 ? 2 : 3;
      unsigned char first = next == 0xE0 ? 0xA0 : next == 0xF0 ? 0x90 : 0x80;
      text += static_cast<char>(first);
      text.append(static_cast<size_t>(continuation - 1), static_cast<char>(0x80));
      return true;
    }
    if (lead >= 0x7E && lead < 0x80) {
      text += "\xC2\x80";
      return true;
    }
  }
  return false;
}

}  // namespace

LikePrefix like_prefix(std::string_view pattern) {
  LikePrefix prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' || pattern[i] == '_') break;
    if (pattern[i] == '\\') {
      if (i + 1 == pattern.size()) break;
      ++i;
    }
    prefix.text += pattern[i];
  }
  // Never half a character.
  prefix.end = prefix.text;
  if (!increment_last_character(prefix.end)) prefix.end.clear();
  return prefix;
}

}  // namespace pgsilo
