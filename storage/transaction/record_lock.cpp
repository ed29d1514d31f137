#include "storage/transaction/record_lock.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/check.h"
#include "base/hash.h"
#include "storage/record/record.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/lock_wait.h"

namespace pgsilo {

// ---- LockOwner ----

bool LockOwner::shares(const Relation* relation) const {
  return std::find(shares_.begin(), shares_.end(), relation) != shares_.end();
}

bool LockOwner::excludes(const Relation* relation) const {
  return std::find(gates_.begin(), gates_.end(), relation) != gates_.end();
}

void LockOwner::begin_wait(Wait::Kind kind, const Record* record, Relation* relation) {
  std::lock_guard guard(latch_);
  wait_ = {kind, record, relation, wait_.number + 1};
}

void LockOwner::end_wait() {
  std::lock_guard guard(latch_);
  wait_ = {Wait::Kind::none, nullptr, nullptr, wait_.number + 1};
}

// ---- LockTable ----

LockTable::LockTable(size_t shard_count)
    : shards_(std::make_unique<Shard[]>(std::bit_ceil(shard_count))),
      shard_mask_(std::bit_ceil(shard_count) - 1) {}

LockTable::~LockTable() {
  for (const std::unique_ptr<LockOwner>& owner : owners_) {
    PGSILO_DCHECK(!owner->holds_any());
    while (IntentQueue* queue = owner->spare_queues_) {
      owner->spare_queues_ = queue->next;
      delete queue;
    }
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

LockTable::Shard& LockTable::shard_of(const Record* record) const {
  return shards_[hash_integer(reinterpret_cast<uintptr_t>(record)) & shard_mask_];
}

TransactionStatus LockTable::acquire(LockOwner& owner, Record* record, WaitPolicy policy,
                                     const WaitSettings& settings) {
  try {  // everything that allocates comes before the latch
    if (owner.intents_.size() == owner.intents_.capacity()) {
      owner.intents_.reserve(std::max<size_t>(16, 2 * owner.intents_.size()));
    }
    if (owner.spare_queues_ == nullptr) owner.spare_queues_ = new IntentQueue;
  } catch (const std::bad_alloc&) {
    return TransactionStatus::out_of_memory;
  }
  Shard& shard = shard_of(record);
  Waiter waiter{&owner, settings.parker};
  {
    std::lock_guard guard(shard.latch);
    IntentQueue* queue = shard.find(record);
    if (queue == nullptr) {
      if (record->tid_word().raise_intent().is_obsolete()) {
        record->tid_word().drop_intent();
        return TransactionStatus::conflict_record;
      }
      queue = owner.spare_queues_;
      owner.spare_queues_ = queue->next;
      *queue = {record, &owner, nullptr, nullptr, nullptr};
      shard.add(queue);
      owner.intents_.push_back(record);
      return TransactionStatus::ok;
    }
    if (queue->holder == &owner) return TransactionStatus::ok;
    if (policy == WaitPolicy::no_wait || settings.parker == nullptr)
      return TransactionStatus::lock_not_available;
    queue->append(&waiter);
    owner.begin_wait(LockOwner::Wait::Kind::record, record, nullptr);
  }
  TransactionStatus status = wait_in_queue(owner, record, waiter, settings);
  if (status == TransactionStatus::ok) owner.intents_.push_back(record);
  return status;
}

TransactionStatus LockTable::wait_in_queue(LockOwner& owner, Record* record, Waiter& waiter,
                                           const WaitSettings& settings) {
  Shard& shard = shard_of(record);
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
      if (is_deadlocked(owner) && leave_queue(record, waiter)) {
        owner.end_wait();
        return TransactionStatus::deadlock;
      }
    } else if (verdict != TransactionStatus::ok && leave_queue(record, waiter)) {
      owner.end_wait();
      return verdict;
    }
  }
  owner.end_wait();
  return TransactionStatus::ok;
}

// False if the lock was granted meanwhile.
bool LockTable::leave_queue(Record* record, Waiter& waiter) {
  Shard& shard = shard_of(record);
  std::lock_guard guard(shard.latch);
  if (waiter.granted) return false;
  shard.find(record)->remove(&waiter);
  return true;
}

void LockTable::release(LockOwner& owner, Record* record) {
  Shard& shard = shard_of(record);
  std::lock_guard guard(shard.latch);
  IntentQueue* queue = shard.find(record);
  PGSILO_CHECK(queue != nullptr && queue->holder == &owner);
  if (Waiter* next = queue->pop()) {
    // The bit stays up: whoever comes now queues behind those who wait.
    queue->holder = next->owner;
    next->granted = true;
    next->parker->unpark();
    return;
  }
  record->tid_word().drop_intent();
  shard.remove(queue);
  queue->next = owner.spare_queues_;
  owner.spare_queues_ = queue;
}

void LockTable::release_intents(LockOwner& owner, size_t keep) {
  for (size_t i = keep; i < owner.intents_.size(); ++i) release(owner, owner.intents_[i]);
  owner.intents_.resize(std::min(keep, owner.intents_.size()));
  if (keep != 0) return;
  constexpr size_t ordinary = 4096;
  if (owner.intents_.capacity() <= ordinary) return;
  owner.intents_ = {};
  while (owner.spare_queues_ != nullptr) {
    IntentQueue* queue = owner.spare_queues_;
    owner.spare_queues_ = queue->next;
    delete queue;
  }
}

bool LockTable::holds(const LockOwner& owner, const Record* record) const {
  constexpr size_t few = 8;
  if (owner.intents_.size() > few) return holder_of(record) == &owner;
  return std::find(owner.intents_.begin(), owner.intents_.end(), record) != owner.intents_.end();
}

size_t LockTable::waiters(const Record* record) const {
  Shard& shard = shard_of(record);
  std::lock_guard guard(shard.latch);
  IntentQueue* queue = shard.find(record);
  size_t count = 0;
  if (queue == nullptr) return 0;
  for (Waiter* waiter = queue->first; waiter != nullptr; waiter = waiter->next) ++count;
  return count;
}

LockOwner* LockTable::holder_of(const Record* record) const {
  Shard& shard = shard_of(record);
  std::lock_guard guard(shard.latch);
  IntentQueue* queue = shard.find(record);
  return queue == nullptr ? nullptr : queue->holder;
}

}  // namespace pgsilo
