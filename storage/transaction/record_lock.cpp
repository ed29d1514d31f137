#include "storage/transaction/record_lock.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/append.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "storage/record/record.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/lock_wait.h"

namespace pgsilo {

namespace {

// False if the record is obsolete.
bool raise_intent(const Record* record) {
  AtomicTidWord& word = const_cast<Record*>(record)->tid_word();
  if (!word.raise_intent().is_obsolete()) return true;
  word.drop_intent();
  return false;
}

void drop_intent(const Record* record) { const_cast<Record*>(record)->tid_word().drop_intent(); }

}  // namespace

// ---- LockOwner ----

void LockOwner::begin_wait(LockTag tag, bool is_brief) {
  int64_t now_us = unix_time_us();
  std::lock_guard guard(latch_);
  wait_ = {true, tag, wait_.number + 1, now_us, is_brief};
}

void LockOwner::end_wait() {
  std::lock_guard guard(latch_);
  wait_ = {.number = wait_.number + 1};
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
    free_spares(*owner);
  }
}

void LockTable::free_spares(LockOwner& owner) {
  while (LockQueue* queue = owner.spare_queues_) {
    owner.spare_queues_ = queue->next;
    delete queue;
  }
  while (LockHolder* holder = owner.spare_holders_) {
    owner.spare_holders_ = holder->next;
    delete holder;
  }
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
  std::lock_guard guard(owners_mutex_);
  owner.next_free_ = free_owners_;
  free_owners_ = &owner;
}

LockTable::Shard& LockTable::shard_of(LockTag tag) const {
  return shards_[hash_integer(tag.value + static_cast<uint64_t>(tag.kind)) & shard_mask_];
}

// What gain() needs of memory. False: there is none.
bool LockTable::reserve(LockOwner& owner) {
  try {
    if (owner.spare_queues_ == nullptr) owner.spare_queues_ = new LockQueue;
    if (owner.spare_holders_ == nullptr) owner.spare_holders_ = new LockHolder;
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

LockHolder* LockTable::take_spare(LockOwner& owner) {
  LockHolder* holder = owner.spare_holders_;
  owner.spare_holders_ = holder->next;
  return holder;
}

// Null: it was needed.
void LockTable::keep_spare(LockOwner& owner, LockHolder* holder) {
  if (holder == nullptr) return;
  holder->next = owner.spare_holders_;
  owner.spare_holders_ = holder;
}

TransactionStatus LockTable::acquire(LockOwner& owner, LockTag tag, LockMode mode,
                                     WaitPolicy policy, const WaitSettings& settings) {
  if (owner.locks_.size() == owner.locks_.capacity()) {
    try {
      owner.locks_.reserve(std::max<size_t>(16, 2 * owner.locks_.size()));
    } catch (const std::bad_alloc&) {
      return TransactionStatus::out_of_memory;
    }
  }
  std::optional<LockModes> before;
  TransactionStatus status = gain(owner, tag, mode, policy, settings, &before);
  if (before) owner.locks_.push_back({tag, *before});
  return status;
}

TransactionStatus LockTable::gain(LockOwner& owner, LockTag tag, LockMode mode, WaitPolicy policy,
                                  const WaitSettings& settings, std::optional<LockModes>* before) {
  if (!reserve(owner)) return TransactionStatus::out_of_memory;
  Waiter waiter{&owner, mode, settings.parker, take_spare(owner)};
  TransactionStatus status = enter_queue(owner, tag, waiter, policy);
  if (status == TransactionStatus::must_wait) status = wait_in_queue(owner, tag, waiter, settings);
  keep_spare(owner, waiter.holder);
  if (waiter.granted && before != nullptr) *before = waiter.before;
  return status;
}

// must_wait: it stands in the queue.
TransactionStatus LockTable::enter_queue(LockOwner& owner, LockTag tag, Waiter& waiter,
                                         WaitPolicy policy) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.find(tag);
  if (queue == nullptr) {
    if (tag.is_record() && !raise_intent(tag.record())) return TransactionStatus::conflict_record;
    queue = owner.spare_queues_;
    owner.spare_queues_ = queue->next;
    *queue = {.tag = tag};
    shard.add(queue);
  }
  const LockHolder* held = queue->holder(&owner);
  if (held != nullptr && held->has(tag, waiter.mode)) return TransactionStatus::ok;
  bool waits = !waiter.ready || queue->blocks(&owner, waiter.mode);
  if (!waits) {
    queue->hold(&waiter);
  } else if (waiter.ready && (policy == WaitPolicy::no_wait || waiter.parker == nullptr)) {
    return TransactionStatus::lock_not_available;
  } else {
    queue->append(&waiter);
    owner.begin_wait(tag, waiter.is_brief);
    waiter.since_us = owner.wait_.since_us;
  }
  queue->publish();
  return waits ? TransactionStatus::must_wait : TransactionStatus::ok;
}

TransactionStatus LockTable::wait_in_queue(LockOwner& owner, LockTag tag, Waiter& waiter,
                                           const WaitSettings& settings) {
  Shard& shard = shard_of(tag);
  Patience patience(settings);
  for (;;) {
    patience.park();
    {
      // The granter sets the flag and unparks under the latch: once we have seen it, nobody touches
      // `waiter` any more.
      std::lock_guard guard(shard.latch);
      if (waiter.granted) break;
    }
    TransactionStatus verdict = patience.verdict();
    if (verdict == TransactionStatus::ok && patience.check_due()) {
      std::lock_guard guard(detection_mutex_);
      // We leave under the mutex, so that no other walk takes a second victim for the same cycle.
      if (is_deadlocked(owner) && leave_queue(tag, waiter)) {
        owner.end_wait();
        return TransactionStatus::deadlock;
      }
    } else if (verdict != TransactionStatus::ok && leave_queue(tag, waiter)) {
      owner.end_wait();
      return verdict;
    }
  }
  owner.end_wait();
  return TransactionStatus::ok;
}

// False if the lock was granted meanwhile.
bool LockTable::leave_queue(LockTag tag, Waiter& waiter) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  if (waiter.granted) return false;
  LockQueue* queue = shard.find(tag);
  queue->remove(&waiter);
  queue->grant_waiters();  // some may have waited for this one only
  queue->publish();
  return true;
}

