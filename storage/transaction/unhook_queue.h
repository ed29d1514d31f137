// Absent records that one worker will take out of their trees: rows it deleted, once the delete is
// durable (an absent record is unhooked only when D reached its epoch) and no
// open snapshot sees the row, and placeholders of aborted inserts (I7), at once.
//
// Unhooking one record (I8): lock it, check that it is still absent with the TID it was queued with
// and that nobody queues for its intent, mark it obsolete (no later lock or validation succeeds),
// take it out of the tree, retire it. A record that somebody adopted is dropped from the queue: who
// deletes it next queues it. One whose intent is taken or that is locked is tried again later.
//
// An item outlives the pin under which it was queued, and the record may go meanwhile (adopted,
// deleted and unhooked by others). So an item holds the key, and run() looks the record up again;
// the pointer is only compared. Thread safety: one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

#include "base/strong_id.h"
#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/reclaimer.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

class Record;
class Relation;
class RelationDirectory;

enum class UnhookResult : uint8_t { unhooked, adopted, busy };

// Takes `record` out of `relation` if it still is absent with `tid`, or already obsolete. The
// caller holds a pin under which it found the record. Throws std::bad_alloc; then the record may be
// obsolete and still in the tree, and whoever meets it there calls this again.
UnhookResult unhook_absent(Relation& relation, Record* record, Tid tid, ReclaimerHandle& handle);

class UnhookQueue {
 public:
  // Room for `count` calls of push() with `key_bytes` bytes of keys together: they cannot fail
  // (I3). Throws std::bad_alloc.
  void reserve(size_t count, size_t key_bytes);
  void push(RelationId relation, const Record* record, std::string_view key, Tid tid);
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Whether run() would try anything.
  bool ready(Epoch settled) const;
  // Tries up to `budget` records whose epoch is not after `settled`: it is durable, and no snapshot
  // sees what was there before. Returns how many left the queue. The caller holds a pin. Throws
  // std::bad_alloc; nothing is lost then.
  size_t run(const RelationDirectory& relations, Epoch settled, ReclaimerHandle& handle,
             size_t budget);

 private:
  struct Item {  // followed by the key
    const Record* record;
    Tid tid;
    RelationId relation;
    uint32_t key_bytes;
    std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes}; }
  };
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t capacity = 0;
    size_t begin = 0;  // of the first item left
    size_t end = 0;
  };
  static constexpr size_t chunk_bytes = 16384;
  static constexpr size_t item_bytes(size_t key_bytes) {
    return (sizeof(Item) + key_bytes + 7) & ~size_t{7};
  }
  static UnhookResult try_item(const Item& item, const RelationDirectory& relations,
                               ReclaimerHandle& handle);
  void pop_front();

  std::deque<Chunk> chunks_;  // ascending in age; items are in all of them
  size_t filling_ = 0;        // the last one: push() writes to it
  size_t size_ = 0;
};

}  // namespace pgsilo
