// SELECT ... FOR UPDATE, NO KEY UPDATE, SHARE, KEY SHARE over rows of a join or a sort. A scan
// whose rows are handed straight on locks them itself.
#include "executor/operator/operator.h"
#include "executor/operator/table_scan.h"
#include "sql/ast/query.h"

namespace pgsilo {

namespace {

struct CompiledLockRows final : CompiledOperator {
  struct Row {
    const TableDescriptor* table;
    Register handle;
    RowLock lock;
    bool skip_locked;
  };
  const CompiledOperator* child = nullptr;
  std::vector<Row> rows;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class LockRows final : public Operator {
 public:
  LockRows(const CompiledLockRows& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        buffer_(state) {}

  void open() override { child_->open(); }
  bool next() override {
    while (child_->next()) {
      if (lock_all()) return true;
    }
    return false;
  }
  void close() override { child_->close(); }

 private:
  // False: one of them has gone, or is left out.
  bool lock_all() {
    for (const CompiledLockRows::Row& row : compiled_.rows) {
      if (!lock(row)) return false;
    }
    return true;
  }

  bool lock(const CompiledLockRows::Row& row) {
    RowRef ref = *reinterpret_cast<const RowRef*>(at(row.handle).ptr);
    TransactionStatus status = state_.transaction().lock_row(&ref, buffer_.rows(), row.lock);
    switch (status) {
      case TransactionStatus::ok:
        return true;
      case TransactionStatus::not_found:
      case TransactionStatus::self_modified:
        return false;
      case TransactionStatus::row_changed:
        // After a join or a sort had used it: what it would mean for them is not known here. That
        // it was locked until just now is reason enough to leave it out, if that is wanted.
        if (row.skip_locked) return false;
        state_.raise(TransactionStatus::conflict_record);
      case TransactionStatus::lock_not_available:
        if (row.skip_locked) return false;
        raise_row_not_available(*row.table);
      default:
        state_.raise(status);
    }
  }

  const CompiledLockRows& compiled_;
  std::unique_ptr<Operator> child_;
  ReadBuffer buffer_;
};

std::unique_ptr<Operator> CompiledLockRows::instantiate(ExecutionState& state) const {
  return std::make_unique<LockRows>(*this, state);
}

}  // namespace

CompiledOperator* compile_lock_rows(const LockRowsNode& node, PlanCompiler& plan) {
  bool direct = node.rows.size() == 1 && hands_rows_on(node.child);
  const CompiledOperator* child =
      plan.compile(node.child, direct ? RowHandleUse::direct : RowHandleUse::kept);
  auto made = std::make_unique<CompiledLockRows>();
  made->child = child;
  made->output = child->output;
  for (size_t i = 0; !direct && i < node.rows.size(); ++i) {
    const LockedRow& row = node.rows[i];
    made->rows.push_back({row.table, child->output[static_cast<size_t>(row.handle_slot)],
                          row_lock(*row.mark), row.mark->wait == ast::LockWait::skip_locked});
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
