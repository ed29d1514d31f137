// INTERSECT and EXCEPT: equal rows of both sides are counted in a hash table. When its room is used
// up, the rows that it has go on, and others wait in partitions of a temporary file.
#include <algorithm>

#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"
#include "executor/spill/partitions.h"
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
        row_(compiled.types.types.size()) {}

  void open() override {
    clear();
    count(*left_, compiled_.left_shape, 0);
    count(*right_, compiled_.right_shape, 1);
    end_pass();
  }

  bool next() override {
    while (repeats_ == 0) {
      if (position_ == order_.size()) {
        if (waiting_.empty()) return false;
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
    reader_.reset();
    partitions_.reset();
    waiting_.clear();
    file_.reset();
    depth_ = 0;
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
      if (side == 1 && partitions_ == nullptr) return;
      if (side == 0) found = add(hash);
      if (found == nullptr) return spill(hash, side);
    }
    ++found->values()[row_.size() + static_cast<size_t>(side)].i64;
  }

  // Null: there is no room for it.
  HashedRow* add(uint64_t hash) {
    if (partitions_ != nullptr) return nullptr;
    bool may_spill = state_.session.temporary_files != nullptr && !order_.empty() &&
                     depth_ <= SpillPartitions::most_depth;
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
    if (file_ == nullptr)
      file_ = std::make_unique<SpillFile>(*state_.session.temporary_files, budget_.bytes());
    if (partitions_ == nullptr) {
      partitions_ = std::make_unique<SpillPartitions>(*file_, compiled_.spilled_row, depth_,
                                                      SpillPartitions::count_for(*file_));
    }
    spilled_row_.resize(2 + row_.size());
    spilled_row_[0] = Datum::of_int(static_cast<int64_t>(hash));
    spilled_row_[1] = Datum::of_int(side);
    std::copy(row_.begin(), row_.end(), spilled_row_.begin() + 2);
    partitions_->append(hash, spilled_row_.data());
  }

  void end_pass() {
    if (partitions_ == nullptr) return;
    for (const Tape& tape : partitions_->finish()) {
      if (tape.rows != 0) waiting_.push_back({tape, depth_ + 1});
    }
    partitions_.reset();
  }

  // In a partition, too, the left side's rows come first.
  void count_tape() {
    Waiting next = waiting_.back();
    waiting_.pop_back();
    clear_table();
    depth_ = next.depth;
    if (reader_ == nullptr) reader_ = std::make_unique<TapeReader>(*file_, compiled_.spilled_row);
    reader_->start(next.tape, false);
    while (const Datum* row = reader_->next()) {
      state_.session.maybe_yield();
      std::copy_n(row + 2, row_.size(), row_.begin());
      count_row(row[1].i64);
    }
    end_pass();
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

  struct Waiting {
    Tape tape;
    unsigned depth;
  };
  std::unique_ptr<SpillFile> file_;
  std::unique_ptr<SpillPartitions> partitions_;  // null: all rows of the left so far are in memory
  std::unique_ptr<TapeReader> reader_;
  std::vector<Waiting> waiting_;
  std::vector<Datum> spilled_row_;
  unsigned depth_ = 0;
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
