#include "planner/rewrite/rewrite.h"

#include "planner/access/planning.h"
#include "planner/access/relation_set.h"
#include "planner/rewrite/flatten.h"
#include "planner/rewrite/min_max.h"
#include "planner/rewrite/outer_joins.h"
#include "planner/rewrite/push_conditions.h"
#include "planner/rewrite/set_returning.h"
#include "planner/rewrite/sublink_join.h"
#include "planner/rewrite/useless_joins.h"

namespace pgsilo {

const BoundQuery& rewrite_query(StatementPlanning& statement, const BoundQuery& query) {
  const BoundQuery* rewritten = &query;
  if (rewritten->has_set_returning_targets)
    rewritten = expand_set_returning(statement.arena, *rewritten);
  rewritten = flatten_subqueries(statement.arena, *rewritten);
  rewritten = join_sublinks(statement.arena, statement.evaluator, *rewritten);
  // More are refused when they are joined.
  if (rewritten->relations.size() <= static_cast<size_t>(RelationSet::capacity)) {
    rewritten = reduce_outer_joins(statement.arena, *rewritten);
    rewritten = remove_useless_joins(statement.arena, *rewritten);
    rewritten = push_conditions(statement.arena, *rewritten);
  }
  return *use_index_for_min_max(statement, *rewritten);
}

}  // namespace pgsilo
