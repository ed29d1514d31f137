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
  using ExpressionSpan = std::span<const BoundExpression* const>;
  struct ListedRow;

  // True if the value needs no step; *where is its register.
  bool in_place(const BoundExpression* expression, Register* where);
  void compile_relabel(const RelabelExpression& relabel, Register target);
  void compile_call(const CallExpression& call, Register target);
  void compile_subscripts(const CallExpression& call, Register target);
  void compile_boolean(const BooleanExpression& boolean, Register target);
  void compile_null_test(const NullTestExpression& test, Register target);
  void compile_sql_value(const SqlValueExpression& value, Register target);
  void compile_io_conversion(const IoConversionExpression& conversion, Register target);
  void compile_array_coercion(const ArrayCoercionExpression& coercion, Register target);
  void compile_typmod_coercion(const TypmodCoercionExpression& coercion, Register target);
  void compile_domain_coercion(const DomainCoercionExpression& coercion, Register target);
  void compile_distinct_from(const DistinctFromExpression& test, Register target);
  void compile_case(const CaseExpression& expression, Register target);
  void compile_coalesce(const CoalesceExpression& expression, Register target);
  void compile_null_if(const NullIfExpression& expression, Register target);
  void compile_min_max(const MinMaxExpression& expression, Register target);
  void compile_in_list(const InListExpression& expression, Register target);
  // False: not to be hashed, nothing was emitted.
  bool compile_hashed_list(const InListExpression& list, Register operand, Register target);
  bool compile_hashed_array(const ArrayComparisonExpression& comparison, Register operand,
                            Register target);
  // Of OR: how many alternatives from the first on are rows of one list, whose outcome will be in
  // *where; of AND: conditions that are its negation. 0: no list.
  size_t compile_listed_rows(BooleanOperator op, ExpressionSpan alternatives, Register* where);
  void compile_array_comparison(const ArrayComparisonExpression& expression, Register target);
  void compile_array(const ArrayExpression& expression, Register target);
  void compile_subplan(const SubplanExpression& expression, Register target,
                       bool null_is_false = false);

  bool read_listed_row(const BoundExpression* const& alternative, bool negated, ListedRow* row);
  MembershipSet& constant_set(std::span<const TypeInfo* const> types);
  void emit_in_constants(const MembershipSet& set, bool negated, Register row, Register target);
  // A set that is filled once in a run, by the steps between the two.
  struct RunSet {
    const steps::RunSetSite* site;
    size_t known;  // the jump over those steps
  };
  RunSet begin_set(std::span<const TypeInfo* const> types, bool negated);
  void finish_set(const RunSet& set, Register row, Register target);

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
