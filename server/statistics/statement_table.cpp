#include "server/statistics/statement_table.h"

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "base/long_work.h"
#include "server/limits.h"
#include "sql/types/text.h"

namespace pgsilo {

namespace {
uint64_t id_of(std::string_view text) {
  uint64_t id = 0;
  in_blocks(text.size(), [&](size_t begin, size_t end) {
    id = hash_combine(id, hash_bytes(text.substr(begin, end - begin)));
  });
  return id;
}
}  // namespace

std::shared_ptr<StatementCounters> StatementTable::find_or_add(std::string_view text) {
  uint64_t id = id_of(text);
  std::lock_guard lock(mutex_);
  if (auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  if (by_id_.size() >= limits::counted_statements) make_room();
  auto counters =
      std::make_shared<StatementCounters>(id, text_clip(text, limits::counted_statement_bytes));
  by_id_.emplace(id, counters);
  return counters;
}

// A twentieth at a time, so that a stream of texts that never come again sorts seldom.
void StatementTable::make_room() {
  std::vector<std::pair<int64_t, uint64_t>> by_calls;
  by_calls.reserve(by_id_.size());
  for (const auto& [id, counters] : by_id_) by_calls.emplace_back(counters->calls.value(), id);
  size_t leaving = limits::counted_statements / 20;
  std::nth_element(by_calls.begin(), by_calls.begin() + static_cast<ptrdiff_t>(leaving),
                   by_calls.end());
  for (size_t i = 0; i < leaving; ++i) {
    auto found = by_id_.find(by_calls[i].second);
    found->second->listed.store(false, std::memory_order_relaxed);
    by_id_.erase(found);
  }
}

void StatementTable::add_to(Sums& sums) const {
  std::lock_guard lock(mutex_);
  for (const auto& [id, counters] : by_id_) {
    StatementStatistics& sum = sums[id];
    auto aborts = [&](TransactionStatus status) {
      return counters->aborts[static_cast<size_t>(status)].value();
    };
    sum.id = id;
    sum.text = counters->text;
    sum.calls += counters->calls.value();
    sum.retries += counters->retries.value();
    sum.failures += counters->failures.value();
    sum.exclusive_runs += counters->exclusive_runs.value();
    sum.aborts.record += aborts(TransactionStatus::conflict_record);
    sum.aborts.node += aborts(TransactionStatus::conflict_node);
    sum.aborts.lock += aborts(TransactionStatus::conflict_lock);
    sum.aborts.unique += aborts(TransactionStatus::conflict_unique);
    sum.aborts.relation += aborts(TransactionStatus::conflict_relation);
    sum.aborts.intent += aborts(TransactionStatus::must_wait);
    sum.aborts.deadlock += aborts(TransactionStatus::deadlock);
  }
}

void StatementTable::clear() {
  std::lock_guard lock(mutex_);
  for (auto& [id, counters] : by_id_) counters->listed.store(false, std::memory_order_relaxed);
  by_id_.clear();
}

size_t StatementTable::size() const {
  std::lock_guard lock(mutex_);
  return by_id_.size();
}

}  // namespace pgsilo
