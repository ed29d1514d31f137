// Every row of a table, in the order of its primary tree.
#include "executor/operator/range_cursor.h"
#include "executor/operator/table_scan.h"

namespace pgsilo {

namespace {

struct CompiledSequentialScan final : CompiledTableScan {
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class SequentialScan final : public TableScanOperator {
 public:
  SequentialScan(const CompiledSequentialScan& compiled, ExecutionState& state)
      : TableScanOperator(compiled, state), cursor_(state) {}

  void open() override {
    cursor_.open(primary(), everything_, /*backward=*/false, buffer_, purpose());
  }
  bool next() override {
    while (cursor_.next(&row_)) {
      if (accept(/*locked=*/false)) return true;
    }
    return false;
  }
  void close() override { cursor_.close(); }

 private:
  RangeCursor cursor_;
  EncodedRange everything_;
};

std::unique_ptr<Operator> CompiledSequentialScan::instantiate(ExecutionState& state) const {
  return std::make_unique<SequentialScan>(*this, state);
}

}  // namespace

CompiledOperator* compile_sequential_scan(const SequentialScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledSequentialScan>();
  made->prepare(node, nullptr, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
