#include "executor/operator/modify.h"
#include "executor/operator/table_scan.h"

namespace pgsilo {

namespace {

struct CompiledDelete final : CompiledModify {
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Delete final : public Modify {
 public:
  using Modify::Modify;

 private:
  bool change() override {
    RowRef ref = handle();
    if (!lock(&ref, LockMode::update)) return false;
    std::span<Datum> old_row = row();
    for (size_t i = 0; i < compiled_.old_columns.size(); ++i) {
      old_row[static_cast<size_t>(compiled_.old_columns[i])] = at(compiled_.old_registers[i]);
    }
    return writer_.remove(ref, old_row);
  }
};

std::unique_ptr<Operator> CompiledDelete::instantiate(ExecutionState& state) const {
  return std::make_unique<Delete>(*this, state);
}

}  // namespace

CompiledOperator* compile_delete(const DeleteNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledDelete>();
  made->prepare(node, plan);
  made->prepare_old_row(node.old_row_slots, node.row_handle_slot);
  made->changes.removes = true;
  return plan.add(std::move(made));
}

}  // namespace pgsilo
