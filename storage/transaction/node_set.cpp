#include "storage/transaction/node_set.h"

namespace pgsilo {

bool NodeSet::apply(const NodeChanges& changes) {
  if (changes.changed == nullptr) return true;
  NodeRef* known = find(changes.changed);
  if (known == nullptr) return true;
  if (known->version != changes.before) return false;
  known->version = changes.after;
  for (const NodeRef& created : changes.created) {
    if (!add(created)) return false;
  }
  return true;
}

void NodeSet::append(NodeRef ref) {
  index_.prepare(nodes_.size(), node_at());
  nodes_.push_back(ref);
  index_.add(ref.node, static_cast<uint32_t>(nodes_.size() - 1));
}

void NodeSet::clear() {
  constexpr size_t ordinary = 4096;
  if (nodes_.capacity() > ordinary) nodes_ = {};
  nodes_.clear();
  index_.clear();
}

}  // namespace pgsilo
