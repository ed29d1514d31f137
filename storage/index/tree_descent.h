// How every operation finds its border node, and how writers lock a node's neighbours. Internal to
// storage/index.
#pragma once

#include "storage/index/node.h"

namespace pgsilo {

struct BorderAt {
  BorderNode* node = nullptr;
  NodeVersion version;
};

// The border node that covers `slice` in the layer, at a version at which it was not deleted. What
// the caller then reads of it counts only if the version is unchanged afterwards; then the node did
// cover `slice`. False if the layer has been removed: start over at the tree's root.
inline bool reach_border(Node* layer_root, KeySlice slice, BorderAt& at) {
  for (;;) {
    Node* node = layer_root;
    NodeVersion version = node->version().stable();
    while (!version.is_root()) {
      // An outdated root. If its parent is not there yet, its version was read before the layer
      // grew.
      if (Node* parent = node->parent()) node = parent;
      version = node->version().stable();
    }
    if (version.is_deleted()) return false;
    bool lost = false;
    while (!version.is_border() && !lost) {
      auto* interior = static_cast<InteriorNode*>(node);
      Node* child = interior->child(interior->child_index(slice));
      child->prefetch();
      // The child's version is taken while the parent still leads to it, so that a split of the
      // child from here on shows in that version.
      NodeVersion child_version = child->version().stable();
      lost = !interior->version().unchanged_since(version);
      node = child;
      version = child_version;
    }
    while (!lost) {
      auto* border = static_cast<BorderNode*>(node);
      if (version.is_deleted() || slice < border->first_slice()) break;
      if (slice <= border->last_slice()) {
        at = {border, version};
        return true;
      }
      // It was split since its parent led here: the slice lies to the right.
      BorderNode* right = border->next();
      if (border->version().unchanged_since(version)) node = right;
      version = node->version().stable();
    }
  }
}

// The caller holds `node`'s lock. Locks its parent; null if it is a root, which it then stays while
// it is locked.
inline InteriorNode* lock_parent(Node* node) {
  while (InteriorNode* parent = node->parent()) {
    parent->version().lock();
    if (node->parent() == parent) return parent;
    parent->version().unlock();
  }
  return nullptr;
}

// The caller holds `node`'s lock. Locks the border node to its left; null if it is the leftmost of
// its layer.
inline BorderNode* lock_previous(BorderNode* node) {
  while (BorderNode* previous = node->previous()) {
    previous->version().lock();
    if (node->previous() == previous) return previous;
    previous->version().unlock();
  }
  return nullptr;
}

// Interior nodes on the way up, locked. A layer of this height cannot be: each level takes eight
// splits of the one below.
struct LockedPath {
  static constexpr int max_height = 24;
  std::array<InteriorNode*, max_height> nodes;
  int count = 0;

  void push(InteriorNode* node) {
    PGSILO_CHECK(count < max_height);
    nodes[count++] = node;
  }
  void begin_change() {
    for (int i = 0; i < count; ++i) nodes[i]->version().begin_change();
  }
  void unlock() {
    for (int i = count - 1; i >= 0; --i) nodes[i]->version().unlock();
  }
};

}  // namespace pgsilo
