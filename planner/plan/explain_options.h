// The options of EXPLAIN.
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "planner/plan/transaction_plan.h"
#include "sql/ast/utility.h"

namespace pgsilo {

// Throws 42601 for what is no option, 22023 for what is no value of it.
ExplainOptions read_explain_options(const ast::ExplainStmt& statement, std::string_view text);

}  // namespace pgsilo
