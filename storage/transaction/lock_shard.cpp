#include "storage/transaction/lock_shard.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.h"

namespace pgsilo {

LockChains::LockChains(uint8_t bits) : bits_(bits) {
  if (bits != 0) array_ = new (std::nothrow) LockQueue*[size_t{1} << bits]();
}

void LockChains::move_to(LockChains& other) {
  for (LockQueue* queue : heads()) {
    while (queue != nullptr) other.add(std::exchange(queue, queue->next));
  }
  std::swap(array_, other.array_);  // whichever pointer it is
  std::swap(bits_, other.bits_);
  PGSILO_DCHECK(bits_ != 0 || count_ == 0);  // what leads to the first would have moved
  other.count_ = 0;
}

// No latch is held. Does nothing if somebody else has, or if memory fails: then chains are longer
// for a while, and whoever changes the shard next tries again.
void LockTable::Shard::resize(uint8_t bits) {
  LockChains other(bits);  // what it has in the end is freed behind the latch
  if (!other.whole()) return;
  std::lock_guard guard(latch);
  if (queues.bits() == bits || queues.fitting_bits() != bits) return;
  queues.move_to(other);
  static_assert(sizeof(Shard) == 16, "an empty server has 65,536 of them");
}

LockTable::Chains LockTable::chains() const {
  Chains all = {};
  for (size_t i = 0; i <= shard_mask_; ++i) {
    std::lock_guard guard(shards_[i].latch);
    for (const LockQueue* queue : shards_[i].queues.heads()) {
      size_t length = 0;
      for (; queue != nullptr; queue = queue->next) ++length;
      all.longest = std::max(all.longest, length);
      ++all.count;
    }
  }
  return all;
}

}  // namespace pgsilo
