#include "storage/transaction/in_record_lock.h"

#include <new>

#include "base/append.h"
#include "base/check.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

LockModes InRecordLock::held_by(const LockOwner& owner) const {
  RecordHolder holder = record_.holder();
  return holder.is_none() || holder.owner() != &owner ? LockModes() : LockModes(mode_of(holder));
}

bool InRecordLock::gain(const LockOwner& owner, LockMode mode) {
  const bool excludes_all = mode == LockMode::update;
  RecordHolder holder = record_.holder();
  if (holder.is_none()) return take(RecordHolder::of(&owner, excludes_all));
  return holder.owner() == &owner && !holder.is_closing() && excludes_all &&
         record_.change_holder(holder, holder.strengthened());
}

// The word first: who sees the bit without a queue finds there whose it is.
bool InRecordLock::take(RecordHolder mine) {
  TidWord word = record_.tid_word().load();
  if (word.has_intent() || word.is_locked() || word.is_obsolete()) return false;
  if (!record_.change_holder(RecordHolder(), mine)) return false;
  TidWord before = record_.tid_word().raise_intent();
  // Who has locked the record may be about to install another payload into the word.
  if (!before.has_intent() && !before.is_locked() && !before.is_obsolete()) return true;
  if (!record_.change_holder(mine, mine.closing())) return true;  // somebody has moved it
  give_up(mine, /*drops_intent=*/!before.has_intent());
  return false;
}

// It is closing. The bit goes first: who finds the word empty and the bit up would take it for
// another's.
void InRecordLock::give_up(RecordHolder mine, bool drops_intent) {
  if (drops_intent) record_.tid_word().drop_intent();
  record_.change_holder(mine.closing(), RecordHolder());
}

bool InRecordLock::reduce(const LockOwner& owner, LockModes before) {
  RecordHolder holder = record_.holder();
  if (holder.is_none() || holder.owner() != &owner || holder.is_closing()) return false;
  if (!before.empty()) return record_.change_holder(holder, holder.weakened());
  if (!record_.change_holder(holder, holder.closing())) return false;
  give_up(holder, /*drops_intent=*/true);
  return true;
}

bool InRecordLock::note_removal(const LockOwner& owner) {
  RecordHolder holder = record_.holder();
  return !holder.is_none() && holder.owner() == &owner && !holder.is_closing() &&
         record_.change_holder(holder, holder.removing());
}

bool InRecordLock::note_loaded(const LockOwner& owner) {
  RecordHolder holder = record_.holder();
  return !holder.is_none() && holder.owner() == &owner && !holder.is_closing() &&
         record_.change_holder(holder, holder.loaded());
}

InRecordLock::Look InRecordLock::take_over(RecordHolder* holder) {
  TidWord before = record_.tid_word().raise_intent();
  if (before.is_obsolete()) {
    if (!before.has_intent()) record_.tid_word().drop_intent();
    return Look::obsolete;
  }
  // The bit is ours: whoever is just gaining the lock sees that when he raises it, and steps back.
  if (!before.has_intent()) return Look::free;
  RecordHolder found = record_.holder();
  if (found.is_none() || found.is_closing()) return Look::busy;
  if (!record_.change_holder(found, found.closing())) return Look::busy;
  // It may have gone and come back since the bit was seen. If he has not raised it yet, he finds
  // that it was moved, and takes it for his.
  record_.tid_word().raise_intent();
  *holder = found;
  return Look::held;
}

void InRecordLock::moved(RecordHolder holder) {
  record_.change_holder(holder.closing(), RecordHolder());
}

// ---- the lock table's side ----

void LockTable::move_to_table(LockOwner& owner, const Record* record) {
  InRecordLock lock(record);
  while (!lock.held_by(owner).empty()) {
    if (!reserve(owner)) throw std::bad_alloc();
    Shard& shard = shard_of(LockTag::of(record));
    Shard::Change change(shard);
    LockQueue* queue = shard.queues.find(LockTag::of(record));
    if (queue == nullptr) static_cast<void>(make_queue(owner, shard, LockTag::of(record), &queue));
  }
}

void LockTable::make_room_for_one(LockOwner& owner) { make_room(owner.locks_, 1); }

bool LockTable::is_loading(const LockOwner& owner, const Record* record) const {
  if (!record->tid_word().load().has_intent()) return false;
  RecordHolder alone = record->holder();
  if (!alone.is_none()) return alone.loads() && alone.owner() == &owner;
  Shard& shard = shard_of(LockTag::of(record));
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.queues.find(LockTag::of(record));
  const LockHolder* holder = queue == nullptr ? nullptr : queue->holder(&owner);
  return holder != nullptr && holder->loads;
}

void LockTable::note_loaded(LockOwner& owner, const Record* record) {
  owner.locks_.push_back({.record = record, .before = {}, .in_record = true});
  if (InRecordLock(record).note_loaded(owner)) return;
  Shard& shard = shard_of(LockTag::of(record));
  std::lock_guard guard(shard.latch);
  shard.queues.find(LockTag::of(record))->holder(&owner)->loads = false;
}

void LockTable::release_loaded(LockOwner& owner, const Record* record) {
  release(owner, {.record = record, .before = {}, .in_record = true});
}

}  // namespace pgsilo
