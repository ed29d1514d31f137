#include "storage/transaction/lock_list.h"

#include "base/append.h"
#include "base/long_work.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {
namespace {

// Collects entries under a latch, where nothing may be allocated: starts over with more room when
// they were too many. Throws std::bad_alloc.
template <typename Fill>
void fill_under_latch(std::vector<LockEntry>& entries, Fill fill) {
  for (size_t before = entries.size();; grow(entries)) {
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
    for (const RelationHold& hold : owner.relations_) {
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
    shard.queues.visit([&](const LockQueue& queue) {
      // Its holders and those who wait protect it.
      RelationId relation =
          queue.tag.is_relation() ? queue.tag.relation()->id() : queue.tag.relation_id;
      for (const LockHolder* at = queue.holders; at != nullptr; at = at->next) {
        LockModes shown = queue.tag.is_record() ? at->modes.strongest() : at->modes;
        shown.visit([&](LockMode mode) {
          add({.owner = at->owner,
               .relation = relation,
               .tag = queue.tag,
               .mode = mode,
               .granted = true});
        });
      }
      for (const Waiter* at = queue.waiting; at != nullptr; at = at->next) {
        add({.owner = at->owner,
             .relation = relation,
             .tag = queue.tag,
             .mode = at->mode,
             .waiting_since_us = at->since_us});
      }
    });
  });
}

// Owners stay as long as the table.
std::vector<LockOwner*> LockTable::all_owners() {
  std::lock_guard guard(owners_mutex_);
  std::vector<LockOwner*> owners;
  owners.reserve(owners_.size());
  for (const std::unique_ptr<LockOwner>& owner : owners_) owners.push_back(owner.get());
  return owners;
}

// There may be millions: gives way between owners and between shards, where no latch is held.
std::vector<LockEntry> LockTable::list() {
  std::vector<LockEntry> entries;
  WorkMeter meter;
  auto add = [&](auto list_some) {
    size_t before = entries.size();
    list_some();
    constexpr size_t latch_bytes = 64;  // taking one costs about as much
    meter.did(latch_bytes + (entries.size() - before) * sizeof(LockEntry));
  };
  for (LockOwner* owner : all_owners()) add([&] { list_owner(*owner, entries); });
  for (size_t i = 0; i <= shard_mask_; ++i) add([&] { list_queues(shards_[i], entries); });
  return entries;
}

std::vector<LockEntry> LockTable::list(LockTag tag) {
  std::vector<LockEntry> entries;
  list_queues(shard_of(tag), entries);
  std::erase_if(entries, [&](const LockEntry& entry) { return entry.tag != tag; });
  return entries;
}

}  // namespace pgsilo
