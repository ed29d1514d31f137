// An ordered map from byte-string keys to records: Masstree (Mao, Kohler, Morris, EuroSys 2012) as
// Silo uses it. A trie of B+-trees: each layer is a B+-tree over one 8-byte slice of the keys, and
// an entry for several keys that share a slice and go on behind it leads to a further layer.
//
// Thread safety: get, insert, remove, refs, separators, scattered_keys and scans may run at once
// from any threads, each under a Pin of the handle it passes (or of its thread). Readers write no
// shared memory. Writers lock only the nodes they change, for some dozen instructions, never across
// an allocation. Construction, destruction, dismantle, for_each and check are for one thread alone.
//
// What it leaves to the caller: whether a record's row exists (TID word), node sets, log. The tree
// owns the records that are in it: its destructor frees them.
//
// Keys are 0 to max_key_bytes long; any bytes, compared as unsigned. A record carries its key
// (record.h).
//
// Invariants (docs/index_tree.md)
// - At any moment each key belongs to exactly one border node: that one's version changes with
// every insert, unhook, split,
//   layer creation or node removal that concerns the key's surroundings. A get or scan reports the
//   node and the version it was read under, and a transaction for which that validates at commit
//   knows that no key appeared (I6).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strong_id.h"
#include "storage/epoch/reclaimer.h"
#include "storage/index/node.h"
#include "storage/index/node_changes.h"
#include "storage/index/scan_cursor.h"
#include "storage/record/memory_account.h"
#include "storage/record/record_allocator.h"

namespace pgsilo {

// What IndexTree::remove() found: `left_sparse`, it is out, and its node has few entries now, so
// that merge() is worth while.
enum class Removal : uint8_t { not_there, done, left_sparse };

class IndexTree {
 public:
  // Throws std::bad_alloc.
  explicit IndexTree(RelationId relation);
  // Nobody uses the tree any more, nor any of its records; frees both.
  ~IndexTree();
  IndexTree(const IndexTree&) = delete;
  IndexTree& operator=(const IndexTree&) = delete;

  RelationId relation() const { return relation_; }
  RecordAllocator& records() { return records_; }
  // Bytes are counted by the tree itself, rows and row ids by its relation.
  MemoryAccount& account() { return account_; }
  const MemoryAccount& account() const { return account_; }
  // Bytes of nodes, records and payloads; of one of both: records with payloads, nodes.
  size_t memory_bytes() const { return account_.bytes(); }
  size_t memory_bytes(MemoryKind kind) const { return account_.bytes(kind); }

  // The record of `key` or null. `node` is the border node that answers for the key and the version
  // under which it was read: a transaction registers it when there is no record.
  struct Found {
    Record* record;
    NodeRef node;
  };
  Found get(std::string_view key) const;
  // Brings what get() of each will read into the cache, all at once instead of node by node: for
  // who knows several keys ahead. At most max_lookups. The caller is pinned.
  struct Lookup {
    const IndexTree* tree;
    std::string_view key;
  };
  static constexpr size_t max_lookups = 16;
  static void prefetch(std::span<const Lookup> lookups);

  // Hooks `fresh` in under fresh->key() and returns null; or returns the record that is there
  // already and leaves `fresh` to the caller. `changes` is filled in (cleared first) when `fresh`
  // went in. Throws std::bad_alloc, then nothing has changed.
  Record* insert(Record* fresh, ReclaimerHandle& handle, NodeChanges& changes);

  // Unhooks `record`, which the caller has marked obsolete, together with nodes and layers that
  // become empty by it. The record itself is left to the caller (records().retire). Throws
  // std::bad_alloc before anything has changed.
  Removal remove(Record* record, ReclaimerHandle& handle);
  // Makes one of two neighbouring nodes with few entries, where `key` is or would be, and of the
  // interior nodes above them. Throws std::bad_alloc before anything has changed.
  void merge(std::string_view key, ReclaimerHandle& handle);

  // Frees a piece of a tree that nobody uses any more, `records` records and a few; then only this
  // and the destructor may be called. True when nothing is left. Throws std::bad_alloc, then what
  // is left is as before.
  bool dismantle(size_t records, ReclaimerHandle& handle);

  // At most `wanted` keys, ascending, that cut the tree into ranges of about the same size, as far
  // as its upper nodes tell: any keys are right, these share out work well. Throws std::bad_alloc.
  std::vector<std::string> separators(size_t wanted) const;
  // One key of each of those ranges, in their order, or a key near it: which one, the seed says.
  // Every key of a range can be it, and about as easily, as far as nodes are equally full. Throws
  // std::bad_alloc.
  std::vector<std::string> scattered_keys(size_t wanted, uint32_t seed) const;

  // Every record in order. One thread alone.
  template <typename Visit>
  void for_each(Visit visit) const {
    ScanCursor cursor(*this, KeyRange{}, ScanDirection::forward, nullptr);
    while (Record* record = cursor.next()) visit(record);
  }

  // Checks every structural invariant; returns the first breach in words, or an empty string.
  // Nobody writes meanwhile.
  struct Shape {
    size_t records = 0;
    size_t layers = 0;
    size_t border_nodes = 0;
    size_t empty_border_nodes = 0;
    size_t interior_nodes = 0;
  };
  std::string check(Shape* shape = nullptr) const;

 private:
  friend class ScanCursor;
  friend class TreeAppender;
  friend class TreeInsertion;
  friend class TreeRemoval;

  template <typename FreeRecord, typename FreeNode>
  bool take_apart(size_t records, FreeRecord free_record, FreeNode free_node);

  Node* root() const { return root_.load(std::memory_order_acquire); }

  const RelationId relation_;
  MemoryAccount account_;
  RecordAllocator records_;
  std::vector<Node*> left_over_;  // roots of what dismantle() has not freed yet
  // A root of layer 0, perhaps an outdated one (EntryTarget::layer_root).
  alignas(64) std::atomic<Node*> root_;
};

// Loads ascending keys into a tree: the same insert, but it remembers the border node it was at, so
// that a key that follows the one before costs no descent; nodes are left full. Keys in any other
// order are inserted correctly and slowly. Thread safety: one thread at a time; the tree may be
// used by others meanwhile, and some Pin is held from the first append to the last.
class TreeAppender {
 public:
  explicit TreeAppender(IndexTree& tree) : tree_(&tree) {}

  // As IndexTree::insert.
  Record* append(Record* fresh, ReclaimerHandle& handle, NodeChanges& changes);

 private:
  IndexTree* tree_;
  BorderNode* last_border_ = nullptr;
  size_t last_depth_ = 0;
  std::string last_prefix_;  // the first last_depth_ slices of the keys under last_border_
};

}  // namespace pgsilo
