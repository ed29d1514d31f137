#include "storage/transaction/snapshot_registry.h"

#include <algorithm>

#include "base/append.h"
#include "base/check.h"
#include "base/clock.h"

namespace pgsilo {

SnapshotRegistry::~SnapshotRegistry() { PGSILO_CHECK(boundaries_.empty()); }

Epoch SnapshotRegistry::open() {
  std::lock_guard lock(mutex_);
  make_room(boundaries_, 1);
  make_room(opened_us_, 1);
  // Until the boundary is known every version is worth keeping and nothing may go.
  newest_.store(any, std::memory_order_seq_cst);
  oldest_.store(0, std::memory_order_seq_cst);
  // Whoever advances E between the stores and this only makes the boundary later.
  Epoch boundary(epochs_.advance().value() - 1);
  boundaries_.push_back(boundary);  // boundaries ascend as E does
  opened_us_.push_back(unix_time_us());
  publish_bounds();
  return boundary;
}

void SnapshotRegistry::close(Epoch boundary) {
  std::lock_guard lock(mutex_);
  auto found = std::find(boundaries_.begin(), boundaries_.end(), boundary);
  PGSILO_CHECK(found != boundaries_.end());
  opened_us_.erase(opened_us_.begin() + (found - boundaries_.begin()));
  boundaries_.erase(found);
  publish_bounds();
  // A commit that saw the boundary and keeps a version for it has read E before this advance.
  sweep_after_ = Epoch(epochs_.advance().value() - 1);
  unswept_.store(OldVersions::shard_count, std::memory_order_relaxed);
}

void SnapshotRegistry::publish_bounds() {
  newest_.store(boundaries_.empty() ? 0 : boundaries_.back().value(), std::memory_order_seq_cst);
  oldest_.store(boundaries_.empty() ? any : boundaries_.front().value(), std::memory_order_seq_cst);
}

size_t SnapshotRegistry::open_count() const {
  std::lock_guard lock(mutex_);
  return boundaries_.size();
}

std::vector<SnapshotRegistry::Entry> SnapshotRegistry::list() const {
  std::vector<Entry> entries;
  std::vector<Epoch> boundaries;
  {
    std::lock_guard lock(mutex_);
    boundaries = boundaries_;
    for (size_t i = 0; i < boundaries_.size(); ++i)
      entries.push_back({boundaries_[i], opened_us_[i], {}});
  }
  std::vector<OldVersions::Kept> kept = versions_.kept_for(boundaries);
  for (size_t i = 0; i < entries.size(); ++i) entries[i].kept = kept[i];
  return entries;
}

bool SnapshotRegistry::sweep_shards(unsigned thread_index) {
  std::vector<Epoch> boundaries;
  Epoch until;
  size_t first = 0, end = 0;
  {
    std::lock_guard lock(mutex_);
    first = end = unswept_.load(std::memory_order_relaxed);
    if (end == 0 || !is_complete(sweep_after_)) return false;
    boundaries = boundaries_;
    // A snapshot opened from now on has a boundary of at least E: what it needs was not replaced
    // before that.
    until = epochs_.current();
    for (size_t versions = 0; first != 0 && versions < versions_per_sweep;)
      versions += versions_.count(--first);
    unswept_.store(first, std::memory_order_relaxed);
  }
  for (size_t shard = first; shard != end; ++shard)
    versions_.sweep(shard, until, boundaries, thread_index);
  return true;
}

}  // namespace pgsilo
