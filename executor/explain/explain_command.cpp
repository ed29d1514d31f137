#include "executor/explain/explain_command.h"

#include "sql/sql_error.h"

namespace pgsilo {

std::unique_ptr<const UtilityCommand> make_explain(const std::shared_ptr<const PlannedStatement>&) {
  throw_unsupported("EXPLAIN");
}

}  // namespace pgsilo
