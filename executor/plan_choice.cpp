#include "executor/plan_choice.h"

#include "executor/compiled_statement.h"
#include "executor/executable_plan.h"
#include "executor/plan_shape.h"
#include "planner/access/path.h"
#include "planner/plan/transaction_plan.h"

namespace pgsilo {

namespace {

// As PostgreSQL charges it.
double planning_cost(const PlannedStatement& planned) {
  constexpr double operations = 1000;
  return operations * cost::operation * static_cast<double>(planned.tables.size() + 1);
}

// Whether both read rows in the same way. What conditions have become of values is not seen then.
bool are_alike(const PlannedStatement& generic, const PlannedStatement& custom,
               TypeContext& types) {
  return !generic.parameters_decide && plan_nodes(generic, types) == plan_nodes(custom, types);
}

}  // namespace

void PlanChoice::add(const ExecutablePlan& generic, const ExecutablePlan& custom,
                     TypeContext& types) {
  if (runs_ == most_runs) return;
  const PlannedStatement& planned = *custom.compiled().planned;
  ++runs_;
  custom_cost_ += custom.cost() + planning_cost(planned);
  generic_cost_ += generic.cost();
  all_alike_ = all_alike_ && are_alike(*generic.compiled().planned, planned, types);
}

}  // namespace pgsilo
