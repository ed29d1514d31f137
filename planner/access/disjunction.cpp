#include "planner/access/disjunction.h"

#include <utility>

#include "base/long_work.h"
#include "sql/limits.h"

namespace pgsilo {

namespace {

using Disjunction = std::vector<Conjunction>;

Disjunction expand(const BoundExpression& condition);

// Each of the left with each of the right.
Disjunction combine(Disjunction left, const Disjunction& right) {
  Disjunction combined;
  combined.reserve(left.size() * right.size());
  for (Conjunction& one : left) {
    for (const Conjunction& other : right) {
      Conjunction both = one;
      both.insert(both.end(), other.begin(), other.end());
      combined.push_back(std::move(both));
    }
  }
  return combined;
}

Disjunction expand_and(const BooleanExpression& node) {
  Disjunction all{{}};
  for (const BoundExpression* argument : node.arguments) {
    Disjunction one = expand(*argument);
    bool too_many = all.size() > 1 && one.size() > 1 &&
                    all.size() * one.size() > limits::most_multiplied_alternatives;
    if (too_many) one = {{argument}};
    all = combine(std::move(all), one);
  }
  return all;
}

Disjunction expand(const BoundExpression& condition) {
  constexpr size_t conjunction_work = 1024;
  did_work(conjunction_work);
  const auto* node = try_as<BooleanExpression>(&condition);
  if (node == nullptr || node->op == BooleanOperator::not_) return {{&condition}};
  if (node->op == BooleanOperator::and_) return expand_and(*node);
  Disjunction all;
  for (const BoundExpression* argument : node->arguments) {
    for (Conjunction& one : expand(*argument)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<Conjunction> disjunction_of(const BoundExpression& condition) {
  const auto* node = try_as<BooleanExpression>(&condition);
  if (node == nullptr || node->op != BooleanOperator::or_) return {};
  return expand(condition);
}

}  // namespace pgsilo
