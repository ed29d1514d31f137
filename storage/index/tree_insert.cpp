#include "storage/index/index_tree.h"
#include "storage/index/node_memory.h"
#include "storage/index/tree_insertion.h"

namespace pgsilo {

Record* IndexTree::insert(Record* fresh, ReclaimerHandle& handle, NodeChanges& changes) {
  return TreeInsertion(*this, fresh, handle, changes).run();
}

TreeInsertion::~TreeInsertion() {
  for (void* memory : stock_) free_node_memory(memory, tree_.account_, handle_.index());
}

void TreeInsertion::reserve_nodes(size_t count) {
  stock_.reserve(count);
  while (stock_.size() < count)
    stock_.push_back(allocate_node_memory(tree_.account_, handle_.index()));
}

void* TreeInsertion::take_node() {
  PGSILO_CHECK(!stock_.empty());
  void* memory = stock_.back();
  stock_.pop_back();
  return memory;
}

Record* TreeInsertion::run() {
  KeyCursor cursor(fresh_->key());
  Node* layer_root = tree_.root();
  Record* existing = nullptr;
  for (BorderAt at;;) {
    if (!reach_border(layer_root, cursor.slice(), at)) {
      cursor = KeyCursor(fresh_->key());
      layer_root = tree_.root();
      continue;
    }
    Step result = step(at, cursor, layer_root, existing);
    if (result == Step::done || result == Step::exists) return existing;
  }
}

bool TreeInsertion::run_from(BorderNode* border, size_t depth, Record*& existing) {
  KeyCursor cursor(fresh_->key(), depth);
  NodeVersion version = border->version().stable();
  if (version.is_deleted() || !border->covers(cursor.slice())) return false;
  Node* layer_root = border;
  Step result = step({border, version}, cursor, layer_root, existing);
  return result == Step::done || result == Step::exists;
}

TreeInsertion::Step TreeInsertion::step(BorderAt at, KeyCursor& cursor, Node*& layer_root,
                                        Record*& existing) {
  int slot = at.node->find(cursor.slice(), cursor.length());
  EntryTarget target = slot < 0 ? EntryTarget() : at.node->target(slot);
  if (!at.node->version().unchanged_since(at.version)) return Step::again;
  if (slot < 0) return insert_entry(at, cursor) ? Step::done : Step::again;
  if (target.is_layer()) {
    layer_root = target.layer_root();
    cursor.descend();
    return Step::descend;
  }
  Record* other = target.record();
  if (!cursor.goes_on() || other->key_ends_with(cursor.rest(), cursor.key().size())) {
    existing = other;
    return Step::exists;
  }
  return replace_by_layer(at, slot, other, cursor) ? Step::done : Step::again;
}

bool TreeInsertion::insert_entry(BorderAt at, const KeyCursor& cursor) {
  if (at.node->permutation().full()) {
    reserve_nodes(estimate_nodes(at.node));
    if (!split_and_insert(at, cursor)) return false;
    if (layer_grew_ && cursor.depth() > 0) refresh_layer_root(cursor.depth());
    return true;
  }
  AtomicNodeVersion& version = at.node->version();
  if (!version.try_lock_at(at.version)) return false;
  PGSILO_DCHECK(at.node->covers(cursor.slice()));
  int position = at.node->lower_bound(at.node->permutation(), cursor.slice(), cursor.length());
  version.begin_change();
  at.node->insert_entry(position, cursor.slice(), cursor.length(), EntryTarget::to_record(fresh_));
  changes_.changed = at.node;
  changes_.before = at.version;
  changes_.after = version.end_change();
  landed_border_ = at.node;
  landed_depth_ = cursor.depth();
  return true;
}

// Two keys share the slice and go on: both move into a new layer, or a chain of layers if they
// share further slices. The layers are built in private and published by one store.
bool TreeInsertion::replace_by_layer(BorderAt at, int slot, Record* other,
                                     const KeyCursor& cursor) {
  KeyCursor fresh_cursor = cursor;
  KeyCursor other_cursor(other->key(), cursor.depth());
  BorderNode* first = nullptr;
  BorderNode* last = nullptr;
  auto shares_slice = [&] {
    return fresh_cursor.goes_on() && other_cursor.goes_on() &&
           fresh_cursor.slice() == other_cursor.slice();
  };
  size_t layers = 0;
  do {
    fresh_cursor.descend();
    other_cursor.descend();
    ++layers;
  } while (shares_slice());
  reserve_nodes(layers);
  changes_.created.reserve(layers);

  fresh_cursor = cursor;
  other_cursor = KeyCursor(other->key(), cursor.depth());
  for (size_t i = 0; i < layers; ++i) {
    auto* layer = new (take_node()) BorderNode(/*root=*/true, 0, UINT64_MAX);
    layer->version().inherit(at.version);
    layer->note_gone(at.node->newest_gone());
    if (first == nullptr) {
      first = layer;
    } else {
      last->insert_entry(0, fresh_cursor.slice(), longer, EntryTarget::to_layer(layer));
    }
    last = layer;
    changes_.created.push_back({layer, layer->version().stable()});
    fresh_cursor.descend();
    other_cursor.descend();
  }
  last->insert_entry(0, other_cursor.slice(), other_cursor.length(), EntryTarget::to_record(other));
  int position =
      last->lower_bound(last->permutation(), fresh_cursor.slice(), fresh_cursor.length());
  last->insert_entry(position, fresh_cursor.slice(), fresh_cursor.length(),
                     EntryTarget::to_record(fresh_));

  AtomicNodeVersion& version = at.node->version();
  if (!version.try_lock_at(at.version)) {
    for (const NodeRef& created : changes_.created)
      stock_.push_back(const_cast<BorderNode*>(created.node));
    changes_.created.clear();
    return false;
  }
  version.begin_change();
  at.node->set_target(slot, EntryTarget::to_layer(first));
  changes_.changed = at.node;
  changes_.before = at.version;
  changes_.after = version.end_change();
  landed_border_ = last;
  landed_depth_ = fresh_cursor.depth();
  return true;
}

Record* TreeAppender::append(Record* fresh, ReclaimerHandle& handle, NodeChanges& changes) {
  // Once the record is in the tree nothing may throw.
  last_prefix_.reserve(fresh->key().size());
  TreeInsertion insertion(*tree_, fresh, handle, changes);
  std::string_view key = fresh->key();
  Record* existing = nullptr;
  bool followed = last_border_ != nullptr && key.size() >= last_prefix_.size() &&
                  key.compare(0, last_prefix_.size(), last_prefix_) == 0 &&
                  (last_depth_ == 0 || key.size() > last_prefix_.size()) &&
                  insertion.run_from(last_border_, last_depth_, existing);
  if (!followed) existing = insertion.run();
  if (existing == nullptr) {
    last_border_ = insertion.landed_border();
    last_depth_ = insertion.landed_depth();
    last_prefix_.assign(key.substr(0, last_depth_ * slice_bytes));
  }
  return existing;
}

}  // namespace pgsilo
