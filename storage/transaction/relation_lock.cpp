// Relation locks. Weak ones (of SELECT, SELECT FOR, INSERT, UPDATE and DELETE) do not conflict with
// each other, so while nobody wants a strong one they need no queue: each is a note with its owner.
// Who wants a strong one (LOCK TABLE, DDL) raises the gate, moves the notes of all owners into the
// lock's queue, and then waits there like anybody else. PostgreSQL does likewise
// (relation_gate.h says why no note is missed).
#include <algorithm>
#include <new>

#include "base/check.h"
#include "storage/epoch/epoch_manager.h"
#include "storage/relation/relation.h"
#include "storage/transaction/lock_shard.h"
#include "storage/transaction/lock_wait.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

namespace {
constexpr int64_t poll_interval_us = 1000;
// So long at most does who keeps writers out wait for those who write already, while newcomers wait
// for him.
constexpr int64_t longest_wait_for_writers_us = 50000;

bool is_weak(LockMode mode) { return mode <= LockMode::row_exclusive; }
}  // namespace

// ---- LockOwner ----

LockModes LockOwner::modes_of(const Relation* relation) const {
  LockModes modes;
  relations_.visit(relation, [&](const RelationHold& hold) { modes |= hold.mode; });
  return modes;
}

LockModes LockOwner::modes_of(const Relation& relation, bool queued) const {
  LockModes modes;
  relations_.visit(&relation, [&](const RelationHold& hold) {
    if (hold.queued == queued) modes |= hold.mode;
  });
  return modes;
}

bool LockOwner::excludes(const Relation* relation) const {
  return modes_of(relation).has(LockMode::access_exclusive);
}

bool LockOwner::note(Relation& relation, LockMode mode) {
  std::lock_guard guard(latch_);
  if (relation.gate().stops(mode)) return false;
  relations_.add({.relation = &relation, .mode = mode});
  return true;
}

// Throws std::bad_alloc.
void LockOwner::reserve_hold() {
  if (!relations_.is_full()) return;
  RelationHolds larger(std::max<size_t>(16, 2 * relations_.size()));
  std::lock_guard guard(latch_);
  relations_.move_to(larger);
}

// ---- LockTable ----

TransactionStatus LockTable::lock_relation(LockOwner& owner, Relation& relation, LockMode mode,
                                           WaitPolicy policy, EpochManager& epochs,
                                           const WaitSettings& settings) {
  if (owner.modes_of(&relation).has(mode)) return TransactionStatus::ok;
  try {
    owner.reserve_hold();
    if (is_weak(mode) && owner.note(relation, mode)) return TransactionStatus::ok;
    // What the owner has of it counts when places are given out.
    move_notes(owner, relation);
    TransactionStatus status = is_weak(mode)
                                   ? gain(owner, LockTag::of(relation), mode, policy, settings)
                                   : gain_strong(owner, relation, mode, policy, settings);
    if (status != TransactionStatus::ok) return status;
  } catch (const std::bad_alloc&) {
    return TransactionStatus::out_of_memory;
  }
  if (conflict(mode, LockMode::row_exclusive)) {
    TransactionStatus status = wait_for_commits(epochs, settings);
    if (status != TransactionStatus::ok) {
      reduce_relation(owner, relation);
      return status;
    }
  }
  if (mode == LockMode::access_exclusive) ++owner.excluded_;
  std::lock_guard guard(owner.latch_);
  owner.relations_.add({.relation = &relation, .mode = mode, .queued = true});
  return TransactionStatus::ok;
}

// Throws std::bad_alloc, and has then gained nothing.
TransactionStatus LockTable::gain_strong(LockOwner& owner, Relation& relation, LockMode mode,
                                         WaitPolicy policy, const WaitSettings& settings) {
  LockTag tag = LockTag::of(relation);
  if (!reserve(owner)) return TransactionStatus::out_of_memory;
  Waiter waiter{&owner, mode, settings.parker, owner.spare_holders_.take()};
  // Its place in the queue comes first, and raises the gate; its turn not before it is ready.
  waiter.ready = false;
  waiter.is_brief = settings.is_brief;
  TransactionStatus status = enter_queue(owner, tag, waiter, policy);
  PGSILO_DCHECK(status == TransactionStatus::must_wait);  // who has the mode does not come here
  try {
    move_all_notes(relation);
    status = make_ready(tag, waiter, policy);
  } catch (const std::bad_alloc&) {
    status = make_ready(tag, waiter, WaitPolicy::no_wait);
    if (status == TransactionStatus::ok) reduce(owner, tag, waiter.before);
    status = TransactionStatus::out_of_memory;
  }
  if (status == TransactionStatus::must_wait) status = wait_in_queue(tag, waiter, settings);
  if (waiter.holder != nullptr) owner.spare_holders_.keep(waiter.holder);  // it was not needed
  return status;
}

