// One tree of the database with its name and its account: a table's primary tree or one secondary
// index tree. Which relations belong together is the catalog's knowledge; keeping them in step is
// the executor's RowWriter's work.
//
// Private relations. A relation created (or made by TRUNCATE) in a transaction is private to it
// until commit publishes it: nobody else can find it, so its rows need no locks and no validation
// (storage/transaction/private_rows.h).
//
// Hidden row ids (tables without a key) come from ranges that workers take for themselves. They are
// unique for ever: after a restart recovery calls raise_row_id_floor() with the largest id it saw.
//
// Thread safety: all members, any thread, under a pin.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/strong_id.h"
#include "storage/index/index_tree.h"
#include "storage/relation/relation_encoding.h"
#include "storage/relation/relation_gate.h"

namespace pgsilo {

struct RelationOptions {
  bool logged = true;  // false: temporary and UNLOGGED relations
};

class Relation {
 public:
  // Throws std::bad_alloc.
  Relation(RelationId id, RelationOptions options, bool is_private);
  Relation(const Relation&) = delete;
  Relation& operator=(const Relation&) = delete;

  RelationId id() const { return tree_.relation(); }
  bool logged() const { return options_.logged; }
  RelationEncoding encoding() const { return encoding_; }
  // By who makes or restores it, before anybody else uses it.
  void set_encoding(RelationEncoding encoding) { encoding_ = encoding; }
  IndexTree& tree() { return tree_; }
  const IndexTree& tree() const { return tree_; }
  RecordAllocator& records() { return tree_.records(); }
  RelationGate& gate() { return gate_; }

  // Private to the transaction that created it. Only that transaction ever sees true.
  bool is_private() const { return private_.load(std::memory_order_relaxed); }
  // By the creating transaction at commit; others find the relation only through catalog rows
  // installed afterwards.
  void publish() { private_.store(false, std::memory_order_release); }

  // The next hidden row id for `worker` (the caller's ReclaimerHandle::index()); never 0.
  uint64_t next_row_id(unsigned worker);
  // No id up to `id` will be given out. Before the relation takes inserts.
  void raise_row_id_floor(uint64_t id);
  // The largest id that may have been given out; 0: none was.
  uint64_t row_id_floor() const;

  // Entries of a secondary tree may remember the records they lead to (Record::link_of), but only
  // of one primary tree: a rewritten table keeps none of the old links alive, whatever became of
  // its indexes.
  bool links_to(RelationId primary) const {
    return link_target_.load(std::memory_order_relaxed) == primary.value();
  }
  // False if the links belong to another tree.
  bool link_to(RelationId primary) {
    uint32_t none = 0;
    return links_to(primary) ||
           link_target_.compare_exchange_strong(none, primary.value(), std::memory_order_relaxed);
  }

  // Committed rows; an estimate while commits run.
  int64_t row_count() const;
  void add_rows(unsigned worker, int64_t difference) {
    tree_.account().add_rows(worker, difference);
  }
  // Nodes, records and payloads.
  size_t memory_bytes() const { return tree_.memory_bytes(); }
  size_t memory_bytes(MemoryKind kind) const { return tree_.memory_bytes(kind); }

 private:
  static constexpr uint64_t row_id_range = 1024;

  const RelationOptions options_;
  RelationEncoding encoding_ = first_encoding;
  std::atomic<bool> private_;
  std::atomic<uint32_t> link_target_{0};  // set once; the links themselves are ordered by TIDs
  IndexTree tree_;
  RelationGate gate_;
  std::atomic<uint64_t> next_range_{1};
};

}  // namespace pgsilo
