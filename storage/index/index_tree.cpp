#include "storage/index/index_tree.h"

#include "storage/index/node_memory.h"

namespace pgsilo {

IndexTree::IndexTree(RelationId relation) : relation_(relation), records_(account_) {
  Node* root = new (allocate_node_memory()) BorderNode(/*root=*/true, 0, UINT64_MAX);
  account_.begin_with(node_bytes, MemoryKind::nodes);
  root_.store(root, std::memory_order_release);
}

template <typename FreeRecord, typename FreeNode>
bool IndexTree::take_apart(size_t records, FreeRecord free_record, FreeNode free_node) {
  left_over_.reserve(left_over_.size() + 1);
  if (Node* root = root_.exchange(nullptr, std::memory_order_relaxed)) {
    left_over_.push_back(climb_to_root(root));
  }
  for (size_t freed = 0; !left_over_.empty() && freed < records;) {
    left_over_.reserve(left_over_.size() + InteriorNode::width + 1);
    Node* node = left_over_.back();
    left_over_.pop_back();
    if (node->version().stable().is_border()) {
      auto* border = static_cast<BorderNode*>(node);
      Permutation order = border->permutation();
      for (int i = 0; i < order.size(); ++i) {
        EntryTarget target = border->target(order.slot(i));
        if (target.is_layer()) {
          left_over_.push_back(climb_to_root(target.layer_root()));
        } else {
          free_record(target.record());
          ++freed;
        }
      }
    } else {
      auto* interior = static_cast<InteriorNode*>(node);
      for (int i = 0; i <= interior->count(); ++i) left_over_.push_back(interior->child(i));
    }
    free_node(node);
  }
  return left_over_.empty();
}

bool IndexTree::dismantle(size_t records, ReclaimerHandle& handle) {
  return take_apart(
      records, [&](Record* record) { records_.destroy(record, handle); },
      [&](Node* node) { free_node_memory(node, account_, handle.index()); });
}

IndexTree::~IndexTree() {
  take_apart(
      SIZE_MAX, [](Record* record) { RecordAllocator::free_unaccounted(record); },
      [](Node* node) { free_small(node, node_bytes); });
}

}  // namespace pgsilo
