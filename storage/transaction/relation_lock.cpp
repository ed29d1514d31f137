// Relation locks: the waiting around RelationGate (engine.md item 16).
#include <algorithm>
#include <new>

#include "base/check.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation.h"
#include "storage/transaction/lock_wait.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

namespace {
constexpr int64_t poll_interval_us = 1000;
}

template <typename Done>
TransactionStatus LockTable::poll(LockOwner& owner, const WaitSettings& settings, Done done) {
  if (done()) return TransactionStatus::ok;
  if (settings.parker == nullptr) return TransactionStatus::lock_not_available;
  Patience patience(settings);
  for (;;) {
    patience.park(poll_interval_us);
    if (done()) return TransactionStatus::ok;
    TransactionStatus verdict = patience.verdict();
    if (verdict != TransactionStatus::ok) return verdict;
    if (!patience.check_due()) continue;
    std::lock_guard guard(detection_mutex_);
    if (!is_deadlocked(owner)) continue;
    owner.end_wait();  // under the mutex: no second victim for the same cycle
    return TransactionStatus::deadlock;
  }
}

TransactionStatus LockTable::share(LockOwner& owner, Relation& relation, unsigned worker,
                                   const WaitSettings& settings) {
  if (owner.shares(&relation)) return TransactionStatus::ok;
  try {
    std::vector<Relation*> larger;
    if (owner.shares_.size() == owner.shares_.capacity()) {
      larger.reserve(std::max<size_t>(16, 2 * owner.shares_.size()));
      larger.assign(owner.shares_.begin(), owner.shares_.end());
      std::lock_guard guard(owner.latch_);
      owner.shares_.swap(larger);
    }
  } catch (const std::bad_alloc&) {
    return TransactionStatus::out_of_memory;
  }
  if (!relation.gate().try_share(worker, &owner)) {
    owner.begin_wait(LockOwner::Wait::Kind::gate, {}, &relation);
    TransactionStatus status =
        poll(owner, settings, [&] { return relation.gate().try_share(worker, &owner); });
    owner.end_wait();
    if (status != TransactionStatus::ok) return status;
  }
  std::lock_guard guard(owner.latch_);
  owner.shares_.push_back(&relation);
  return TransactionStatus::ok;
}

TransactionStatus LockTable::wait_for_gate(LockOwner& owner, Relation& relation,
                                           const WaitSettings& settings) {
  owner.begin_wait(LockOwner::Wait::Kind::gate, {}, &relation);
  TransactionStatus status = poll(owner, settings, [&] {
    const LockOwner* closed_by = relation.gate().owner();
    return closed_by == nullptr || closed_by == &owner;
  });
  owner.end_wait();
  return status;
}

TransactionStatus LockTable::exclude(LockOwner& owner, Relation& relation, EpochManager& epochs,
                                     const WaitSettings& settings) {
  if (owner.excludes(&relation)) return TransactionStatus::ok;
  try {
    std::vector<Relation*> larger;
    larger.reserve(owner.gates_.size() + 1);
    larger.assign(owner.gates_.begin(), owner.gates_.end());
    std::lock_guard guard(owner.latch_);
    owner.gates_.swap(larger);
  } catch (const std::bad_alloc&) {
    return TransactionStatus::out_of_memory;
  }
  owner.begin_wait(LockOwner::Wait::Kind::gate, {}, &relation, true);
  TransactionStatus status =
      poll(owner, settings, [&] { return relation.gate().try_close(&owner); });
  owner.end_wait();
  if (status != TransactionStatus::ok) return status;
  // Every commit that may not have seen the closed gate has an epoch before `later`
  // (relation_gate.h).
  Epoch later = epochs.advance();
  uint64_t own_share = owner.shares(&relation) ? 1 : 0;
  owner.begin_wait(LockOwner::Wait::Kind::shares, {}, &relation, true);
  status = poll(owner, settings, [&] {
    return relation.gate().shares() == own_share && next(epochs.completed()) >= later;
  });
  owner.end_wait();
  if (status != TransactionStatus::ok) {
    relation.gate().open();
    return status;
  }
  std::lock_guard guard(owner.latch_);
  owner.gates_.push_back(&relation);
  return TransactionStatus::ok;
}

void LockTable::release_relations(LockOwner& owner, unsigned worker) {
  for (Relation* relation : owner.gates_) relation->gate().open();
  if (!owner.gates_.empty()) {
    std::lock_guard guard(owner.latch_);
    owner.gates_.clear();
  }
  release_shares(owner, worker, 0);
}

void LockTable::release_shares(LockOwner& owner, unsigned worker, size_t keep) {
  if (owner.shares_.size() <= keep) return;
  for (size_t i = keep; i < owner.shares_.size(); ++i) owner.shares_[i]->gate().unshare(worker);
  std::lock_guard guard(owner.latch_);
  owner.shares_.resize(keep);
}

std::vector<LockOwner*> LockTable::sharers_of(const Relation* relation) {
  std::vector<LockOwner*> sharers;
  std::lock_guard guard(owners_mutex_);
  for (const std::unique_ptr<LockOwner>& owner : owners_) {
    std::lock_guard owner_guard(owner->latch_);
    if (owner->shares(relation)) sharers.push_back(owner.get());
  }
  return sharers;
}

}  // namespace pgsilo
