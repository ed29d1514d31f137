// Where rows have gone, nodes with few entries are left. Two neighbours that fit into one become
// one: the left one takes over entries and range of the right one, which goes like one that is
// empty (tree_remove.cpp). Then the interior nodes above, upwards. No key comes or goes by that, so
// for validation it is a removal; readers of either node look again.
//
// Lock order: as for removals; of two interior nodes side by side the right one first, for nobody
// else holds two of one level.
#include <algorithm>

#include "storage/index/node_memory.h"
#include "storage/index/tree_removal.h"

namespace pgsilo {

void IndexTree::merge(std::string_view key, ReclaimerHandle& handle) {
  TreeRemoval(*this, key, handle).merge();
}

void TreeRemoval::merge() {
  reserve();
  auto* node = const_cast<BorderNode*>(tree_.get(key_).node.node);
  InteriorNode* parent = merge_into_previous(node);
  if (parent == nullptr) {
    BorderNode* next = node->next();
    if (next != nullptr) parent = merge_into_previous(next);
  }
  while (parent != nullptr) parent = merge_with_neighbour(parent);
}

namespace {

bool fit_into_one(const BorderNode* left, const BorderNode* right) {
  if (left == nullptr || right == nullptr) return false;
  int in_left = left->permutation().size();
  int in_right = right->permutation().size();
  return std::min(in_left, in_right) <= BorderNode::sparse &&
         in_left + in_right <= BorderNode::merged;
}

}  // namespace

// Without locks, so a hint.
bool TreeRemoval::fits_a_neighbour(const BorderNode* node) {
  return fit_into_one(node->previous(), node) || fit_into_one(node, node->next());
}

// Null if it stays as it is; else what unlink() returned.
InteriorNode* TreeRemoval::merge_into_previous(BorderNode* node) {
  if (!fit_into_one(node->previous(), node)) return nullptr;
  node->version().lock();
  // Of a deleted node previous() is the heir.
  BorderNode* previous =
      node->version().locked_version().is_deleted() ? nullptr : lock_previous(node);
  if (fit_into_one(previous, node)) return unlink(node, previous);
  if (previous != nullptr) previous->version().unlock();
  node->version().unlock();
  return nullptr;
}

// Likewise: the parent of both, or null.
InteriorNode* TreeRemoval::merge_with_neighbour(InteriorNode* node) {
  InteriorNode* parent = node->parent();
  if (parent == nullptr || node->count() > InteriorNode::sparse) return nullptr;
  int children = parent->count() + 1;
  int index = 0;
  while (index < children && parent->child(index) != node) ++index;
  auto child = [parent](int at) { return static_cast<InteriorNode*>(parent->child(at)); };
  bool merges = (0 < index && index < children && merge_pair(child(index - 1), node)) ||
                (index + 1 < children && merge_pair(node, child(index + 1)));
  return merges ? parent : nullptr;
}

// False if they are no neighbours under one parent any more, or do not fit into one.
bool TreeRemoval::merge_pair(InteriorNode* left, InteriorNode* right) {
  auto fit = [&] { return left->count() + right->count() + 1 <= InteriorNode::merged; };
  if (!fit()) return false;
  right->version().lock();
  left->version().lock();
  auto is_deleted = [](Node* node) { return node->version().locked_version().is_deleted(); };
  InteriorNode* parent = is_deleted(left) || is_deleted(right) ? nullptr : lock_parent(right);
  int index = parent == nullptr ? 0 : parent->index_of(right);
  if (index == 0 || parent->child(index - 1) != left || !fit()) {
    if (parent != nullptr) parent->version().unlock();
    left->version().unlock();
    right->version().unlock();
    return false;
  }

  right->version().begin_change();
  left->version().begin_change();
  parent->version().begin_change();
  left->take_children(*right, parent->key(index - 1));
  parent->remove_child(index);
  parent->version().end_change();
  left->version().end_change();
  right->version().end_removal_deleted();
  retire_node(right, tree_.account_, handle_);
  return true;
}

}  // namespace pgsilo
