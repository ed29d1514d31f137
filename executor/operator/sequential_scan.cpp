// Every row of a table, in the order of its primary tree; of a sequence, the one row that tells
// where it stands now, which is nobody's read or write.
#include "catalog/sequence/sequence_state.h"
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
    keep_range();
    cursor_.open(primary(), everything_, /*backward=*/false, buffer_.rows(), purpose());
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

class SequenceScan final : public TableScanOperator {
 public:
  SequenceScan(const CompiledSequentialScan& compiled, ExecutionState& state)
      : TableScanOperator(compiled, state) {}

  void open() override { delivered_ = false; }
  bool next() override {
    if (delivered_) return false;
    delivered_ = true;
    Epoch epoch;
    SequencePosition position = scan_.table->sequence->state->show(&epoch);
    state_.transaction().rest_on(epoch);
    Datum values[] = {Datum::of_int(position.last_value), Datum::of_int(position.log_count),
                      Datum::of_bool(position.is_called)};
    bytes_.clear();
    scan_.table->layout.encode(values, bytes_);
    row_.row = bytes_.view();
    return accept(/*locked=*/false);
  }
  void close() override {}

 private:
  bool delivered_ = false;
  ByteBuffer bytes_;
};

std::unique_ptr<Operator> CompiledSequentialScan::instantiate(ExecutionState& state) const {
  if (table->kind == RelationKind::sequence) return std::make_unique<SequenceScan>(*this, state);
  return std::make_unique<SequentialScan>(*this, state);
}

}  // namespace

CompiledOperator* compile_sequential_scan(const SequentialScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledSequentialScan>();
  made->prepare(node, nullptr, plan);
  return plan.add(std::move(made));
}

}  // namespace pgsilo
