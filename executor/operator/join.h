// What nested loops, hash joins and merge joins share.
// Thread safety: immutable after compilation.
#pragma once

#include <utility>

#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"

namespace pgsilo {

struct CompiledJoin : CompiledOperator {
  JoinType type = JoinType::inner;
  bool right_is_unique = false;
  const CompiledOperator* left = nullptr;
  const CompiledOperator* right = nullptr;
  RowShape left_shape;
  RowShape right_shape;
  ExpressionProgram condition;  // over both rows
  ExpressionProgram filter;     // over the output row
  std::vector<Register> both;   // left slots, then right slots

  void prepare(const JoinNode& node, PlanCompiler& plan) {
    type = node.join_type;
    right_is_unique = node.right_is_unique;
    left = plan.compile(node.left);
    right = plan.compile(node.right);
    left_shape = RowShape(left->output, node.left->columns);
    right_shape = RowShape(right->output, node.right->columns);
    set_output(left->output, right->output);
    condition = plan.condition(node.condition, both);
    filter = plan.condition(node.filter, output);
  }

  void set_output(const std::vector<Register>& of_left, const std::vector<Register>& of_right) {
    both = of_left;
    both.insert(both.end(), of_right.begin(), of_right.end());
    bool left_only = type == JoinType::semi || type == JoinType::anti;
    output = left_only ? of_left : both;
  }
};

}  // namespace pgsilo
