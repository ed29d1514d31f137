#include <array>

#include "base/memory_budget.h"
#include "executor/ddl/ddl_command.h"
#include "executor/operator/modify.h"
#include "executor/operator/table_scan.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

struct CompiledDelete final : CompiledModify {
  bool takes_all = false;  // rows, and nobody wants to know anything of them
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class Delete final : public Modify {
 public:
  Delete(const CompiledDelete& compiled, ExecutionState& state)
      : Modify(compiled, state), delete_(compiled) {}

  void open() override {
    is_done_ = false;
    if (delete_.takes_all && !can_remember_rows())
      replace_trees();
    else
      Modify::open();
  }

 private:
  // Whether there is memory to delete the rows one by one. A block keeps what it has locked: there
  // it is tried.
  bool can_remember_rows() const {
    const Transaction& transaction = state_.transaction();
    if (transaction.mode() != TransactionMode::one_shot || transaction.has_writes()) return true;
    const TableDescriptor& table = *compiled_.table;
    size_t records = static_cast<size_t>(table.relation->row_count()) *
                     (table.indexes.size() + (table.has_primary_key() ? 0 : 1));
    return memory_admits(records * Transaction::bytes_per_removal, MemoryPurpose::upkeep);
  }
  // As TRUNCATE: with the table to itself.
  void replace_trees() {
    const TableDescriptor& table = *compiled_.table;
    const Relation& rows = *table.relation;
    const std::array tables = {table.oid};
    DdlRun run(state_, *state_.compiled.planned);
    run.finish(run.definition().truncate(tables));
    state_.rows_processed = static_cast<uint64_t>(rows.row_count());
    is_done_ = true;
  }

  bool change() override {
    RowRef ref = handle();
    if (!lock(&ref, LockMode::update)) return false;
    std::span<Datum> old_row = row();
    for (size_t i = 0; i < compiled_.old_columns.size(); ++i) {
      old_row[static_cast<size_t>(compiled_.old_columns[i])] = at(compiled_.old_registers[i]);
    }
    return writer_.remove(ref, old_row);
  }

  const CompiledDelete& delete_;
};

std::unique_ptr<Operator> CompiledDelete::instantiate(ExecutionState& state) const {
  return std::make_unique<Delete>(*this, state);
}

bool takes_all_rows(const DeleteNode& node) {
  const auto* scan = try_as<SequentialScanNode>(node.child);
  return scan != nullptr && scan->filter == nullptr && node.columns.empty() &&
         !node.table->has_foreign_keys() && node.table->referenced_by.empty();
}

}  // namespace

CompiledOperator* compile_delete(const DeleteNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledDelete>();
  made->prepare(node, plan);
  made->prepare_old_row(node.old_row_slots, node.row_handle_slot);
  made->changes.removes = true;
  made->takes_all = takes_all_rows(node);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
