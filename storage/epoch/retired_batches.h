// What one thread has unlinked and what may not be freed yet, in batches by ascending stamps
// (reclaimer.h). Its thread appends; who has ended the pin that held everybody back takes from
// threads that may be asleep.
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/spin_latch.h"

namespace pgsilo {

struct Retired {
  void* object;
  void (*deleter)(void* object);
  size_t bytes;
};

struct RetiredBatch {
  uint64_t stamp = 0;
  std::vector<Retired> objects;
};

class RetiredBatches {
 public:
  static constexpr uint64_t none = UINT64_MAX;

  // Of the first batch, of the last; for an empty list `none` and 0.
  uint64_t oldest() const { return oldest_.load(std::memory_order_relaxed); }
  uint64_t newest() const { return newest_.load(std::memory_order_relaxed); }
  bool empty() const { return oldest() == none; }

  // Its owner may fall asleep before its batches can be freed, so that others must free them.
  bool unattended() const { return unattended_.load(std::memory_order_seq_cst); }
  void leave_unattended(bool unattended) {
    if (unattended_.load(std::memory_order_relaxed) != unattended)
      unattended_.store(unattended, std::memory_order_seq_cst);
  }

  // `one` is one batch. Its stamp is not below that of any batch here.
  void append(std::list<RetiredBatch>& one) {
    std::lock_guard guard(latch_);
    batches_.splice(batches_.end(), one);
    note_ends();
  }
  // Takes the first batch if its stamp is below `bound`; nothing is allocated.
  bool take_first(uint64_t bound, std::list<RetiredBatch>& taken) {
    if (oldest() >= bound) return false;
    std::lock_guard guard(latch_);
    if (batches_.empty() || batches_.front().stamp >= bound) return false;
    taken.splice(taken.end(), batches_, batches_.begin());
    note_ends();
    return true;
  }
  // All that `other`, whose owner is gone, still has. By the owner of this list.
  void adopt(RetiredBatches& other) {
    std::list<RetiredBatch> adopted;
    {
      std::lock_guard guard(other.latch_);
      adopted.swap(other.batches_);
      other.note_ends();
    }
    std::list<RetiredBatch> all;
    {
      std::lock_guard guard(latch_);
      all.swap(batches_);
    }
    all.merge(adopted, [](const auto& a, const auto& b) { return a.stamp < b.stamp; });
    std::lock_guard guard(latch_);
    batches_.swap(all);
    note_ends();
  }

 private:
  void note_ends() {
    bool empty = batches_.empty();
    newest_.store(empty ? 0 : batches_.back().stamp, std::memory_order_relaxed);
    oldest_.store(empty ? none : batches_.front().stamp, std::memory_order_relaxed);
  }

  SpinLatch latch_;  // guards the list; the rest is written under it
  std::list<RetiredBatch> batches_;
  std::atomic<uint64_t> oldest_{none};
  std::atomic<uint64_t> newest_{0};
  std::atomic<bool> unattended_{false};  // by the owner
};

}  // namespace pgsilo
