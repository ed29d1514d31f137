#include "executor/worker/retry_policy.h"

#include <algorithm>

namespace pgsilo {

int64_t RetryPolicy::next_delay_us(TransactionStatus conflict) {
  ++failures_;
  if (conflict != TransactionStatus::must_wait && conflict != TransactionStatus::deadlock)
    ++conflicts_;
  if (conflict == TransactionStatus::conflict_record ||
      conflict == TransactionStatus::conflict_node ||
      conflict == TransactionStatus::conflict_unique)
    ++beaten_;
  // While writers are kept out nobody is met whom a pause would avoid.
  if (failures_ <= immediate_retries || keeps_writers_out()) return 0;
  uint32_t doublings = std::min<uint32_t>(failures_ - immediate_retries - 1, 16);
  int64_t bound_us = std::min(first_delay_us << doublings, longest_delay_us);
  // xorshift64: rivals need different numbers, not good ones.
  random_state_ ^= random_state_ << 13;
  random_state_ ^= random_state_ >> 7;
  random_state_ ^= random_state_ << 17;
  return 1 + static_cast<int64_t>(random_state_ % static_cast<uint64_t>(bound_us));
}

}  // namespace pgsilo
