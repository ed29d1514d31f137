// Compiles one bound expression (or several into one row) to a program.
// Thread safety: none; one compilation.
#pragma once

#include <vector>

#include "executor/expression/steps.h"
#include "executor/plan_compiler.h"

namespace pgsilo {

class ExpressionCompiler {
 public:
  ExpressionCompiler(PlanCompiler& plan, PlanCompiler::Slots slots) : plan_(plan), slots_(slots) {}

  // Where the expression's value will be: the register of a slot, constant or parameter, else a new
  // one.
  Register compile(const BoundExpression* expression);
  void compile_into(const BoundExpression* expression, Register target);
  // As compile(), but NULL may become false.
  Register compile_condition(const BoundExpression* expression);
  ExpressionProgram finish(Register result);

 private:
  // True if the value needs no step; *where is its register.
  bool in_place(const BoundExpression* expression, Register* where);
  void compile_call(const CallExpression& call, Register target);
  void compile_boolean(const BooleanExpression& boolean, Register target);
  void compile_null_test(const NullTestExpression& test, Register target);
  void compile_io_conversion(const IoConversionExpression& conversion, Register target);
  void compile_typmod_coercion(const TypmodCoercionExpression& coercion, Register target);
  void compile_distinct_from(const DistinctFromExpression& test, Register target);
  void compile_case(const CaseExpression& expression, Register target);
  void compile_coalesce(const CoalesceExpression& expression, Register target);
  void compile_null_if(const NullIfExpression& expression, Register target);
  void compile_min_max(const MinMaxExpression& expression, Register target);
  void compile_in_list(const InListExpression& expression, Register target);
  bool compile_constant_set(const InListExpression& expression, Register operand, Register target);
  void compile_array_comparison(const ArrayComparisonExpression& expression, Register target);
  void compile_array(const ArrayExpression& expression, Register target);
  void compile_subplan(const SubplanExpression& expression, Register target);

  // Values in neighbouring registers, as functions of many arguments want them.
  Register compile_row(ExpressionList arguments);
  void call_procedure(Oid procedure, Register left, Register right, Oid left_type, Oid right_type,
                      Register target);
  const steps::CallData* call_data(Oid procedure, std::span<const Oid> argument_types,
                                   Oid result_type);
  Step& emit(Step::Run run, Register result = 0, Register a = 0, Register b = 0, int32_t c = 0,
             const void* data = nullptr);
  // A jump to a place that is not known yet; land() makes it jump to the next step emitted.
  size_t emit_jump(Step::Run run, Register a = 0);
  void land(size_t jump) { steps_[jump].c = static_cast<int32_t>(steps_.size() - jump); }

  PlanCompiler& plan_;
  PlanCompiler::Slots slots_;
  std::vector<Step> steps_;
};

}  // namespace pgsilo
