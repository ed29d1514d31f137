// Constant folding for the planner: runs an expression of constants as the executor would run it.
// Thread safety: none; one planning at a time.
#pragma once

#include "planner/plan/transaction_plan.h"

namespace pgsilo {

struct TypeContext;

class ExecutorConstantEvaluator final : public ConstantEvaluator {
 public:
  // Settings (time zone, DateStyle) as the session has them; its arena is left as it is.
  explicit ExecutorConstantEvaluator(TypeContext& types) : types_(types) {}
  Datum evaluate(const BoundExpression& expression, Arena& arena) override;

 private:
  TypeContext& types_;
};

}  // namespace pgsilo
