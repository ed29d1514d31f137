#include "catalog/statistics/table_statistics_slot.h"

#include <algorithm>

#include "catalog/descriptors.h"
#include "sql/limits.h"
#include "storage/relation/relation.h"

namespace pgsilo {

std::shared_ptr<const TableSample> TableStatisticsSlot::find(const TableDescriptor& table,
                                                             int32_t default_target) {
  auto rows = static_cast<double>(std::max<int64_t>(table.relation->row_count(), 0));
  {
    std::lock_guard lock(mutex_);
    if (sample_ != nullptr && is_about_as_big(sample_->rows, rows)) return sample_;
  }
  return take(table, default_target);
}

std::shared_ptr<const TableSample> TableStatisticsSlot::known() {
  std::lock_guard lock(mutex_);
  return sample_;
}

void TableStatisticsSlot::refresh(const TableDescriptor& table, int32_t default_target) {
  take(table, default_target);
  refreshes_.fetch_add(1, std::memory_order_acq_rel);
}

std::shared_ptr<const TableSample> TableStatisticsSlot::take(const TableDescriptor& table,
                                                             int32_t default_target) {
  auto sample = std::make_shared<const TableSample>(take_table_sample(table, default_target));
  std::lock_guard lock(mutex_);
  sample_ = sample;
  return sample;
}

bool is_about_as_big(double then, double now) {
  then += limits::plan_size_slack_rows;
  now += limits::plan_size_slack_rows;
  return std::max(then, now) <= limits::plan_size_factor * std::min(then, now);
}

}  // namespace pgsilo
