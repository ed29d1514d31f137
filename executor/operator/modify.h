// What INSERT, UPDATE and DELETE share: the new row in registers, constraint checks, RETURNING.
// Thread safety: compiled part immutable; a running one belongs to one Execution.
#pragma once

#include "executor/constraint/reference_events.h"
#include "executor/constraint/table_writer.h"
#include "executor/operator/compile_operator.h"
#include "executor/operator/operator.h"

namespace pgsilo {

struct CompiledModify : CompiledOperator {
  struct Check {
    std::string_view name;
    ExpressionProgram condition;
  };
  const TableDescriptor* table = nullptr;
  RowChanges changes;
  const CompiledOperator* child = nullptr;
  Register row = 0;             // the first of one register per table column
  ExpressionProgram generated;  // of the new row's other columns, into it
  std::vector<int32_t> not_null_columns;
  std::vector<Check> checks;
  std::vector<Check> view_checks;  // of a row that has been written
  std::vector<CompiledIndexKeys> index_keys;
  ExpressionProgram returning;
  bool returns_rows = false;
  // UPDATE and DELETE
  std::vector<int32_t> old_columns;  // table columns the old row has, and where
  std::vector<Register> old_registers;
  Register handle = 0;
  bool locks_rows = false;  // the scan does not

  void prepare(const ModifyNode& node, PlanCompiler& plan);
  // Into `row`, of the new row's columns, which are in `slots`.
  ExpressionProgram prepare_generated(std::span<const ColumnAssignment> given,
                                      std::span<const Register> slots, PlanCompiler& plan) const;
  void prepare_old_row(std::span<const int32_t> slots, int32_t handle_slot);
};

class Modify : public Operator {
 public:
  Modify(const CompiledModify& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        writer_(state, *compiled.table, compiled.changes,
                {compiled.index_keys, state.registers.data(), &state.rows}),
        scratch_(state),
        lock_buffer_(state) {}

  void open() override { child_->open(); }
  // Changes rows until one is to be returned; false when all are done.
  bool next() final {
    while (!is_done_ && child_->next()) {
      state_.session.maybe_yield();
      scratch_.begin_row();
      if (!change()) continue;
      ++state_.rows_processed;
      if (!compiled_.returns_rows) continue;
      scratch_.use();
      compiled_.returning.evaluate(registers(), state_.rows);
      return true;
    }
    return false;
  }
  void close() override {
    child_->close();
    writer_.trim();
  }

 protected:
  // Changes the table by the child's row; false when there was nothing to do.
  virtual bool change() = 0;

  std::span<Datum> row() { return {registers() + compiled_.row, compiled_.table->columns.size()}; }
  // Computes the generated columns that change, and checks the new row.
  void finish_row(const ExpressionProgram& generated, std::span<const int32_t> not_null_columns);
  // WITH CHECK OPTION, of the row that was written.
  void check_views();
  const RowRef& handle() { return *reinterpret_cast<const RowRef*>(at(compiled_.handle).ptr); }
  // Takes the row's lock where the scan has not; false: the row is gone.
  bool lock(RowRef* ref, LockMode mode);

  const CompiledModify& compiled_;
  std::unique_ptr<Operator> child_;
  TableWriter writer_;
  Scratch scratch_;
  bool is_done_ = false;  // without looking at rows

 private:
  ReadBuffer lock_buffer_;
};

}  // namespace pgsilo
