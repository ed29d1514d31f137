#include "executor/statement_planner.h"

#include <algorithm>

#include "base/large_stack.h"
#include "executor/constant_evaluator.h"
#include "executor/executable_plan.h"
#include "executor/execution_context.h"
#include "executor/plan_shape.h"

namespace pgsilo {

namespace {

// With more parameters than that the plan is taken to depend on them: looking costs too much.
constexpr size_t most_guessed = 8;

}  // namespace

const PlannerSettings& StatementPlanner::default_settings() {
  static const PlannerSettings settings;
  return settings;
}

std::shared_ptr<const PlannedStatement> StatementPlanner::plan(const StatementSource& source) {
  ExecutorConstantEvaluator evaluator(context_, source.values);
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
                      .parameters_allowed = source.parameters_allowed,
                      .guesses = source.guesses});
  // Of what is planned once more it was told before.
  bool is_first = source.values == nullptr && source.guesses.empty();
  if (context_.notices == nullptr || !is_first) return planned;
  for (const PlannedStatement* each = planned.get(); each != nullptr; each = each->inner.get()) {
    for (const SqlError& warning : each->warnings) context_.notices->notice(warning);
  }
  return planned;
}

std::shared_ptr<const ExecutablePlan> StatementPlanner::prepare(const StatementSource& source) {
  return run_on_large_stack([&] { return compile(plan(source)); });
}

std::string StatementPlanner::shape(const StatementSource& source,
                                    std::span<const ValueGuess> guesses) {
  StatementSource guessed = source;
  guessed.guesses = guesses;
  return plan_text(*plan(guessed), context_.types);
}

bool StatementPlanner::differs(const StatementSource& source, const PlannedStatement& generic) {
  const std::string expected = plan_text(generic, context_.types);
  std::vector<ValueGuess> guesses(generic.parameter_types.size(), ValueGuess::average);
  for (ValueGuess guess : {ValueGuess::rare, ValueGuess::frequent}) {
    for (int32_t parameter : generic.estimated_parameters) {
      ValueGuess& one = guesses[static_cast<size_t>(parameter)];
      one = guess;
      if (shape(source, guesses) != expected) return true;
      one = ValueGuess::average;
    }
    if (generic.estimated_parameters.size() == 1) continue;
    for (int32_t parameter : generic.estimated_parameters)
      guesses[static_cast<size_t>(parameter)] = guess;
    if (shape(source, guesses) != expected) return true;
    std::ranges::fill(guesses, ValueGuess::average);
  }
  return false;
}

bool StatementPlanner::depends_on_values(const StatementSource& source,
                                         const PlannedStatement& generic) {
  if (generic.parameters_decide || generic.estimated_parameters.size() > most_guessed) return true;
  return run_on_large_stack([&] { return differs(source, generic); });
}

}  // namespace pgsilo
