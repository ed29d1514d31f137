#include <array>

#include "storage/index/index_tree.h"

namespace pgsilo {
namespace {

// A key on its way down. Nothing that it reads is validated: it may take a wrong turn, but every
// pointer in a node leads to what the caller's pin keeps.
class PathPrefetch {
 public:
  void start(Node* root, std::string_view key) {
    node_ = root;
    cursor_ = KeyCursor(key);
  }

  // Asks for what comes next. False: nothing does.
  bool step() {
    if (node_ == nullptr) return false;
    if (node_->version().is_border()) return leave(*static_cast<BorderNode*>(node_));
    auto* interior = static_cast<InteriorNode*>(node_);
    node_ = interior->child(interior->child_index(cursor_.slice()));
    node_->prefetch();
    return true;
  }

 private:
  bool leave(const BorderNode& border) {
    node_ = nullptr;
    int slot = border.find(cursor_.slice(), cursor_.length());
    if (slot < 0) return false;
    EntryTarget target = border.target(slot);
    if (!target.is_layer()) {
      target.record()->prefetch();
      return false;
    }
    if (!cursor_.goes_on()) return false;
    cursor_.descend();
    node_ = target.layer_root();
    node_->prefetch();
    return true;
  }

  Node* node_ = nullptr;
  KeyCursor cursor_{std::string_view()};
};

}  // namespace

void IndexTree::prefetch(std::span<const Lookup> lookups) {
  std::array<PathPrefetch, max_lookups> paths;
  PGSILO_CHECK(lookups.size() <= paths.size());
  for (size_t i = 0; i < lookups.size(); ++i)
    paths[i].start(lookups[i].tree->root(), lookups[i].key);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < lookups.size(); ++i) more |= paths[i].step();
  }
}

}  // namespace pgsilo
