#include "planner/binder/misspelling.h"

#include <algorithm>
#include <vector>

#include "planner/binder/scope.h"

namespace pgsilo {

namespace {

// PostgreSQL's MAX_FUZZY_DISTANCE.
constexpr size_t max_distance = 3;

size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      size_t substituted = diagonal + (left[i - 1] != right[j - 1] ? 1 : 0);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[right.size()];
}

struct Candidate {
  std::string_view table;
  std::string_view column;
};

}  // namespace

std::string misspelling_hint(const Scope& scope, std::string_view qualifier,
                             std::string_view name) {
  size_t best = max_distance + 1;
  std::vector<Candidate> nearest;
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (const ScopeItem& item : at->items) {
      if (item.relation < 0) continue;
      size_t penalty = qualifier.empty() ? 0 : edit_distance(qualifier, item.name);
      for (const ScopeColumn& column : item.columns) {
        size_t distance = edit_distance(column.name, name);
        // More than half of the letters wrong is no match.
        if (distance > name.size() / 2 || distance + penalty > best ||
            distance + penalty > max_distance)
          continue;
        if (distance + penalty < best) nearest.clear();
        best = distance + penalty;
        nearest.push_back({item.name, column.name});
      }
    }
  }
  if (nearest.empty() || nearest.size() > 2) return {};
  std::string hint = concat("Perhaps you meant to reference the column \"", nearest[0].table, ".",
                            nearest[0].column, "\"");
  if (nearest.size() == 2)
    hint += concat(" or the column \"", nearest[1].table, ".", nearest[1].column, "\"");
  return hint + ".";
}

}  // namespace pgsilo
