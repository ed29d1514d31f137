// Making room in a full border node. All nodes that will change are locked first, from the border
// node upwards to the first interior node with room or to the root; then, if memory for the new
// nodes is in stock, everything is changed and unlocked. A reader of any of these nodes waits or
// finds their versions changed.
#include <algorithm>
#include <cstdlib>

#include "storage/index/node_memory.h"
#include "storage/index/tree_insertion.h"

namespace pgsilo {

// What the split will probably need; without locks, so it may turn out too little.
size_t TreeInsertion::estimate_nodes(const BorderNode* full) const {
  size_t nodes = 1;
  const InteriorNode* parent = full->parent();
  while (parent != nullptr && parent->count() == InteriorNode::width) {
    ++nodes;
    parent = parent->parent();
  }
  return parent == nullptr ? nodes + 1 : nodes;
}

bool TreeInsertion::split_and_insert(BorderAt at, const KeyCursor& cursor) {
  changes_.created.reserve(1);
  new_interiors_.reserve(LockedPath::max_height);
  if (!at.node->version().try_lock_at(at.version)) return false;
  LockedPath path;
  size_t nodes_needed = 1;
  bool has_room = false;
  Node* child = at.node;
  while (InteriorNode* parent = lock_parent(child)) {
    path.push(parent);
    has_room = parent->count() < InteriorNode::width;
    if (has_room) break;
    ++nodes_needed;
    child = parent;
  }
  if (!has_room) ++nodes_needed;  // a new root
  if (stock_.size() < nodes_needed) {
    path.unlock();
    at.node->version().unlock();
    reserve_nodes(nodes_needed);
    return false;
  }

  at.node->version().begin_change();
  path.begin_change();
  int position = at.node->lower_bound(at.node->permutation(), cursor.slice(), cursor.length());
  NewEntry entry{cursor.slice(), cursor.length(), position, at.node->ascends_to(position)};
  BorderNode* right = split_border(at.node, entry);
  bool ascending = entry.ascends || right->next() == nullptr;
  hook_up(path, {at.node, right->first_slice(), right, ascending});

  // From the top down, so that whoever finds a parent ready may still have to wait for the
  // children.
  for (auto it = new_interiors_.rbegin(); it != new_interiors_.rend(); ++it)
    (*it)->version().end_change();
  for (int i = path.count - 1; i >= 0; --i) {
    bool was_root =
        path.nodes[i]->version().locked_version().is_root() && path.nodes[i]->parent() != nullptr;
    was_root ? path.nodes[i]->version().end_change_not_root()
             : path.nodes[i]->version().end_change();
  }
  changes_.created.push_back({right, right->version().end_change()});
  changes_.changed = at.node;
  changes_.before = at.version;
  bool was_root = at.version.is_root();
  changes_.after =
      was_root ? at.node->version().end_change_not_root() : at.node->version().end_change();
  landed_border_ = cursor.slice() < right->first_slice() ? at.node : right;
  landed_depth_ = cursor.depth();
  return true;
}

// How many of the 16 entries, the new one among them, stay on the left. Entries with equal slices
// stay together. A layer that grows at one of its edges leaves full nodes behind, and so do keys
// that ascend somewhere within it, as those of one customer do; otherwise the halves are as equal
// as can be.
int TreeInsertion::choose_split(BorderNode* left, const NewEntry& entry) const {
  Permutation order = left->permutation();
  auto slice_at = [&](int i) {
    if (i == entry.position) return entry.slice;
    return left->slice(order.slot(i < entry.position ? i : i - 1));
  };
  constexpr int entries = BorderNode::width + 1;
  int wanted = entries / 2;
  if (entry.position == entries - 1 && left->next() == nullptr) wanted = entries - 1;
  if (entry.ascends) wanted = std::min(entry.position + 1, entries - 1);
  if (entry.position == 0 && left->first_slice() == 0) wanted = 1;
  int best = 0;
  for (int i = 1; i < entries; ++i) {
    if (slice_at(i - 1) != slice_at(i) &&
        (best == 0 || std::abs(i - wanted) < std::abs(best - wanted)))
      best = i;
  }
  PGSILO_CHECK(best != 0);  // at most ten entries have one slice
  return best;
}

// Returns the new right neighbour, locked and changing, not yet known to a parent.
BorderNode* TreeInsertion::split_border(BorderNode* left, const NewEntry& entry) {
  int stay = choose_split(left, entry);
  bool entry_stays = entry.position < stay;
  int old_stay = entry_stays ? stay - 1 : stay;
  Permutation order = left->permutation();
  KeySlice right_first =
      !entry_stays && entry.position == stay ? entry.slice : left->slice(order.slot(old_stay));
  auto* right = new (take_node()) BorderNode(/*root=*/false, right_first, left->last_slice());
  right->version().inherit(left->version().locked_version());
  right->note_gone(left->newest_gone());
  right->version().lock();
  right->version().begin_change();

  int moved = 0;
  for (int i = old_stay; i < order.size(); ++i) {
    int slot = order.slot(i);
    right->insert_entry(moved++, left->slice(slot), left->length(slot), left->target(slot));
  }
  right->forget_ascent();
  left->truncate(old_stay);
  // What ascends goes on in the right one; else each key that falls between the two would be taken
  // for its next.
  if (!entry_stays) left->forget_ascent();
  EntryTarget target = EntryTarget::to_record(fresh_);
  if (entry_stays) {
    left->insert_entry(entry.position, entry.slice, entry.length, target);
  } else {
    right->insert_entry(entry.position - stay, entry.slice, entry.length, target);
  }

  BorderNode* following = left->next();
  right->set_next(following);
  right->set_previous(left);
  if (following != nullptr) following->set_previous(right);
  left->set_last_slice(right_first - 1);
  left->set_next(right);
  return right;
}

// Hooks carry.right into the parent of carry.left, splitting full parents on the way up; `path` is
// locked and changing.
void TreeInsertion::hook_up(LockedPath& path, Carry carry) {
  new_interiors_.clear();
  for (int i = 0; i < path.count; ++i) {
    InteriorNode* parent = path.nodes[i];
    if (parent->count() < InteriorNode::width) {
      parent->insert_child(parent->index_of(carry.left) + 1, carry.key, carry.right);
      return;
    }
    carry = split_interior(parent, carry);
  }
  grow_root(carry);
}

TreeInsertion::Carry TreeInsertion::split_interior(InteriorNode* left, const Carry& carry) {
  auto* right = new (take_node()) InteriorNode(/*root=*/false);
  right->version().lock();
  right->version().begin_change();
  new_interiors_.push_back(right);
  constexpr int children = InteriorNode::width + 1;
  int index = left->index_of(carry.left) + 1;
  int stay = children / 2;
  // The right one has two children at least.
  if (carry.ascending) stay = index == children ? children - 1 : std::min(index, children - 2);
  KeySlice separator = left->move_children_to(stay, right);
  if (index <= stay) {
    left->insert_child(index, carry.key, carry.right);
  } else {
    right->insert_child(index - stay, carry.key, carry.right);
  }
  return {left, separator, right, carry.ascending};
}

void TreeInsertion::grow_root(const Carry& carry) {
  auto* root = new (take_node()) InteriorNode(/*root=*/true);
  root->version().lock();
  root->version().begin_change();
  new_interiors_.push_back(root);
  root->set_first_child(carry.left);
  root->insert_child(1, carry.key, carry.right);
  layer_grew_ = true;
  // Layer 0 is the one whose root the tree knows; what it knows may lag behind, but leads to the
  // root by its parents.
  if (climb_to_root(tree_.root()) == root) {
    PGSILO_SCHEDULE_POINT();
    tree_.root_.store(root, std::memory_order_release);
  }
}

// The layer at `depth` has a new root: the entry that leads to it still names an older one. Both
// are right; the newer one saves readers the climb.
void TreeInsertion::refresh_layer_root(size_t depth) {
  for (;;) {
    KeyCursor cursor(fresh_->key());
    Node* layer_root = tree_.root();
    BorderAt at;
    while (reach_border(layer_root, cursor.slice(), at)) {
      int slot = at.node->find(cursor.slice(), cursor.length());
      EntryTarget target = slot < 0 ? EntryTarget() : at.node->target(slot);
      if (!at.node->version().unchanged_since(at.version)) continue;
      if (slot < 0 || !target.is_layer()) return;  // the layer has been removed since
      if (cursor.depth() + 1 < depth) {
        cursor.descend();
        layer_root = target.layer_root();
        continue;
      }
      if (!at.node->version().try_lock_at(at.version)) continue;
      at.node->set_target(slot, EntryTarget::to_layer(climb_to_root(target.layer_root())));
      at.node->version().unlock();
      return;
    }
  }
}

}  // namespace pgsilo
