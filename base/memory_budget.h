// The ceiling over the server's memory (setting memory_limit): who is about to allocate what grows
// asks first. docs/memory.md tells what is counted and how far the ceiling can be overshot.
//
//   MemoryCeiling ceiling(limit, budgets, measure_process_memory);    one for the server
//   MemoryBudget budget(ceiling);  MemoryBudget::Use use(budget);     one for each worker's thread,
//                                                                     and each parser's
//   if (!memory_admits(bytes)) ...                                    anywhere in that thread
//
// Memory is measured only when somebody asks for more than was left to him: a measurement shares
// out what is free among the budgets, and each draws on its share in a word of its own. So far
// below the limit hardly anybody measures, nobody measures in an idle server, and asking writes
// nothing that others read.
//
// There are two marks: what grows data is refused above the limit; what must go on (DELETE and the
// books of any transaction) draws on the reserve above it as well.
//
// Thread safety: MemoryCeiling: any thread. MemoryBudget: its thread. MemoryPromise: the thread of
// its budget. Invariant: after each measurement the sum of all shares is at most what was free, or
// `smallest_share` for each.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

namespace pgsilo {

struct MemoryUsage {
  size_t used = 0;    // bytes that are allocated and not freed
  size_t mapped = 0;  // bytes of the pages that they lie in, and of the allocator's own
};

enum class MemoryPurpose : uint8_t {
  growth,  // data, and results on their way
  upkeep,  // what must go on
};

// A std::bad_alloc because of the ceiling.
class MemoryLimitReached final : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "memory_limit reached"; }
};

// Told when growth was refused: may have memory freed. Called at most once per measurement, by the
// thread that asked, outside of any lock.
class MemoryRelief {
 public:
  virtual void relieve() = 0;

 protected:
  ~MemoryRelief() = default;
};

// What a thread keeps only because it may be of use again. It goes before growth is refused.
class MemoryCache {
 public:
  // Called in the thread of the budget, wherever that asks for memory. False: there is next to
  // nothing.
  virtual bool give_back() = 0;

 protected:
  ~MemoryCache() = default;
};

class MemoryCeiling {
 public:
  using Measure = MemoryUsage (*)();
  // `budgets` > 0: how many share. Nothing is measured yet.
  MemoryCeiling(size_t limit_bytes, unsigned budgets, Measure measure);
  MemoryCeiling(const MemoryCeiling&) = delete;
  MemoryCeiling& operator=(const MemoryCeiling&) = delete;

  // Before the first budget is used.
  void set_relief(MemoryRelief* relief) { relief_ = relief; }
  size_t limit_bytes() const { return limit_bytes_; }
  size_t reserve_bytes() const { return limit_bytes_ / 4; }
  // Pages may be so many: rows of one size do not fill the holes that those of another left.
  size_t mapped_limit_bytes() const { return limit_bytes_ + limit_bytes_ / 4; }

  // Measured now.
  MemoryUsage usage() const { return measure_(); }
  size_t promised_bytes() const;
  // When it was last measured for somebody; promises included.
  size_t last_used_bytes() const { return last_used_bytes_.load(std::memory_order_relaxed); }
  // Requests that were refused, so far.
  uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }

  // What a worker may take before it asks again.
  struct Share {
    uint64_t measurement = 0;  // by which it was given
    int64_t growth = 0;        // negative or 0: nothing
    int64_t upkeep = 0;
  };
  // Changes with each measurement.
  uint64_t measurement() const { return measurement_.load(std::memory_order_relaxed); }
  Share share() const;
  // Somebody needs more than his share has left. True: he may have it, besides the new share.
  // Measures, but not again so soon after a measurement that refuses him, unless he has given
  // something back himself. Throws nothing.
  bool grant(size_t bytes, MemoryPurpose purpose, Share* share, MemoryCache* cache = nullptr);

  // However little is free, but something: workers need not measure for each row.
  static constexpr int64_t smallest_share = 256 << 10;
  static constexpr int64_t rest_us = 10000;

 private:
  friend class MemoryPromise;
  struct alignas(64) Cell {
    std::atomic<int64_t> promised{0};
  };
  static constexpr unsigned cell_count = 64;

  void measure_now();
  enum class Grant : uint8_t { given, refused, refused_as_before };
  Grant try_to_grant(int64_t wanted, MemoryPurpose purpose, Share* share, bool measure_anew);
  int64_t& free_for(MemoryPurpose purpose) {
    return purpose == MemoryPurpose::growth ? growth_free_ : upkeep_free_;
  }
  int64_t share_of(int64_t free_bytes) const;
  void publish();

  const size_t limit_bytes_;
  const unsigned budgets_;
  const Measure measure_;
  MemoryRelief* relief_ = nullptr;
  alignas(64) std::atomic<uint64_t> measurement_{0};
  alignas(64) mutable std::mutex mutex_;  // guards what follows
  int64_t growth_free_ = 0;
  int64_t upkeep_free_ = 0;
  int64_t measured_at_us_ = 0;
  Share share_;
  std::atomic<uint64_t> refusals_{0};
  std::atomic<size_t> last_used_bytes_{0};
  std::array<Cell, cell_count> cells_;  // of promises, by worker
};

