#include "planner/rewrite/sublink_join.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "catalog/descriptors.h"
#include "planner/access/join_problem.h"
#include "planner/access/strictness.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/exists.h"
#include "planner/rewrite/fold.h"
#include "planner/rewrite/merge_query.h"
#include "planner/rewrite/one_match.h"
#include "planner/rewrite/row_equalities.h"

namespace pgsilo {

namespace {

constexpr size_t most_relations = 60;

class SublinkJoins {
 public:
  SublinkJoins(Arena& arena, ConstantEvaluator* evaluator, const BoundQuery& query)
      : arena_(arena), evaluator_(evaluator), query_(query) {}

  const BoundQuery* run() {
    std::vector<const BoundExpression*> conjuncts;
    split_conjuncts(query_.where, conjuncts);
    relations_.assign(query_.relations.begin(), query_.relations.end());
    from_.assign(query_.from.begin(), query_.from.end());
    std::vector<const BoundExpression*> kept;
    for (const BoundExpression* conjunct : conjuncts) {
      if (!convert(*conjunct)) kept.push_back(conjunct);
    }
    if (kept.size() == conjuncts.size()) return &query_;
    auto* rewritten = arena_.make<BoundQuery>(query_);
    rewritten->relations = arena_.copy_span(relations_);
    rewritten->from = arena_.copy_span(from_);
    kept.insert(kept.end(), added_.begin(), added_.end());
    rewritten->where =
        kept.empty() ? nullptr : make_boolean_list(arena_, BooleanOperator::and_, kept);
    return rewritten;
  }

 private:
  using Equalities = std::vector<const CallExpression*>;

  bool convert(const BoundExpression& conjunct) {
    if (auto* sublink = try_as<SublinkExpression>(&conjunct)) {
      if (sublink->sublink_kind == SublinkKind::exists)
        return convert_exists(*sublink, JoinType::semi);
      if (sublink->sublink_kind == SublinkKind::any) return convert_any(*sublink);
      return false;
    }
    auto* negation = try_as<BooleanExpression>(&conjunct);
    if (negation == nullptr || negation->op != BooleanOperator::not_) return false;
    auto* sublink = try_as<SublinkExpression>(negation->arguments[0]);
    return sublink != nullptr && sublink->sublink_kind == SublinkKind::exists &&
           convert_exists(*sublink, JoinType::anti);
  }

  bool has_room(const BoundQuery& inner) const {
    return relations_.size() + inner.relations.size() + 1 <= most_relations;
  }

  // The inner query's own WHERE must not hold subqueries: they would see another number of levels.
  // Conditions of its joins stay at its joins, where nothing of the outer query is at hand.
  bool can_join(const BoundQuery& inner) const {
    return has_room(inner) && can_merge(inner) && reads_around(inner) == FromReads::nothing &&
           (inner.where == nullptr || !has_sublink(*inner.where));
  }

  bool convert_exists(const SublinkExpression& sublink, JoinType type) {
    const BoundQuery& inner = *without_output(arena_, evaluator_, *sublink.query);
    // An uncorrelated one is answered once for all rows.
    if (!can_join(inner) || inner.where == nullptr) return false;
    MergedQuery merged(arena_, inner, static_cast<int32_t>(relations_.size()));
    const BoundExpression* condition = merged.where();
    if (!reads_own(*condition)) return false;
    add_join(type, merged, condition);
    return true;
  }

  // Reads a relation that was here before.
  bool reads_own(const BoundExpression& condition) const {
    bool found = false;
    relations_of(condition).for_each(
        [&](int32_t relation) { found |= relation < static_cast<int32_t>(relations_.size()); });
    return found;
  }

  void add_join(JoinType type, const MergedQuery& merged, const BoundExpression* condition) {
    if (type == JoinType::semi && finds_one_row(merged, *condition)) {
      from_.push_back(merged.shape());
      added_.push_back(condition);
    } else {
      from_ = {make_join(arena_, type, join_items(arena_, from_), merged.shape(), condition)};
    }
    for (const BoundRelation* relation : merged.relations()) relations_.push_back(relation);
  }

  bool finds_one_row(const MergedQuery& merged, const BoundExpression& condition) const {
    return merged.relations().size() == 1 &&
           has_one_match(*merged.relations()[0], static_cast<int32_t>(relations_.size()),
                         &condition);
  }

  bool convert_any(const SublinkExpression& sublink) {
    const BoundQuery& inner = *sublink.query;
    if (has_sublink(*sublink.condition) || is_volatile(*sublink.condition)) return false;
    if (relations_of(*sublink.condition).empty()) return false;
    if (!reads_outer(inner)) return convert_uncorrelated(sublink);
    if (!can_join(inner)) return false;
    MergedQuery merged(arena_, inner, static_cast<int32_t>(relations_.size()));
    const BoundExpression* condition = replace_parameters(
        sublink.condition, sublink, [&](int32_t column) { return merged.target(column); });
    condition = make_and(arena_, {condition, merged.where()});
    add_join(JoinType::semi, merged, condition);
    return true;
  }

