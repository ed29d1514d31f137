// Absent records that one worker will take out of their trees: rows it deleted, once the delete is durable (an absent record
// is unhooked only when D reached its epoch, engine.md item 6), and placeholders of aborted inserts (I7), at once.
//
// Unhooking one record (I8): lock it, check that it is still absent with the TID it was queued with and that nobody
// queues for its intent, mark it obsolete (no later lock or validation succeeds), take it out of the tree, retire it.
// A record that somebody adopted is dropped from the queue: who wrote it last takes care of it. One whose intent is taken or
// that is locked is tried again later.
// Thread safety: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

class Record;
class Relation;
class RelationDirectory;

enum class UnhookResult : uint8_t { unhooked, adopted, busy };

// Takes `record` out of `relation` if it still is absent with `tid`. The caller holds a pin.
UnhookResult unhook_absent(Relation& relation, Record* record, Tid tid, ReclaimerHandle& handle);

class UnhookQueue {
 public:
  // The next `count` calls of push() allocate nothing (I3).
  void reserve(size_t count);
  void push(RelationId relation, Record* record, Tid tid);
  bool empty() const { return waiting_ == 0; }
  size_t size() const { return waiting_; }
  // Tries up to `budget` records whose epoch is durable. Returns how many left the queue.
  size_t run(const RelationDirectory& relations, const DurableEpoch& durable, ReclaimerHandle& handle, size_t budget);

 private:
  struct Item {
    RelationId relation;
    Record* record;
    Tid tid;
  };
  static constexpr size_t first_capacity = 256;
  void grow();
  Item& at(size_t position) { return items_[position & (items_.size() - 1)]; }

  std::vector<Item> items_;  // a ring of 2^n items, [first_, first_ + waiting_)
  size_t first_ = 0;
  size_t waiting_ = 0;
};

}  // namespace pgsilo
