#include "storage/index/index_tree.h"

#include <vector>

#include "storage/index/node_memory.h"

namespace pgsilo {

IndexTree::IndexTree(RelationId relation) : relation_(relation), records_(account_) {
  Node* root = new (allocate_node_memory(account_, 0)) BorderNode(/*root=*/true, 0, UINT64_MAX);
  root_.store(root, std::memory_order_release);
}

IndexTree::~IndexTree() {
  std::vector<Node*> nodes{climb_to_root(root())};
  while (!nodes.empty()) {
    Node* node = nodes.back();
    nodes.pop_back();
    if (node->version().stable().is_border()) {
      auto* border = static_cast<BorderNode*>(node);
      Permutation order = border->permutation();
      for (int i = 0; i < order.size(); ++i) {
        EntryTarget target = border->target(order.slot(i));
        if (target.is_layer()) {
          nodes.push_back(climb_to_root(target.layer_root()));
        } else {
          RecordAllocator::free_unaccounted(target.record());
        }
      }
    } else {
      auto* interior = static_cast<InteriorNode*>(node);
      for (int i = 0; i <= interior->count(); ++i) nodes.push_back(interior->child(i));
    }
    std::free(node);
  }
}

}  // namespace pgsilo
