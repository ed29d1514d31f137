// The queues of one shard of the lock table. Internal to storage/transaction. Thread safety: under
// the shard's latch.
#pragma once

#include "storage/transaction/record_lock.h"

namespace pgsilo {

// One who waits; on the stack of the waiting fiber.
struct LockTable::Waiter {
  LockOwner* owner;
  Parker* parker;
  bool granted = false;
  Waiter* next = nullptr;
};

// The holder of one record's intent lock and those who wait for it, first come first.
struct IntentQueue {
  using Waiter = LockTable::Waiter;
  const Record* record = nullptr;
  LockOwner* holder = nullptr;
  Waiter* first = nullptr;
  Waiter* last = nullptr;
  IntentQueue* next = nullptr;  // in the shard, or among an owner's spares

  void append(Waiter* waiter) {
    (last == nullptr ? first : last->next) = waiter;
    last = waiter;
  }
  Waiter* pop() {
    Waiter* waiter = first;
    if (waiter == nullptr) return nullptr;
    first = waiter->next;
    if (first == nullptr) last = nullptr;
    return waiter;
  }
  void remove(Waiter* waiter) {
    Waiter* before = nullptr;
    for (Waiter* at = first; at != waiter; at = at->next) before = at;
    (before == nullptr ? first : before->next) = waiter->next;
    if (last == waiter) last = before;
  }
};

struct alignas(64) LockTable::Shard {
  SpinLatch latch;
  IntentQueue* queues = nullptr;

  IntentQueue* find(const Record* record) {
    IntentQueue* queue = queues;
    while (queue != nullptr && queue->record != record) queue = queue->next;
    return queue;
  }
  void add(IntentQueue* queue) {
    queue->next = queues;
    queues = queue;
  }
  void remove(IntentQueue* queue) {
    IntentQueue** link = &queues;
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
  }
};

}  // namespace pgsilo
