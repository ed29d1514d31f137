#include "storage/transaction/lock_list.h"

#include <algorithm>

#include "storage/transaction/lock_shard.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {
namespace {

// Collects entries under a latch, where nothing may be allocated: starts over with more room when
// they were too many.
template <typename Fill>
void fill_under_latch(std::vector<LockEntry>& entries, Fill fill) {
  size_t before = entries.size();
  for (size_t room = 64;; room *= 2) {
    entries.reserve(before + room);
    bool complete = true;
    fill([&](const LockEntry& entry) {
      complete = complete && entries.size() < entries.capacity();
      if (complete) entries.push_back(entry);
    });
    if (complete) return;
    entries.resize(before);
  }
}

}  // namespace

// What one owner holds of relations without a queue.
void LockTable::list_owner(LockOwner& owner, std::vector<LockEntry>& entries) {
  fill_under_latch(entries, [&](auto add) {
    // Nobody ends a hold now, so that the relations stay.
    std::lock_guard guard(owner.latch_);
    for (const LockOwner::RelationHold& hold : owner.relations_) {
      if (hold.queued) continue;
      add({.owner = &owner,
           .relation = hold.relation->id(),
           .tag = LockTag::of(*hold.relation),
           .mode = hold.mode,
           .granted = true});
    }
  });
}

// The holders of each lock, then those who wait, first come first.
void LockTable::list_queues(Shard& shard, std::vector<LockEntry>& entries) {
  fill_under_latch(entries, [&](auto add) {
    std::lock_guard guard(shard.latch);
    for (const LockQueue* queue = shard.queues; queue != nullptr; queue = queue->next) {
      // Its holders and those who wait protect it.
      RelationId relation =
          queue->tag.is_relation() ? queue->tag.relation()->id() : queue->tag.relation_id;
      for (const LockHolder* at = queue->holders; at != nullptr; at = at->next) {
        LockModes shown = queue->tag.is_record() ? at->modes.strongest() : at->modes;
        shown.visit([&](LockMode mode) {
          add({.owner = at->owner,
               .relation = relation,
               .tag = queue->tag,
               .mode = mode,
               .granted = true});
        });
      }
      for (const Waiter* at = queue->waiting; at != nullptr; at = at->next) {
        add({.owner = at->owner,
             .relation = relation,
             .tag = queue->tag,
             .mode = at->mode,
             .waiting_since_us = at->since_us});
      }
    }
  });
}

std::vector<LockEntry> LockTable::list() {
  std::vector<LockEntry> entries;
  {
    std::lock_guard guard(owners_mutex_);
    for (const std::unique_ptr<LockOwner>& owner : owners_) list_owner(*owner, entries);
  }
  for (size_t i = 0; i <= shard_mask_; ++i) list_queues(shards_[i], entries);
  return entries;
}

}  // namespace pgsilo
