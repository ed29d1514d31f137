#include "storage/index/index_tree.h"
#include "storage/index/tree_descent.h"

namespace pgsilo {

IndexTree::Found IndexTree::get(std::string_view key) const {
  KeyCursor cursor(key);
  Node* layer_root = root();
  BorderAt at;
  for (;;) {
    if (!reach_border(layer_root, cursor.slice(), at)) {
      cursor = KeyCursor(key);
      layer_root = root();
      continue;
    }
    int slot = at.node->find(cursor.slice(), cursor.length());
    EntryTarget target = slot < 0 ? EntryTarget() : at.node->target(slot);
    // The reader wants the row, too, and learns from the record's head where it begins.
    if (slot >= 0 && !target.is_layer()) target.record()->prefetch();
    if (!at.node->version().unchanged_since(at.version)) continue;

    NodeRef ref{at.node, at.version};
    if (slot < 0) return {nullptr, ref};
    if (target.is_layer()) {
      layer_root = target.layer_root();
      layer_root->prefetch();
      cursor.descend();
      continue;
    }
    Record* record = target.record();
    // A longer key shares only its slices up to here with the record's for certain.
    if (cursor.goes_on() && !record->key_ends_with(cursor.rest(), key.size()))
      return {nullptr, ref};
    return {record, ref};
  }
}

}  // namespace pgsilo
