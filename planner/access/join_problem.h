// FROM and WHERE taken apart: conditions, each with the relations it needs, and the outer and semi
// joins that limit in which order relations can be joined.
//
// A condition of WHERE that reads a relation on the nullable side of an outer join can only be
// checked once that join is done: its `required` set includes the join's sides. The order rule
// (is_legal_join) keeps the right side of every outer, semi and anti join together and joins it, as
// a whole, to at least those relations of the left side that its condition reads; this uses that (A
// leftjoin B) join C = (A join C) leftjoin B when C's conditions do not read B. Thread safety:
// none; immutable once made.
#pragma once

#include <span>
#include <vector>

#include "planner/access/relation_set.h"
#include "planner/bound/query.h"

namespace pgsilo {

struct StatementPlanning;

struct ClauseAlternative;
struct MatchEstimate;

struct Clause {
  const BoundExpression* expression = nullptr;
  RelationSet relations;  // whose columns it reads
  RelationSet required;   // must all be joined before it can be checked
  RelationSet scope;      // of the join or the WHERE that it stands in
  int32_t special_join =
      -1;  // the outer, semi or anti join whose condition it belongs to; -1: a filter
  // An equality of two sides that read different relations: usable for hashing. Null otherwise.
  const CallExpression* equality = nullptr;
  RelationSet left_relations;
  RelationSet right_relations;
  double selectivity = 1;
  // Of an equality that is a semi or anti join's condition: which rows of the left side find one.
  const MatchEstimate* matches = nullptr;
  // Of an OR: one of them has to be true. Empty: it is none.
  std::span<const ClauseAlternative> alternatives;
};

// A conjunction: `expression` and `selectivity` of each clause are all that is set.
struct ClauseAlternative {
  std::span<const Clause> clauses;
};

struct SpecialJoin {
  JoinType type = JoinType::left;  // left, full, semi, anti
  RelationSet left;                // all relations of the side, as written
  RelationSet right;
  RelationSet min_left;  // what must be there on the left before the join
  RelationSet min_right;
};

struct JoinProblem {
  RelationSet relations;
  std::vector<Clause> clauses;  // each with at least one relation
  std::vector<SpecialJoin> special_joins;
  // Conditions that read no relation: checked once, before anything is run.
  std::vector<const BoundExpression*> one_time;
};

// Relations of this query that the expression reads, subqueries inside it included.
RelationSet relations_of(const BoundExpression& expression);
void split_conjuncts(const BoundExpression* condition,
                     std::vector<const BoundExpression*>& conjuncts);

RelationSet shape_relations(const FromItem& item);
// All of FROM.
RelationSet joined_relations(const BoundQuery& query);

// Precondition: reduce_outer_joins(). How many rows a condition keeps is told the better the more
// of the query's relations are planned.
JoinProblem make_join_problem(StatementPlanning& statement, const BoundQuery& query);

// Whether left and right (disjoint) may be joined now; `special_join` receives the outer, semi or
// anti join this is (or -1), `swapped` that its left side is `right`.
bool is_legal_join(const JoinProblem& problem, RelationSet left, RelationSet right,
                   int32_t* special_join, bool* swapped);

}  // namespace pgsilo
