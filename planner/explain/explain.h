// EXPLAIN: a plan as PostgreSQL 15 shows one, in text or JSON.
// Thread safety: none.
#pragma once

#include <string>
#include <vector>

#include "planner/bound/function_ref.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

// What happened to one operator in a run, for EXPLAIN ANALYZE.
struct OperatorRun {
  double loops = 0;
  double rows = 0;  // of all loops together
  double startup_ms = 0;
  double total_ms = 0;
};

struct ExplainRequest {
  ExplainOptions options;
  TypeContext* types = nullptr;
  // ANALYZE only: null otherwise.
  const FunctionRef<OperatorRun(const PlanNode&)>* runs = nullptr;
  double planning_ms = -1;   // shown with options.summary
  double execution_ms = -1;  // shown with options.analyze
};

// The rows of the answer: a line each for text, all in one for JSON.
std::vector<std::string> explain_plan(const PlannedStatement& planned,
                                      const ExplainRequest& request);

}  // namespace pgsilo
