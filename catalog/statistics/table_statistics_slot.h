// The newest sample of one table. Descriptors of the table own it: whatever DDL makes of the table
// begins without a sample, and the sample of a dropped table goes with the last plan that rests on
// its descriptor. It is gone with the process.
//
// Thread safety: any thread; who asks is pinned. Nothing waits while a sample is taken: two may be
// taken at once, and the later one stays.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "catalog/statistics/table_sample.h"

namespace pgsilo {

class TableStatisticsSlot {
 public:
  TableStatisticsSlot() = default;
  // Of a table that is made of another one, or was there before this start.
  explicit TableStatisticsSlot(bool counted) : counted_(counted) {}

  // Takes one when there is none or the table has grown or shrunk much since
  // (is_about_as_big()), as take_table_sample(). Never null. Throws std::bad_alloc.
  std::shared_ptr<const TableSample> find(const TableDescriptor& table, int32_t default_target);
  // What is there, taken as it may be; null: none.
  std::shared_ptr<const TableSample> known();
  // Takes a new one; plans that were made before are not to be used any more.
  void refresh(const TableDescriptor& table, int32_t default_target);
  // How many times that was done.
  uint64_t refreshes() const { return refreshes_.load(std::memory_order_acquire); }
  // Whether pg_class says how many rows the table has: once PostgreSQL would have counted them.
  bool counted() const { return counted_.load(std::memory_order_relaxed); }
  void set_counted() { counted_.store(true, std::memory_order_relaxed); }

 private:
  std::shared_ptr<const TableSample> take(const TableDescriptor& table, int32_t default_target);

  std::mutex mutex_;  // guards sample_
  std::shared_ptr<const TableSample> sample_;
  std::atomic<uint64_t> refreshes_{0};
  std::atomic<bool> counted_{false};
};

// Whether a table that had `then` rows is about as big with `now`, for the planner
// (limits::plan_size_factor).
bool is_about_as_big(double then, double now);

}  // namespace pgsilo
