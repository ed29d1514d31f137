// WITH RECURSIVE: the first term's rows, then what the recursive term makes of the rows that the
// last step has added, which its work table scan reads. The rows of a step and of the next are kept
// (beyond work_mem in temporary files); of UNION the different rows are, all of them, in memory.
#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/work_table.h"
#include "planner/plan/recursion_nodes.h"

namespace pgsilo {

namespace {

struct CompiledRecursiveUnion final : CompiledOperator {
  const CompiledOperator* left = nullptr;
  const CompiledOperator* right = nullptr;
  RowShape kept;  // a row as it is put together
  KeyTypes types;
  int32_t work_table = 0;
  bool distinct = false;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class RecursiveUnion final : public Operator {
 public:
  RecursiveUnion(const CompiledRecursiveUnion& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        left_(compiled.left->instantiate(state)),
        right_(compiled.right->instantiate(state)),
        work_table_(compiled.kept),
        table_(compiled.types),
        row_(compiled.output.size()) {
    state.work_tables[static_cast<size_t>(compiled.work_table)] = &work_table_;
  }

  void open() override {
    clear();
    left_->open();
    in_first_term_ = true;
  }

  bool next() override {
    for (;;) {
      while (in_first_term_ ? left_->next() : right_->next()) {
        state_.session.maybe_yield();
        const CompiledOperator& term = in_first_term_ ? *compiled_.left : *compiled_.right;
        for (size_t i = 0; i < row_.size(); ++i) row_[i] = at(term.output[i]);
        if (compiled_.distinct && !is_new()) continue;
        work_table_.add(row_.data(), state_.session);
        for (size_t i = 0; i < row_.size(); ++i) at(compiled_.output[i]) = row_[i];
        return true;
      }
      // Where the first term has no rows, there is a step nonetheless.
      if (!work_table_.begin_step() && !in_first_term_) return false;
      in_first_term_ = false;
      right_->open();
    }
  }

  void close() override {
    left_->close();
    right_->close();
    clear();
  }

 private:
  void clear() {
    work_table_.clear();
    table_.clear();
  }

  bool is_new() {
    uint64_t hash = compiled_.types.hash(row_.data());
    if (table_.find(row_.data(), hash) != nullptr) return false;
    HashedRow* added = table_.add(hash, row_.size());
    for (size_t i = 0; i < row_.size(); ++i)
      added->values()[i] = copy_datum(row_[i], *compiled_.types.types[i], table_.arena());
    return true;
  }

  const CompiledRecursiveUnion& compiled_;
  std::unique_ptr<Operator> left_;
  std::unique_ptr<Operator> right_;
  WorkTable work_table_;
  RowHashTable table_;
  std::vector<Datum> row_;
  bool in_first_term_ = true;
};

std::unique_ptr<Operator> CompiledRecursiveUnion::instantiate(ExecutionState& state) const {
  return std::make_unique<RecursiveUnion>(*this, state);
}

struct CompiledWorkTableScan final : CompiledOperator {
  int32_t work_table = 0;
  ExpressionProgram filter;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class WorkTableScan final : public Operator {
 public:
  WorkTableScan(const CompiledWorkTableScan& compiled, ExecutionState& state)
      : Operator(state), compiled_(compiled), scratch_(state) {}

  // The table comes to be behind what reads it.
  void open() override {
    if (table_ == nullptr) {
      table_ = state_.work_tables[static_cast<size_t>(compiled_.work_table)];
      table_->add_reader(reader_);
    }
    reader_.rewind();
  }
  bool next() override {
    while (const Datum* row = reader_.next(table_->rows())) {
      for (size_t i = 0; i < compiled_.output.size(); ++i) at(compiled_.output[i]) = row[i];
      scratch_.begin_row();
      if (compiled_.filter.is_true(registers(), state_.rows)) return true;
      state_.session.maybe_yield();  // kept rows come without giving way
    }
    return false;
  }

 private:
  const CompiledWorkTableScan& compiled_;
  Scratch scratch_;
  WorkTable* table_ = nullptr;
  StoredRows::Reader reader_;
};

std::unique_ptr<Operator> CompiledWorkTableScan::instantiate(ExecutionState& state) const {
  return std::make_unique<WorkTableScan>(*this, state);
}

}  // namespace

CompiledOperator* compile_recursive_union(const RecursiveUnionNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledRecursiveUnion>();
  made->left = plan.compile(node.left);
  made->right = plan.compile(node.right);
  made->work_table = node.work_table;
  made->distinct = node.distinct;
  for (size_t i = 0; i < node.columns.size(); ++i) {
    const TypeInfo& type = type_info(node.columns[i].type);
    made->types.types.push_back(&type);
    made->kept.registers.push_back(static_cast<Register>(i));
    made->kept.by_reference.push_back(type.by_reference);
  }
  made->output = plan.new_register_list(node.columns.size());
  return plan.add(std::move(made));
}

CompiledOperator* compile_work_table_scan(const WorkTableScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledWorkTableScan>();
  made->work_table = node.work_table;
  made->output = plan.new_register_list(node.columns.size());
  made->filter = plan.condition(node.filter, made->output);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
