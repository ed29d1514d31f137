// Turns plan nodes into compiled operators and bound expressions into programs, giving out the
// statement's registers. Thread safety: none; lives during one compile().
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "executor/compiled_statement.h"
#include "planner/plan/plan_node.h"

namespace pgsilo {

struct PlannedStatement;

enum class RowHandleUse : uint8_t;

class PlanCompiler {
 public:
  PlanCompiler(CompiledStatement& compiled, const PlannedStatement& planned);

  // Owned by the statement.
  const CompiledOperator* compile(const PlanNode* node);
  // Gives the operator that compile() makes its place in the statement.
  template <typename T>
  T* add(std::unique_ptr<T> made) {
    T* kept = made.get();
    compiled_.operators.push_back(std::move(made));
    return kept;
  }

  Register new_register() { return new_registers(1); }
  Register new_registers(size_t count);
  std::vector<Register> new_register_list(size_t count);
  Register constant(Datum value);
  Register parameter(int32_t index) const { return static_cast<Register>(index); }
  Register execution_parameter(int32_t index) const {
    return compiled_.parameter_count + static_cast<Register>(index);
  }

  using Slots = std::span<const Register>;
  // A program whose result may be any register: that of a slot, a parameter or a constant, without
  // a step.
  ExpressionProgram expression(const BoundExpression* expression, Slots slots);
  // A program that leaves its result in `target`.
  ExpressionProgram expression_into(const BoundExpression* expression, Slots slots,
                                    Register target);
  // A program that is only asked is_true(): NULL and false are the same. Null expression: a program
  // that is always true.
  ExpressionProgram condition(const BoundExpression* expression, Slots slots);
  // As many programs as one that fills a row: expression i goes to targets[i].
  ExpressionProgram row_into(ExpressionList expressions, Slots slots, Slots targets);
  std::vector<ExpressionProgram> expressions(ExpressionList list, Slots slots);

  // How scans below the operator that is being compiled hand out the rows it locks.
  RowHandleUse handle_use() const { return handle_use_; }
  const CompiledOperator* compile(const PlanNode* node, RowHandleUse use) {
    RowHandleUse around = std::exchange(handle_use_, use);
    const CompiledOperator* made = compile(node);
    handle_use_ = around;
    return made;
  }

  uint32_t add_subplan(const SubplanExpression& subplan, Slots slots);
  CompiledStatement& statement() { return compiled_; }

 private:
  friend class ExpressionCompiler;
  CompiledStatement& compiled_;
  Register true_ = 0;
  RowHandleUse handle_use_ = RowHandleUse{};
};

}  // namespace pgsilo
