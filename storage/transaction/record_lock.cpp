#include "storage/transaction/record_lock.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/append.h"
#include "base/check.h"
#include "base/clock.h"
#include "storage/record/record.h"
#include "storage/transaction/in_record_lock.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/lock_wait.h"

namespace pgsilo {

// ---- LockOwner ----

void LockOwner::begin_wait(const Wait& wait) {
  std::lock_guard guard(latch_);
  uint64_t number = wait_.number + 1;
  wait_ = wait;
  wait_.number = number;
}

void LockOwner::end_wait() {
  std::lock_guard guard(latch_);
  wait_ = {.number = wait_.number + 1};
}

LockTag LockOwner::Grant::tag() const { return in_record ? LockTag::of(record) : queue->tag; }

size_t LockOwner::lock_bytes() const {
  constexpr size_t queue_bytes = 144;  // with its holder, and its place in its shard
  return locks_.size() * sizeof(Grant) + queued_ * queue_bytes;
}

LockOwner::WaitsFor LockOwner::waits_for() {
  std::lock_guard guard(latch_);
  if (!wait_.lasts) return WaitsFor::nothing;
  if (wait_.tag.is_relation()) return WaitsFor::relation;
  return wait_.tag.is_record() ? WaitsFor::record : WaitsFor::advisory;
}

// ---- LockTable ----

LockTable::LockTable(size_t shard_count)
    : shards_(std::make_unique<Shard[]>(std::bit_ceil(shard_count))),
      shard_mask_(std::bit_ceil(shard_count) - 1) {}

LockTable::~LockTable() {
  for (const std::unique_ptr<LockOwner>& owner : owners_) {
    PGSILO_DCHECK(!owner->holds_any());
    free_spares(*owner, 0);
  }
}

// Whoever releases last gets the queue, though another may have begun it.
void LockTable::free_spares(LockOwner& owner, size_t but) {
  owner.spare_queues_.free(but);
  owner.spare_holders_.free(but);
}

LockOwner& LockTable::take_owner() {
  std::lock_guard guard(owners_mutex_);
  if (free_owners_ == nullptr) {
    owners_.push_back(std::make_unique<LockOwner>());
    return *owners_.back();
  }
  LockOwner& owner = *free_owners_;
  free_owners_ = owner.next_free_;
  return owner;
}

void LockTable::return_owner(LockOwner& owner) {
  PGSILO_CHECK(!owner.holds_any());
  PGSILO_DCHECK(owner.awaited_.load(std::memory_order_relaxed) == 0);
  free_spares(owner, 0);
  std::lock_guard guard(owners_mutex_);
  owner.next_free_ = free_owners_;
  free_owners_ = &owner;
}

LockTable::Shard& LockTable::shard_of(LockTag tag) const {
  return shards_[LockTag::Hash()(tag) & shard_mask_];
}

// What gain() needs of memory: there may be another holder, whom only the record knows. False:
// there is none.
bool LockTable::reserve(LockOwner& owner) {
  try {
    owner.spare_queues_.have(1);
    owner.spare_holders_.have(2);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

TransactionStatus LockTable::acquire(LockOwner& owner, LockTag tag, LockMode mode,
                                     WaitPolicy policy, const WaitSettings& settings, Use use) {
  try {
    make_room_for_one(owner);
  } catch (const std::bad_alloc&) {
    return TransactionStatus::out_of_memory;
  }
  if (tag.is_record() && use == Use::ordinary) {
    InRecordLock lock(tag.record());
    LockModes before = lock.held_by(owner);
    if (before.covers(mode)) return TransactionStatus::ok;
    if (InRecordLock::can_be(mode) && lock.gain(owner, mode)) {
      owner.locks_.push_back({.record = tag.record(), .before = before, .in_record = true});
      return TransactionStatus::ok;
    }
  }
  if (!reserve(owner)) return TransactionStatus::out_of_memory;
  Waiter waiter{&owner, mode, settings.parker, owner.spare_holders_.take()};
  waiter.cautious = use == Use::cautious;
  TransactionStatus status = gain(owner, tag, waiter, policy, settings);
  if (waiter.granted) {
    owner.locks_.push_back({.queue = waiter.queue, .before = waiter.before, .in_record = false});
    ++owner.queued_;
  }
  return status;
}

TransactionStatus LockTable::gain(LockOwner& owner, LockTag tag, LockMode mode, WaitPolicy policy,
                                  const WaitSettings& settings, std::optional<LockModes>* before) {
  if (!reserve(owner)) return TransactionStatus::out_of_memory;
  Waiter waiter{&owner, mode, settings.parker, owner.spare_holders_.take()};
  TransactionStatus status = gain(owner, tag, waiter, policy, settings);
  if (waiter.granted && before != nullptr) *before = waiter.before;
  return status;
}

TransactionStatus LockTable::gain(LockOwner& owner, LockTag tag, Waiter& waiter, WaitPolicy policy,
                                  const WaitSettings& settings) {
  TransactionStatus status = enter_queue(owner, tag, waiter, policy);
  for (Backoff backoff; status == TransactionStatus::conflict_lock; backoff.pause())
    status = enter_queue(owner, tag, waiter, policy);
  if (status == TransactionStatus::must_wait) status = wait_in_queue(tag, waiter, settings);
  if (waiter.holder != nullptr) owner.spare_holders_.keep(waiter.holder);  // it was not needed
  return status;
}

// The queue of a lock that has none: somebody may hold it all the same, in the record. Within a
// change of the shard. conflict_lock: one moment.
TransactionStatus LockTable::make_queue(LockOwner& owner, Shard& shard, LockTag tag,
                                        LockQueue** made) {
  using enum InRecordLock::Look;
  RecordHolder holder;
  auto look = tag.is_record() ? InRecordLock(tag.record()).take_over(&holder) : free;
  if (look == busy) return TransactionStatus::conflict_lock;
  if (look == obsolete) return TransactionStatus::conflict_record;
  LockQueue* queue = owner.spare_queues_.take();
  *queue = {.tag = tag};
  shard.queues.add(queue);
  *made = queue;
  if (look == free) return TransactionStatus::ok;
  auto* other = static_cast<LockOwner*>(const_cast<void*>(holder.owner()));
  queue->add_holder(owner.spare_holders_.take(), other, InRecordLock::mode_of(holder));
  queue->holders->removes = holder.removes();
  queue->holders->loads = holder.loads();
  InRecordLock(tag.record()).moved(holder);
  return TransactionStatus::ok;
}

// must_wait: it stands in the queue. conflict_lock: one moment.
TransactionStatus LockTable::enter_queue(LockOwner& owner, LockTag tag, Waiter& waiter,
                                         WaitPolicy policy) {
  Shard& shard = shard_of(tag);
  Shard::Change change(shard);
  LockQueue* queue = shard.queues.find(tag);
  if (queue == nullptr) {
    TransactionStatus status = make_queue(owner, shard, tag, &queue);
    if (status != TransactionStatus::ok) return status;
  }
  waiter.queue = queue;
  LockHolder* held = queue->holder(&owner);
  if (held != nullptr && held->has(tag, waiter.mode)) {
    held->cautious &= waiter.cautious;
    return TransactionStatus::ok;
  }
  bool waits = !waiter.ready || queue->blocks(&owner, waiter.mode);
  if (!waits) {
    queue->hold(&waiter);
  } else if (waiter.ready && (policy == WaitPolicy::no_wait || waiter.parker == nullptr)) {
    return TransactionStatus::lock_not_available;
  } else {
    queue->append(&waiter);
    waiter.since_us = unix_time_us();
    owner.begin_wait({.lasts = true,
                      .tag = tag,
                      .mode = waiter.mode,
                      .is_brief = waiter.is_brief,
                      .place = waiter.place,
                      .since_us = waiter.since_us});
    note_begin();
  }
  queue->publish();
  return waits ? TransactionStatus::must_wait : TransactionStatus::ok;
}

TransactionStatus LockTable::wait_in_queue(LockTag tag, Waiter& waiter,
                                           const WaitSettings& settings) {
  using Stage = LongWaitObserver::Stage;
  Shard& shard = shard_of(tag);
  Patience patience(settings);
  for (;;) {
    {
      // The granter sets the flag and unparks under the latch: once we have seen it, nobody touches
      // `waiter` any more.
      std::lock_guard guard(shard.latch);
      if (waiter.granted) break;
    }
    TransactionStatus verdict = patience.verdict();
    if (verdict != TransactionStatus::ok) {
      if (leave_queue(tag, waiter)) return verdict;
    } else if (patience.check_due()) {
      Look look = look_for_deadlock(tag, waiter);
      patience.checked(look);
      bool ends = look == Look::deadlock;
      patience.tell(tag, waiter.mode, ends ? Stage::deadlocked : Stage::still_waits);
      if (ends) return TransactionStatus::deadlock;
    } else {
      patience.park();
    }
  }
  patience.tell(tag, waiter.mode, Stage::acquired);
  return TransactionStatus::ok;
}

// Who finds another at it comes back later; nobody's thread waits.
LockTable::Look LockTable::look_for_deadlock(LockTag tag, Waiter& waiter) {
  bool closes_none = waiter.owner->awaited_.load(std::memory_order_relaxed) == 0;
  if (closes_none && !waiter.awaited) return Look::clear;
  if (searching_.exchange(true, std::memory_order_acquire)) return Look::busy;
  Look look = Look::unclear;
  try {
    look = search(tag, waiter);
  } catch (const std::bad_alloc&) {
    look = Look::unclear;
  }
  searching_.store(false, std::memory_order_release);  // pairs with the exchange
  return look;
}

// False if the lock was granted meanwhile.
bool LockTable::leave_queue(LockTag tag, Waiter& waiter) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  if (waiter.granted) return false;
  LockQueue* queue = shard.queues.find(tag);
  queue->remove(&waiter);
  waiter.owner->end_wait();
  queue->grant_waiters();  // some may have waited for this one only
  queue->publish();
  return true;
}

// Now its turn may come. must_wait: it has not come yet.
TransactionStatus LockTable::make_ready(LockTag tag, Waiter& waiter, WaitPolicy policy) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.queues.find(tag);
  waiter.ready = true;
  queue->grant_waiters();
  if (waiter.granted) return TransactionStatus::ok;
  if (policy == WaitPolicy::wait && waiter.parker != nullptr) {
    waiter.awaited = waiter.next != nullptr;
    note_begin();
    return TransactionStatus::must_wait;
  }
  queue->remove(&waiter);
  waiter.owner->end_wait();
  queue->grant_waiters();
  queue->publish();
  return TransactionStatus::lock_not_available;
}

// If `owner` waits only because others came first.
bool LockTable::grant_out_of_turn(LockOwner& owner, LockTag tag) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.queues.find(tag);
  if (queue == nullptr) return false;
  Waiter* waiter = queue->waiting;
  while (waiter != nullptr && waiter->owner != &owner) waiter = waiter->next;
  if (waiter == nullptr || !waiter->ready || queue->held_against(&owner, waiter->mode))
    return false;
  queue->remove(waiter);
  queue->grant(waiter);
  return true;
}

