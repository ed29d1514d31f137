#include "executor/operator/modify.h"

namespace pgsilo {

namespace {

// ON CONFLICT DO UPDATE.
struct ConflictUpdate {
  Register existing = 0;  // the first of one register per table column
  ExpressionProgram condition;
  bool has_condition = false;
  std::vector<CompiledModify::Check> visible;  // through these views
  std::vector<Register> assigned_columns;      // in the modified row
  std::vector<Register> assigned_values;
  ExpressionProgram assignments;
  ExpressionProgram generated;
  std::vector<int32_t> not_null_columns;
  std::vector<const IndexDescriptor*> changed_indexes;
  bool changes_primary_key = false;
};

struct CompiledInsert final : CompiledModify {
  ExpressionProgram values;
  bool has_conflict_clause = false;
  std::vector<const IndexDescriptor*> arbiters;
  std::unique_ptr<ConflictUpdate> update;  // null: DO NOTHING
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
  void prepare_conflict(const ConflictAction& action, PlanCompiler& plan);
};

class Insert final : public Modify {
 public:
  Insert(const CompiledInsert& compiled, ExecutionState& state)
      : Modify(compiled, state), insert_(compiled), existing_buffer_(state) {}

 private:
  bool change() override {
    insert_.values.evaluate(registers(), state_.rows);
    finish_row(insert_.generated, insert_.not_null_columns);
    if (!insert_.has_conflict_clause) {
      writer_.insert(row());
      check_views();
      return true;
    }
    bool updates = insert_.update != nullptr;
    for (;;) {
      const IndexDescriptor* met = writer_.insert_unless_conflict(row(), insert_.arbiters, updates);
      if (met == nullptr) {
        check_views();
        return true;
      }
      if (!updates) return false;
      RowRef existing;
      if (writer_.find_conflicting(*met, row(), existing_buffer_.rows(), &existing))
        return update(existing);
      // It has gone. Or what is read does not fit together, and never will: the entries of an index
      // that others have dropped since stay as they were.
      state_.check(state_.transaction().validate());
      state_.session.maybe_yield();
    }
  }

  bool update(const RowRef& existing) {
    const ConflictUpdate& action = *insert_.update;
    std::span<Datum> new_row = row();  // until it is overwritten: the proposed one
    std::span<Datum> old_row(registers() + action.existing, new_row.size());
    if (padding_.bytes_reserved() != 0) padding_.reset();
    insert_.table->layout.decode(existing.row, old_row, padding_);
    for (const CompiledModify::Check& shown : action.visible) {
      if (!shown.condition.is_true(registers(), state_.rows)) writer_.raise_not_visible(shown.name);
    }
    if (action.has_condition && !action.condition.is_true(registers(), state_.rows)) return false;
    action.assignments.evaluate(registers(), state_.rows);
    std::copy(old_row.begin(), old_row.end(), new_row.begin());
    for (size_t i = 0; i < action.assigned_columns.size(); ++i)
      at(action.assigned_columns[i]) = at(action.assigned_values[i]);
    finish_row(action.generated, action.not_null_columns);
    bool changed = writer_.update({.old = existing,
                                   .old_row = old_row,
                                   .new_row = new_row,
                                   .indexes = action.changed_indexes,
                                   .changes_primary_key = action.changes_primary_key});
    if (changed) check_views();
    return changed;
  }

  const CompiledInsert& insert_;
  ReadBuffer existing_buffer_;
  Arena padding_;  // of the existing row's char(n) values
};

std::unique_ptr<Operator> CompiledInsert::instantiate(ExecutionState& state) const {
  return std::make_unique<Insert>(*this, state);
}

void CompiledInsert::prepare_conflict(const ConflictAction& action, PlanCompiler& plan) {
  has_conflict_clause = true;
  arbiters.assign(action.arbiters.begin(), action.arbiters.end());
  if (!action.updates) return;
  update = std::make_unique<ConflictUpdate>();
  size_t columns = table->columns.size();
  update->existing = plan.new_registers(columns);
  std::vector<Register> rows;  // the existing one, then the proposed one
  rows.reserve(2 * columns);
  for (size_t i = 0; i < columns; ++i) rows.push_back(update->existing + static_cast<Register>(i));
  for (size_t i = 0; i < columns; ++i) rows.push_back(row + static_cast<Register>(i));
  update->has_condition = action.condition != nullptr;
  if (update->has_condition) update->condition = plan.condition(action.condition, rows);
  for (const CheckConstraint& shown : action.visible)
    update->visible.push_back({shown.name, plan.condition(shown.condition, rows)});
  std::vector<const BoundExpression*> assigned;
  for (const ColumnAssignment& assignment : action.assignments) {
    assigned.push_back(assignment.value);
    changes.updates.push_back(assignment.column);
    update->assigned_columns.push_back(row + static_cast<Register>(assignment.column));
  }
  update->assigned_values = plan.new_register_list(assigned.size());
  update->assignments = plan.row_into(assigned, rows, update->assigned_values);
  update->generated = prepare_generated(action.generated, std::span(rows).subspan(columns), plan);
  for (const ColumnAssignment& made : action.generated) changes.updates.push_back(made.column);
  update->not_null_columns.assign(action.not_null_columns.begin(), action.not_null_columns.end());
  update->changed_indexes.assign(action.changed_indexes.begin(), action.changed_indexes.end());
  update->changes_primary_key = action.changes_primary_key;
}

}  // namespace

CompiledOperator* compile_insert(const InsertNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledInsert>();
  made->prepare(node, plan);
  std::vector<Register> targets;
  targets.reserve(node.values.size());
  for (size_t i = 0; i < node.values.size(); ++i)
    targets.push_back(made->row + static_cast<Register>(i));
  made->changes.inserts = true;
  made->values = plan.row_into(node.values, made->child->output, targets);
  if (node.conflict != nullptr) made->prepare_conflict(*node.conflict, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
