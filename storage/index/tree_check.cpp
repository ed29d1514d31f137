#include <vector>

#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {

namespace {

class TreeCheck {
 public:
  explicit TreeCheck(IndexTree::Shape& shape) : shape_(shape) {}

  // The first breach, or empty.
  std::string run(const Node* root) {
    layers_.push_back({root, ""});
    while (!layers_.empty() && breach_.empty()) {
      Layer layer = layers_.back();
      layers_.pop_back();
      check_layer(layer);
    }
    return breach_;
  }

 private:
  struct Layer {
    const Node* root;
    std::string prefix;
  };

  void require(bool holds, const char* invariant) {
    if (!holds && breach_.empty()) breach_ = invariant;
  }

  void check_layer(const Layer& layer) {
    ++shape_.layers;
    prefix_ = layer.prefix;
    previous_ = nullptr;
    layer_entries_ = 0;
    require(layer.root->version().stable().is_root(), "a layer's entry leads to its root");
    check_node(layer.root, nullptr, 0, UINT64_MAX);
    require(previous_ != nullptr && previous_->next() == nullptr,
            "the rightmost border node has no next");
    require(prefix_.empty() || layer_entries_ > 0, "a layer below the first is not empty");
  }

  // `first` and `last` bound the slices for which the parent leads to `node`.
  void check_node(const Node* node, const Node* parent, KeySlice first, KeySlice last) {
    NodeVersion version = node->version().stable();
    require(!version.is_deleted(), "a reachable node is not deleted");
    require(version.is_root() == (parent == nullptr), "exactly the root carries the root bit");
    require(node->parent() == parent, "a node's parent is the node that leads to it");
    require(node->version().for_validation() == version, "no node is being changed");
    if (version.is_border()) {
      check_border(static_cast<const BorderNode*>(node), first, last);
    } else {
      check_interior(static_cast<const InteriorNode*>(node), first, last);
    }
  }

  void check_interior(const InteriorNode* node, KeySlice first, KeySlice last) {
    ++shape_.interior_nodes;
    int count = node->count();
    for (int i = count; i < InteriorNode::width; ++i)
      require(node->key(i) == UINT64_MAX, "unused keys are the largest");
    bool children_are_borders = node->child(0)->version().stable().is_border();
    for (int i = 0; i <= count && breach_.empty(); ++i) {
      KeySlice child_first = i == 0 ? first : node->key(i - 1);
      KeySlice child_last = i == count ? last : node->key(i) - 1;
      require(child_first <= child_last, "keys of an interior node ascend within its range");
      const Node* child = node->child(i);
      require(child->version().stable().is_border() == children_are_borders,
              "children are of one kind");
      check_node(child, node, child_first, child_last);
    }
  }

  void check_border(const BorderNode* node, KeySlice first, KeySlice last) {
    ++shape_.border_nodes;
    require(node->first_slice() == first, "a border node begins where its parent says");
    require(node->last_slice() == last, "a border node ends where its parent says");
    require(node->previous() == previous_, "previous is the border node to the left");
    require(previous_ == nullptr || previous_->next() == node,
            "next is the border node to the right");
    Permutation order = node->permutation();
    if (order.size() == 0) ++shape_.empty_border_nodes;
    require(order.size() > 0 || previous_ == nullptr,
            "only a layer's leftmost border node may be empty");
    for (int i = 0; i < order.size() && breach_.empty(); ++i) {
      int slot = order.slot(i);
      KeySlice slice = node->slice(slot);
      require(first <= slice && slice <= last, "entries lie in the node's range");
      if (i > 0) {
        int before = order.slot(i - 1);
        int difference =
            compare_in_layer(node->slice(before), node->length(before), slice, node->length(slot));
        require(difference < 0, "entries ascend");
      }
      check_entry(slice, node->length(slot), node->target(slot));
    }
    for (int i = order.size(); i < BorderNode::width; ++i) {
      require(node->length(order.slot(i)) == BorderNode::no_entry, "free slots say so");
    }
    previous_ = node;
  }

  void check_entry(KeySlice slice, LengthClass length, EntryTarget target) {
    ++layer_entries_;
    require(length <= longer, "a length class is 0 to 9");
    if (target.is_layer()) {
      require(length == longer, "only keys that go on have a layer");
      std::string prefix = prefix_;
      for (int byte = 7; byte >= 0; --byte)
        prefix.push_back(static_cast<char>(slice >> (8 * byte)));
      layers_.push_back({target.layer_root(), prefix});
      return;
    }
    ++shape_.records;
    std::string_view key = target.record()->key();
    bool prefixed = key.size() >= prefix_.size() && key.substr(0, prefix_.size()) == prefix_;
    require(prefixed, "a record's key begins with its layer's prefix");
    if (!prefixed) return;
    KeyCursor cursor(key, prefix_.size() / slice_bytes);
    require(cursor.slice() == slice && cursor.length() == length,
            "an entry stands for its record's key");
  }

  IndexTree::Shape& shape_;
  std::vector<Layer> layers_;  // yet to be checked
  std::string prefix_;
  const BorderNode* previous_ = nullptr;
  size_t layer_entries_ = 0;
  std::string breach_;
};

}  // namespace

std::string IndexTree::check(Shape* shape) const {
  Shape ignored;
  return TreeCheck(shape != nullptr ? *shape : ignored).run(root());
}

}  // namespace pgsilo
