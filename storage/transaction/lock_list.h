// A list of all locks and waits for monitoring. Apart from record_lock.h, which nobody includes for
// this alone. Thread safety: plain values; the pointers only tell things apart, nothing behind them
// may be touched.
#pragma once

#include <cstdint>
#include <vector>

#include "base/strong_id.h"
#include "storage/relation/lock_mode.h"
#include "storage/relation/relation.h"
#include "storage/transaction/record_lock.h"

namespace pgsilo {

struct LockEntry {
  const LockOwner* owner = nullptr;
  RelationId relation = {};  // the one that is locked, or whose record is, if that is known
  LockTag tag = {};
  LockMode mode = LockMode::none;
  bool granted = false;
  int64_t waiting_since_us = 0;  // Unix time
};

// Of two entries of one list: whether the wait can only end after the other, if that comes before
// it in the list.
inline bool stands_in_the_way(const LockEntry& other, const LockEntry& wait) {
  return other.tag == wait.tag && conflict(other.mode, wait.mode);
}

// Who stands in the way of what `owner` waits for just now, because he holds it or waits for it
// longer; empty: it waits for no lock. Any thread; owners stay as long as the table. Throws
// std::bad_alloc.
std::vector<LockOwner*> blockers_of(LockTable& table, LockOwner& owner);

}  // namespace pgsilo
