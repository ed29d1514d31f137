#include "planner/rewrite/set_returning.h"

#include <algorithm>
#include <vector>

#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/fold.h"
#include "planner/rewrite/levels.h"
#include "planner/unsupported_features.h"

namespace pgsilo {

namespace {

class Expansion {
 public:
  Expansion(Arena& arena, int32_t relation) : arena_(arena), relation_(relation) {}

  const BoundExpression* replace(const BoundExpression* expression) {
    auto* set = try_as<SetReturningExpression>(expression);
    if (set == nullptr) {
      return map_children(arena_, expression,
                          [&](const BoundExpression* child) { return replace(child); });
    }
    if (contains_set(*set->call)) throw_unsupported(UnsupportedFeature::nested_set_returning);
    size_t column = 0;
    while (column < calls.size() && !shares_result(calls[column], set->call)) ++column;
    if (column == calls.size()) {
      calls.push_back(set->call);
      columns.push_back({"set", set->type, set->typmod});
    }
    return make_column(arena_, relation_, static_cast<int32_t>(column), set->type, set->typmod,
                       set->location);
  }

  std::vector<const BoundExpression*> calls;
  std::vector<BoundColumn> columns;

 private:
  Arena& arena_;
  int32_t relation_;
};

const BoundRelation* make_relation(Arena& arena, const Expansion& expansion) {
  auto* relation = arena.make<BoundRelation>();
  relation->kind = RangeKind::function;
  relation->lateral = true;
  relation->calls = arena.copy_span(expansion.calls);
  relation->columns = arena.copy_span(expansion.columns);
  auto returns_set = arena.make_span<bool>(expansion.calls.size());
  std::fill(returns_set.begin(), returns_set.end(), true);
  relation->returns_set = returns_set;
  return relation;
}

const FromItem* make_item(Arena& arena, int32_t relation) {
  auto* item = arena.make<FromItem>();
  item->relation = relation;
  return item;
}

// The sets beside the rows of FROM.
const BoundQuery* expand_rows(Arena& arena, const BoundQuery& query) {
  int32_t number = static_cast<int32_t>(query.relations.size());
  Expansion expansion(arena, number);
  auto targets = arena.copy_span(query.targets);
  for (BoundTarget& target : targets) target.expression = expansion.replace(target.expression);
  auto* rewritten = arena.make<BoundQuery>(query);
  std::vector<const BoundRelation*> relations(query.relations.begin(), query.relations.end());
  relations.push_back(make_relation(arena, expansion));
  std::vector<const FromItem*> from(query.from.begin(), query.from.end());
  from.push_back(make_item(arena, number));
  rewritten->relations = arena.copy_span(relations);
  rewritten->from = arena.copy_span(from);
  rewritten->targets = targets;
  rewritten->has_set_returning_targets = false;
  return rewritten;
}

bool is_key_target(const BoundQuery& query, int32_t target) {
  return std::ranges::find(query.distinct_on, target) != query.distinct_on.end() ||
         std::ranges::find(query.order_by, target, &QuerySortKey::target) != query.order_by.end();
}

// Whether ORDER BY and DISTINCT ON see the rows before the sets do: no key is a set, nor has to be
// told of when there are sets already.
bool sorts_first(const BoundQuery& query) {
  if (query.distinct || query.order_by.empty() || query.with_ties) return false;
  for (size_t i = 0; i < query.targets.size(); ++i) {
    if (is_key_target(query, static_cast<int32_t>(i)) && contains_set(*query.targets[i].expression))
      return false;
  }
  return true;
}

// SELECT generate_series(1, a) FROM t ORDER BY b is SELECT g FROM (SELECT a, b FROM t ORDER BY b)
// s, LATERAL ROWS FROM (generate_series(1, s.a)) AS g, with g for each row of s in their order.
class InnerQuery {
 public:
  InnerQuery(Arena& arena, const BoundQuery& query)
      : arena_(arena), query_(query), sorts_first_(sorts_first(query)) {}

