// INTERSECT and EXCEPT: equal rows of both sides are counted in a hash table.
#include <algorithm>

#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"

namespace pgsilo {

namespace {

struct CompiledSetOperation final : CompiledOperator {
  SetOperationKind operation = SetOperationKind::intersect;
  const CompiledOperator* left = nullptr;
  const CompiledOperator* right = nullptr;
  RowShape left_shape;
  RowShape right_shape;
  KeyTypes types;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// A table row holds the row, then how often it came from the left and from the right.
class SetOperation final : public Operator {
 public:
  SetOperation(const CompiledSetOperation& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        left_(compiled.left->instantiate(state)),
        right_(compiled.right->instantiate(state)),
        table_(compiled.types),
        row_(compiled.types.types.size()) {}

  void open() override {
    table_.clear();
    free_long_list(order_);
    position_ = 0;
    repeats_ = 0;
    count(*left_, compiled_.left_shape, 0);
    count(*right_, compiled_.right_shape, 1);
  }

  bool next() override {
    while (repeats_ == 0) {
      if (position_ == order_.size()) return false;
      current_ = order_[position_++];
      repeats_ = copies(current_[row_.size()].i64, current_[row_.size() + 1].i64);
    }
    --repeats_;
    for (size_t i = 0; i < row_.size(); ++i) at(compiled_.output[i]) = current_[i];
    return true;
  }

  void close() override {
    left_->close();
    right_->close();
    table_.clear();
    order_.clear();
  }

 private:
  void count(Operator& child, const RowShape& shape, size_t side) {
    child.open();
    while (child.next()) {
      state_.session.maybe_yield();
      for (size_t i = 0; i < row_.size(); ++i) row_[i] = at(shape.registers[i]);
      uint64_t hash = compiled_.types.hash(row_.data());
      HashedRow* found = table_.find(row_.data(), hash);
      if (found == nullptr) {
        if (side == 1) continue;  // rows of the right alone are never in the result
        found = table_.add(hash, row_.size() + 2);
        shape.save_to(registers(), found->values(), table_.arena());
        found->values()[row_.size()] = Datum::of_int(0);
        found->values()[row_.size() + 1] = Datum::of_int(0);
        order_.push_back(found->values());
      }
      ++found->values()[row_.size() + side].i64;
    }
  }

  int64_t copies(int64_t left, int64_t right) const {
    switch (compiled_.operation) {
      case SetOperationKind::intersect:
        return right > 0 ? 1 : 0;
      case SetOperationKind::intersect_all:
        return std::min(left, right);
      case SetOperationKind::except:
        return right > 0 ? 0 : 1;
      case SetOperationKind::except_all:
        return std::max<int64_t>(left - right, 0);
    }
    __builtin_unreachable();
  }

  const CompiledSetOperation& compiled_;
  std::unique_ptr<Operator> left_;
  std::unique_ptr<Operator> right_;
  RowHashTable table_;
  std::vector<Datum> row_;
  std::vector<Datum*> order_;  // of first appearance
  size_t position_ = 0;
  Datum* current_ = nullptr;
  int64_t repeats_ = 0;
};

std::unique_ptr<Operator> CompiledSetOperation::instantiate(ExecutionState& state) const {
  return std::make_unique<SetOperation>(*this, state);
}

}  // namespace

CompiledOperator* compile_set_operation(const SetOperationNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledSetOperation>();
  made->operation = node.operation;
  made->left = plan.compile(node.left);
  made->right = plan.compile(node.right);
  made->left_shape = RowShape(made->left->output, node.left->columns);
  made->right_shape = RowShape(made->right->output, node.right->columns);
  for (const PlanColumn& column : node.columns)
    made->types.types.push_back(&type_info(column.type));
  made->output = plan.new_register_list(node.columns.size());
  return plan.add(std::move(made));
}

}  // namespace pgsilo
