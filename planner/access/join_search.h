// Finding the cheapest way to join: dynamic programming over sets of relations (all shapes) for
// few, a greedy choice of the next pair for many. Thread safety: none; one per query being planned.
#pragma once

#include <deque>
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

struct JoinGoal {
  std::span<const OrderKey> wanted_order;  // empty: none
  RowDemand demand;
};

class JoinSearch {
 public:
  // `others`: by relation number, plan null for tables.
  JoinSearch(StatementPlanning& statement, const BoundQuery& query, const JoinProblem& problem,
             std::span<const OtherRelation> others, JoinGoal goal);

  // The best path for all relations of the problem (at least one). `ordered` paths are only
  // returned if they are cheaper than the best other plus a sort, given the goal's demand.
  const Path& run();

 private:
  struct Candidates {
    std::vector<const Path*> paths;
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
  void correct_selectivity(int32_t relation, IndexMatch& match) const;
  // With the match in it.
  void add_index_path(int32_t relation, RelationSet outer,
                      const std::vector<const Clause*>& clauses, Path path,
                      std::vector<const Path*>& paths);
  void search_all();
  void search_greedily();
  void join_as_written();
  RelationSet join_as_written(const FromItem& item);
  void join(RelationSet left, RelationSet right);
  void join_sides(const Candidates& left, const Candidates& right, RelationSet left_set,
                  RelationSet right_set, int32_t special_join, Candidates& result);
  void add_parameterised_joins(const Path& left, const Path& shape, RelationSet right_set,
                               Candidates& result);
  Path join_shape(RelationSet left_set, RelationSet right_set, int32_t special_join) const;
  static bool may_hash(const Path& shape);
  void add_hash_join(const Path& left, const Path& right, const Path& shape, Candidates& result);
  void add_nested_loop(const Path& left, const Path& right, const Path& shape, Candidates& result);
  void add_path(Candidates& candidates, Path path);
  double joined_rows(JoinType type, double left_rows, double right_rows,
                     const std::vector<const Clause*>& clauses) const;
  bool is_connected(RelationSet left, RelationSet right) const;
  RelationSet lateral_of(RelationSet set) const;
  double cost_for_goal(const Path& path) const;
  const Path& best(const Candidates& candidates) const;

  StatementPlanning& statement_;
  const BoundQuery& query_;
  const JoinProblem& problem_;
  std::span<const OtherRelation> others_;
  bool may_read_beyond_ = true;  // a join, what is on neither of its sides
  JoinGoal goal_;
  std::deque<Path> paths_;
  std::unordered_map<uint64_t, Candidates> candidates_;
};

double sort_cost(double rows);

}  // namespace pgsilo
