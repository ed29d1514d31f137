#include "executor/constant_evaluator.h"

#include "base/arena.h"
#include "executor/execution_context.h"
#include "executor/expression/standalone_expression.h"
#include "sql/memory_error.h"
#include "sql/types/type.h"

namespace pgsilo {

Datum ExecutorConstantEvaluator::evaluate(const BoundExpression& expression, Arena& arena) {
  return run(expression, arena, nullptr);
}

Datum ExecutorConstantEvaluator::estimate(const BoundExpression& expression, Arena& arena) {
  return run(expression, arena, &session_);
}

const Datum* ExecutorConstantEvaluator::parameter(int32_t index) const {
  bool is_known = parameters_ != nullptr && static_cast<size_t>(index) < parameters_->size();
  return is_known ? &(*parameters_)[static_cast<size_t>(index)] : nullptr;
}

Datum ExecutorConstantEvaluator::run(const BoundExpression& expression, Arena& arena,
                                     ExecutionContext* session) {
  StandaloneExpression program(expression, 0, session_.types, session);
  const TypeInfo* type = find_type(expression.type);
  if (type == nullptr) return program.evaluate({}, arena);
  // What it takes on the way does not stay with the plan.
  Arena scratch(ArenaLimit::memory_limit);
  Datum value = program.evaluate({}, scratch);
  bool is_long = type->by_reference && !value.null && value.length > Arena::free_block_bytes;
  if (is_long) require_memory(value.length);
  return copy_datum(value, *type, arena);
}

}  // namespace pgsilo
