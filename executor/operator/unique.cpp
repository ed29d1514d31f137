// The first of each run of equal rows.
#include "executor/operator/compile_operator.h"
#include "executor/operator/neighbour_keys.h"
#include "executor/operator/operator.h"

namespace pgsilo {

namespace {

struct CompiledUnique final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  CompiledNeighbourKeys keys;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Unique final : public Operator {
 public:
  Unique(const CompiledUnique& compiled, ExecutionState& state)
      : Operator(state), child_(compiled.child->instantiate(state)), keys_(compiled.keys) {}

  void open() override {
    keys_.forget();
    child_->open();
  }
  bool next() override {
    while (child_->next()) {
      if (keys_.matches(registers())) continue;
      keys_.keep(registers());
      return true;
    }
    return false;
  }
  void close() override { child_->close(); }

 private:
  std::unique_ptr<Operator> child_;
  NeighbourKeys keys_;
};

std::unique_ptr<Operator> CompiledUnique::instantiate(ExecutionState& state) const {
  return std::make_unique<Unique>(*this, state);
}

}  // namespace

CompiledOperator* compile_unique(const UniqueNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledUnique>();
  made->child = plan.compile(node.child);
  made->output = made->child->output;
  made->keys.set(node.key_slots, node.columns, made->output);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
