// What a hash table may take before its operator spills. Thread safety: one operator's.
#pragma once

#include <algorithm>
#include <cstddef>

#include "executor/operator/hash_table.h"
#include "executor/spill/buffer_plan.h"

namespace pgsilo {

class TableBudget {
 public:
  // The table is empty; what it has kept from before does not count.
  void begin(RowHashTable& table, size_t bytes) {
    bytes_ = bytes;
    kept_ = table.arena().bytes_reserved();
  }
  // `beside`: that its operator has of its own.
  bool is_used_up(RowHashTable& table, size_t beside = 0) const {
    return table.arena().bytes_reserved() - kept_ + table.buckets().size() * sizeof(HashedRow*) +
               beside >
           bytes_;
  }
  // memory_limit admits no more.
  void refuse() { bytes_ = std::min(bytes_, refused_spill_budget); }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = SIZE_MAX;
  size_t kept_ = 0;
};

}  // namespace pgsilo
