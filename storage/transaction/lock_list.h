// A list of all locks and waits for monitoring. Apart from record_lock.h, which nobody includes for
// this alone. Thread safety: plain values; the pointers only tell things apart, nothing behind them
// may be touched.
#pragma once

#include <cstdint>

#include "base/strong_id.h"
#include "storage/relation/relation.h"
#include "storage/transaction/lock_mode.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

struct LockEntry {
  const LockOwner* owner = nullptr;
  RelationId relation = {};  // of a relation's lock; else none, and `tag` and `mode` say which
  LockTag tag = {};
  LockMode mode = LockMode::none;
  bool exclusive = false;  // relations: the gate, else a share
  bool granted = false;
  int64_t waiting_since_us = 0;  // Unix time

  bool is_on_relation() const { return relation != RelationId(); }
};

// Of two entries of one list: whether the wait can only end after the other. In one queue only
// those that come before it in the list count.
inline bool stands_in_the_way(const LockEntry& other, const LockEntry& wait) {
  if (!wait.is_on_relation())
    return !other.is_on_relation() && other.tag == wait.tag && conflict(other.mode, wait.mode);
  return other.relation == wait.relation && other.granted && (other.exclusive || wait.exclusive);
}

}  // namespace pgsilo