void LockTable::reduce(LockOwner& owner, LockTag tag, LockModes modes) {
  {
    Shard& shard = shard_of(tag);
    Shard::Change change(shard);
    LockQueue* queue = shard.queues.find(tag);
    PGSILO_CHECK(queue != nullptr && queue->holder(&owner) != nullptr);
    reduce(owner, shard, *queue, modes);
  }
  free_spares(owner);
}

// Within a change of the shard.
void LockTable::reduce(LockOwner& owner, Shard& shard, LockQueue& queue, LockModes modes) {
  if (modes.empty()) {
    owner.spare_holders_.keep(queue.remove_holder(&owner));
  } else {
    LockHolder* holder = queue.holder(&owner);
    holder->modes = modes;
    holder->removes = holder->removes && modes.has(LockMode::update);
  }
  queue.grant_waiters();
  queue.publish();
  // While there are holders the bit stays up: whoever comes now queues behind those who wait.
  if (queue.holders != nullptr || queue.waiting != nullptr) return;
  if (queue.tag.is_record()) {
    const_cast<Record*>(queue.tag.record())->tid_word().drop_intent();
  }
  shard.queues.remove(&queue);
  owner.spare_queues_.keep(&queue);
}

void LockTable::release(LockOwner& owner, const LockOwner::Grant& grant) {
  if (grant.in_record && InRecordLock(grant.record).reduce(owner, grant.before)) return;
  if (!grant.in_record) --owner.queued_;
  LockTag tag = grant.tag();
  Shard& shard = shard_of(tag);
  Shard::Change change(shard);
  LockQueue* queue = grant.in_record ? shard.queues.find(tag) : grant.queue;
  PGSILO_CHECK(queue != nullptr && queue->holder(&owner) != nullptr);
  reduce(owner, shard, *queue, grant.before);
}

