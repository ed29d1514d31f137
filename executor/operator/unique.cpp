// The first of each run of equal rows.
#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/operator/row_store.h"

namespace pgsilo {

namespace {

struct CompiledUnique final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  RowShape keys;
  KeyTypes key_types;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Unique final : public Operator {
 public:
  Unique(const CompiledUnique& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        current_(compiled.keys.size()) {}

  void open() override {
    previous_ = nullptr;
    memory_.reset();
    child_->open();
  }
  bool next() override {
    while (child_->next()) {
      for (size_t i = 0; i < current_.size(); ++i) current_[i] = at(compiled_.keys.registers[i]);
      if (previous_ != nullptr && compiled_.key_types.equal(previous_, current_.data())) continue;
      memory_.reset();
      previous_ = compiled_.keys.save(registers(), memory_);
      return true;
    }
    return false;
  }
  void close() override { child_->close(); }

 private:
  const CompiledUnique& compiled_;
  std::unique_ptr<Operator> child_;
  std::vector<Datum> current_;
  Arena memory_;
  const Datum* previous_ = nullptr;
};

std::unique_ptr<Operator> CompiledUnique::instantiate(ExecutionState& state) const {
  return std::make_unique<Unique>(*this, state);
}

}  // namespace

CompiledOperator* compile_unique(const UniqueNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledUnique>();
  made->child = plan.compile(node.child);
  made->output = made->child->output;
  for (int32_t slot : node.key_slots) {
    auto column = static_cast<size_t>(slot);
    const TypeInfo& type = type_info(node.columns[column].type);
    made->keys.registers.push_back(made->output[column]);
    made->keys.by_reference.push_back(type.by_reference);
    made->key_types.types.push_back(&type);
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
