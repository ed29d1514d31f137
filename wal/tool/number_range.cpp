#include "wal/tool/number_range.h"

#include <charconv>

namespace pgsilo {

bool parse_number(std::string_view text, uint64_t* number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_number_range(std::string_view text, uint64_t* first, uint64_t* last) {
  size_t dash = text.find('-');
  if (!parse_number(text.substr(0, dash), first)) return false;
  *last = dash == std::string_view::npos ? *first : UINT64_MAX;
  if (dash == std::string_view::npos || dash + 1 == text.size()) return true;
  return parse_number(text.substr(dash + 1), last) && *first <= *last;
}

}  // namespace pgsilo
