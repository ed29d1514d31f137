#include "executor/statement_planner.h"

#include "base/large_stack.h"
#include "executor/constant_evaluator.h"
#include "executor/executable_plan.h"
#include "executor/execution_context.h"

namespace pgsilo {

const PlannerSettings& StatementPlanner::default_settings() {
  static const PlannerSettings settings;
  return settings;
}

std::shared_ptr<const PlannedStatement> StatementPlanner::plan(const StatementSource& source) {
  ExecutorConstantEvaluator evaluator(context_);
  std::shared_ptr<const PlannedStatement> planned =
      plan_statement({.catalog = *context_.catalog,
                      .types = context_.types,
                      .evaluator = evaluator,
                      .statistics = statistics_,
                      .settings = settings_,
                      .database_name = context_.database_name,
                      .statement = source.statement,
                      .syntax_owner = source.owner,
                      .text = source.text,
                      .declared_parameter_types = source.declared_parameter_types,
                      .parameters_allowed = source.parameters_allowed});
  if (context_.notices == nullptr) return planned;
  for (const PlannedStatement* each = planned.get(); each != nullptr; each = each->inner.get()) {
    for (const SqlError& warning : each->warnings) context_.notices->notice(warning);
  }
  return planned;
}

std::shared_ptr<const ExecutablePlan> StatementPlanner::prepare(const StatementSource& source) {
  return run_on_large_stack([&] { return compile(plan(source)); });
}

}  // namespace pgsilo
