// Constant folding for the planner: runs an expression of constants as the executor would run it.
// Thread safety: none; one planning at a time.
#pragma once

#include <vector>

#include "planner/plan/transaction_plan.h"
#include "sql/types/datum.h"

namespace pgsilo {

struct ExecutionContext;
struct TypeContext;

class ExecutorConstantEvaluator final : public ConstantEvaluator {
 public:
  // Settings (time zone, DateStyle) as the session has them; its arena is left as it is.
  // `parameters`: the values that the plan is made for; null: for all.
  explicit ExecutorConstantEvaluator(ExecutionContext& session,
                                     const std::vector<Datum>* parameters = nullptr)
      : session_(session), parameters_(parameters) {}
  Datum evaluate(const BoundExpression& expression, Arena& arena) override;
  Datum estimate(const BoundExpression& expression, Arena& arena) override;
  const Datum* parameter(int32_t index) const override;
  bool knows_parameters() const override { return parameters_ != nullptr; }

 private:
  Datum run(const BoundExpression& expression, Arena& arena, ExecutionContext* session);

  ExecutionContext& session_;
  const std::vector<Datum>* parameters_;
};

}  // namespace pgsilo
