#include "base/memory_budget.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"

namespace pgsilo {

namespace {
thread_local MemoryBudget* current_budget = nullptr;
}  // namespace

MemoryCeiling::MemoryCeiling(size_t limit_bytes, unsigned budgets, Measure measure)
    : limit_bytes_(limit_bytes), budgets_(budgets), measure_(measure) {
  PGSILO_CHECK(budgets != 0);
}

size_t MemoryCeiling::promised_bytes() const {
  int64_t sum = 0;
  for (const Cell& cell : cells_) sum += cell.promised.load(std::memory_order_relaxed);
  return static_cast<size_t>(std::max<int64_t>(sum, 0));
}

MemoryCeiling::Share MemoryCeiling::share() const {
  std::lock_guard lock(mutex_);
  return share_;
}

void MemoryCeiling::measure_now() {
  MemoryUsage usage = measure_();
  last_used_bytes_.store(usage.used + promised_bytes(), std::memory_order_relaxed);
  auto taken = static_cast<int64_t>(last_used_bytes());
  auto limit = static_cast<int64_t>(limit_bytes_);
  auto pages_free = static_cast<int64_t>(mapped_limit_bytes()) - static_cast<int64_t>(usage.mapped);
  growth_free_ = std::min(limit - taken, pages_free);
  upkeep_free_ = limit + static_cast<int64_t>(reserve_bytes()) - taken;
  measured_at_us_ = monotonic_us();
  publish();
}

int64_t MemoryCeiling::share_of(int64_t free_bytes) const {
  return free_bytes <= 0 ? free_bytes : std::max(free_bytes / budgets_, smallest_share);
}

void MemoryCeiling::publish() {
  uint64_t next = measurement_.load(std::memory_order_relaxed) + 1;
  share_ = {next, share_of(growth_free_), share_of(upkeep_free_)};
  // It orders nothing: shares are read under the mutex.
  measurement_.store(next, std::memory_order_relaxed);
}

MemoryCeiling::Grant MemoryCeiling::try_to_grant(int64_t wanted, MemoryPurpose purpose,
                                                 Share* share, bool measure_anew) {
  std::lock_guard lock(mutex_);
  bool is_recent = monotonic_us() - measured_at_us_ < rest_us && !measure_anew;
  bool measures = !is_recent || wanted <= free_for(purpose);
  if (measures) measure_now();
  if (wanted <= free_for(purpose)) {
    // Nobody else is to be given the same bytes.
    growth_free_ -= wanted;
    upkeep_free_ -= wanted;
    publish();
    *share = share_;
    return Grant::given;
  }
  // Of a measurement that he has a share of already he keeps what is left of it.
  if (share->measurement != share_.measurement) *share = share_;
  return measures ? Grant::refused : Grant::refused_as_before;
}

bool MemoryCeiling::grant(size_t bytes, MemoryPurpose purpose, Share* share, MemoryCache* cache) {
  auto wanted = static_cast<int64_t>(bytes);
  Grant answer = try_to_grant(wanted, purpose, share, /*measure_anew=*/false);
  bool grows = purpose == MemoryPurpose::growth;
  if (answer != Grant::given && grows && cache != nullptr && cache->give_back())
    answer = try_to_grant(wanted, purpose, share, /*measure_anew=*/true);
  if (answer == Grant::given) return true;
  refusals_.fetch_add(1, std::memory_order_relaxed);
  if (answer == Grant::refused && grows && relief_ != nullptr) relief_->relieve();
  return false;
}

bool MemoryBudget::admits_slowly(int64_t wanted, MemoryPurpose purpose) {
  if (share_.measurement != ceiling_.measurement()) {
    share_ = ceiling_.share();
    if (wanted <= (purpose == MemoryPurpose::growth ? share_.growth : share_.upkeep)) {
      take(wanted);
      return true;
    }
  }
  return ceiling_.grant(static_cast<size_t>(wanted), purpose, &share_, cache_);
}

MemoryBudget* MemoryBudget::current() { return current_budget; }

MemoryBudget::Use::Use(MemoryBudget& budget) {
  PGSILO_CHECK(current_budget == nullptr);
  current_budget = &budget;
}

MemoryBudget::Use::~Use() { current_budget = nullptr; }

void MemoryPromise::change(int64_t bytes) {
  bytes_ += bytes;
  MemoryCeiling& ceiling = budget_->ceiling_;
  ceiling.cells_[budget_->index_ % MemoryCeiling::cell_count].promised.fetch_add(
      bytes, std::memory_order_relaxed);
}

void require_room(size_t bytes, MemoryPurpose purpose) {
  if (!memory_admits(bytes, purpose)) throw MemoryLimitReached();
}

}  // namespace pgsilo
