#include "planner/bound/query_tree.h"

#include <algorithm>
#include <vector>

#include "planner/bound/expression_tree.h"

namespace pgsilo {

namespace {

using Visit = FunctionRef<void(const BoundExpression&)>;

void visit_optional(const BoundExpression* expression, Visit visit) {
  if (expression != nullptr) visit(*expression);
}

void visit_list(ExpressionList list, Visit visit) {
  for (const BoundExpression* expression : list) visit(*expression);
}

void visit_from(const FromItem& item, Visit visit) {
  if (item.relation >= 0) return;
  visit_from(*item.left, visit);
  visit_from(*item.right, visit);
  visit_optional(item.condition, visit);
}

class LevelWalker {
 public:
  // The nearest query that is walked as a whole is `outermost` deep. `walked`: WITH queries that
  // need not be walked again, for all references to one see the same.
  LevelWalker(int32_t outermost, LevelVisitor visit, std::vector<const BoundCte*>& walked)
      : outermost_(outermost), visit_(visit), walked_(walked) {}

  void expression(const BoundExpression& from, int32_t depth) {
    if (!visit_(from, depth)) return;
    for_each_child(from, [&](const BoundExpression& child) { expression(child, depth); });
    if (auto* sublink = try_as<SublinkExpression>(&from)) query(*sublink->query, depth + 1);
  }

  void query(const BoundQuery& from, int32_t depth) {
    for_each_expression(from, [&](const BoundExpression& inner) { expression(inner, depth); });
    for (const BoundRelation* relation : from.relations) {
      if (relation->query != nullptr) query(*relation->query, depth + 1);
      if (relation->kind == RangeKind::cte)
        with_query(*relation->cte, depth - relation->cte_levels_up);
    }
    if (from.left != nullptr) query(*from.left, depth + 1);
    if (from.right != nullptr) query(*from.right, depth + 1);
  }

 private:
  void with_query(const BoundCte& cte, int32_t owner) {
    if (std::find(walked_.begin(), walked_.end(), &cte) != walked_.end()) return;
    walked_.push_back(&cte);
    if (owner >= outermost_) return query(*cte.query, owner + 1);
    // Its queries are as deep as those that are walked, and are none of them: what it reads of
    // itself concerns nobody here.
    auto escaping = [&](const BoundExpression& inner, int32_t depth) {
      if (inner.kind == ExpressionKind::sublink) return true;
      auto* column = try_as<ColumnExpression>(&inner);
      auto* aggregate = try_as<AggregateExpression>(&inner);
      int32_t levels_up = column != nullptr      ? column->levels_up
                          : aggregate != nullptr ? aggregate->levels_up
                                                 : depth - owner;
      return depth - levels_up > owner || visit_(inner, depth);
    };
    LevelWalker(owner + 1, escaping, walked_).query(*cte.query, owner + 1);
  }

  const int32_t outermost_;
  LevelVisitor visit_;
  std::vector<const BoundCte*>& walked_;
};

}  // namespace

void for_each_expression(const BoundQuery& query, Visit visit) {
  for (const BoundRelation* relation : query.relations) {
    visit_list(relation->calls, visit);
    for (ExpressionList row : relation->rows) visit_list(row, visit);
  }
  for (const FromItem* item : query.from) visit_from(*item, visit);
  visit_optional(query.where, visit);
  for (const BoundTarget& target : query.targets) visit(*target.expression);
  visit_list(query.group_by, visit);
  visit_optional(query.having, visit);
  visit_optional(query.limit_count, visit);
  visit_optional(query.limit_offset, visit);
}

void walk_levels(const BoundExpression& expression, int32_t depth, LevelVisitor visit) {
  std::vector<const BoundCte*> walked;
  LevelWalker(depth + 1, visit, walked).expression(expression, depth);
}

void walk_levels(const BoundQuery& query, int32_t depth, LevelVisitor visit) {
  std::vector<const BoundCte*> walked;
  LevelWalker(depth, visit, walked).query(query, depth);
}

namespace {

template <typename Walked>
bool any_volatile(const Walked& walked) {
  bool found = false;
  walk_levels(walked, 0, [&](const BoundExpression& expression, int32_t) {
    auto* call = try_as<CallExpression>(&expression);
    found |= call != nullptr && call->volatility == Volatility::volatile_;
    return !found;
  });
  return found;
}

}  // namespace

bool calls_volatile(const BoundExpression& expression) { return any_volatile(expression); }
bool calls_volatile(const BoundQuery& query) { return any_volatile(query); }

bool has_sublink(const BoundExpression& expression) {
  return contains(expression,
                  [](const BoundExpression& part) { return part.kind == ExpressionKind::sublink; });
}

bool reads_outer(const BoundExpression& expression) {
  return contains(expression, [](const BoundExpression& part) {
    auto* column = try_as<ColumnExpression>(&part);
    return column != nullptr && column->levels_up > 0;
  });
}

bool reads_outer(const BoundQuery& query) {
  bool found = false;
  walk_levels(query, 0, [&](const BoundExpression& expression, int32_t depth) {
    if (auto* column = try_as<ColumnExpression>(&expression)) found |= column->levels_up > depth;
    if (auto* aggregate = try_as<AggregateExpression>(&expression))
      found |= aggregate->levels_up > depth;
    return !found;
  });
  return found;
}

}  // namespace pgsilo
