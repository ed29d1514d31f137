// Bounds of one value: a > 5 AND a < 9 keep what both keep, not the product of what each does.
#include <algorithm>

#include "base/long_work.h"
#include "catalog/builtin/builtin.h"
#include "planner/access/comparison_selectivity.h"
#include "planner/access/join_problem.h"
#include "planner/access/parameter_guess.h"
#include "planner/access/selectivity.h"
#include "planner/bound/expression_tree.h"

namespace pgsilo {

namespace {

// PostgreSQL's: of two bounds of which nothing is known, and of two that leave nothing.
constexpr double default_range = 0.005;
constexpr double least_range = 1e-10;
// Bounds of so many different values are looked for; of others each counts for itself.
constexpr size_t most_ranges = 64;

struct Bound {
  Clause* clause = nullptr;  // null: it is none
  const BoundExpression* value = nullptr;
  bool is_upper = false;
};

struct Range {
  const BoundExpression* value = nullptr;
  Clause* first = nullptr;  // of both kinds, the one that came first
  Clause* lower = nullptr;  // the most selective ones
  Clause* upper = nullptr;
  double lower_selectivity = 1;
  double upper_selectivity = 1;
};

Bound bound_of(Clause& clause) {
  auto* call = try_as<CallExpression>(clause.expression);
  if (call == nullptr || call->operator_oid == invalid_oid || call->arguments.size() != 2)
    return {};
  const BuiltinOperator* op = find_operator(call->operator_oid);
  if (op == nullptr) return {};
  bool less = op->name == "<" || op->name == "<=";
  bool greater = op->name == ">" || op->name == ">=";
  if (!less && !greater) return {};
  bool left = !relations_of(*call->arguments[0]).empty();
  if (left == !relations_of(*call->arguments[1]).empty()) return {};
  return {&clause, call->arguments[left ? 0 : 1], less == left};
}

bool checked_together(const Clause& left, const Clause& right) {
  return left.required == right.required && left.special_join == right.special_join;
}

double range_selectivity(const Range& range, double nulls) {
  if (range.lower_selectivity == rare_part || range.upper_selectivity == rare_part)
    return rare_part;
  bool unknown = range.lower_selectivity == default_inequality ||
                 range.upper_selectivity == default_inequality;
  if (unknown) return default_range;
  double part = range.lower_selectivity + range.upper_selectivity - 1 + nulls;
  constexpr double rounding = 0.01;
  if (part > 0) return part;
  return part < -rounding ? default_range : least_range;
}

// Of several bounds of one kind the most selective one counts.
void add(Range& range, const Bound& bound) {
  Clause*& kept = bound.is_upper ? range.upper : range.lower;
  double& selectivity = bound.is_upper ? range.upper_selectivity : range.lower_selectivity;
  if (range.first == nullptr) range.first = bound.clause;
  selectivity = kept == nullptr ? bound.clause->selectivity
                                : std::min(selectivity, bound.clause->selectivity);
  if (kept == nullptr) {
    kept = bound.clause;
  } else {
    bound.clause->selectivity = 1;
  }
}

}  // namespace

void pair_ranges(StatementPlanning& statement, const BoundQuery& query, std::span<Clause> clauses) {
  std::vector<Range> ranges;
  for (Clause& clause : clauses) {
    Bound bound = bound_of(clause);
    if (bound.clause == nullptr) continue;
    constexpr size_t comparison_work = 64;
    did_work(ranges.size() * comparison_work);
    auto same = std::find_if(ranges.begin(), ranges.end(), [&](const Range& range) {
      return checked_together(*range.first, clause) && equal_expressions(range.value, bound.value);
    });
    if (same == ranges.end() && ranges.size() >= most_ranges) continue;
    if (same == ranges.end()) same = ranges.insert(ranges.end(), Range{.value = bound.value});
    add(*same, bound);
  }
  for (Range& range : ranges) {
    if (range.lower != nullptr) range.lower->selectivity = range.lower_selectivity;
    if (range.upper != nullptr) range.upper->selectivity = range.upper_selectivity;
    if (range.lower == nullptr || range.upper == nullptr) continue;
    double nulls = know_column(statement, query, *range.value, ColumnUse::equality).null_fraction;
    Clause& later = range.first == range.lower ? *range.upper : *range.lower;
    if (range.first->selectivity > 0)
      later.selectivity = std::min(1.0, range_selectivity(range, nulls) / range.first->selectivity);
  }
}

}  // namespace pgsilo
