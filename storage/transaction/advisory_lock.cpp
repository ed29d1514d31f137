#include "storage/transaction/advisory_lock.h"

#include <new>

#include "base/append.h"
#include "base/limits.h"
#include "base/long_work.h"
#include "base/memory_budget.h"

namespace pgsilo {

namespace {

constexpr size_t lock_bytes = 256;  // here and in the lock table
// Of letting go of one, in bytes (WorkMeter::block).
constexpr size_t release_work = 512;
constexpr size_t book_work = 64;

}  // namespace

AdvisoryLocks::Held* AdvisoryLocks::find(LockTag tag) {
  auto found = locks_.find(tag);
  return found == locks_.end() ? nullptr : &found->second;
}

void AdvisoryLocks::touch(Held& held) {
  if (held.touched) return;
  held.touched = true;
  held.before = held.counts;
  touched_.push_back(&held);
}

TransactionStatus AdvisoryLocks::lock(LockTag tag, LockMode mode, Scope scope, WaitPolicy policy,
                                      const WaitSettings& settings) {
  Held* held = find(tag);
  if (held == nullptr || !held->granted.has(mode)) {
    if (locks_.size() >= limits::free_advisory_locks && !memory_admits(lock_bytes))
      return TransactionStatus::out_of_memory;
    TransactionStatus status = gain(tag, mode, policy, settings);
    if (status != TransactionStatus::ok) return status;
    held = book(tag, mode);
    if (held == nullptr) return TransactionStatus::out_of_memory;
  }
  touch(*held);
  if (scope == Scope::session) {
    ++held->counts[index_of(mode)];
  } else if (!held->transaction.has(mode)) {
    append(taken_, {held, mode});
    held->transaction |= mode;
  }
  return TransactionStatus::ok;
}

TransactionStatus AdvisoryLocks::gain(LockTag tag, LockMode mode, WaitPolicy policy,
                                      const WaitSettings& settings) {
  TransactionStatus status = table_.gain(owner_, tag, mode, WaitPolicy::no_wait, settings);
  if (status != TransactionStatus::lock_not_available || policy == WaitPolicy::no_wait)
    return status;
  if (lets_go_) {
    settle();
    is_final_ = true;
  }
  return table_.gain(owner_, tag, mode, policy, settings);
}

// After a gain. Null: no memory, and the gain is given back.
AdvisoryLocks::Held* AdvisoryLocks::book(LockTag tag, LockMode mode) {
  try {
    if (touched_.capacity() <= locks_.size()) touched_.reserve(2 * locks_.size() + 8);
    Held& held = locks_.try_emplace(tag, Held{.tag = tag}).first->second;
    held.granted |= mode;
    return &held;
  } catch (const std::bad_alloc&) {
    const Held* held = find(tag);
    table_.reduce(owner_, tag, held == nullptr ? LockModes() : held->granted);
    return nullptr;
  }
}

bool AdvisoryLocks::unlock(LockTag tag, LockMode mode) {
  Held* held = find(tag);
  if (held == nullptr || held->counts[index_of(mode)] == 0) return false;
  touch(*held);
  if (--held->counts[index_of(mode)] == 0) lets_go_ = true;
  return true;
}

void AdvisoryLocks::unlock_all() {
  for (auto& [tag, held] : locks_) {
    did_needed_work(book_work);
    if (held.counts == Counts()) continue;
    touch(held);
    held.counts = {};
    lets_go_ = true;
  }
}

void AdvisoryLocks::release_all() {
  end_transaction();
  unlock_all();
  settle();
}

void AdvisoryLocks::rollback_to(Mark mark) {
  for (; taken_.size() > mark; taken_.pop_back()) {
    Held& held = *taken_.back().held;
    touch(held);
    held.transaction.remove(taken_.back().mode);
    did_needed_work(book_work);
  }
  if (attempt_ > mark) attempt_ = mark;
}

LockModes AdvisoryLocks::wanted(const Held& held) {
  LockModes modes = held.transaction;
  if (held.counts[index_of(LockMode::share)] != 0) modes |= LockMode::share;
  if (held.counts[index_of(LockMode::exclusive)] != 0) modes |= LockMode::exclusive;
  return modes;
}

void AdvisoryLocks::settle_touched() {
  for (Held* held : touched_) {
    did_needed_work(release_work);
    held->touched = false;
    stands_ |= held->counts != held->before;
    LockModes keeps = wanted(*held);
    if (keeps != held->granted) table_.reduce(owner_, held->tag, keeps);
    held->granted = keeps;
    if (keeps.empty()) locks_.erase(LockTag(held->tag));
  }
  touched_.clear();
  // It costs what the locks that stay do; more than those were let go of since there was as much
  // room.
  size_t room = touched_.capacity();
  if (room > 2 * limits::free_advisory_locks && room > 8 * locks_.size()) give_memory_back();
}

// All but what the locks that there are need.
void AdvisoryLocks::give_memory_back() {
  if (locks_.empty()) {
    decltype(locks_)().swap(locks_);  // assigning {} keeps the buckets
    free_memory(touched_);
    free_memory(taken_);
    return;
  }
  try {
    std::vector<Held*> room;
    room.reserve(2 * locks_.size() + 8);
    touched_.swap(room);
    locks_.rehash(0);
    taken_.shrink_to_fit();
  } catch (const std::bad_alloc&) {
    // Then it is kept.
  }
}

void AdvisoryLocks::undo() {
  rollback_to(attempt_);
  for (Held* held : touched_) held->counts = held->before;
  lets_go_ = false;
}

bool AdvisoryLocks::held_before() const {
  for (const auto& [tag, held] : locks_) {
    if ((held.touched ? held.before : held.counts) != Counts()) return true;
  }
  return false;
}

}  // namespace pgsilo
