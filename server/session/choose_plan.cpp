// Which plan a run of a statement with parameters takes: docs/decisions/custom-plans.md.
#include "executor/compiled_statement.h"
#include "executor/statement_planner.h"
#include "server/session/statement_runner.h"

namespace pgsilo {

namespace {

// A plan of rows, of values that are known.
bool has_choice(const Portal& portal) {
  const ExecutablePlan* plan = portal.statement->plan.get();
  return plan != nullptr && !portal.parameters.empty() &&
         (plan->kind() == StatementKind::query || plan->kind() == StatementKind::dml);
}

}  // namespace

// Looking costs some plannings: not for what runs once.
bool StatementRunner::depends_on_values(const PreparedStatement& statement,
                                        const PlanChoice& choice) {
  const ExecutablePlan& plan = *statement.plan;
  using Dependence = ExecutablePlan::Dependence;
  if (plan.dependence() != Dependence::unknown) return plan.dependence() == Dependence::some;
  if (choice.runs() == 0) return true;
  StatementPlanner planner(state_.context, state_.planner_settings);
  bool depends = planner.depends_on_values(
      {.statement = statement.node,
       .owner = statement.text->syntax,
       .text = statement.text->syntax->text,
       .declared_parameter_types =
           statement.is_normalized ? statement.declared_types : statement.parameter_types},
      *plan.compiled().planned);
  plan.found_dependence(depends);
  return depends;
}

bool StatementRunner::wants_own_plan(const PreparedStatement& statement, const PlanChoice& choice) {
  // It is about prepared statements, not about queries with literals.
  if (state_.plan_cache_mode != PlanCacheMode::automatic && !statement.is_normalized)
    return state_.plan_cache_mode == PlanCacheMode::force_custom;
  return depends_on_values(statement, choice) && !choice.prefers_generic();
}

bool StatementRunner::choose_plan(Portal& portal, bool is_named) {
  PreparedStatement& statement = *portal.statement;
  state_.apply_settings();
  bool is_custom = false;
  if (has_choice(portal)) {
    PlanChoice& choice = is_named ? statement.choice : statement.text->choice;
    if (wants_own_plan(statement, choice)) {
      portal.plan = plan(statement, true, &portal.parameters);
      portal.has_own_plan = is_custom = true;
      if (state_.plan_cache_mode == PlanCacheMode::automatic && !state_.running_again)
        choice.add(*statement.plan, *portal.plan, state_.context.types);
    } else {
      // PostgreSQL would find out by plans for values that they are no better.
      is_custom = state_.plan_cache_mode == PlanCacheMode::automatic &&
                  statement.custom_plans < PlanChoice::trials;
    }
  }
  if (!state_.running_again) ++(is_custom ? statement.custom_plans : statement.generic_plans);
  return is_custom;
}

std::shared_ptr<const ExecutablePlan> StatementRunner::plan_to_show(Portal& portal) {
  revalidate(*portal.statement);
  bool is_custom = choose_plan(portal, true);
  if (is_custom && !portal.has_own_plan) return plan(*portal.statement, true, &portal.parameters);
  return portal.has_own_plan ? portal.plan : portal.statement->plan;
}

}  // namespace pgsilo
