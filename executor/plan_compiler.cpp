#include "executor/plan_compiler.h"

#include "executor/expression/expression_compiler.h"
#include "executor/expression/membership_set.h"
#include "executor/operator/compile_operator.h"
#include "executor/utility_command.h"
#include "planner/plan/transaction_plan.h"
#include "sql/types/type.h"

namespace pgsilo {

CompiledStatement::CompiledStatement() = default;
CompiledStatement::~CompiledStatement() = default;

PlanCompiler::PlanCompiler(CompiledStatement& compiled, const PlannedStatement& planned)
    : compiled_(compiled) {
  compiled_.parameter_count = static_cast<uint32_t>(planned.parameter_types.size());
  compiled_.registers.resize(compiled_.parameter_count +
                             static_cast<size_t>(planned.execution_parameter_count));
  true_ = constant(Datum::of_bool(true));
}

Register PlanCompiler::new_registers(size_t count) {
  auto first = static_cast<Register>(compiled_.registers.size());
  compiled_.registers.resize(compiled_.registers.size() + count);
  return first;
}

std::vector<Register> PlanCompiler::new_register_list(size_t count) {
  Register first = new_registers(count);
  std::vector<Register> list(count);
  for (size_t i = 0; i < count; ++i) list[i] = first + static_cast<Register>(i);
  return list;
}

Register PlanCompiler::constant(Datum value) {
  Register where = new_register();
  compiled_.registers[where] = value;
  return where;
}

ExpressionProgram PlanCompiler::expression(const BoundExpression* expression, Slots slots) {
  ExpressionCompiler compiler(*this, slots);
  return compiler.finish(compiler.compile(expression));
}

ExpressionProgram PlanCompiler::expression_into(const BoundExpression* expression, Slots slots,
                                                Register target) {
  ExpressionCompiler compiler(*this, slots);
  compiler.compile_into(expression, target);
  return compiler.finish(target);
}

ExpressionProgram PlanCompiler::condition(const BoundExpression* expression, Slots slots) {
  if (expression == nullptr) return {{}, true_};
  ExpressionCompiler compiler(*this, slots);
  return compiler.finish(compiler.compile_condition(expression));
}

ExpressionProgram PlanCompiler::row_into(ExpressionList expressions, Slots slots, Slots targets) {
  ExpressionCompiler compiler(*this, slots);
  for (size_t i = 0; i < expressions.size(); ++i) {
    if (expressions[i] != nullptr) compiler.compile_into(expressions[i], targets[i]);
  }
  return compiler.finish(true_);
}

std::vector<ExpressionProgram> PlanCompiler::expressions(ExpressionList list, Slots slots) {
  std::vector<ExpressionProgram> programs;
  programs.reserve(list.size());
  for (const BoundExpression* item : list) programs.push_back(expression(item, slots));
  return programs;
}

uint32_t PlanCompiler::add_subplan(const SubplanExpression& subplan, Slots slots) {
  auto index = static_cast<uint32_t>(compiled_.subplans.size());
  compiled_.subplans.emplace_back();
  CompiledSubplan made;
  made.kind = subplan.subplan_kind;
  made.run_once = subplan.run_once;
  made.plan = compile(subplan.plan);
  if (!subplan.plan->columns.empty()) {
    made.result_type = find_type(subplan.plan->columns.front().type);
  }
  if (subplan.condition != nullptr) made.condition = expression(subplan.condition, slots);
  for (int32_t parameter : subplan.row_parameters) {
    made.row_parameters.push_back(execution_parameter(parameter));
  }
  made.hashed = subplan.hashed;
  if (made.hashed) {
    std::vector<Register> keys = new_register_list(subplan.row_keys.size());
    made.row_key = keys.front();
    made.row_keys = row_into(subplan.row_keys, slots, keys);
    for (const BoundExpression* key : subplan.row_keys)
      made.key_types.push_back(find_type(key->type));
  }
  compiled_.subplans[index] = std::move(made);
  return index;
}

const CompiledOperator* PlanCompiler::compile(const PlanNode* node) {
  CompiledOperator* made = compile_operator(*node, *this);
  made->depends_on_parameters = node->depends_on_parameters;
  return made;
}

}  // namespace pgsilo
