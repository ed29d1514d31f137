#include "executor/constant_evaluator.h"

#include "executor/compiled_statement.h"
#include "executor/plan_compiler.h"
#include "executor/utility_command.h"
#include "sql/types/type.h"

namespace pgsilo {

Datum ExecutorConstantEvaluator::evaluate(const BoundExpression& expression, Arena& arena) {
  CompiledStatement compiled;
  PlannedStatement nothing;
  PlanCompiler compiler(compiled, nothing);
  // CASE x WHEN keeps x in an execution parameter.
  ExpressionProgram program = compiler.expression(&expression, {});
  Arena* kept = types_.arena;
  RowContext context;
  context.types = &types_;
  context.use_arena(arena);
  Datum value;
  try {
    value = program.evaluate(compiled.registers.data(), context);
  } catch (...) {
    types_.arena = kept;
    throw;
  }
  types_.arena = kept;
  const TypeInfo* type = find_type(expression.type);
  return type == nullptr ? value : copy_datum(value, *type, arena);
}

}  // namespace pgsilo
