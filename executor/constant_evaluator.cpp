#include "executor/constant_evaluator.h"

#include "executor/expression/standalone_expression.h"
#include "sql/types/type.h"

namespace pgsilo {

Datum ExecutorConstantEvaluator::evaluate(const BoundExpression& expression, Arena& arena) {
  StandaloneExpression program(expression, 0, types_, nullptr);
  Datum value = program.evaluate({}, arena);
  const TypeInfo* type = find_type(expression.type);
  return type == nullptr ? value : copy_datum(value, *type, arena);
}

}  // namespace pgsilo
