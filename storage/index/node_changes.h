// What an insert did to border nodes, for the fix-up of the inserting transaction's own node set
// (Silo section 4.6). If the transaction registered a changed node at `before`, or with more keys
// than that (removals lie between), nobody else has hooked a key in since: it takes `after`
// instead, and registers all created nodes too, for they hold part of the range that the changed
// node held. If others have, it must abort. Thread safety: a value.
#pragma once

#include <vector>

#include "storage/index/node_version.h"

namespace pgsilo {

class BorderNode;

// A border node as it was when read: what node sets hold.
struct NodeRef {
  const BorderNode* node = nullptr;
  NodeVersion version;
};

struct NodeChanges {
  // An insert changes exactly one border node that existed before; null if the key was there
  // already.
  const BorderNode* changed = nullptr;
  NodeVersion before;
  NodeVersion after;
  // Border nodes that did not exist before: the right half of a split, or the layers under a former
  // entry.
  std::vector<NodeRef> created;

  void clear() {
    changed = nullptr;
    created.clear();
  }
};

}  // namespace pgsilo