  const BoundQuery* expand() {
    std::vector<BoundTarget> targets(query_.targets.begin(), query_.targets.end());
    Expansion expansion(arena_, 1);
    for (size_t i = 0; i < targets.size(); ++i) {
      const BoundExpression* expression = targets[i].expression;
      bool is_key = sorts_first_ && is_key_target(query_, static_cast<int32_t>(i));
      if (is_key) key_columns_.push_back({static_cast<int32_t>(i), column_count()});
      targets[i].expression = is_key ? add(expression) : expansion.replace(read(expression));
    }
    auto* outer = arena_.make<BoundQuery>();
    outer->targets = arena_.copy_span(targets);
    outer->visible_targets = query_.visible_targets;
    outer->distinct = query_.distinct;
    if (!sorts_first_) {
      outer->distinct_on = query_.distinct_on;
      outer->order_by = query_.order_by;
    }
    outer->limit_count = query_.limit_count;
    outer->limit_offset = query_.limit_offset;
    outer->with_ties = query_.with_ties;
    const BoundRelation* sets = make_relation(arena_, expansion);
    auto* each = arena_.make<BoundRelation>(*sets);
    each->expands_rows = true;
    outer->relations = arena_.copy_span(std::vector<const BoundRelation*>{rows(), each});
    outer->from =
        arena_.copy_span(std::vector<const FromItem*>{make_item(arena_, 0), make_item(arena_, 1)});
    return outer;
  }

 private:
  int32_t column_count() const { return static_cast<int32_t>(targets_.size()); }

  bool is_group_key(const BoundExpression* expression) const {
    return std::ranges::find(query_.group_by, expression) != query_.group_by.end();
  }

  // What the rows have of it is read from them. Volatile functions are called for each row that
  // the sets make.
  const BoundExpression* read(const BoundExpression* expression) {
    if (expression->kind == ExpressionKind::constant ||
        expression->kind == ExpressionKind::parameter)
      return expression;
    bool is_outside = contains_set(*expression) || is_volatile(*expression);
    if (!is_outside || is_group_key(expression) || is_of_rows(*expression)) return add(expression);
    if (auto* set = try_as<SetReturningExpression>(expression)) {
      auto* copy = arena_.make<SetReturningExpression>(*set);
      copy->call = as<CallExpression>(
          map_children(arena_, set->call, [&](const BoundExpression* e) { return read(e); }));
      return copy;
    }
    return map_children(arena_, expression, [&](const BoundExpression* e) { return read(e); });
  }

  // Whatever is called in it.
  static bool is_of_rows(const BoundExpression& expression) {
    return expression.kind == ExpressionKind::sublink ||
           expression.kind == ExpressionKind::aggregate;
  }

  const BoundExpression* add(const BoundExpression* expression) {
    BoundTarget target;
    target.expression = expression;
    target.name = "column";
    targets_.push_back(target);
    columns_.push_back({target.name, expression->type, expression->typmod});
    return make_column(arena_, 0, column_count() - 1, expression->type, expression->typmod,
                       expression->location);
  }

  const BoundRelation* rows() {
    BoundQuery inner = query_;
    inner.targets = arena_.copy_span(targets_);
    inner.visible_targets = column_count();
    inner.has_set_returning_targets = false;
    inner.distinct = false;
    inner.limit_count = inner.limit_offset = nullptr;
    inner.with_ties = false;
    inner.distinct_on = {};
    inner.order_by = {};
    if (sorts_first_) keep_keys(inner);
    auto* relation = arena_.make<BoundRelation>();
    relation->kind = RangeKind::subquery;
    relation->keeps_rows = true;
    relation->columns = arena_.copy_span(columns_);
    relation->query = raise_levels(arena_, inner);
    return relation;
  }

  void keep_keys(BoundQuery& inner) {
    auto order_by = arena_.copy_span(query_.order_by);
    for (QuerySortKey& key : order_by) key.target = inner_column(key.target);
    inner.order_by = order_by;
    auto distinct_on = arena_.copy_span(query_.distinct_on);
    for (int32_t& target : distinct_on) target = inner_column(target);
    inner.distinct_on = distinct_on;
  }

  int32_t inner_column(int32_t target) const {
    return std::ranges::find(key_columns_, target, &KeyColumn::target)->column;
  }

  struct KeyColumn {
    int32_t target;
    int32_t column;
  };

  Arena& arena_;
  const BoundQuery& query_;
  bool sorts_first_;
  std::vector<BoundTarget> targets_;
  std::vector<BoundColumn> columns_;
  std::vector<KeyColumn> key_columns_;
};

}  // namespace

bool contains_set(const BoundExpression& expression) {
  return contains(expression,
                  [](const BoundExpression& e) { return e.kind == ExpressionKind::set_returning; });
}

const BoundQuery* expand_set_returning(Arena& arena, const BoundQuery& query) {
  bool groups_by_set =
      std::ranges::any_of(query.group_by, [](const auto* key) { return contains_set(*key); });
  if (groups_by_set) throw_unsupported(UnsupportedFeature::set_returning_group_key);
  // A volatile condition is asked once for each row, whatever the sets make of it.
  bool asks_first = query.where != nullptr && is_volatile(*query.where);
  if (query.is_grouped || sorts_first(query) || asks_first)
    return InnerQuery(arena, query).expand();
  return expand_rows(arena, query);
}

}  // namespace pgsilo
