// What it costs to make of a path's rows what the query wants of them: order, groups.
#include <algorithm>
#include <cmath>

#include "planner/access/join_search.h"
#include "planner/access/selectivity.h"
#include "planner/access/spill_cost.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

double sort_cost(double rows) {
  return cost::sort_comparison * rows * std::log2(std::max(rows, 2.0)) + cost::row * rows;
}

double hash_cost(double rows, double distinct) {
  constexpr double cached = 1000;
  double misses = 0.25 * std::max(0.0, std::log2(std::max(distinct, 1.0) / cached));
  return rows * cost::hash_row * (1 + misses);
}

SortedCost sorted_cost(const SortInput& input, size_t work_mem) {
  double groups = std::max(1.0, input.groups);
  double rows = input.rows / groups;
  double one = sort_cost(rows);
  bool keeps_few = sort_spill_cost(std::min(rows, input.kept), input.width, work_mem) == 0;
  if (!keeps_few) one += sort_spill_cost(rows, input.width, work_mem);
  return {input.startup_cost + (input.total_cost - input.startup_cost) / groups + one,
          input.total_cost + groups * one};
}

double JoinSearch::distinct_of_order(size_t count, double rows) const {
  std::vector<const BoundExpression*> expressions;
  for (const OrderKey& key : goal_.order.first(count)) expressions.push_back(key.expression);
  return count == 0 ? 1 : distinct_rows(statement_, query_, expressions, rows);
}

double JoinSearch::cost_for_goal(const FoundPath& found) const {
  return goal_.is_grouped ? cost_of_groups(found) : cost_in_order(found);
}

double JoinSearch::cost_in_order(const FoundPath& found) const {
  const Path& path = *found.path;
  SortedCost cost{path.startup_cost, path.total_cost};
  if (found.sorted < goal_.order.size()) {
    double groups = distinct_of_order(found.sorted, path.rows);
    cost = sorted_cost({path.startup_cost, path.total_cost, path.rows,
                        width_of(path.relations, path.rows), groups, goal_.kept},
                       statement_.settings.work_mem_bytes);
  }
  return cost.startup + (cost.total - cost.startup) * goal_.demand.share_of(path.rows);
}

double JoinSearch::cost_of_groups(const FoundPath& found) const {
  const Path& path = *found.path;
  double groups =
      goal_.groups.empty() ? 1 : distinct_rows(statement_, query_, goal_.groups, path.rows);
  double total = path.total_cost + groups * cost::row;
  if (!goal_.within.empty() && !found.grouped.within) total += sort_cost(path.rows);
  bool in_order = found.grouped.sorted == goal_.order.size();
  if (found.grouped.neighbours) {
    total += path.rows * cost::operation;
    double startup = path.startup_cost + (total - path.startup_cost) / groups;
    if (in_order) return startup + (total - startup) * goal_.demand.share_of(groups);
  } else {
    const SpillCost spill = group_spill_cost(path.rows, width_of(path.relations, path.rows), groups,
                                             1, statement_.settings.hash_memory_bytes);
    total += hash_cost(path.rows, groups) + spill.startup + spill.run;
    if (!statement_.settings.enable_hash_aggregate) total += cost::disabled;
  }
  if (in_order) return total;
  return sorted_cost({total, total, groups, width_of(path.relations, path.rows), 1, goal_.kept},
                     statement_.settings.work_mem_bytes)
      .total;
}

}  // namespace pgsilo
