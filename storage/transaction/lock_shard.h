// The queues of one shard of the lock table. Internal to storage/transaction. Thread safety: under
// the shard's latch.
#pragma once

#include <algorithm>

#include "base/parker.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

struct LockHolder {
  LockOwner* owner = nullptr;
  LockMode mode = LockMode::none;
  LockHolder* next = nullptr;  // in the queue, or among an owner's spares
};

// One who waits; on the stack of the waiting fiber.
struct LockTable::Waiter {
  LockOwner* owner;
  LockMode mode;
  Parker* parker;
  LockHolder* holder;  // taken when granted, unless the owner holds a weaker mode
  bool granted = false;
  int64_t since_us = 0;  // Unix time
  Waiter* next = nullptr;
};

// The holders of one lock and those who wait for it, first come first.
struct LockQueue {
  using Waiter = LockTable::Waiter;
  LockTag tag;
  LockHolder* holders = nullptr;
  Waiter* waiting = nullptr;
  LockQueue* next = nullptr;  // in the shard, or among an owner's spares

  LockHolder* holder(const LockOwner* owner) const {
    LockHolder* at = holders;
    while (at != nullptr && at->owner != owner) at = at->next;
    return at;
  }
  bool held_against(const LockOwner* owner, LockMode mode) const {
    for (const LockHolder* at = holders; at != nullptr; at = at->next) {
      if (at->owner != owner && conflict(at->mode, mode)) return true;
    }
    return false;
  }
  // The strongest mode waited for by those before `end`.
  LockMode awaited(const Waiter* end = nullptr) const {
    LockMode strongest = LockMode::none;
    for (const Waiter* at = waiting; at != end; at = at->next)
      strongest = std::max(strongest, at->mode);
    return strongest;
  }
  // Whether `owner` must wait for `mode` if it comes now.
  bool blocks(const LockOwner* owner, LockMode mode) const {
    if (held_against(owner, mode)) return true;
    return holder(owner) == nullptr && conflict(awaited(), mode);
  }

  // Gives `mode` to `owner`; true if `fresh` was needed.
  bool hold(LockOwner* owner, LockMode mode, LockHolder* fresh) {
    if (LockHolder* held = holder(owner)) {
      held->mode = std::max(held->mode, mode);
      return false;
    }
    *fresh = {owner, mode, holders};
    holders = fresh;
    return true;
  }
  LockHolder* remove_holder(const LockOwner* owner) {
    LockHolder** link = &holders;
    while ((*link)->owner != owner) link = &(*link)->next;
    LockHolder* removed = *link;
    *link = removed->next;
    return removed;
  }

  // Behind all others; who holds the lock already, behind those who do.
  void append(Waiter* waiter) {
    bool holds = holder(waiter->owner) != nullptr;
    Waiter** link = &waiting;
    while (*link != nullptr && (!holds || holder((*link)->owner) != nullptr)) link = &(*link)->next;
    waiter->next = *link;
    *link = waiter;
  }
  void remove(Waiter* waiter) {
    Waiter** link = &waiting;
    while (*link != waiter) link = &(*link)->next;
    *link = waiter->next;
  }
  // The waiter is no longer in the queue. Last touch: then it may be gone.
  void grant(Waiter* waiter) {
    if (hold(waiter->owner, waiter->mode, waiter->holder)) waiter->holder = nullptr;
    waiter->granted = true;
    waiter->parker->unpark();
  }
  // To all whose turn it is.
  void grant_waiters() {
    LockMode before = LockMode::none;  // the strongest mode that stays waiting
    for (Waiter** link = &waiting; *link != nullptr && before != LockMode::update;) {
      Waiter* waiter = *link;
      if (conflict(before, waiter->mode) || held_against(waiter->owner, waiter->mode)) {
        before = std::max(before, waiter->mode);
        link = &waiter->next;
      } else {
        *link = waiter->next;
        grant(waiter);
      }
    }
  }
};

struct LockTable::Shard {
  SpinLatch latch;
  LockQueue* queues = nullptr;

  LockQueue* find(LockTag tag) const {
    LockQueue* queue = queues;
    while (queue != nullptr && queue->tag != tag) queue = queue->next;
    return queue;
  }
  void add(LockQueue* queue) {
    queue->next = queues;
    queues = queue;
  }
  void remove(LockQueue* queue) {
    LockQueue** link = &queues;
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
  }
};

}  // namespace pgsilo
