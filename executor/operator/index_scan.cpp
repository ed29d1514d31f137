// Ranges of an index or of the primary tree, forwards or backwards; or of several indexes, one
// after the other.
#include <array>
#include <unordered_set>

#include "executor/operator/key_ranges.h"
#include "executor/operator/table_scan.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

struct CompiledIndexPart {
  const IndexDescriptor* index = nullptr;  // null: the primary tree
  const KeyLayout* key = nullptr;
  std::vector<CompiledKeyRanges> ranges;
};

struct CompiledIndexScan final : CompiledTableScan {
  std::vector<CompiledIndexPart> parts;
  bool backward = false;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

class IndexScan final : public TableScanOperator {
 public:
  IndexScan(const CompiledIndexScan& compiled, ExecutionState& state)
      : TableScanOperator(compiled, state),
        compiled_(compiled),
        cursor_(state),
        entry_buffer_(state) {
    for (const CompiledIndexPart& part : compiled.parts) builders_.emplace_back(state, *part.key);
  }

  void open() override {
    close();
    seen_.clear();
    part_ = 0;
    open_part();
  }

  bool next() override {
    for (;;) {
      while (next_row()) {
        if (is_new() && accept(/*locked=*/false)) return true;
      }
      if (part_ + 1 >= compiled_.parts.size()) return false;
      ++part_;
      open_part();
    }
  }

  void close() override {
    cursor_.close();
    in_range_ = false;
  }

 private:
  const CompiledIndexPart& part() const { return compiled_.parts[part_]; }

  void open_part() {
    scratch_.begin_row();
    ranges_.clear();
    ahead_ = 0;
    for (const CompiledKeyRanges& ranges : part().ranges) builders_[part_].add(ranges, ranges_);
    ranges_.settle(compiled_.backward);
  }

  // Several indexes may lead to one row.
  bool is_new() { return compiled_.parts.size() == 1 || seen_.insert(row_.record).second; }

  bool next_row() {
    for (;;) {
      if (in_range_) {
        if (next_in_range()) return true;
        close();
      }
      if (!ranges_.next(&range_)) return false;
      if (range_.is_point) {
        if (ahead_ == 0) prefetch_points();
        --ahead_;
        if (look_up()) return true;
        continue;
      }
      const IndexDescriptor* index = part().index;
      keep_range();
      cursor_.open(index == nullptr ? primary() : *index->relation, range_, compiled_.backward,
                   (index == nullptr ? buffer_ : entry_buffer_).rows(), purpose());
      in_range_ = true;
    }
  }

  // This one's, and those of the lookups behind it.
  void prefetch_points() {
    ahead_ = 1;
    EncodedRange range;
    if (!ranges_.peek(0, &range) || !range.is_point) return;
    std::array<IndexTree::Lookup, IndexTree::max_lookups> lookups;
    const Relation& relation = part().index == nullptr ? primary() : *part().index->relation;
    lookups[0] = {&relation.tree(), range_.lower};
    do {
      lookups[ahead_++] = {&relation.tree(), range.lower};
    } while (ahead_ < lookups.size() && ranges_.peek(ahead_ - 1, &range) && range.is_point);
    IndexTree::prefetch(std::span(lookups).first(ahead_));
  }

  bool look_up() {
    TransactionStatus status = get(part().index, range_.lower, entry_buffer_.rows(), purpose());
    if (status == TransactionStatus::ok) return true;
    if (status != TransactionStatus::not_found) state_.raise(status);
    state_.session.maybe_yield();
    return false;
  }

  bool next_in_range() {
    if (part().index == nullptr) return cursor_.next(&row_);
    RowRef entry;
    while (cursor_.next(&entry)) {
      cursor_.prefetch_followed();
      entry.row = part().index->key.primary_key_of(entry.key(), entry.row);
      TransactionStatus status =
          state_.transaction().get_via_entry(primary(), entry, buffer_.rows(), &row_, purpose());
      if (status == TransactionStatus::ok) return true;
      // An entry whose row is gone: another transaction is between our reads, and validation will
      // tell.
      if (status != TransactionStatus::not_found) state_.raise(status);
    }
    return false;
  }

  const CompiledIndexScan& compiled_;
  RangeCursor cursor_;
  ReadBuffer entry_buffer_;
  std::vector<KeyRangeBuilder> builders_;  // of each part
  KeyRangeList ranges_;                    // of the part that is read
  EncodedRange range_;
  size_t part_ = 0;
  bool in_range_ = false;
  size_t ahead_ = 0;  // so many lookups have been prefetched and not been made
  std::unordered_set<const Record*> seen_;
};

std::unique_ptr<Operator> CompiledIndexScan::instantiate(ExecutionState& state) const {
  return std::make_unique<IndexScan>(*this, state);
}

}  // namespace

CompiledOperator* compile_index_scan(const IndexScanNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledIndexScan>();
  made->prepare(node, node.index_condition, plan);
  made->backward = node.direction == decltype(node.direction)::backward;
  for (const IndexPart& part : node.parts) {
    CompiledIndexPart& compiled = made->parts.emplace_back();
    bool by_primary_tree = part.index == nullptr || part.index->is_primary_tree();
    compiled.index = by_primary_tree ? nullptr : part.index;
    compiled.key = by_primary_tree ? &node.table->primary_key : &part.index->key;
    for (const KeyRanges& ranges : part.ranges)
      compiled.ranges.push_back(CompiledKeyRanges::compile(ranges, *compiled.key, plan));
  }
  return plan.add(std::move(made));
}

}  // namespace pgsilo
