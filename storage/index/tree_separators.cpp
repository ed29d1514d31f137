#include <algorithm>
#include <optional>
#include <random>

#include "base/byte_order.h"
#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {
namespace {

std::string join(const std::string& prefix, KeySlice slice) {
  std::string key(prefix.size() + slice_bytes, '\0');
  std::copy(prefix.begin(), prefix.end(), key.begin());
  store_be64(key.data() + prefix.size(), slice);
  return key;
}

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

// Where a range begins, and a node of which all keys are in it or behind it. They share the first
// `shared` bytes of the separator.
struct Separator {
  std::string key;
  Node* node;
  size_t shared;
};

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

  std::vector<Separator> take() {
    std::ranges::sort(found_, {}, &Separator::key);
    auto repeated = std::ranges::unique(found_, {}, &Separator::key);
    found_.erase(repeated.begin(), repeated.end());
    if (found_.size() <= wanted_) return std::move(found_);
    std::vector<Separator> spread;
    spread.reserve(wanted_);
    for (size_t i = 0; i < wanted_; ++i)
      spread.push_back(std::move(found_[(2 * i + 1) * found_.size() / (2 * wanted_)]));
    return spread;
  }

 private:
  bool enough() const { return found_.size() >= wanted_; }

  void add_children(const InteriorNode* node, const std::string& prefix) {
    std::optional<InteriorCopy> copy = copy_interior(node);
    if (!copy) return;
    for (size_t i = 0; i < copy->keys.size(); ++i)
      found_.push_back({join(prefix, copy->keys[i]), copy->children[i + 1], prefix.size()});
    for (Node* child : copy->children) below_.push_back({child, prefix});
  }

  // Keys with long common prefixes: few border nodes, and the rest in further layers.
  void add_layers(const BorderNode& border, const std::string& prefix) {
    Permutation order = border.permutation();
    for (int i = 0; i < order.size(); ++i) {
      EntryTarget target = border.target(order.slot(i));
      if (!target.is_layer()) continue;
      std::string layer = join(prefix, border.slice(order.slot(i)));
      Node* layer_root = climb_to_root(target.layer_root());
      found_.push_back({layer, layer_root, layer.size()});
      below_.push_back({layer_root, std::move(layer)});
    }
  }

  struct Below {
    Node* node;
    std::string prefix;  // of its layer
  };

  const size_t wanted_;
  std::vector<Below> below_;  // the next level
  std::vector<Separator> found_;
};

std::vector<Separator> collect_separators(Node* tree_root, size_t wanted) {
  Separators separators(wanted);
  separators.collect(tree_root);
  return separators.take();
}

// A step down from a border node: to an entry, every one as likely. Appends the entry's slice to
// `key`. Null: the way ends here.
Node* step_from(const BorderNode& border, std::minstd_rand& random, std::string* key) {
  Permutation order = border.permutation();
  if (order.size() == 0) return nullptr;
  int slot = order.slot(static_cast<int>(random() % static_cast<unsigned>(order.size())));
  size_t length = std::min<size_t>(border.length(slot), slice_bytes);
  *key = join(*key, border.slice(slot));
  key->resize(key->size() - slice_bytes + length);
  EntryTarget target = border.target(slot);
  return target.is_layer() ? climb_to_root(target.layer_root()) : nullptr;
}

// Down to any key, every way as likely as the others. Where a writer is at work it ends early:
// near.
std::string random_key(Separator from, std::minstd_rand& random) {
  std::string key = from.key.substr(0, from.shared);
  for (Node* node = from.node; node != nullptr;) {
    NodeVersion version = node->version().stable();
    if (version.is_deleted()) break;
    if (version.is_border()) {
      std::string longer = key;
      Node* layer = step_from(*static_cast<const BorderNode*>(node), random, &longer);
      if (!node->version().unchanged_since(version)) break;
      key = std::move(longer);
      node = layer;
    } else {
      const auto* interior = static_cast<const InteriorNode*>(node);
      auto children = static_cast<unsigned>(interior->count()) + 1;
      Node* child = interior->child(static_cast<int>(random() % children));
      if (!node->version().unchanged_since(version)) break;
      node = child;
    }
  }
  return key.size() == from.shared ? from.key : key;
}

}  // namespace

std::vector<std::string> IndexTree::separators(size_t wanted) const {
  std::vector<std::string> keys;
  for (Separator& separator : collect_separators(root(), wanted))
    keys.push_back(std::move(separator.key));
  return keys;
}

std::vector<std::string> IndexTree::scattered_keys(size_t wanted, uint32_t seed) const {
  std::minstd_rand random(seed);
  std::vector<std::string> keys;
  for (Separator& separator : collect_separators(root(), wanted))
    keys.push_back(random_key(std::move(separator), random));
  return keys;
}

}  // namespace pgsilo
