// By what the rows of a path come ordered: path keys. A key is an expression of the query, by its
// number, with a direction and the place of NULLs. Expressions that conditions make equal are one
// key as soon as what is joined has met the condition (KeyClasses); those that are made equal to
// something that no row decides are none.
//
// Only what the query could use an order of is an expression here: ORDER BY, groups, and sides of
// equalities between relations. So interesting orders are bounded by what is written.
// Thread safety: none; immutable once the join search has begun.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "planner/access/join_problem.h"
#include "planner/access/planning.h"
#include "planner/access/relation_set.h"

namespace pgsilo {

// An order that is wanted: of ORDER BY.
struct OrderKey {
  const BoundExpression* expression = nullptr;
  bool descending = false;
  bool nulls_first = false;
};

// What is made of the rows of FROM and WHERE.
struct JoinGoal {
  // If it groups (GROUP BY, DISTINCT): rows that are equal in these make one.
  std::span<const BoundExpression* const> groups;
  bool is_grouped = false;
  // Of the rows within a group: what aggregates want to be fed by.
  std::span<const OrderKey> within;
  // Of the result: the rows, or the groups.
  std::span<const OrderKey> order;
  RowDemand demand;                                       // of the result
  double kept = std::numeric_limits<double>::infinity();  // of a sort of it: a limit's rows
};

enum class NullsPlace : uint8_t { last, first, none };  // none: there are no NULLs

struct PathKey {
  int16_t expression = -1;
  bool descending = false;
  NullsPlace nulls = NullsPlace::last;

  bool operator==(const PathKey&) const = default;
  // Whether rows that come by this key come by the other one.
  bool serves(PathKey wanted) const {
    return expression == wanted.expression && descending == wanted.descending &&
           (nulls == NullsPlace::none || wanted.nulls == NullsPlace::none || nulls == wanted.nulls);
  }
};

struct PathOrder {
  std::span<const PathKey> keys;
  // Of these relations there is one row for all values of the keys together: what else is read of
  // them orders nothing any more.
  RelationSet told;

  // Whether it is at least as good, for every purpose.
  bool covers(const PathOrder& other) const;
};

// What an expression stands for among a set of joined relations: the number of one that it is
// equal to in all of their rows.
struct KeyClasses {
  static constexpr int16_t constant = -2;
  std::vector<int16_t> of;        // by expression
  std::vector<bool> is_joinable;  // by class: a condition that is still to be met compares it

  int16_t operator[](int16_t expression) const {
    return expression < 0 ? expression : of[static_cast<size_t>(expression)];
  }
};

class SortSpace {
 public:
  SortSpace(Arena& arena, const JoinProblem& problem, const JoinGoal& goal);

  // -1: no order of it is of any use.
  int16_t find(const BoundExpression& expression) const;
  int16_t find_column(int32_t relation, int32_t column) const;
  // Whether a condition on the column alone leaves it one value.
  bool is_constant_column(int32_t relation, int32_t column) const;
  bool empty() const { return expressions_.empty(); }

  // The sides of a clause's equality; -1 where it cannot be merged by.
  struct Sides {
    int16_t left = -1;
    int16_t right = -1;
  };
  Sides sides_of(const Clause& clause) const {
    return sides_[static_cast<size_t>(&clause - problem_.clauses.data())];
  }

  KeyClasses classes_of(RelationSet relations) const;
  // The order in terms of the classes: without what is constant or said before, and without what
  // is of no use any more.
  PathOrder useful(const PathOrder& order, const KeyClasses& classes) const;

  // How many of the goal's `order` keys rows, not grouped, come by (all: no sort is needed).
  size_t sorted_by(const PathOrder& order, const KeyClasses& classes) const;
  struct Grouped {
    bool neighbours = false;  // rows of one group are next to each other
    bool within = false;      // and within it ordered as aggregates want them
    size_t sorted = 0;        // by so many of the `order` keys the groups come
  };
  Grouped grouped_by(const PathOrder& order, const KeyClasses& classes) const;
  // Whether the goal has an order that begins with the reverse of these keys in it.
  bool wants_reverse(const PathOrder& order, const KeyClasses& classes) const;
  bool has_goal() const { return !wanted_.empty() || goal_.is_grouped; }

 private:
  struct Wanted {
    PathKey key;
    RelationSet relations;
    bool may_be_told = false;  // the rows of `relations` decide it
    bool is_constant = false;  // nothing decides it
  };
  struct Equality {
    int16_t left = -1;
    int16_t right = -1;  // constant: it has one value
    RelationSet required;
  };

  struct Served {
    size_t wanted = 0;  // of the wanted keys
    size_t keys = 0;    // by so many of those that are there
  };

  int16_t add(const BoundExpression* expression);
  Wanted wanted_key(const OrderKey& key);
  void add_wanted();
  void add_sides(const Clause& clause);
  void add_constant(const Clause& clause);
  bool holds_above(const Clause& clause) const;
  static Served serve(std::span<const Wanted> wanted, const PathOrder& order,
                      const KeyClasses& classes);
  // So many keys make groups: `complete` if they make those that are wanted.
  size_t group(const PathOrder& order, const KeyClasses& classes, bool* complete) const;
  size_t useful_keys(const PathOrder& order, const KeyClasses& classes) const;

  Arena& arena_;
  const JoinProblem& problem_;
  const JoinGoal& goal_;
  std::vector<const BoundExpression*> expressions_;
  std::vector<Sides> sides_;  // by clause
  std::vector<Equality> equalities_;
  std::vector<Wanted> wanted_;
  std::vector<Wanted> groups_;
  std::vector<Wanted> within_;
  std::vector<std::pair<int32_t, int32_t>> constant_columns_;  // relation and column
};

}  // namespace pgsilo
