// Regular expressions: whatever a pattern and a text are, groups lie in the text and in the match,
// and bounded work finds what quick work does.
#include <cstdlib>
#include <string>
#include <string_view>

#include "sql/regex/regex.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace {

using pgsilo::regex::Matcher;
using pgsilo::regex::Options;
using pgsilo::regex::Regex;
using pgsilo::regex::Syntax;

Options options_of(uint8_t bits) {
  Options options;
  options.syntax = static_cast<Syntax>(bits & 3);
  options.ignore_case = (bits & 4) != 0;
  options.expanded = (bits & 8) != 0;
  options.newline_ends_match = (bits & 16) != 0;
  options.newline_ends_line = (bits & 32) != 0;
  return options;
}

std::string first_match(Regex& regex, std::string_view text, pgsilo::regex::Patience patience) {
  Matcher matcher(regex, text, patience);
  if (!matcher.find(0, Matcher::Groups::all)) return "none";
  std::string found;
  for (size_t i = 0; i <= matcher.group_count(); ++i) {
    Matcher::Range range = matcher.group(i);
    if (range.is_set() && (range.begin > range.end || range.end > text.size())) std::abort();
    found += std::to_string(range.begin) + "-" + std::to_string(range.end) + " ";
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Back references may take time that is exponential.
  if (size < 3 || size > 200) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data + 2), size - 2);
  if (pgsilo::valid_text_prefix(rest) != rest.size()) return 0;
  size_t middle = pgsilo::text_prefix_bytes(rest, data[1] % 64);
  std::string_view text = rest.substr(middle).substr(0, 32);
  text = text.substr(0, pgsilo::valid_text_prefix(text));
  try {
    Regex regex(rest.substr(0, middle), options_of(data[0]));
    bool exists = Matcher(regex, text).exists(0);
    std::string found = first_match(regex, text, {});
    if (exists != (found != "none")) std::abort();
    if (first_match(regex, text, {.times = 0, .more = 0}) != found) std::abort();
  } catch (const pgsilo::SqlError&) {
  }
  return 0;
}