// Now its turn may come. must_wait: it has not come yet.
TransactionStatus LockTable::make_ready(LockTag tag, Waiter& waiter, WaitPolicy policy) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.find(tag);
  waiter.ready = true;
  queue->grant_waiters();
  if (waiter.granted) return TransactionStatus::ok;
  if (policy == WaitPolicy::wait && waiter.parker != nullptr) return TransactionStatus::must_wait;
  queue->remove(&waiter);
  queue->grant_waiters();
  queue->publish();
  return TransactionStatus::lock_not_available;
}

// If `owner` waits only because others came first.
bool LockTable::grant_out_of_turn(LockOwner& owner, LockTag tag) {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.find(tag);
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
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.find(tag);
  PGSILO_CHECK(queue != nullptr && queue->holder(&owner) != nullptr);
  reduce(owner, shard, *queue, modes);
}

// Under the shard's latch.
void LockTable::reduce(LockOwner& owner, Shard& shard, LockQueue& queue, LockModes modes) {
  if (modes.empty()) {
    keep_spare(owner, queue.remove_holder(&owner));
  } else {
    LockHolder* holder = queue.holder(&owner);
    holder->modes = modes;
    holder->removes = holder->removes && modes.has(LockMode::update);
  }
  queue.grant_waiters();
  queue.publish();
  // While there are holders the bit stays up: whoever comes now queues behind those who wait.
  if (queue.holders != nullptr || queue.waiting != nullptr) return;
  if (queue.tag.is_record()) drop_intent(queue.tag.record());
  shard.remove(&queue);
  queue.next = owner.spare_queues_;
  owner.spare_queues_ = &queue;
}

void LockTable::release_locks(LockOwner& owner, size_t keep) {
  // Backwards: what was held before the oldest of them counts.
  while (owner.locks_.size() > keep) {
    reduce(owner, owner.locks_.back().tag, owner.locks_.back().before);
    owner.locks_.pop_back();
  }
  if (keep != 0) return;
  constexpr size_t ordinary = 4096;
  if (owner.locks_.capacity() <= ordinary) return;
  free_memory(owner.locks_);
  free_spares(owner);
}

LockModes LockTable::modes_held(const LockOwner& owner, LockTag tag) const {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.find(tag);
  const LockHolder* holder = queue == nullptr ? nullptr : queue->holder(&owner);
  return holder == nullptr ? LockModes() : holder->modes;
}

bool LockTable::admits(const LockOwner& owner, LockTag tag, LockMode mode) const {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.find(tag);
  if (queue == nullptr) return true;
  const LockHolder* holder = queue->holder(&owner);
  return (holder != nullptr && holder->modes.covers(mode)) || !queue->blocks(&owner, mode);
}

void LockTable::note_removal(LockOwner& owner, const Record* record) {
  LockTag tag = LockTag::of(record);
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  LockQueue* queue = shard.find(tag);
  LockHolder* holder = queue == nullptr ? nullptr : queue->holder(&owner);
  PGSILO_CHECK(holder != nullptr);
  holder->removes = true;
}

bool LockTable::removal_pending(const LockOwner& owner, const Record* record) const {
  LockTag tag = LockTag::of(record);
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.find(tag);
  const LockHolder* at = queue == nullptr ? nullptr : queue->holders;
  while (at != nullptr && (!at->removes || at->owner == &owner)) at = at->next;
  return at != nullptr;
}

size_t LockTable::waiters(LockTag tag) const {
  Shard& shard = shard_of(tag);
  std::lock_guard guard(shard.latch);
  const LockQueue* queue = shard.find(tag);
  size_t count = 0;
  if (queue == nullptr) return 0;
  for (const Waiter* waiter = queue->waiting; waiter != nullptr; waiter = waiter->next) ++count;
  return count;
}

std::vector<LockOwner*> LockTable::blockers_of(const LockOwner& owner, LockTag tag,
                                               bool waiters_too) const {
  Shard& shard = shard_of(tag);
  for (std::vector<LockOwner*> blockers;; blockers.reserve(2 * blockers.capacity() + 16)) {
    blockers.clear();
    std::lock_guard guard(shard.latch);  // nothing allocates under it
    const LockQueue* queue = shard.find(tag);
    const Waiter* waiter = queue == nullptr ? nullptr : queue->waiting;
    while (waiter != nullptr && waiter->owner != &owner) waiter = waiter->next;
    if (waiter == nullptr) return blockers;
    bool complete = true;
    auto add = [&](LockOwner* other, LockModes modes) {
      if (other == &owner || !modes.conflicts_with(waiter->mode)) return;
      complete &= blockers.size() < blockers.capacity();
      if (complete) blockers.push_back(other);
    };
    for (const LockHolder* at = queue->holders; at != nullptr; at = at->next)
      add(at->owner, at->modes);
    for (const Waiter* at = queue->waiting; waiters_too && at != waiter; at = at->next)
      add(at->owner, at->mode);
    if (complete) return blockers;
  }
}

}  // namespace pgsilo