// Every commit that may not have seen the raised gate has an epoch before the next one. Commits do
// not wait: neither NOWAIT nor a deadlock concerns this.
TransactionStatus LockTable::wait_for_commits(EpochManager& epochs, const WaitSettings& settings) {
  Epoch later = epochs.advance();
  auto done = [&] { return next(epochs.completed()) >= later; };
  if (done()) return TransactionStatus::ok;
  if (settings.parker == nullptr) return TransactionStatus::lock_not_available;
  Patience patience(settings);
  for (;;) {
    patience.park_for(poll_interval_us);
    if (done()) return TransactionStatus::ok;
    TransactionStatus verdict = patience.verdict();
    if (verdict != TransactionStatus::ok) return verdict;
  }
}

// What `owner` has noted of the relation is held in its queue from now on. Throws std::bad_alloc.
void LockTable::move_notes(LockOwner& owner, Relation& relation) {
  {
    std::lock_guard guard(owner.latch_);
    if (owner.modes_of(relation, /*queued=*/false).empty()) return;
  }
  // Nothing is allocated under a latch: whatever may be needed comes before.
  auto fresh_queue = std::make_unique<LockQueue>();
  auto fresh_holder = std::make_unique<LockHolder>();
  LockTag tag = LockTag::of(relation);
  Shard& shard = shard_of(tag);
  Shard::Change change(shard);
  std::lock_guard guard(owner.latch_);
  LockModes modes = owner.modes_of(relation, /*queued=*/false);
  if (modes.empty()) return;
  LockQueue* queue = shard.queues.find(tag);
  if (queue == nullptr) {
    queue = fresh_queue.release();
    queue->tag = tag;
    shard.queues.add(queue);
  }
  if (LockHolder* known = queue->holder(&owner)) {
    known->modes |= modes;
  } else {
    queue->add_holder(fresh_holder.release(), &owner, modes);
  }
  owner.relations_.visit(&relation, [](RelationHold& hold) { hold.queued = true; });
  queue->publish();
}

void LockTable::move_all_notes(Relation& relation) {
  std::lock_guard guard(owners_mutex_);
  for (const std::unique_ptr<LockOwner>& owner : owners_) move_notes(*owner, relation);
}

// The owner keeps of the queue's lock what it has entries for.
void LockTable::reduce_relation(LockOwner& owner, Relation& relation) {
  LockTag tag = LockTag::of(relation);
  Shard& shard = shard_of(tag);
  Shard::Change change(shard);
  LockQueue* queue = shard.queues.find(tag);
  if (queue == nullptr || queue->holder(&owner) == nullptr) return;
  LockModes modes;
  {
    std::lock_guard guard(owner.latch_);
    modes = owner.modes_of(relation, /*queued=*/true);
  }
  reduce(owner, shard, *queue, modes);
}

void LockTable::drop_relations(LockOwner& owner, size_t keep) {
  for (;;) {
    RelationHold gone;
    {
      std::lock_guard guard(owner.latch_);
      auto& holds = owner.relations_;
      while (holds.size() > keep && !holds.back().queued) holds.pop_back();
      if (holds.size() <= keep) break;
      gone = holds.back();
      holds.pop_back();
    }
    if (gone.mode == LockMode::access_exclusive) --owner.excluded_;
    reduce_relation(owner, *gone.relation);
  }
  free_spares(owner);
}

void LockTable::release_relations(LockOwner& owner) {
  drop_relations(owner, 0);
  owner.kept_ = 0;
}

void LockTable::release_relations_since(LockOwner& owner, size_t keep, Exclusions exclusions) {
  let_writers_in(owner);
  if (exclusions == Exclusions::stay && owner.excludes_any()) {
    std::lock_guard guard(owner.latch_);
    keep = owner.relations_.bring_forward(
        keep, [&](const RelationHold& hold) { return owner.excludes(hold.relation); });
  }
  drop_relations(owner, keep);
}

TransactionStatus LockTable::keep_writers_out(LockOwner& owner, Relation& relation,
                                              EpochManager& epochs, const WaitSettings& settings) {
  constexpr LockMode mode = LockMode::share_row_exclusive;
  if (owner.modes_of(&relation).covers(mode)) return TransactionStatus::ok;
  WaitSettings brief = settings;
  brief.is_brief = true;
  brief.observer = nullptr;
  brief.lock_timeout_us = longest_wait_for_writers_us;
  TransactionStatus status = lock_relation(owner, relation, mode, WaitPolicy::wait, epochs, brief);
  if (status != TransactionStatus::ok) return status;
  std::lock_guard guard(owner.latch_);
  owner.relations_.back().keeps_writers_out = true;
  ++owner.kept_;
  return status;
}

// Puts the holds that keep writers out (`kept`) or the other ones first, each in the order they
// had, so that positions of savepoints stay true. How many they are.
size_t LockTable::gather(LockOwner& owner, bool kept) {
  std::lock_guard guard(owner.latch_);
  return owner.relations_.bring_forward(
      0, [&](const RelationHold& hold) { return hold.keeps_writers_out == kept; });
}

void LockTable::let_writers_in(LockOwner& owner) {
  if (owner.kept_ == 0) return;
  drop_relations(owner, gather(owner, /*kept=*/false));
  owner.kept_ = 0;
}

void LockTable::release_relations_but_kept(LockOwner& owner) {
  drop_relations(owner, gather(owner, /*kept=*/true));
}

}  // namespace pgsilo
