// The border nodes whose set of keys a transaction relies on, each at the version it saw: nodes a
// scan crossed and nodes that would hold a key that was looked up and not found (Silo section 4.6).
// One entry per node: a second read of a node that has more keys means that the first one can no
// longer validate.
//
// A registered node may be removed, and its heir (docs/index_tree.md) then answers for its keys.
// What the transaction itself hooks into an heir that it has not registered must not count against
// it: of these nodes the set keeps a *run*, the versions between which all growth was its own. A
// run that others have broken stays as it was, and what rests on runs does not validate any more.
//
// Thread safety: none; one transaction, under one pin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/index/node.h"
#include "storage/transaction/pointer_index.h"

namespace pgsilo {

class NodeSet {
  auto node_at() const {
    return [this](uint32_t position) { return nodes_[position].node; };
  }

 public:
  // False if the node was registered with fewer keys: conflict_node. Throws std::bad_alloc.
  [[nodiscard]] bool add(NodeRef ref) {
    NodeRef* known = find(ref.node);
    if (known == nullptr) {
      append(ref);
      return true;
    }
    if (known->version == ref.version) return true;
    if (!known->version.is_as_grown_as(ref.version)) return false;
    known->version = ref.version;
    met_removals_ = true;
    return true;
  }
  // What a transaction reads now that it has read before it may find gone. So until it is validated
  // as a whole it cannot be said that all it has read was there together.
  void meet_removal() { met_removals_ = true; }
  bool met_removals() const { return met_removals_; }
  void forget_removals() { met_removals_ = false; }

  // False if the node is registered with fewer keys.
  bool agrees(NodeRef ref) {
    NodeRef* known = find(ref.node);
    return known == nullptr || known->version.is_as_grown_as(ref.version);
  }

  // Whether no key has come to the nodes [first, last) but the transaction's own; of the nodes from
  // `since` on, which are all asked for before the answer counts.
  bool validates(size_t since, size_t first, size_t last) const;

  enum class Fixup : uint8_t {
    not_registered,  // the node, nor can one that was removed rest on it: nothing to do
    moved_on,        // what was registered stays valid, but for the record that was inserted
    beaten,          // somebody else changed the node since it was registered
  };
  // After an insert of this transaction changed the tree (node_changes.h). Throws std::bad_alloc.
  [[nodiscard]] Fixup apply(const NodeChanges& changes);

  // Whether a row that was deleted in epoch `since` or later may have gone from one of the nodes
  // from `first` on before it was registered.
  bool any_gone(size_t first, Epoch since) const {
    return std::any_of(nodes_.begin() + static_cast<ptrdiff_t>(first), nodes_.end(),
                       [since](NodeRef ref) { return ref.node->newest_gone() >= since; });
  }

  // Nodes registered from here on belong to a new statement.
  void begin_statement() {
    statement_begin_ = nodes_.size();
    changed_older_ = statement_noted_run_ = false;
  }
  // Forgets the statement's nodes. False, and nothing has changed: the statement has moved nodes of
  // earlier ones on.
  [[nodiscard]] bool forget_statement();

  // Nodes registered from here on belong to a part of the statement (Transaction::end_part).
  void begin_part() {
    part_begin_ = nodes_.size();
    changed_before_part_ = part_noted_run_ = false;
  }
  // Forgets the part's nodes. False, and nothing has changed: the part has moved older nodes on,
  // which may have split: what they covered is covered by nodes of the part now.
  [[nodiscard]] bool forget_part();
  // Those from `size` on go; none before rests on what they cover. No statement runs.
  void truncate(size_t size);

  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  // About how much memory it takes.
  size_t bytes() const { return nodes_.size() * 48 + runs_.size() * 64; }
  void clear();

 private:
  NodeRef* find(const BorderNode* node) {
    uint32_t position = index_.find(node, nodes_.size(), node_at());
    return position == PointerIndex::none ? nullptr : &nodes_[position];
  }
  void append(NodeRef ref);

  // From `first` to `last` nobody but this transaction has hooked keys in.
  struct Run {
    const BorderNode* node;
    NodeVersion first, last;
  };
  auto run_at() const {
    return [this](uint32_t position) { return runs_[position].node; };
  }
  void note_run(const NodeChanges& changes);
  bool any_removed(size_t count) const;
  void add_run(const Run& run);
  class Validation;
  bool is_ungrown(NodeRef ref, Validation& validation) const;
  bool is_looked_at(NodeRef heir, Validation& validation) const;

  std::vector<NodeRef> nodes_;
  PointerIndex index_;
  std::vector<Run> runs_;  // of heirs only, so that mostly there are none
  PointerIndex run_index_;
  bool met_removals_ = false;
  size_t statement_begin_ = 0;
  bool changed_older_ = false;  // the running statement has moved on a node of an earlier one
  bool statement_noted_run_ = false;
  size_t part_begin_ = 0;
  bool changed_before_part_ = false;  // the part has moved on a node from before it
  bool part_noted_run_ = false;
};

}  // namespace pgsilo
