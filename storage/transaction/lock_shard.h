// The queues of one shard of the lock table (docs/lock_table.md). Internal to storage/transaction.
// Thread safety: under the shard's latch.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "base/parker.h"
#include "storage/relation/relation.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

struct LockHolder {
  LockOwner* owner = nullptr;
  LockModes modes;
  LockHolder* next = nullptr;  // in the queue, or among an owner's spares
  bool removes = false;        // LockTable::note_removal()
  bool loads = false;          // RecordHolder::loads()
  bool awaited = false;        // somebody has waited for the lock; is counted with the owner
  bool cautious = false;       // only what is read rests on it, and not for its truth

  // Of a record the weaker strengths go without saying.
  bool has(LockTag tag, LockMode mode) const {
    return modes.has(mode) || (tag.is_record() && modes.covers(mode));
  }
};

// One who waits; on the stack of the waiting fiber.
struct LockTable::Waiter {
  LockOwner* owner;
  LockMode mode;
  Parker* parker;
  LockHolder* holder;  // taken when granted, unless the owner holds another mode
  LockQueue* queue = nullptr;
  bool granted = false;
  bool ready = true;      // its turn may come
  bool awaited = false;   // somebody came to wait behind it before it was ready
  bool is_brief = false;  // WaitSettings
  bool cautious = false;
  LockModes before = {};  // once granted: what the owner held until then
  int64_t since_us = 0;   // Unix time
  uint64_t place = 0;     // LockOwner::Wait
  LockModes up_to = {};   // what is waited for from the first of the queue to this one
  Waiter* next = nullptr;
  Waiter* previous = nullptr;  // of the first: the last
};

// The holders of one lock and those who wait for it, first come first. What is done for one waiter
// does not depend on how many there are: thousands may want one row.
struct LockQueue {
  using Waiter = LockTable::Waiter;
  LockTag tag;
  LockHolder* holders = nullptr;
  Waiter* waiting = nullptr;
  LockQueue* next = nullptr;   // in its chain, or among an owner's spares
  LockQueue** link = nullptr;  // what leads to it in its chain

  LockHolder* holder(const LockOwner* owner) const {
    LockHolder* at = holders;
    while (at != nullptr && at->owner != owner) at = at->next;
    return at;
  }
  bool held_against(const LockOwner* owner, LockMode mode) const {
    for (const LockHolder* at = holders; at != nullptr; at = at->next) {
      if (at->owner != owner && at->modes.conflicts_with(mode)) return true;
    }
    return false;
  }
  // A relation's gate says what is held and awaited.
  void publish() const {
    if (!tag.is_relation()) return;
    LockModes modes = awaited();
    for (const LockHolder* at = holders; at != nullptr; at = at->next) modes |= at->modes;
    tag.relation()->gate().set(modes);
  }
  LockModes awaited() const { return waiting == nullptr ? LockModes() : waiting->previous->up_to; }
  // Whether `owner` must wait for `mode` if it comes now.
  bool blocks(const LockOwner* owner, LockMode mode) const {
    if (held_against(owner, mode)) return true;
    return holder(owner) == nullptr && awaited().conflicts_with(mode);
  }

  // The waiter's owner has what it asks for.
  void hold(Waiter* waiter) {
    waiter->granted = true;
    if (LockHolder* held = holder(waiter->owner)) {
      waiter->before = held->modes;
      held->modes |= waiter->mode;
      held->cautious &= waiter->cautious;
      return;
    }
    add_holder(std::exchange(waiter->holder, nullptr), waiter->owner, waiter->mode);
    holders->cautious = waiter->cautious;
  }
  void add_holder(LockHolder* fresh, LockOwner* owner, LockModes modes) {
    *fresh = {owner, modes, holders};
    holders = fresh;
    if (waiting != nullptr) note_awaited(fresh);
  }
  static void note_awaited(LockHolder* held) {
    if (held->awaited) return;
    held->awaited = true;
    held->owner->awaited_.fetch_add(1, std::memory_order_relaxed);
  }
  LockHolder* remove_holder(const LockOwner* owner) {
    LockHolder** link = &holders;
    while ((*link)->owner != owner) link = &(*link)->next;
    LockHolder* removed = *link;
    *link = removed->next;
    if (removed->awaited) removed->owner->awaited_.fetch_sub(1, std::memory_order_relaxed);
    return removed;
  }

