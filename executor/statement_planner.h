// The one door to the planner. Whatever is planned, for a client, for COPY, for a foreign key or in
// a test, is planned here, with what the executor knows beside the syntax: how to fold constants,
// and how big the tables are.
// Thread safety: none; the session's fiber, its transaction open.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/table_statistics.h"
#include "planner/plan/transaction_plan.h"
#include "sql/types/datum.h"

namespace pgsilo {

class ExecutablePlan;
struct ExecutionContext;

// What is to be planned.
struct StatementSource {
  const ast::Node* statement = nullptr;
  std::shared_ptr<const void> owner = {};              // keeps the statement and its text alive
  std::string_view text = {};                          // see PlanRequest
  std::span<const Oid> declared_parameter_types = {};  // likewise
  bool parameters_allowed = true;                      // likewise
  std::span<const ValueGuess> guesses = {};            // likewise
  // The plan is for these values only, which outlive it; null: for all.
  const std::vector<Datum>* values = nullptr;
};

class StatementPlanner {
 public:
  // All outlive it.
  explicit StatementPlanner(ExecutionContext& context,
                            const PlannerSettings& settings = default_settings(),
                            const TableStatistics& statistics = relation_statistics())
      : context_(context), settings_(settings), statistics_(statistics) {}

  // As plan_statement(): on the caller's stack.
  std::shared_ptr<const PlannedStatement> plan(const StatementSource& source);
  // Ready to run; planned and compiled on a large stack.
  std::shared_ptr<const ExecutablePlan> prepare(const StatementSource& source);
  // Whether a plan for values may be another one than the plan of `source` that is for all: what is
  // taken for one parameter after the other goes from what few rows have to what many have.
  bool depends_on_values(const StatementSource& source, const PlannedStatement& generic);

 private:
  std::string shape(const StatementSource& source, std::span<const ValueGuess> guesses);
  bool differs(const StatementSource& source, const PlannedStatement& generic);
  static const PlannerSettings& default_settings();

  ExecutionContext& context_;
  const PlannerSettings& settings_;
  const TableStatistics& statistics_;
};

}  // namespace pgsilo
