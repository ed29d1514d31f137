#include "executor/operator/modify.h"

#include "executor/operator/table_scan.h"
#include "executor/transaction_status.h"

namespace pgsilo {

void CompiledModify::prepare(const ModifyNode& node, PlanCompiler& plan) {
  table = node.table;
  locks_rows = !hands_rows_on(node.child);
  child = plan.compile(node.child, locks_rows ? RowHandleUse::kept : RowHandleUse::direct);
  row = plan.new_registers(node.table->columns.size());
  not_null_columns.assign(node.not_null_columns.begin(), node.not_null_columns.end());
  std::vector<Register> modified;
  modified.reserve(node.table->columns.size() + child->output.size());
  for (size_t i = 0; i < node.table->columns.size(); ++i)
    modified.push_back(row + static_cast<Register>(i));
  modified.insert(modified.end(), child->output.begin(), child->output.end());
  generated = prepare_generated(node.generated, modified, plan);
  for (const CheckConstraint& check : node.checks) {
    if (check.kind == CheckKind::view) {
      view_checks.push_back({check.name, plan.condition(check.condition, modified)});
    } else {
      checks.push_back({check.name, plan.expression(check.condition, modified)});
    }
  }
  index_keys = compile_index_keys(node.index_keys, table->columns.size(), plan);
  returns_rows = !node.columns.empty();
  if (returns_rows) {
    output = plan.new_register_list(node.columns.size());
    returning = plan.row_into(node.returning, modified, output);
  }
}

ExpressionProgram CompiledModify::prepare_generated(std::span<const ColumnAssignment> given,
                                                    std::span<const Register> slots,
                                                    PlanCompiler& plan) const {
  std::vector<const BoundExpression*> values;
  std::vector<Register> targets;
  for (const ColumnAssignment& made : given) {
    values.push_back(made.value);
    targets.push_back(row + static_cast<Register>(made.column));
  }
  return plan.row_into(values, slots, targets);
}

void CompiledModify::prepare_old_row(std::span<const int32_t> slots, int32_t handle_slot) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] < 0) continue;
    old_columns.push_back(static_cast<int32_t>(i));
    old_registers.push_back(child->output[static_cast<size_t>(slots[i])]);
  }
  handle = child->output[static_cast<size_t>(handle_slot)];
}

void Modify::finish_row(const ExpressionProgram& generated,
                        std::span<const int32_t> not_null_columns) {
  if (generated.computes()) generated.evaluate(registers(), state_.rows);
  std::span<const Datum> values = row();
  writer_.check_not_null(values, not_null_columns);
  for (const CompiledModify::Check& check : compiled_.checks) {
    const Datum& holds = check.condition.evaluate(registers(), state_.rows);
    if (!holds.null && !holds.as_bool()) writer_.raise_check_violation(values, check.name);
  }
}

void Modify::check_views() {
  for (const CompiledModify::Check& check : compiled_.view_checks) {
    if (!check.condition.is_true(registers(), state_.rows))
      writer_.raise_view_violation(row(), check.name);
  }
}

bool Modify::lock(RowRef* ref, LockMode mode) {
  if (!compiled_.locks_rows) return true;
  TransactionStatus status = state_.transaction().lock_row(ref, lock_buffer_.rows(), {mode});
  if (status == TransactionStatus::ok) return true;
  if (status == TransactionStatus::not_found || status == TransactionStatus::self_modified)
    return false;
  // The row changed after a join or a sort had used it: what it would mean for them is not known
  // here.
  if (status == TransactionStatus::row_changed) status = TransactionStatus::conflict_record;
  raise_transaction_status(status);
}

}  // namespace pgsilo