  // Behind all others; who holds the lock already, behind those who do.
  void append(Waiter* waiter) {
    constexpr uint64_t behind_holders = uint64_t{1} << 63;
    if (waiting == nullptr) {
      for (LockHolder* at = holders; at != nullptr; at = at->next) note_awaited(at);
    }
    bool holds = holder(waiter->owner) != nullptr;
    Waiter* before = waiting == nullptr ? nullptr : waiting->previous;
    if (holds) {
      before = nullptr;
      for (Waiter* at = waiting; at != nullptr && at->place < behind_holders; at = at->next)
        before = at;
    }
    waiter->place = holds ? 0 : behind_holders;
    if (before != nullptr) waiter->place = std::max(waiter->place, before->place + 1);
    insert_behind(before, waiter);
  }
  void insert_behind(Waiter* before, Waiter* waiter) {
    Waiter*& link = before == nullptr ? waiting : before->next;
    waiter->next = link;
    waiter->previous = before;
    if (before == nullptr) waiter->previous = waiting == nullptr ? waiter : waiting->previous;
    link = waiter;
    (waiter->next != nullptr ? waiter->next : waiting)->previous = waiter;
    waiter->up_to = waiter->mode;
    if (before != nullptr) waiter->up_to |= before->up_to;
    sum_up(waiter, waiter->next);
  }
  void remove(Waiter* waiter) {
    Waiter* before = waiter == waiting ? nullptr : waiter->previous;
    (before == nullptr ? waiting : before->next) = waiter->next;
    Waiter* behind = waiter->next != nullptr ? waiter->next : waiting;
    if (behind != nullptr) behind->previous = waiter->previous;
    sum_up(before, waiter->next);
  }
  // `up_to` again from `waiter` on, behind `before`. Where it is right already, so are the rest.
  static void sum_up(const Waiter* before, Waiter* waiter) {
    for (; waiter != nullptr; before = waiter, waiter = waiter->next) {
      LockModes modes = before == nullptr ? LockModes() : before->up_to;
      modes |= waiter->mode;
      if (modes == waiter->up_to) return;
      waiter->up_to = modes;
    }
  }
  // The waiter is no longer in the queue. Last touch: then it may be gone.
  void grant(Waiter* waiter) {
    hold(waiter);
    waiter->owner->end_wait();
    if (waiter->parker != nullptr) waiter->parker->unpark();
  }
  // To all whose turn it is.
  void grant_waiters() {
    LockModes before;  // of those who stay waiting
    for (Waiter* waiter = waiting; waiter != nullptr && !before.rule_out(awaited());) {
      Waiter* behind = waiter->next;
      if (!waiter->ready || before.conflicts_with(waiter->mode) ||
          held_against(waiter->owner, waiter->mode)) {
        before |= waiter->mode;
      } else {
        remove(waiter);
        grant(waiter);
      }
      waiter = behind;
    }
  }
};

// The queues of one shard by their tags: one chain, or an array of 2^bits (docs/lock_table.md).
class LockChains {
 public:
  // Without memory for them: not whole().
  explicit LockChains(uint8_t bits = 0);
  LockChains(const LockChains&) = delete;
  LockChains& operator=(const LockChains&) = delete;
  ~LockChains() {
    if (bits_ != 0) delete[] array_;
  }
  bool whole() const { return bits_ == 0 || array_ != nullptr; }
  uint8_t bits() const { return bits_; }
  // How many chains there should be for what is in them.
  uint8_t fitting_bits() const;

  LockQueue* find(LockTag tag) const {
    LockQueue* queue = *chain_of(tag);
    while (queue != nullptr && queue->tag != tag) queue = queue->next;
    return queue;
  }
  void add(LockQueue* queue) {
    LockQueue** chain = chain_of(queue->tag);
    queue->next = *chain;
    queue->link = chain;
    if (queue->next != nullptr) queue->next->link = &queue->next;
    *chain = queue;
    ++count_;
  }
  void remove(LockQueue* queue) {
    *queue->link = queue->next;
    if (queue->next != nullptr) queue->next->link = queue->link;
    --count_;
  }
  // `other` is empty: all move to its chains, and it has these.
  void move_to(LockChains& other);
  std::span<LockQueue* const> heads() const {
    return {bits_ == 0 ? &only_ : array_, size_t{1} << bits_};
  }
  template <typename F>
  void visit(F f) const {
    for (const LockQueue* queue : heads()) {
      for (; queue != nullptr; queue = queue->next) f(*queue);
    }
  }

 private:
  LockQueue** chain_of(LockTag tag) const {
    if (bits_ == 0) [[likely]]
      return const_cast<LockQueue**>(&only_);
    return &array_[(LockTag::Hash()(tag) >> 32) & ((size_t{1} << bits_) - 1)];
  }

  union {
    LockQueue* only_ = nullptr;
    LockQueue** array_;
  };
  uint32_t count_ = 0;
  uint8_t bits_ = 0;
};

inline uint8_t LockChains::fitting_bits() const {
  constexpr uint32_t short_chain = 4;
  constexpr uint8_t first_bits = 4;
  if (bits_ == 0) [[likely]]
    return count_ <= short_chain ? 0 : first_bits;
  if (count_ == 0) return 0;
  uint32_t chains = uint32_t{1} << bits_;
  if (count_ > chains) return bits_ + 2;
  return count_ < chains / 16 ? bits_ - 2 : bits_;
}

// Four to a cache line, none across two.
struct alignas(16) LockTable::Shard {
  [[no_unique_address]] LockChains queues;
  SpinLatch latch;

  class Change;
  void resize(uint8_t bits);
};

// Holds the latch while queues are added or removed. Afterwards there are as many chains as there
// should be.
class LockTable::Shard::Change {
 public:
  explicit Change(Shard& shard) : shard_(shard) { shard_.latch.lock(); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    uint8_t bits = shard_.queues.fitting_bits();
    bool fits = bits == shard_.queues.bits();
    shard_.latch.unlock();
    if (!fits) [[unlikely]]
      shard_.resize(bits);
  }

 private:
  Shard& shard_;
};

}  // namespace pgsilo
