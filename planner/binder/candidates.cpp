#include "planner/binder/candidates.h"

#include <algorithm>

#include "planner/binder/coercion.h"
#include "planner/binder/polymorphic_types.h"
#include "sql/types/type.h"

namespace pgsilo {

namespace {

struct Category {
  char letter = 'X';
  bool preferred = false;
};

Category category_of(Oid type) {
  const TypeInfo* info = find_type(type);
  return info == nullptr ? Category{} : Category{info->category, info->preferred};
}

// Keeps the candidates for which `count_matches` is greatest.
template <typename CountMatches>
void keep_best(std::vector<Candidate>& candidates, CountMatches count_matches) {
  int best = 0;
  for (const Candidate& candidate : candidates) best = std::max(best, count_matches(candidate));
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return count_matches(candidate) < best; });
}

int count_exact(std::span<const Oid> actual, const Candidate& candidate) {
  int matches = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] != type_oid::unknown && candidate.arguments[i] == actual[i]) ++matches;
  }
  return matches;
}

// Exact, or the preferred type of the argument's own category.
int count_exact_or_preferred(std::span<const Oid> actual, const Candidate& candidate) {
  int matches = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == type_oid::unknown) continue;
    Category declared = category_of(candidate.arguments[i]);
    bool preferred = declared.preferred && declared.letter == category_of(actual[i]).letter;
    if (candidate.arguments[i] == actual[i] || preferred) ++matches;
  }
  return matches;
}

struct Slot {
  Category category;
  bool conflict = false;
};

// The category that an unknown argument is taken to be of: string if any candidate takes one, else
// the one all agree on.
Slot choose_category(const std::vector<Candidate>& candidates, size_t argument) {
  Slot slot;
  bool first = true;
  for (const Candidate& candidate : candidates) {
    Category declared = category_of(candidate.arguments[argument]);
    if (first) {
      slot.category = declared;
      first = false;
    } else if (declared.letter == slot.category.letter) {
      slot.category.preferred |= declared.preferred;
    } else if (declared.letter == 'S') {
      slot.category = declared;
    } else {
      slot.conflict = true;
    }
  }
  if (slot.category.letter == 'S') slot.conflict = false;
  return slot;
}

// Drops candidates that do not take the chosen categories (or not their preferred type); none
// dropped where that leaves none or a category cannot be chosen.
void resolve_unknown(std::span<const Oid> actual, std::vector<Candidate>& candidates) {
  std::vector<Slot> slots(actual.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] != type_oid::unknown) continue;
    slots[i] = choose_category(candidates, i);
    if (slots[i].conflict) return;
  }
  auto fits = [&](const Candidate& candidate) {
    for (size_t i = 0; i < actual.size(); ++i) {
      if (actual[i] != type_oid::unknown) continue;
      Category declared = category_of(candidate.arguments[i]);
      if (declared.letter != slots[i].category.letter) return false;
      if (slots[i].category.preferred && !declared.preferred) return false;
    }
    return true;
  };
  if (std::any_of(candidates.begin(), candidates.end(), fits)) {
    std::erase_if(candidates, [&](const Candidate& candidate) { return !fits(candidate); });
  }
}

// All known arguments are of one type: taking the unknown ones for that too may leave one
// candidate.
const Candidate* assume_same_type(std::span<const Oid> actual, std::vector<Candidate>& candidates) {
  Oid known = type_oid::unknown;
  for (Oid type : actual) {
    if (type == type_oid::unknown) continue;
    if (known != type_oid::unknown && known != type) return nullptr;
    known = type;
  }
  if (known == type_oid::unknown) return nullptr;
  std::vector<Oid> all_known(actual.size(), known);
  const Candidate* found = nullptr;
  for (const Candidate& candidate : candidates) {
    bool fits = std::all_of(
        candidate.arguments.begin(), candidate.arguments.end(),
        [&](Oid declared) { return can_coerce(known, declared, CoercionContext::implicit); });
    if (!fits || !find_polymorphic_types(all_known, candidate.arguments)) continue;
    if (found != nullptr) return nullptr;
    found = &candidate;
  }
  return found;
}

}  // namespace

std::vector<Candidate> matching_candidates(std::span<const Oid> actual,
                                           std::vector<Candidate> candidates) {
  std::erase_if(candidates, [&](const Candidate& candidate) {
    for (size_t i = 0; i < actual.size(); ++i) {
      if (!can_coerce(actual[i], candidate.arguments[i], CoercionContext::implicit)) return true;
    }
    return !find_polymorphic_types(actual, candidate.arguments);
  });
  return candidates;
}

const Candidate* select_candidate(std::span<const Oid> given, std::vector<Candidate>& candidates) {
  if (candidates.size() == 1) return &candidates.front();
  std::vector<Oid> actual;
  for (Oid type : given) actual.push_back(base_type_of(type));
  keep_best(candidates, [&](const Candidate& candidate) { return count_exact(actual, candidate); });
  if (candidates.size() == 1) return &candidates.front();
  keep_best(candidates, [&](const Candidate& candidate) {
    return count_exact_or_preferred(actual, candidate);
  });
  if (candidates.size() == 1) return &candidates.front();
  bool has_unknown = std::find(actual.begin(), actual.end(), type_oid::unknown) != actual.end();
  if (!has_unknown) return nullptr;
  resolve_unknown(actual, candidates);
  if (candidates.size() == 1) return &candidates.front();
  return assume_same_type(actual, candidates);
}

}  // namespace pgsilo
