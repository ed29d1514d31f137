// Constant folding for the planner: runs an expression of constants as the executor would run it.
// Thread safety: none; one planning at a time.
#pragma once

#include "planner/plan/transaction_plan.h"

namespace pgsilo {

struct ExecutionContext;
struct TypeContext;

class ExecutorConstantEvaluator final : public ConstantEvaluator {
 public:
  // Settings (time zone, DateStyle) as the session has them; its arena is left as it is.
  explicit ExecutorConstantEvaluator(ExecutionContext& session) : session_(session) {}
  Datum evaluate(const BoundExpression& expression, Arena& arena) override;
  Datum estimate(const BoundExpression& expression, Arena& arena) override;

 private:
  Datum run(const BoundExpression& expression, Arena& arena, ExecutionContext* session);

  ExecutionContext& session_;
};

}  // namespace pgsilo