void LockTable::release_locks(LockOwner& owner, size_t keep) {
  // Backwards: what was held before the oldest of them counts.
  while (owner.locks_.size() > keep) {
    LockOwner::Grant last = owner.locks_.back();
    owner.locks_.pop_back();
    release(owner, last);
  }
  free_spares(owner);
  constexpr size_t ordinary = 4096;
  if (keep == 0 && owner.locks_.capacity() > ordinary) free_memory(owner.locks_);
}

void LockTable::let_go_of_cautious(LockOwner& owner) {
  std::vector<LockOwner::Grant>& locks = owner.locks_;
  auto kept = locks.begin();
  for (LockOwner::Grant grant : locks) {
    // All that the owner has of it came by one grant: others only add to what is held.
    const bool goes = !grant.in_record && grant.before.empty() && is_cautious(owner, *grant.queue);
    if (goes) release(owner, grant);
    if (!goes) *kept++ = grant;
  }
  locks.erase(kept, locks.end());
  free_spares(owner);
}

bool LockTable::is_cautious(const LockOwner& owner, const LockQueue& queue) const {
  Shard& shard = shard_of(queue.tag);
  std::lock_guard guard(shard.latch);
  return queue.holder(&owner)->cautious;
}

LockModes LockTable::modes_held(const LockOwner& owner, LockTag tag) const {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.queues.find(tag);
  const LockHolder* holder = queue == nullptr ? nullptr : queue->holder(&owner);
  return holder == nullptr ? LockModes() : holder->modes;
}

