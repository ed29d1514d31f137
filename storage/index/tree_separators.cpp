#include <algorithm>
#include <optional>

#include "base/byte_order.h"
#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {
namespace {

// One interior node as it was at some moment.
struct InteriorCopy {
  std::vector<KeySlice> keys;
  std::vector<Node*> children;
};

// None: the node is gone.
std::optional<InteriorCopy> copy_interior(const InteriorNode* node) {
  for (;;) {
    NodeVersion version = node->version().stable();
    if (version.is_deleted()) return std::nullopt;
    InteriorCopy copy;
    int count = node->count();
    copy.keys.reserve(static_cast<size_t>(count));
    copy.children.reserve(static_cast<size_t>(count) + 1);
    for (int i = 0; i < count; ++i) copy.keys.push_back(node->key(i));
    for (int i = 0; i <= count; ++i) copy.children.push_back(node->child(i));
    if (node->version().unchanged_since(version)) return copy;
  }
}

// Collects separators from the top of the tree downwards until there are enough. What lies below an
// entry of a border node, a further layer, is one level deeper, so that all layers of a level
// count.
class Separators {
 public:
  explicit Separators(size_t wanted) : wanted_(wanted) {}

  void collect(Node* tree_root) {
    std::vector<Below> level{{climb_to_root(tree_root), ""}};
    while (!enough() && !level.empty()) {
      below_.clear();
      for (const Below& at : level) {
        if (at.node->version().stable().is_border()) {
          add_layers(*static_cast<const BorderNode*>(at.node), at.prefix);
        } else {
          add_children(static_cast<const InteriorNode*>(at.node), at.prefix);
        }
      }
      level.swap(below_);
    }
  }

  std::vector<std::string> take() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    if (keys_.size() <= wanted_) return std::move(keys_);
    std::vector<std::string> spread;
    spread.reserve(wanted_);
    for (size_t i = 0; i < wanted_; ++i)
      spread.push_back(std::move(keys_[(2 * i + 1) * keys_.size() / (2 * wanted_)]));
    return spread;
  }

 private:
  bool enough() const { return keys_.size() >= wanted_; }

  static std::string join(const std::string& prefix, KeySlice slice) {
    std::string key(prefix.size() + slice_bytes, '\0');
    std::copy(prefix.begin(), prefix.end(), key.begin());
    store_be64(key.data() + prefix.size(), slice);
    return key;
  }

  void add_children(const InteriorNode* node, const std::string& prefix) {
    std::optional<InteriorCopy> copy = copy_interior(node);
    if (!copy) return;
    for (KeySlice key : copy->keys) keys_.push_back(join(prefix, key));
    for (Node* child : copy->children) below_.push_back({child, prefix});
  }

  // Keys with long common prefixes: few border nodes, and the rest in further layers.
  void add_layers(const BorderNode& border, const std::string& prefix) {
    Permutation order = border.permutation();
    for (int i = 0; i < order.size(); ++i) {
      EntryTarget target = border.target(order.slot(i));
      if (!target.is_layer()) continue;
      std::string layer = join(prefix, border.slice(order.slot(i)));
      keys_.push_back(layer);
      below_.push_back({climb_to_root(target.layer_root()), std::move(layer)});
    }
  }

  struct Below {
    Node* node;
    std::string prefix;  // of its layer
  };

  const size_t wanted_;
  std::vector<Below> below_;  // the next level
  std::vector<std::string> keys_;
};

}  // namespace

std::vector<std::string> IndexTree::separators(size_t wanted) const {
  Separators separators(wanted);
  separators.collect(root());
  return separators.take();
}

}  // namespace pgsilo
