// Unhooking a record, and after it the border node and the layers that it leaves empty. Each of
// these is a step of its own: the tree is correct, only larger than it need be, between them.
//
// A border node that goes hands its range to its left neighbour. So the leftmost border node of a
// layer stays until the whole layer is empty, and then hands the layer's prefix to the node above.
// Lock order: the node, its left neighbour, then upwards; a lower layer before the one above it.
#include "storage/index/tree_removal.h"

#include "storage/index/node_memory.h"

namespace pgsilo {

Removal IndexTree::remove(Record* record, ReclaimerHandle& handle) {
  return TreeRemoval(*this, record->key(), handle).run(record);
}

// Each layer of the key can lose one border node and its ancestors; nothing may fail half way.
void TreeRemoval::reserve() {
  handle_.reserve((key_.size() / slice_bytes + 1) * 2 + 2 * LockedPath::max_height);
}

Removal TreeRemoval::run(const Record* record) {
  reserve();
  KeyCursor cursor(key_);
  Node* layer_root = tree_.root();
  for (BorderAt at;;) {
    if (!reach_border(layer_root, cursor.slice(), at)) {
      cursor = KeyCursor(key_);
      layer_root = tree_.root();
      continue;
    }
    int slot = at.node->find(cursor.slice(), cursor.length());
    EntryTarget target = slot < 0 ? EntryTarget() : at.node->target(slot);
    if (!at.node->version().unchanged_since(at.version)) continue;
    if (slot < 0) return Removal::not_there;
    if (target.is_layer()) {
      cursor.descend();
      layer_root = target.layer_root();
      continue;
    }
    if (target.record() != record) return Removal::not_there;
    Epoch deleted = record->tid_word().load().tid().epoch();
    if (remove_entry(at, cursor, slot, deleted))
      return left_sparse_ ? Removal::left_sparse : Removal::done;
  }
}

// False if somebody was faster with another change of the node.
bool TreeRemoval::remove_entry(BorderAt at, const KeyCursor& cursor, int slot, Epoch deleted) {
  AtomicNodeVersion& version = at.node->version();
  if (!version.try_lock_at(at.version)) return false;
  version.begin_change();
  at.node->remove_slot(slot);
  at.node->note_gone(deleted);
  int left = at.node->permutation().size();
  version.end_removal();
  left_sparse_ = 0 < left && left <= BorderNode::sparse && fits_a_neighbour(at.node);
  if (left == 0) prune(at.node, cursor.depth());
  return true;
}

// `node`, in layer `depth` on the way to key_, was seen empty: removes it, and goes on with what
// becomes empty by that.
void TreeRemoval::prune(BorderNode* node, size_t depth) {
  while (node != nullptr) {
    node->version().lock();
    bool removable =
        !node->version().locked_version().is_deleted() && node->permutation().size() == 0;
    if (!removable) {
      node->version().unlock();
      return;
    }
    if (BorderNode* previous = lock_previous(node)) {
      unlink(node, previous);
      // The leftmost one may have been kept only for the sake of this one.
      node = previous->permutation().size() == 0 && previous->previous() == nullptr ? previous
                                                                                    : nullptr;
    } else if (node->next() == nullptr && depth > 0) {
      node = remove_layer(node, depth);
      --depth;
    } else {
      node->version().unlock();
      return;
    }
  }
}

// Both are locked; unlocks both. `previous` takes over the range, and what entries there are: it
// has room for them. Returns the interior node that has one child less, as a hint.
InteriorNode* TreeRemoval::unlink(BorderNode* node, BorderNode* previous) {
  // Upwards: interior nodes without another child go with the node; the first one that has another
  // keeps the rest. If what goes is its first child, its own range begins later from now on, and so
  // does the separator to its left, which is in the first ancestor of which it is not the leftmost
  // descendant.
  LockedPath path;
  Node* child = node;
  InteriorNode* parent;
  int index;
  int removed = 0;
  for (;;) {
    parent = lock_parent(child);
    PGSILO_CHECK(parent != nullptr);  // `node` is not leftmost, so the root has other children
    path.push(parent);
    if (parent->count() > 0) break;
    ++removed;
    child = parent;
  }
  index = parent->index_of(child);
  InteriorNode* separator_holder = nullptr;
  int separator_index = index - 1;
  if (index == 0) {
    for (Node* ancestor = parent; separator_index < 0; ancestor = separator_holder) {
      separator_holder = lock_parent(ancestor);
      PGSILO_CHECK(separator_holder != nullptr);
      path.push(separator_holder);
      separator_index = separator_holder->index_of(ancestor) - 1;
    }
  }

  node->version().begin_change();
  previous->version().begin_change();
  path.begin_change();
  if (separator_holder != nullptr) separator_holder->set_key(separator_index, parent->key(0));
  parent->remove_child(index);
  BorderNode* following = node->next();
  previous->take_entries(*node);
  previous->set_last_slice(node->last_slice());
  previous->note_gone(node->newest_gone());
  previous->set_next(following);
  if (following != nullptr) following->set_previous(previous);

  for (int i = path.count - 1; i >= removed; --i) path.nodes[i]->version().end_change();
  for (int i = removed - 1; i >= 0; --i) path.nodes[i]->version().end_removal_deleted();
  node->bequeath(previous, previous->version().end_removal_heir());
  node->version().end_removal_deleted();
  for (int i = 0; i < removed; ++i) retire_node(path.nodes[i], tree_.account_, handle_);
  retire_node(node, tree_.account_, handle_);
  return parent;
}

// `only` is locked, and the only border node of its layer. Removes the layer, and returns the
// border node that led to it if that is empty now.
BorderNode* TreeRemoval::remove_layer(BorderNode* only, size_t depth) {
  LockedPath path;
  Node* layer_root = only;
  while (InteriorNode* parent = lock_parent(layer_root)) {
    PGSILO_CHECK(parent->count() == 0);
    path.push(parent);
    layer_root = parent;
  }
  int slot;
  BorderNode* above = lock_above(depth, layer_root, slot).node;
  only->version().begin_change();
  path.begin_change();
  above->version().begin_change();
  above->remove_slot(slot);
  above->note_gone(only->newest_gone());
  bool empty = above->permutation().size() == 0;
  only->bequeath(above, above->version().end_removal_heir());
  for (int i = path.count - 1; i >= 0; --i) path.nodes[i]->version().end_removal_deleted();
  only->version().end_removal_deleted();
  for (int i = 0; i < path.count; ++i) retire_node(path.nodes[i], tree_.account_, handle_);
  retire_node(only, tree_.account_, handle_);
  return empty ? above : nullptr;
}

// Locks the border node whose entry `slot` leads to the layer at `depth` of key_. The layer's root
// is locked, so the layer cannot go, and neither can the layers above it, which are not empty.
BorderAt TreeRemoval::lock_above(size_t depth, const Node* layer_root, int& slot) {
  KeyCursor cursor(key_);
  Node* root = tree_.root();
  for (BorderAt at;;) {
    PGSILO_CHECK(reach_border(root, cursor.slice(), at));
    slot = at.node->find(cursor.slice(), longer);
    EntryTarget target = slot < 0 ? EntryTarget() : at.node->target(slot);
    if (!at.node->version().unchanged_since(at.version)) continue;
    PGSILO_CHECK(slot >= 0 && target.is_layer());
    if (cursor.depth() + 1 < depth) {
      cursor.descend();
      root = target.layer_root();
      continue;
    }
    PGSILO_CHECK(climb_to_root(target.layer_root()) == layer_root);
    if (at.node->version().try_lock_at(at.version)) return at;
  }
}

}  // namespace pgsilo
