// A list of all locks and waits for monitoring. Apart from record_lock.h, which nobody includes for
// this alone. Thread safety: plain values; the pointers only tell things apart, nothing behind them
// may be touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
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

// By lock and mode: how far a lock's queue has been looked through for those who wait in it. Who
// waits for the same in the same mode further behind has all before him in his way, too.
class QueuesSeen {
 public:
  // Whether that is further than it was before.
  bool is_news(LockTag tag, LockMode mode, uint64_t reached) {
    uint64_t& before = reached_[tag][static_cast<size_t>(mode)];
    if (before >= reached) return false;
    before = reached;
    return true;
  }

 private:
  using Reached = std::array<uint64_t, static_cast<size_t>(LockMode::access_exclusive) + 1>;
  std::unordered_map<LockTag, Reached, LockTag::Hash> reached_;
};

// For who follows waits from owner to owner. Owners stay as long as the table. Thread safety: one
// thread, whichever.
class LockBlockers {
 public:
  explicit LockBlockers(LockTable& table) : table_(table) {}
  // Who stands in the way of what `owner` waits for just now, because he holds it or waits for it
  // longer; not again those who were all found before for another one of the same queue. So whoever
  // asks for those at its end first is told of each but a few times. False: it waits for no lock,
  // or for nobody. Throws std::bad_alloc.
  bool find(LockOwner& owner, std::vector<LockOwner*>* blockers);

 private:
  LockTable& table_;
  QueuesSeen seen_;
};

}  // namespace pgsilo
