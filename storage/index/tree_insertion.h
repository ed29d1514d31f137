// One insert in progress: tree_insert.cpp finds the place and puts the entry in, tree_split.cpp
// makes room. Internal to storage/index. Thread safety: one owner, on its stack.
#pragma once

#include <vector>

#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {

class TreeInsertion {
 public:
  TreeInsertion(IndexTree& tree, Record* fresh, ReclaimerHandle& handle, NodeChanges& changes)
      : tree_(tree), fresh_(fresh), handle_(handle), changes_(changes) {
    changes.clear();
  }
  ~TreeInsertion();

  // From the root of the tree.
  Record* run();
  // From a border node that may cover the key at layer `depth`; false if it does not, then nothing
  // was done. `existing` is what run() would return.
  bool run_from(BorderNode* border, size_t depth, Record*& existing);

  // After an insert: the node that the entry went to, and its layer.
  BorderNode* landed_border() const { return landed_border_; }
  size_t landed_depth() const { return landed_depth_; }

 private:
  // The steps return false if somebody was faster: look again.
  enum class Step : uint8_t { done, exists, descend, again };
  Step step(BorderAt at, KeyCursor& cursor, Node*& layer_root, Record*& existing);
  bool insert_entry(BorderAt at, const KeyCursor& cursor);
  bool replace_by_layer(BorderAt at, int slot, Record* other, const KeyCursor& cursor);
  bool split_and_insert(BorderAt at, const KeyCursor& cursor);

  // tree_split.cpp
  struct NewEntry {
    KeySlice slice;
    LengthClass length;
    int position;
    bool ascends;  // BorderNode::ascends_to()
  };
  int choose_split(BorderNode* left, const NewEntry& entry) const;
  BorderNode* split_border(BorderNode* left, const NewEntry& entry);
  struct Carry {
    Node* left;      // was there before
    KeySlice key;    // separates the two
    Node* right;     // waits to be hooked into the parent of `left`
    bool ascending;  // more are to be expected right behind `right`
  };
  Carry split_interior(InteriorNode* left, const Carry& carry);
  void hook_up(LockedPath& path, Carry carry);
  void grow_root(const Carry& carry);
  void refresh_layer_root(size_t depth);

  // Memory for nodes, allocated while no lock is held.
  void reserve_nodes(size_t count);
  size_t estimate_nodes(const BorderNode* full) const;
  void* take_node();

  IndexTree& tree_;
  Record* fresh_;
  ReclaimerHandle& handle_;
  NodeChanges& changes_;
  BorderNode* landed_border_ = nullptr;
  size_t landed_depth_ = 0;
  bool layer_grew_ = false;
  std::vector<void*> stock_;
  std::vector<InteriorNode*> new_interiors_;  // made by this split, locked
};

}  // namespace pgsilo
