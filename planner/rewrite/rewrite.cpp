#include "planner/rewrite/rewrite.h"

#include "planner/access/planning.h"
#include "planner/rewrite/set_returning.h"

namespace pgsilo {

const BoundQuery& rewrite_query(StatementPlanning& statement, const BoundQuery& query) {
  const BoundQuery* rewritten = &query;
  if (rewritten->has_set_returning_targets)
    rewritten = expand_set_returning(statement.arena, *rewritten);
  return *rewritten;
}

}  // namespace pgsilo
