// A removal in progress: tree_remove.cpp takes an entry out, and the nodes and layers that become
// empty by it; tree_merge.cpp makes one node of two that are sparse. Internal to storage/index.
// Thread safety: one owner, on its stack.
#pragma once

#include <string_view>

#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {

class TreeRemoval {
 public:
  TreeRemoval(IndexTree& tree, std::string_view key, ReclaimerHandle& handle)
      : tree_(tree), key_(key), handle_(handle) {}

  Removal run(const Record* record);
  // tree_merge.cpp: around where the key is, or would be.
  void merge();

 private:
  void reserve();
  bool remove_entry(BorderAt at, const KeyCursor& cursor, int slot, Epoch deleted);
  void prune(BorderNode* empty, size_t depth);
  InteriorNode* unlink(BorderNode* node, BorderNode* previous);
  BorderNode* remove_layer(BorderNode* only, size_t depth);
  BorderAt lock_above(size_t depth, const Node* layer_root, int& slot);

  static bool fits_a_neighbour(const BorderNode* node);
  InteriorNode* merge_into_previous(BorderNode* node);
  InteriorNode* merge_with_neighbour(InteriorNode* node);
  bool merge_pair(InteriorNode* left, InteriorNode* right);

  IndexTree& tree_;
  std::string_view key_;
  ReclaimerHandle& handle_;
  bool left_sparse_ = false;
};

}  // namespace pgsilo