  // Each different row of the subquery matches a row at most once only if rows are the same exactly
  // when they are equal: where a column is compared as another type, the subquery returns that.
  bool convert_uncorrelated(const SublinkExpression& sublink) {
    Equalities equalities = row_equalities(*sublink.condition, sublink.row_parameters);
    if (equalities.empty() || !has_room(*sublink.query) || calls_volatile(*sublink.query))
      return false;
    const BoundQuery* query = comparing(sublink, equalities);
    if (query == nullptr) return false;
    auto* relation = arena_.make<BoundRelation>();
    relation->kind = RangeKind::subquery;
    relation->alias = "ANY_subquery";
    relation->query = query;
    relation->distinct_rows = true;
    auto columns = arena_.make_span<BoundColumn>(static_cast<size_t>(query->visible_targets));
    for (size_t i = 0; i < columns.size(); ++i) {
      const BoundTarget& target = query->targets[i];
      columns[i] = {target.name, target.expression->type, target.expression->typmod};
    }
    relation->columns = columns;
    int32_t number = static_cast<int32_t>(relations_.size());
    relations_.push_back(relation);
    auto* item = arena_.make<FromItem>();
    item->relation = number;
    from_.push_back(item);
    for (size_t i = 0; i < columns.size(); ++i) {
      auto* equality = arena_.make<CallExpression>(*equalities[i]);
      const BoundExpression* sides[] = {
          equality->arguments[0],
          make_column(arena_, number, static_cast<int32_t>(i), columns[i].type, columns[i].typmod)};
      equality->arguments = arena_.copy_span(std::span<const BoundExpression*>(sides));
      added_.push_back(equality);
    }
    return true;
  }

  // The subquery with one column for each equality, what that compares. Null: its columns cannot be
  // changed without its rows.
  const BoundQuery* comparing(const SublinkExpression& sublink, const Equalities& equalities) {
    const BoundQuery& inner = *sublink.query;
    if (compares_columns(sublink, equalities)) return &inner;
    bool rows_depend_on_columns = inner.distinct || !inner.order_by.empty() ||
                                  !inner.distinct_on.empty() ||
                                  inner.set_operation != QuerySetOperation::none;
    if (rows_depend_on_columns || inner.has_set_returning_targets) return nullptr;
    auto* query = arena_.make<BoundQuery>(inner);
    auto targets = arena_.make_span<BoundTarget>(equalities.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      targets[i].name = "?column?";
      targets[i].expression = replace_parameters(
          equalities[i]->arguments[1], sublink,
          [&](int32_t column) { return inner.targets[static_cast<size_t>(column)].expression; });
    }
    query->targets = targets;
    query->visible_targets = static_cast<int32_t>(targets.size());
    return query;
  }

  // Equality i compares column i as it is.
  static bool compares_columns(const SublinkExpression& sublink, const Equalities& equalities) {
    if (equalities.size() != sublink.row_parameters.size()) return false;
    for (size_t i = 0; i < equalities.size(); ++i) {
      auto* parameter = try_as<ExecutionParameterExpression>(equalities[i]->arguments[1]);
      if (parameter == nullptr || parameter->index != sublink.row_parameters[i]) return false;
    }
    return true;
  }

  const BoundExpression* replace_parameters(const BoundExpression* condition,
                                            const SublinkExpression& sublink,
                                            FunctionRef<const BoundExpression*(int32_t)> column) {
    if (auto* parameter = try_as<ExecutionParameterExpression>(condition)) {
      for (size_t i = 0; i < sublink.row_parameters.size(); ++i) {
        if (sublink.row_parameters[i] == parameter->index) return column(static_cast<int32_t>(i));
      }
      return condition;
    }
    return map_children(arena_, condition, [&](const BoundExpression* child) {
      return replace_parameters(child, sublink, column);
    });
  }

  Arena& arena_;
  ConstantEvaluator* evaluator_;
  const BoundQuery& query_;
  std::vector<const BoundRelation*> relations_;
  std::vector<const FromItem*> from_;
  std::vector<const BoundExpression*> added_;
};

}  // namespace

namespace {

// An inner join's conditions that have subqueries, which say the same in WHERE, go to `moved`.
const FromItem* without_sublinks(Arena& arena, const FromItem* item,
                                 std::vector<const BoundExpression*>& moved) {
  if (item->relation >= 0 || item->join_type != JoinType::inner) return item;
  std::vector<const BoundExpression*> conjuncts;
  if (item->condition != nullptr) split_conjuncts(item->condition, conjuncts);
  std::vector<const BoundExpression*> kept;
  std::ranges::copy_if(conjuncts, std::back_inserter(kept),
                       [](const auto* each) { return !has_sublink(*each); });
  auto* copy = arena.make<FromItem>(*item);
  if (kept.size() != conjuncts.size()) {
    std::ranges::copy_if(conjuncts, std::back_inserter(moved),
                         [](const auto* each) { return has_sublink(*each); });
    copy->condition =
        kept.empty() ? nullptr : make_boolean_list(arena, BooleanOperator::and_, kept);
  }
  copy->left = without_sublinks(arena, item->left, moved);
  copy->right = without_sublinks(arena, item->right, moved);
  return copy;
}

const BoundQuery& with_sublinks_in_where(Arena& arena, const BoundQuery& query) {
  std::vector<const BoundExpression*> moved{query.where};
  std::vector<const FromItem*> from;
  for (const FromItem* item : query.from) from.push_back(without_sublinks(arena, item, moved));
  if (moved.size() == 1) return query;
  if (query.where == nullptr) moved.erase(moved.begin());
  auto* rewritten = arena.make<BoundQuery>(query);
  rewritten->from = arena.copy_span(from);
  rewritten->where = make_boolean_list(arena, BooleanOperator::and_, moved);
  return *rewritten;
}

}  // namespace

const BoundQuery* join_sublinks(Arena& arena, ConstantEvaluator* evaluator,
                                const BoundQuery& query) {
  if (query.from.empty()) return &query;
  const BoundQuery& rewritten = with_sublinks_in_where(arena, query);
  if (rewritten.where == nullptr || !has_sublink(*rewritten.where)) return &rewritten;
  return SublinkJoins(arena, evaluator, rewritten).run();
}

}  // namespace pgsilo
