// Finding the cheapest way to join: dynamic programming over sets of relations (all shapes) for
// few, a greedy choice of the next pair for many. Thread safety: none; one per query being planned.
#pragma once

#include <deque>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "planner/access/path.h"
#include "planner/access/planning.h"
#include "planner/access/union_match.h"

namespace pgsilo {

// What is known about a relation that is not a table before it is joined.
struct OtherRelation {
  const PlanNode* plan = nullptr;
  RelationSet lateral;  // whose columns it reads
  std::vector<OuterReference> references;
};

// The path that serves the goal best, and what the goal has of its order.
struct FoundPath {
  const Path* path = nullptr;
  size_t sorted = 0;           // by so many keys of JoinGoal::order the rows come
  SortSpace::Grouped grouped;  // if it groups
};

class JoinSearch {
 public:
  // `others`: by relation number, plan null for tables.
  JoinSearch(QueryContext& context, const JoinProblem& problem,
             std::span<const OtherRelation> others, JoinGoal goal);

  // The best path for all relations of the problem (at least one): with what it takes to make the
  // goal's order or groups of its rows, given the goal's demand.
  FoundPath run();

 private:
  struct Candidates {
    std::vector<const Path*> paths;
    double rows = 1;
    KeyClasses classes;
  };
  // What decides whether a path is worth being kept.
  struct Offer {
    double startup_cost = 0;
    double total_cost = 0;
    PathOrder order;
    RelationSet outer;
    double rows = 1;
  };

  void make_scan_paths(int32_t relation);
  void add_index_paths(int32_t relation, RelationSet outer,
                       const std::vector<const Clause*>& clauses, std::vector<const Path*>& paths);
  std::vector<UnionMatch> match_unions(int32_t relation, const std::vector<const Clause*>& clauses,
                                       std::span<const IndexDescriptor* const> indexes) const;
  void add_union_paths(int32_t relation, RelationSet outer,
                       const std::vector<const Clause*>& clauses,
                       std::span<const IndexDescriptor* const> indexes,
                       std::vector<const Path*>& paths);
  bool may_be_used(int32_t relation, const std::vector<const Clause*>& clauses, IndexMatch& match);
  // What indexes of the relation's table compute.
  IndexedRelation indexed(int32_t relation);
  void correct_selectivity(int32_t relation, IndexMatch& match) const;
  // With the match in it.
  void add_index_path(int32_t relation, RelationSet outer,
                      const std::vector<const Clause*>& clauses, Path path,
                      std::vector<const Path*>& paths);
  void search_all();
  void search_subsets(bool products);
  // `bits`: of the set among `sets`, which are by the bits of their members.
  void join_splits(std::span<const RelationSet> sets, size_t bits, bool connected);
  void search_greedily();
  void join_as_written();
  RelationSet join_as_written(const FromItem& item);
  void join(RelationSet left, RelationSet right);
  void join_sides(const Candidates& left, const Candidates& right, RelationSet left_set,
                  RelationSet right_set, int32_t special_join, Candidates& result);
  // One table scanned by what each row of the other side says, and what the join has left to check.
  struct Lookup {
    const Path* scan = nullptr;
    Path shape;
    double distinct = std::numeric_limits<double>::infinity();  // values it is asked for
    double row_bytes = 0;
  };
  // Whether a nested loop keeps what it has read for the same values, and what another row takes.
  struct Memo {
    bool keeps = false;
    double rescan_cost = 0;
  };
  // A condition that both sides can come by, with its expressions' classes there.
  struct MergeClause {
    const Clause* clause = nullptr;
    int16_t left = -1;
    int16_t right = -1;
  };
  std::vector<Lookup> lookups_of(RelationSet left_set, RelationSet right_set, const Path& shape);
  Lookup lookup_by(const Path& scan, const Path& shape, RelationSet right_set);
  void set_distinct(Lookup& lookup, const Path& inner) const;
  static Path without_answered(const Path& right, const Path& shape);
  void make_driven_scans();
  void make_driven_scans(int32_t special_join, int32_t relation);
  bool is_extended_within(const SpecialJoin& join, int32_t relation) const;
  Path join_shape(RelationSet left_set, RelationSet right_set, int32_t special_join) const;
  static bool may_hash(const Path& shape);
  PathOrder joined_order(const Path& left, const Path& right, JoinType type, bool in_turn,
                         const Candidates& result);
  void add_hash_join(const Path& left, const Path& right, const Path& shape, Candidates& result);
  void add_nested_loop(const Path& left, const Path& right, const Path& shape, Candidates& result,
                       Memo memo);
  void add_memoized_loop(const Path& left, const Lookup& lookup, Candidates& result);
  std::vector<MergeClause> merge_clauses(const Path& shape, RelationSet left_set,
                                         const Candidates& left, const Candidates& right) const;
  static std::vector<MergeClause> in_order_of(const std::vector<MergeClause>& clauses,
                                              const PathOrder& order, int16_t MergeClause::* side);
  void add_merge_joins(const Candidates& left, const Candidates& right, RelationSet left_set,
                       const Path& shape, Candidates& result);
  void add_merge_join(const Path& left, const Path& right, const Path& shape,
                      std::span<const MergeClause> keys, bool sort_left, bool sort_right,
                      Candidates& result);
  SortedCost side_cost(const Path& path, bool sorts);
  double rows_of(const Path& left, const Path& right, const Path& shape,
                 const Candidates& result) const;
  // Of a row of these relations, as far as it is read: bytes, as PostgreSQL stores them.
  // Of few rows it makes no difference: 0.
  double width_of(RelationSet relations, double rows) const;
  double relation_width(int32_t relation) const;
  static bool is_beaten(const Candidates& candidates, const Offer& offer);
  void add_path(Candidates& candidates, Path path);
  void take(const Offer& offer, Candidates& result, Path path);
  static void drop_dearest_order(Candidates& candidates);
  double joined_rows(JoinType type, double left_rows, double right_rows,
                     const std::vector<const Clause*>& clauses) const;
  bool is_connected(RelationSet left, RelationSet right) const;
  RelationSet lateral_of(RelationSet set) const;
  Candidates& candidates_of(RelationSet relations);
  double cost_for_goal(const FoundPath& found) const;
  double cost_in_order(const FoundPath& found) const;
  double cost_of_groups(const FoundPath& found) const;
  double distinct_of_order(size_t count, double rows) const;
  FoundPath look_at(const Path& path, const KeyClasses& classes) const;
  FoundPath best(const Candidates& candidates) const;

  QueryContext& context_;
  StatementPlanning& statement_;
  const BoundQuery& query_;
  const JoinProblem& problem_;
  std::span<const OtherRelation> others_;
  std::unordered_map<int32_t, std::vector<IndexKeys>> index_keys_;  // by relation, once asked for
  bool may_read_beyond_ = true;  // a join, what is on neither of its sides
  JoinGoal goal_;
  Arena orders_;  // keys of paths; not the plan's
  SortSpace space_;
  mutable std::vector<double> widths_;  // of relations, as far as they were asked for
  std::deque<Path> paths_;
  std::unordered_map<uint64_t, Candidates> candidates_;
};

}  // namespace pgsilo
