// INTERSECT and EXCEPT: equal rows of both sides are counted in a hash table. When its room is used
// up, the rows that it has go on, and others wait in partitions of a temporary file.
#include <algorithm>

#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
#include "executor/spill/deferred_rows.h"
#include "executor/spill/table_budget.h"

namespace pgsilo {

namespace {

struct CompiledSetOperation final : CompiledOperator {
  SetOperationKind operation = SetOperationKind::intersect;
  const CompiledOperator* left = nullptr;
  const CompiledOperator* right = nullptr;
  RowShape left_shape;
  RowShape right_shape;
  KeyTypes types;
  TapeColumns spilled_row;  // a hash, the side, the row
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
        row_(compiled.types.types.size()),
        deferred_(compiled.spilled_row, state.session) {}

  void open() override {
    clear();
    count(*left_, compiled_.left_shape, 0);
    count(*right_, compiled_.right_shape, 1);
    deferred_.end_pass();
  }

  bool next() override {
    while (repeats_ == 0) {
      if (position_ == order_.size()) {
        if (!deferred_.begin_pass()) return false;
        count_tape();
        continue;
      }
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
    clear();
  }

 private:
  void clear() {
    deferred_.clear();
    clear_table();
  }

  void clear_table() {
    table_.clear();
    free_long_list(order_);
    position_ = 0;
    repeats_ = 0;
    budget_.begin(table_, state_.session.hash_budget());
  }

  void count(Operator& child, const RowShape& shape, int64_t side) {
    child.open();
    while (child.next()) {
      state_.session.maybe_yield();
      for (size_t i = 0; i < row_.size(); ++i) row_[i] = at(shape.registers[i]);
      count_row(side);
    }
  }

  void count_row(int64_t side) {
    uint64_t hash = compiled_.types.hash(row_.data());
    HashedRow* found = table_.find(row_.data(), hash);
    if (found == nullptr) {
      // Rows of the right alone are never in the result.
      if (side == 1 && !deferred_.is_deferring()) return;
      if (side == 0) found = add(hash);
      if (found == nullptr) return spill(hash, side);
    }
    ++found->values()[row_.size() + static_cast<size_t>(side)].i64;
  }

  // Null: there is no room for it.
  HashedRow* add(uint64_t hash) {
    if (deferred_.is_deferring()) return nullptr;
    bool may_spill = deferred_.may_defer() && !order_.empty();
    if (may_spill && budget_.is_used_up(table_, order_.size() * sizeof(Datum*))) return nullptr;
    try {
      // Whatever is refused: the table has whole rows only.
      for (size_t i = 0; i < row_.size(); ++i)
        row_[i] = copy_datum(row_[i], *compiled_.types.types[i], table_.arena());
      HashedRow* added = table_.add(hash, row_.size() + 2);
      Datum* counts = std::copy(row_.begin(), row_.end(), added->values());
      counts[0] = counts[1] = Datum::of_int(0);
      order_.push_back(added->values());
      return added;
    } catch (const MemoryLimitReached&) {
      if (!may_spill) throw;
      budget_.refuse();
      return nullptr;
    }
  }

  void spill(uint64_t hash, int64_t side) {
    spilled_row_.resize(2 + row_.size());
    spilled_row_[0] = Datum::of_int(static_cast<int64_t>(hash));
    spilled_row_[1] = Datum::of_int(side);
    std::copy(row_.begin(), row_.end(), spilled_row_.begin() + 2);
    deferred_.append(spilled_row_.data(), budget_.bytes());
  }

  // In a partition, too, the left side's rows come first.
  void count_tape() {
    clear_table();
    while (const Datum* row = deferred_.next()) {
      std::copy_n(row + 2, row_.size(), row_.begin());
      count_row(row[1].i64);
    }
    deferred_.end_pass();
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

  DeferredRows deferred_;
  std::vector<Datum> spilled_row_;
  TableBudget budget_;
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
  made->spilled_row = {false, false};
  for (const TypeInfo* type : made->types.types) made->spilled_row.push_back(type->by_reference);
  made->output = plan.new_register_list(node.columns.size());
  return plan.add(std::move(made));
}

}  // namespace pgsilo
