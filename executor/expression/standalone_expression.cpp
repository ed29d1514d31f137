#include "executor/expression/standalone_expression.h"

#include <algorithm>

#include "executor/compiled_statement.h"
#include "executor/plan_compiler.h"
#include "executor/utility_command.h"
#include "planner/bound/expression_tree.h"
#include "planner/plan/transaction_plan.h"
#include "sql/internal_error.h"
#include "sql/sql_error.h"

namespace pgsilo {

struct StandaloneExpression::Impl {
  CompiledStatement compiled;
  ExpressionProgram program;
  Register first_slot = 0;
  size_t slot_count = 0;
  RowContext context;
  bool forgets_sets = false;
};

StandaloneExpression::StandaloneExpression(const BoundExpression& expression, size_t slot_count,
                                           TypeContext& types, ExecutionContext* session)
    : impl_(std::make_unique<Impl>()) {
  PlannedStatement frame;
  contains(expression, [&](const BoundExpression& part) {
    if (part.kind == ExpressionKind::subplan || part.kind == ExpressionKind::sublink) {
      throw_unsupported("a subquery in this place");
    }
    int32_t parameter = -1;
    if (const auto* read = try_as<ExecutionParameterExpression>(&part)) parameter = read->index;
    if (const auto* set = try_as<CaseExpression>(&part)) parameter = set->argument_parameter;
    frame.execution_parameter_count = std::max(frame.execution_parameter_count, parameter + 1);
    return false;
  });
  PlanCompiler compiler(impl_->compiled, frame);
  std::vector<Register> slots = compiler.new_register_list(slot_count);
  impl_->first_slot = slots.empty() ? 0 : slots.front();
  impl_->slot_count = slot_count;
  impl_->program = compiler.expression(&expression, slots);
  impl_->context.types = &types;
  impl_->context.execution = session;
}

StandaloneExpression::~StandaloneExpression() = default;

void StandaloneExpression::outlive_statements() { impl_->forgets_sets = true; }

Datum StandaloneExpression::evaluate(std::span<const Datum> slots, Arena& arena) {
  PGSILO_REQUIRE(slots.size() == impl_->slot_count);
  Datum* registers = impl_->compiled.registers.data();
  std::copy(slots.begin(), slots.end(), registers + impl_->first_slot);
  if (impl_->forgets_sets) impl_->context.forget_sets();
  TypeContext& types = *impl_->context.types;
  Arena* kept = types.arena;
  impl_->context.use_arena(arena);
  struct Restore {
    TypeContext& types;
    Arena* arena;
    ~Restore() { types.arena = arena; }
  } restore{types, kept};
  return impl_->program.evaluate(registers, impl_->context);
}

}  // namespace pgsilo
