#include <optional>

#include "executor/constraint/row_patches.h"
#include "executor/operator/modify.h"
#include "executor/operator/table_scan.h"

namespace pgsilo {

namespace {

struct CompiledUpdate final : CompiledModify {
  ExpressionProgram assignments;
  std::vector<const IndexDescriptor*> changed_indexes;
  bool changes_primary_key = false;
  std::optional<RowPatches> patches;  // none: it takes rows as a whole
  // Nobody asks for the old row when no key can change.
  bool needs_old_row() const {
    return changes_primary_key || !changed_indexes.empty() || table->has_foreign_keys();
  }
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Update final : public Modify {
 public:
  Update(const CompiledUpdate& compiled, ExecutionState& state)
      : Modify(compiled, state), update_(compiled), old_row_(compiled.table->columns.size()) {}

 private:
  bool change() override {
    RowRef ref = handle();
    if (!lock(&ref, LockMode::no_key_update)) return false;
    std::span<Datum> new_row = row();
    for (size_t i = 0; i < update_.old_columns.size(); ++i) {
      new_row[static_cast<size_t>(update_.old_columns[i])] = at(update_.old_registers[i]);
    }
    if (update_.needs_old_row()) std::copy(new_row.begin(), new_row.end(), old_row_.begin());
    update_.assignments.evaluate(registers(), state_.rows);
    finish_row(update_.generated, update_.not_null_columns);
    bool changed = writer_.update({.old = ref,
                                   .old_row = old_row_,
                                   .new_row = new_row,
                                   .indexes = update_.changed_indexes,
                                   .changes_primary_key = update_.changes_primary_key,
                                   .patches = update_.patches ? &*update_.patches : nullptr});
    if (changed) check_views();
    return changed;
  }

  const CompiledUpdate& update_;
  std::vector<Datum> old_row_;
};

std::unique_ptr<Operator> CompiledUpdate::instantiate(ExecutionState& state) const {
  return std::make_unique<Update>(*this, state);
}

}  // namespace

CompiledOperator* compile_update(const UpdateNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledUpdate>();
  made->prepare(node, plan);
  made->prepare_old_row(node.old_row_slots, node.row_handle_slot);
  std::vector<const BoundExpression*> values;
  std::vector<Register> targets;
  for (const ColumnAssignment& assignment : node.assignments) {
    made->changes.updates.push_back(assignment.column);
    values.push_back(assignment.value);
    targets.push_back(made->row + static_cast<Register>(assignment.column));
  }
  for (const ColumnAssignment& made_of : node.generated)
    made->changes.updates.push_back(made_of.column);
  made->assignments = plan.row_into(values, made->child->output, targets);
  made->changed_indexes.assign(node.changed_indexes.begin(), node.changed_indexes.end());
  made->changes_primary_key = node.changes_primary_key;
  if (node.partial != nullptr) made->patches.emplace(*node.partial, node.table->layout);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
