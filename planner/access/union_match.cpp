#include "planner/access/union_match.h"

#include <algorithm>

#include "base/arena.h"
#include "planner/bound/make_expression.h"

namespace pgsilo {

namespace {

bool has(const std::vector<const Clause*>& clauses, const Clause* clause) {
  return std::find(clauses.begin(), clauses.end(), clause) != clauses.end();
}

bool is_better(const IndexMatch& match, const IndexMatch& best) {
  bool unique = match.is_unique_lookup();
  if (unique != best.is_unique_lookup()) return unique;
  return match.selectivity < best.selectivity;
}

class UnionMatcher {
 public:
  UnionMatcher(Arena& arena, const BoundQuery& query, int32_t relation,
               std::span<const IndexDescriptor* const> indexes,
               std::span<const Clause* const> others)
      : arena_(arena),
        query_(query),
        relation_(relation),
        indexes_(indexes),
        others_(others),
        used_(others.begin(), others.end()) {}

  std::optional<UnionMatch> match(const Clause& clause) {
    for (const ClauseAlternative& alternative : clause.alternatives) {
      if (!add(alternative)) return std::nullopt;
    }
    UnionMatch made;
    for (Part& part : parts_) made.parts.push_back(finish(part));
    made.used = used_;
    made.used.push_back(&clause);
    for (const Clause* each : used_) {
      if (has(rechecked_, each)) made.rechecked.push_back(each);
    }
    if (leaves_conditions_) {
      std::vector<const BoundExpression*> answered;
      answered.reserve(made.parts.size());
      for (const IndexMatch& part : made.parts) answered.push_back(part.answered);
      made.answered = make_boolean_list(arena_, BooleanOperator::or_, answered);
      made.rechecked.push_back(&clause);
    }
    return made;
  }

 private:
  // What an index has got.
  struct Part {
    IndexMatch match;
    std::vector<KeyRanges> ranges;
    std::vector<const BoundExpression*> alternatives;
  };

  bool add(const ClauseAlternative& alternative) {
    std::vector<const Clause*> clauses(others_.begin(), others_.end());
    clauses.reserve(others_.size() + alternative.clauses.size());
    for (const Clause& clause : alternative.clauses) clauses.push_back(&clause);
    std::optional<IndexMatch> best;
    for (const IndexDescriptor* index : indexes_) {
      IndexMatch match = match_index(arena_, {query_, relation_, {}}, *index, clauses);
      bool is_useful = std::any_of(alternative.clauses.begin(), alternative.clauses.end(),
                                   [&](const Clause& clause) { return has(match.used, &clause); });
      if (is_useful && (!best || is_better(match, *best))) best = std::move(match);
    }
    if (!best) return false;
    for (const Clause& clause : alternative.clauses)
      leaves_conditions_ |= !has(best->used, &clause) || has(best->rechecked, &clause);
    std::erase_if(used_, [&](const Clause* other) { return !has(best->used, other); });
    rechecked_.insert(rechecked_.end(), best->rechecked.begin(), best->rechecked.end());
    add_to_part(*best);
    return true;
  }

  void add_to_part(const IndexMatch& match) {
    auto part = std::find_if(parts_.begin(), parts_.end(),
                             [&](const Part& each) { return each.match.index == match.index; });
    if (part == parts_.end()) {
      parts_.emplace_back();
      part = parts_.end() - 1;
      part->match.index = match.index;
      part->match.selectivity = 0;
      part->match.lookups = 0;
    }
    std::vector<const BoundExpression*> conditions;
    conditions.reserve(match.used.size());
    for (const Clause* clause : match.used) conditions.push_back(clause->expression);
    part->alternatives.push_back(make_boolean_list(arena_, BooleanOperator::and_, conditions));
    part->ranges.insert(part->ranges.end(), match.ranges.begin(), match.ranges.end());
    part->match.lookups += match.lookups;
    part->match.selectivity = std::min(1.0, part->match.selectivity + match.selectivity);
  }

  // The columns that the other clauses fix are fixed in each alternative.
  IndexMatch finish(Part& part) {
    IndexMatch fixed = match_index(arena_, {query_, relation_, {}}, *part.match.index, others_);
    part.match.equal_columns = fixed.equal_columns;
    part.match.list_column = fixed.list_column;
    part.match.ranges = arena_.copy_span(part.ranges);
    part.match.answered = make_boolean_list(arena_, BooleanOperator::or_, part.alternatives);
    return std::move(part.match);
  }

  Arena& arena_;
  const BoundQuery& query_;
  int32_t relation_;
  std::span<const IndexDescriptor* const> indexes_;
  std::span<const Clause* const> others_;
  std::vector<Part> parts_;
  std::vector<const Clause*> used_;       // of the others, in every alternative
  std::vector<const Clause*> rechecked_;  // in some
  bool leaves_conditions_ = false;
};

}  // namespace

double UnionMatch::selectivity() const {
  double sum = 0;
  for (const IndexMatch& part : parts) sum += part.selectivity;
  return sum;
}

std::optional<UnionMatch> match_union(Arena& arena, const BoundQuery& query, int32_t relation,
                                      std::span<const IndexDescriptor* const> indexes,
                                      std::span<const Clause* const> others, const Clause& clause) {
  return UnionMatcher(arena, query, relation, indexes, others).match(clause);
}

}  // namespace pgsilo
