#include "planner/rewrite/min_max.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "catalog/builtin/builtin.h"
#include "catalog/descriptors.h"
#include "planner/access/index_match.h"
#include "planner/access/join_problem.h"
#include "planner/access/planning.h"
#include "planner/binder/scope.h"
#include "planner/bound/expression_tree.h"
#include "planner/bound/make_expression.h"
#include "planner/bound/query_tree.h"
#include "planner/rewrite/fold.h"
#include "planner/rewrite/merge_query.h"

namespace pgsilo {

namespace {

// Whether the aggregate is max (true) or min (false) of a plain column of relation 0; nullopt for
// anything else.
std::optional<bool> wants_greatest(const AggregateExpression& aggregate) {
  const BuiltinProcedure* procedure = find_procedure(aggregate.procedure);
  if (procedure == nullptr || aggregate.levels_up != 0 || aggregate.arguments.size() != 1 ||
      aggregate.filter != nullptr) {
    return std::nullopt;
  }
  if (plain_column_of(*aggregate.arguments[0], 0) < 0) return std::nullopt;
  if (procedure->name == "max") return true;
  if (procedure->name == "min") return false;
  return std::nullopt;
}

bool is_candidate(const BoundQuery& query) {
  return query.is_grouped && query.group_by.empty() && query.having == nullptr &&
         query.relations.size() == 1 && query.from.size() == 1 && query.from[0]->relation == 0 &&
         query.relations[0]->kind == RangeKind::table && query.order_by.empty() &&
         !query.distinct && query.distinct_on.empty() &&
         (query.where == nullptr || (!has_sublink(*query.where) && !is_volatile(*query.where)));
}

class MinMax {
 public:
  MinMax(StatementPlanning& statement, const BoundQuery& query)
      : statement_(statement), arena_(statement.arena), query_(query) {}

  const BoundQuery* run() {
    auto targets = arena_.copy_span(query_.targets);
    for (BoundTarget& target : targets) {
      target.expression = replace(target.expression);
      if (target.expression == nullptr) return &query_;
    }
    auto* rewritten = arena_.make<BoundQuery>(query_);
    rewritten->targets = targets;
    rewritten->is_grouped = false;
    rewritten->relations = {};
    rewritten->from = {};
    rewritten->where = nullptr;
    return rewritten;
  }

 private:
  // Null: something in it is not a min or max that an index answers.
  const BoundExpression* replace(const BoundExpression* expression) {
    if (auto* aggregate = try_as<AggregateExpression>(expression)) return lookup(*aggregate);
    if (expression->kind == ExpressionKind::sublink) return nullptr;
    bool failed = false;
    const BoundExpression* mapped =
        map_children(arena_, expression, [&](const BoundExpression* child) {
          const BoundExpression* replaced = replace(child);
          failed |= replaced == nullptr;
          return replaced == nullptr ? child : replaced;
        });
    return failed ? nullptr : mapped;
  }

  const BoundExpression* lookup(const AggregateExpression& aggregate) {
    std::optional<bool> greatest = wants_greatest(aggregate);
    if (!greatest) return nullptr;
    const BoundExpression* column = aggregate.arguments[0];
    auto* not_null = make_expression<NullTestExpression>(arena_, type_oid::boolean);
    not_null->argument = column;
    not_null->is_not_null = true;
    if (!has_ordered_index(plain_column_of(*column, 0), not_null)) return nullptr;
    auto* inner = arena_.make<BoundQuery>();
    inner->relations = query_.relations;
    inner->from = query_.from;
    const BoundExpression* where =
        query_.where == nullptr ? not_null : make_and(arena_, {query_.where, not_null});
    inner->where = raise_outer(where);
    BoundTarget target;
    target.expression = column;
    target.name = "value";
    inner->targets = arena_.copy_span(std::initializer_list<BoundTarget>{target});
    inner->visible_targets = 1;
    inner->order_by =
        arena_.copy_span(std::initializer_list<QuerySortKey>{{0, *greatest, *greatest}});
    inner->limit_count = make_constant(arena_, type_oid::int8, Datum::of_int(1));
    auto* sublink = make_expression<SublinkExpression>(arena_, aggregate.type, aggregate.location);
    sublink->typmod = aggregate.typmod;
    sublink->sublink_kind = SublinkKind::scalar;
    sublink->query = inner;
    return sublink;
  }

  // References to queries around this one are one level further away.
  const BoundExpression* raise_outer(const BoundExpression* expression) {
    if (auto* column = try_as<ColumnExpression>(expression)) {
      return column->levels_up > 0 ? raise_levels(arena_, column, 1) : column;
    }
    return map_children(arena_, expression,
                        [&](const BoundExpression* child) { return raise_outer(child); });
  }

  bool has_ordered_index(int32_t column, const BoundExpression* not_null) {
    JoinProblem problem = make_join_problem(statement_, query_);
    std::vector<const Clause*> clauses;
    clauses.reserve(problem.clauses.size());
    for (const Clause& clause : problem.clauses) clauses.push_back(&clause);
    Clause without_nulls;
    without_nulls.expression = not_null;
    std::vector<const Clause*> known = clauses;
    known.push_back(&without_nulls);
    std::vector<IndexKeys> keys = folded_index_keys(statement_, query_, 0);
    IndexedRelation relation{query_, 0, keys};
    const TableDescriptor& table = *query_.relations[0]->table;
    return std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
      if (!index->valid) return false;
      IndexMatch match = match_index(arena_, relation, *index, clauses);
      return orders_column(match, column) &&
             (!index->is_partial() || match_predicate(relation, known, match));
    });
  }

  StatementPlanning& statement_;
  Arena& arena_;
  const BoundQuery& query_;
};

}  // namespace

const BoundQuery* use_index_for_min_max(StatementPlanning& statement, const BoundQuery& query) {
  return is_candidate(query) ? MinMax(statement, query).run() : &query;
}

}  // namespace pgsilo
