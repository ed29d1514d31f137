#include "sql/regex/code_set.h"

#include <algorithm>

#include "base/long_work.h"

namespace pgsilo::regex {

void make_normal(CodeSet& set) {
  if (set.size() < 2) return;
  did_work(set.size() * sizeof(CodeRange) * 4);
  std::ranges::sort(set);
  size_t kept = 0;
  for (size_t i = 1; i < set.size(); ++i) {
    if (set[i].first <= set[kept].last + 1) {
      set[kept].last = std::max(set[kept].last, set[i].last);
    } else {
      set[++kept] = set[i];
    }
  }
  set.resize(kept + 1);
}

CodeSet complement(const CodeSet& set) {
  CodeSet result;
  uint32_t next = 0;
  for (CodeRange range : set) {
    if (range.first > next) result.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= highest_code) result.push_back({next, highest_code});
  return result;
}

void append(CodeSet& to, const CodeSet& set) { to.insert(to.end(), set.begin(), set.end()); }

void remove_code(CodeSet& normal, uint32_t code) {
  auto at = std::ranges::find_if(
      normal, [&](CodeRange range) { return range.first <= code && code <= range.last; });
  if (at == normal.end()) return;
  CodeRange range = *at;
  at = normal.erase(at);
  if (range.last > code) at = normal.insert(at, {code + 1, range.last});
  if (range.first < code) normal.insert(at, {range.first, code - 1});
}

}  // namespace pgsilo::regex
