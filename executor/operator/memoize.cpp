// Keeps the child's rows by the values that they were made for.
#include "executor/operator/compile_operator.h"
#include "executor/operator/hash_table.h"
#include "executor/operator/operator.h"
#include "executor/row_shape.h"

namespace pgsilo {

namespace {

struct CompiledMemoize final : CompiledOperator {
  const CompiledOperator* child = nullptr;
  RowShape shape;
  std::vector<ExpressionProgram> keys;
  KeyTypes key_types;
  bool single_row = false;
  size_t memory_bytes = 0;
  std::unique_ptr<Operator> instantiate(ExecutionState& state) const override;
};

// Entries are kept in two generations, each with half of the room. A new one begins when the
// younger is full: the older, in which nothing is found any more without being taken over, goes as
// a whole.
class Memoize final : public Operator {
 public:
  Memoize(const CompiledMemoize& compiled, ExecutionState& state)
      : Operator(state),
        compiled_(compiled),
        child_(compiled.child->instantiate(state)),
        generations_{RowHashTable(compiled.key_types), RowHashTable(compiled.key_types)},
        key_scratch_(state),
        keys_(compiled.keys.size()) {}

  void open() override {
    make_room();
    key_scratch_.begin_row();
    for (size_t i = 0; i < keys_.size(); ++i)
      keys_[i] = compiled_.keys[i].evaluate(registers(), state_.rows);
    entry_ = find();
    next_ = nullptr;
    replays_ = entry_ != nullptr && entry_->is_complete;
    if (replays_) {
      next_ = entry_->first;
      return;
    }
    if (entry_ == nullptr) entry_ = add_entry();
    // What a reader that had enough has left unread begins anew.
    entry_->first = nullptr;
    last_ = &entry_->first;
    child_->open();
  }

  bool next() override {
    if (replays_) {
      if (next_ == nullptr) return false;
      compiled_.shape.restore(next_->values(), registers());
      next_ = next_->next;
      return true;
    }
    if (!child_->next()) {
      if (entry_ != nullptr) entry_->is_complete = true;
      return false;
    }
    if (entry_ != nullptr) keep();
    return true;
  }

  void close() override {
    child_->close();
    for (RowHashTable& generation : generations_) generation.clear();
    entry_ = nullptr;
  }

 private:
  struct KeptRow {
    KeptRow* next;
    Datum* values() { return reinterpret_cast<Datum*>(this + 1); }
  };
  struct Entry {
    KeptRow* first;
    bool is_complete;
  };

  RowHashTable& young() { return generations_[young_]; }
  RowHashTable& old() { return generations_[1 - young_]; }
  bool is_full() { return young().bytes_reserved() > compiled_.memory_bytes / 2; }

  void make_room() {
    if (!is_full()) return;
    old().clear();
    young_ = 1 - young_;
  }

  // The entries are ours; the row's Datum only lends its pointer.
  Entry* entry_of(HashedRow* row) const {
    return reinterpret_cast<Entry*>(const_cast<char*>(row->values()[keys_.size()].ptr));
  }

  Entry* find() {
    hash_ = compiled_.key_types.hash(keys_.data());
    if (HashedRow* found = young().find(keys_.data(), hash_)) return entry_of(found);
    HashedRow* found = old().find(keys_.data(), hash_);
    if (found == nullptr || !entry_of(found)->is_complete) return nullptr;
    return take_over(*entry_of(found));
  }

  Entry* add_entry() {
    HashedRow* row = young().add(hash_, keys_.size() + 1);
    for (size_t i = 0; i < keys_.size(); ++i)
      row->values()[i] = copy_datum(keys_[i], *compiled_.key_types.types[i], young().arena());
    row->values()[keys_.size()] = Datum();
    Entry* entry = young().arena().make<Entry>(nullptr, false);
    row->values()[keys_.size()].ptr = reinterpret_cast<const char*>(entry);
    return entry;
  }

  KeptRow* new_row() {
    void* memory = young().arena().allocate(
        sizeof(KeptRow) + compiled_.shape.size() * sizeof(Datum), alignof(Datum));
    return new (memory) KeptRow{nullptr};
  }

  // By way of the registers, which the child's next row will fill.
  Entry* take_over(Entry& known) {
    Entry* entry = add_entry();
    KeptRow** last = &entry->first;
    for (KeptRow* row = known.first; row != nullptr; row = row->next) {
      compiled_.shape.restore(row->values(), registers());
      KeptRow* copy = new_row();
      compiled_.shape.save_to(registers(), copy->values(), young().arena());
      *last = copy;
      last = &copy->next;
    }
    entry->is_complete = true;
    return entry;
  }

  // The row in the registers. Of one value whose rows alone are too many, none are kept.
  void keep() {
    if (is_full()) {
      entry_->first = nullptr;
      entry_ = nullptr;
      return;
    }
    KeptRow* row = new_row();
    compiled_.shape.save_to(registers(), row->values(), young().arena());
    *last_ = row;
    last_ = &row->next;
    if (compiled_.single_row) entry_->is_complete = true;
  }

  const CompiledMemoize& compiled_;
  std::unique_ptr<Operator> child_;
  RowHashTable generations_[2];
  size_t young_ = 0;
  Scratch key_scratch_;
  std::vector<Datum> keys_;
  uint64_t hash_ = 0;
  Entry* entry_ = nullptr;   // of the present values; null: it is not kept
  KeptRow* next_ = nullptr;  // to be replayed
  KeptRow** last_ = nullptr;
  bool replays_ = false;
};

std::unique_ptr<Operator> CompiledMemoize::instantiate(ExecutionState& state) const {
  return std::make_unique<Memoize>(*this, state);
}

}  // namespace

CompiledOperator* compile_memoize(const MemoizeNode& node, PlanCompiler& plan) {
  auto made = std::make_unique<CompiledMemoize>();
  made->child = plan.compile(node.child);
  made->output = made->child->output;
  made->shape = RowShape(made->output, node.columns);
  made->keys = plan.expressions(node.keys, {});
  // What is kept was made for this very value, whatever is equal to it.
  made->key_types.by_bits = true;
  for (const BoundExpression* key : node.keys)
    made->key_types.types.push_back(&type_info(key->type));
  made->single_row = node.single_row;
  made->memory_bytes = node.memory_bytes;
  return plan.add(std::move(made));
}

}  // namespace pgsilo