bool LockTable::admits(const LockOwner& owner, LockTag tag, LockMode mode) const {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.queues.find(tag);
  if (queue == nullptr) {
    RecordHolder alone = tag.is_record() ? InRecordLock(tag.record()).holder() : RecordHolder();
    if (alone.is_none()) return true;
    LockModes held = InRecordLock::mode_of(alone);
    return alone.owner() == &owner ? held.covers(mode) : !held.conflicts_with(mode);
  }
  const LockHolder* holder = queue->holder(&owner);
  return (holder != nullptr && holder->modes.covers(mode)) || !queue->blocks(&owner, mode);
}

void LockTable::note_removal(LockOwner& owner, const Record* record) {
  if (InRecordLock(record).note_removal(owner)) return;
  LockTag tag = LockTag::of(record);
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.queues.find(tag);
  LockHolder* holder = queue == nullptr ? nullptr : queue->holder(&owner);
  PGSILO_CHECK(holder != nullptr);
  holder->removes = true;
}

bool LockTable::removal_pending(const LockOwner& owner, const Record* record) const {
  LockTag tag = LockTag::of(record);
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.queues.find(tag);
  if (queue == nullptr) {
    RecordHolder alone = InRecordLock(record).holder();
    return alone.removes() && alone.owner() != &owner;
  }
  const LockHolder* at = queue->holders;
  while (at != nullptr && (!at->removes || at->owner == &owner)) at = at->next;
  return at != nullptr;
}

size_t LockTable::waiters(LockTag tag) const {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.queues.find(tag);
  size_t count = 0;
  if (queue == nullptr) return 0;
  for (const Waiter* waiter = queue->waiting; waiter != nullptr; waiter = waiter->next) ++count;
  return count;
}

void LockTable::find_blockers(const LockOwner& owner, const LockOwner::Wait& wait, bool waiters_too,
                              std::vector<LockOwner*>& blockers) const {
  Shard& shard = shard_of(wait.tag);
  for (;; blockers.reserve(2 * blockers.capacity() + 16)) {
    blockers.clear();
    std::lock_guard guard(shard.latch);  // nothing allocates under it
    const LockQueue* queue = shard.queues.find(wait.tag);
    if (queue == nullptr) return;
    bool complete = true;
    auto add = [&](LockOwner* other, LockModes modes) {
      if (other == &owner || !modes.conflicts_with(wait.mode)) return;
      complete = blockers.size() < blockers.capacity();
      if (complete) blockers.push_back(other);
    };
    for (const LockHolder* at = queue->holders; complete && at != nullptr; at = at->next)
      add(at->owner, at->modes);
    if (waiters_too) {
      const Waiter* at = queue->waiting;
      for (; complete && at != nullptr && at->place < wait.place; at = at->next)
        add(at->owner, at->mode);
    }
    if (complete) return;
  }
}

}  // namespace pgsilo
