// The queues of one shard of the lock table. Internal to storage/transaction. Thread safety: under
// the shard's latch.
#pragma once

#include <algorithm>

#include "base/parker.h"
#include "storage/relation/relation.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

struct LockHolder {
  LockOwner* owner = nullptr;
  LockModes modes;
  LockHolder* next = nullptr;  // in the queue, or among an owner's spares
  bool removes = false;        // LockTable::note_removal()

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
  bool granted = false;
  bool ready = true;      // its turn may come
  bool is_brief = false;  // WaitSettings
  LockModes before = {};  // once granted: what the owner held until then
  int64_t since_us = 0;   // Unix time
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
  LockModes awaited() const {
    LockModes modes;
    for (const Waiter* at = waiting; at != nullptr; at = at->next) modes |= at->mode;
    return modes;
  }
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
      return;
    }
    *waiter->holder = {waiter->owner, waiter->mode, holders};
    holders = waiter->holder;
    waiter->holder = nullptr;
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
    hold(waiter);
    if (waiter->parker != nullptr) waiter->parker->unpark();
  }
  // To all whose turn it is.
  void grant_waiters() {
    LockModes before;  // of those who stay waiting
    for (Waiter** link = &waiting; *link != nullptr && !before.has(LockMode::access_exclusive);) {
      Waiter* waiter = *link;
      if (!waiter->ready || before.conflicts_with(waiter->mode) ||
          held_against(waiter->owner, waiter->mode)) {
        before |= waiter->mode;
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
