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

// Collects separators from the top of the tree downwards until there are enough.
class Separators {
 public:
  explicit Separators(size_t wanted) : wanted_(wanted) {}

  void collect(Node* layer_root, const std::string& prefix) {
    std::vector<Node*> level{climb_to_root(layer_root)};
    std::vector<const BorderNode*> borders;
    while (!enough() && !level.empty()) {
      std::vector<Node*> below;
      for (Node* node : level) {
        if (node->version().stable().is_border()) {
          borders.push_back(static_cast<const BorderNode*>(node));
        } else if (std::optional<InteriorCopy> copy =
                       copy_interior(static_cast<const InteriorNode*>(node))) {
          for (KeySlice key : copy->keys) keys_.push_back(join(prefix, key));
          below.insert(below.end(), copy->children.begin(), copy->children.end());
        }
      }
      level = std::move(below);
    }
    for (const BorderNode* border : borders) collect_layers(*border, prefix);
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

  // Keys with long common prefixes: few border nodes, and the rest in further layers.
  void collect_layers(const BorderNode& border, const std::string& prefix) {
    Permutation order = border.permutation();
    for (int i = 0; i < order.size() && !enough(); ++i) {
      EntryTarget target = border.target(order.slot(i));
      if (!target.is_layer()) continue;
      std::string layer = join(prefix, border.slice(order.slot(i)));
      keys_.push_back(layer);
      collect(target.layer_root(), layer);
    }
  }

  const size_t wanted_;
  std::vector<std::string> keys_;
};

}  // namespace

std::vector<std::string> IndexTree::separators(size_t wanted) const {
  Separators separators(wanted);
  separators.collect(root(), "");
  return separators.take();
}

}  // namespace pgsilo
