// At most one row, by its whole primary key or by all columns of a unique index.
#include "base/byte_buffer.h"
#include "executor/operator/index_key.h"
#include "executor/operator/table_scan.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

struct CompiledPointGet final : CompiledTableScan {
  const IndexDescriptor* index = nullptr;  // null: the primary tree
  const KeyLayout* key = nullptr;
  std::vector<CompiledKeyValue> values;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class PointGet final : public TableScanOperator {
 public:
  PointGet(const CompiledPointGet& compiled, ExecutionState& state)
      : TableScanOperator(compiled, state), compiled_(compiled), entry_buffer_(state) {}

  void open() override { done_ = false; }
  bool next() override {
    if (done_) return false;
    done_ = true;
    return encode() && read() && accept(locks_first());
  }

 private:
  bool encode() {
    scratch_.begin_row();
    key_.clear();
    const std::span<const KeyColumn> columns = compiled_.key->columns();
    for (size_t i = 0; i < compiled_.values.size(); ++i) {
      Datum value;
      if (compiled_.values[i].evaluate(state_, &value) != KeyFit::fits) return false;
      encode_key(columns[i], value, key_);
    }
    return true;
  }

  // Where a filter may reject the row, it is not locked before.
  bool locks_first() const {
    return compiled_.handle_use == RowHandleUse::direct && !compiled_.has_filter;
  }

  bool read() {
    ReadPurpose row_purpose = locks_first() ? ReadPurpose::for_update : purpose();
    TransactionStatus status = get(compiled_.index, key_.view(), entry_buffer_.rows(), row_purpose);
    if (status == TransactionStatus::ok) return true;
    return status != TransactionStatus::not_found && check_lock(status);
  }

  const CompiledPointGet& compiled_;
  ByteBuffer key_;
  ReadBuffer entry_buffer_;
  bool done_ = false;
};

std::unique_ptr<Operator> CompiledPointGet::instantiate(ExecutionState& state) const {
  return std::make_unique<PointGet>(*this, state);
}

}  // namespace

CompiledOperator* compile_point_get(const PointGetNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledPointGet>();
  made->prepare(node, node.index_condition, plan);
  bool by_primary_tree = node.index == nullptr || node.index->is_primary_tree();
  made->index = by_primary_tree ? nullptr : node.index;
  made->key = by_primary_tree ? &node.table->primary_key : &node.index->key;
  for (size_t i = 0; i < node.keys.size(); ++i) {
    made->values.push_back(
        CompiledKeyValue::compile(node.keys[i], *made->key->columns()[i].type, plan));
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
