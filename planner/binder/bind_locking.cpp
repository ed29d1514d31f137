// FOR UPDATE, NO KEY UPDATE, SHARE and KEY SHARE: which tables' rows are locked, and how.
#include <algorithm>
#include <string_view>
#include <vector>

#include "catalog/descriptors.h"
#include "planner/binder/query_binder.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

// Why rows of the query's result do not stand for rows of its tables; empty: they do.
std::string_view obstacle(const BoundQuery& query) {
  if (query.set_operation != QuerySetOperation::none) return "UNION/INTERSECT/EXCEPT";
  if (query.distinct || !query.distinct_on.empty()) return "DISTINCT clause";
  if (!query.group_by.empty()) return "GROUP BY clause";
  if (query.having != nullptr) return "HAVING clause";
  if (query.is_grouped) return "aggregate functions";
  if (query.has_set_returning_targets) return "set-returning functions in the target list";
  return {};
}

void check_lockable(const BoundQuery& query, ast::LockStrength strength) {
  std::string_view reason = obstacle(query);
  if (reason.empty()) return;
  throw SqlError(sqlstate::feature_not_supported,
                 concat(lock_clause_name(strength), " is not allowed with ", reason));
}

class LockingBinder {
 public:
  LockingBinder(StatementBinding& binding, const ast::LockingClause& clause, BoundQuery& query)
      : binding_(binding), arena_(binding.arena), clause_(clause), query_(query) {}

  void mark_all() {
    check_lockable(query_, clause_.strength);
    for (size_t i = 0; i < query_.relations.size(); ++i) {
      RangeKind kind = query_.relations[i]->kind;
      if (kind == RangeKind::table || kind == RangeKind::subquery) mark(static_cast<int32_t>(i));
    }
  }

  void mark(int32_t relation) {
    if (query_.relations[relation]->kind == RangeKind::table) {
      mark_table(relation);
    } else {
      if (query_.relations[relation]->query == nullptr) return add_mark(relation);
      mark_subquery(relation);
      // One row of constants has nothing to lock.
      const BoundQuery& subquery = *query_.relations[relation]->query;
      if (subquery.from.empty() && subquery.limit_count == nullptr) return;
    }
    add_mark(relation);
  }

 private:
  void mark_table(int32_t relation) {
    const TableDescriptor& table = *query_.relations[relation]->table;
    if (table.kind == RelationKind::sequence) {
      throw SqlError(sqlstate::wrong_object_type,
                     concat("cannot lock rows in sequence \"", table.name, "\""));
    }
    if (table.kind == RelationKind::table) binding_.use_table(&table, TableUse::lock_rows);
  }
  // Several clauses may name it: the strongest lock, the least patience.
  void add_mark(int32_t relation) {
    std::vector<BoundRowMark> marks(query_.row_marks.begin(), query_.row_marks.end());
    auto known = std::find_if(marks.begin(), marks.end(),
                              [&](const BoundRowMark& mark) { return mark.relation == relation; });
    if (known == marks.end()) {
      marks.push_back({relation, clause_.strength, clause_.wait});
    } else {
      known->strength = std::max(known->strength, clause_.strength);
      known->wait = std::max(known->wait, clause_.wait);
    }
    query_.row_marks = arena_.copy_span(marks);
  }
  void mark_subquery(int32_t relation) {
    auto* changed = arena_.make<BoundRelation>(*query_.relations[relation]);
    auto* subquery = arena_.make<BoundQuery>(*changed->query);
    LockingBinder(binding_, clause_, *subquery).mark_all();
    changed->query = subquery;
    auto relations = arena_.copy_span(query_.relations);
    relations[relation] = changed;
    query_.relations = relations;
  }

  StatementBinding& binding_;
  Arena& arena_;
  const ast::LockingClause& clause_;
  BoundQuery& query_;
};

void raise_not_lockable(const Scope& scope, ast::LockStrength strength, std::string_view what,
                        int32_t location) {
  throw SqlError(sqlstate::feature_not_supported,
                 concat(lock_clause_name(strength), " cannot be applied to ", what))
      .at(scope.position(location));
}

void mark_named(Scope& scope, const ast::LockingClause& clause, const ast::RangeVar& name,
                BoundQuery& query) {
  std::string_view clause_name = lock_clause_name(clause.strength);
  if (!name.schema_name.empty()) {
    throw SqlError(sqlstate::syntax_error,
                   concat(clause_name, " must specify unqualified relation names"))
        .at(scope.position(name.location));
  }
  auto item = std::find_if(scope.items.begin(), scope.items.end(), [&](const ScopeItem& each) {
    return each.name_visible && each.name == name.name;
  });
  if (item == scope.items.end()) {
    throw SqlError(
        sqlstate::undefined_table,
        concat("relation \"", name.name, "\" in ", clause_name, " clause not found in FROM clause"))
        .at(scope.position(name.location));
  }
  if (item->relation < 0) raise_not_lockable(scope, clause.strength, "a join", name.location);
  switch (query.relations[item->relation]->kind) {
    case RangeKind::function:
      return raise_not_lockable(scope, clause.strength, "a function", name.location);
    case RangeKind::values:
      return raise_not_lockable(scope, clause.strength, "VALUES", name.location);
    case RangeKind::cte:
    case RangeKind::work_table:
      return raise_not_lockable(scope, clause.strength, "a WITH query", name.location);
    case RangeKind::table:
    case RangeKind::subquery:
      LockingBinder(scope.binding, clause, query).mark(item->relation);
  }
}

}  // namespace

void lock_rows_of_view(StatementBinding& binding, BoundQuery& query, const BoundRowMark& mark) {
  ast::LockingClause clause;
  clause.strength = mark.strength;
  clause.wait = mark.wait;
  LockingBinder(binding, clause, query).mark(mark.relation);
}

void bind_locking(Scope& scope, std::span<const ast::LockingClause> clauses, BoundQuery& query) {
  for (const ast::LockingClause& clause : clauses) {
    check_lockable(query, clause.strength);
    if (clause.relations.empty()) LockingBinder(scope.binding, clause, query).mark_all();
    for (const ast::RangeVar* name : clause.relations) mark_named(scope, clause, *name, query);
    if (scope.binding.lock_clause.empty())
      scope.binding.lock_clause = lock_clause_name(clause.strength);
    scope.binding.calls_volatile = true;  // WITH: run once, and kept
  }
}

}  // namespace pgsilo