class MemoryBudget {
 public:
  // `index`: of the worker.
  MemoryBudget(MemoryCeiling& ceiling, unsigned index) : ceiling_(ceiling), index_(index) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;
  // Before the budget is used; null: there is none.
  void set_cache(MemoryCache* cache) { cache_ = cache; }

  // Whether `bytes` more may be allocated; they count as taken then.
  bool admits(size_t bytes, MemoryPurpose purpose = MemoryPurpose::growth) {
    auto wanted = static_cast<int64_t>(bytes);
    int64_t left = purpose == MemoryPurpose::growth ? share_.growth : share_.upkeep;
    if (wanted > left || share_.measurement != ceiling_.measurement()) [[unlikely]]
      return admits_slowly(wanted, purpose);
    take(wanted);
    return true;
  }
  const MemoryCeiling& ceiling() const { return ceiling_; }

  // The budget of the worker that runs on this thread, or null: nothing is limited.
  static MemoryBudget* current();
  // While it lives, `budget` is this thread's.
  class Use {
   public:
    explicit Use(MemoryBudget& budget);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

 private:
  friend class MemoryPromise;
  bool admits_slowly(int64_t wanted, MemoryPurpose purpose);
  void take(int64_t bytes) {
    share_.growth -= bytes;
    share_.upkeep -= bytes;
  }

  MemoryCeiling& ceiling_;
  const unsigned index_;
  MemoryCache* cache_ = nullptr;
  MemoryCeiling::Share share_;
};

// What a transaction will need for its commit and has not allocated yet. It counts as used, so that
// COMMIT finds it.
class MemoryPromise {
 public:
  explicit MemoryPromise(MemoryBudget* budget) : budget_(budget) {}  // null: nobody counts
  ~MemoryPromise() { clear(); }
  MemoryPromise(const MemoryPromise&) = delete;
  MemoryPromise& operator=(const MemoryPromise&) = delete;

  // So much is needed by now. Ordinary transactions write nothing here.
  void cover(size_t bytes) {
    int64_t difference = static_cast<int64_t>(bytes) - bytes_;
    if (budget_ != nullptr && (difference > least_change || -difference > least_change))
        [[unlikely]]
      change(difference);
  }
  // It has been allocated, or will not be needed.
  void clear() {
    if (bytes_ != 0) change(-bytes_);
  }

 private:
  static constexpr int64_t least_change = 64 << 10;
  void change(int64_t bytes);

  MemoryBudget* budget_;
  int64_t bytes_ = 0;
};

inline bool memory_admits(size_t bytes, MemoryPurpose purpose = MemoryPurpose::growth) {
  MemoryBudget* budget = MemoryBudget::current();
  return budget == nullptr || budget->admits(bytes, purpose);
}
// Throws MemoryLimitReached.
void require_room(size_t bytes, MemoryPurpose purpose = MemoryPurpose::growth);

}  // namespace pgsilo
