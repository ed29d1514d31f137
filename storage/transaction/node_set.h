// The border nodes whose set of keys a transaction relies on, each at the version it saw: nodes a
// scan crossed and nodes that would hold a key that was looked up and not found (Silo section 4.6).
// One entry per node: a second read of a node at another version means that the first one can no
// longer validate. Thread safety: none; one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/index/node_changes.h"
#include "storage/transaction/pointer_index.h"

namespace pgsilo {

class NodeSet {
  auto node_at() const {
    return [this](uint32_t position) { return nodes_[position].node; };
  }

 public:
  // False if the node was registered at another version: conflict_node. Throws std::bad_alloc.
  [[nodiscard]] bool add(NodeRef ref) {
    if (NodeRef* known = find(ref.node)) return known->version == ref.version;
    append(ref);
    return true;
  }

  // False if the node is registered at another version.
  bool agrees(NodeRef ref) {
    NodeRef* known = find(ref.node);
    return known == nullptr || known->version == ref.version;
  }

  enum class Fixup : uint8_t {
    not_registered,  // the node: nothing to do
    moved_on,        // what was registered stays valid, but for the record that was inserted
    beaten,          // somebody else changed the node since it was registered
  };
  // After an insert of this transaction changed the tree (node_changes.h). Throws std::bad_alloc.
  [[nodiscard]] Fixup apply(const NodeChanges& changes);

  // Nodes registered from here on belong to a new statement.
  void begin_statement() {
    statement_begin_ = nodes_.size();
    changed_older_ = false;
  }
  // Forgets the statement's nodes. False, and nothing has changed: the statement has moved nodes of
  // earlier ones on.
  [[nodiscard]] bool forget_statement();

  // Nodes registered from here on belong to a part of the statement (Transaction::end_part).
  void begin_part() {
    part_begin_ = nodes_.size();
    changed_before_part_ = false;
  }
  // Forgets the part's nodes. False, and nothing has changed: the part has moved older nodes on,
  // which may have split: what they covered is covered by nodes of the part now.
  [[nodiscard]] bool forget_part();

  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  const NodeRef* begin() const { return nodes_.data(); }
  const NodeRef* end() const { return nodes_.data() + nodes_.size(); }
  void clear();

 private:
  NodeRef* find(const BorderNode* node) {
    uint32_t position = index_.find(node, nodes_.size(), node_at());
    return position == PointerIndex::none ? nullptr : &nodes_[position];
  }
  void append(NodeRef ref);

  std::vector<NodeRef> nodes_;
  PointerIndex index_;
  size_t statement_begin_ = 0;
  bool changed_older_ = false;  // the running statement has moved on a node of an earlier one
  size_t part_begin_ = 0;
  bool changed_before_part_ = false;  // the part has moved on a node from before it

  void truncate(size_t size);
};

}  // namespace pgsilo
