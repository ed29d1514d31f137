#include "wal/log/group_commit.h"

#include <algorithm>

#include "wal/log/worker_log.h"
#include "wal/wal.h"

namespace pgsilo {

GroupCommit::GroupCommit(DurableEpoch& durable, std::vector<WorkerLog*> logs, unsigned loggers,
                         Epoch recorded)
    : durable_(durable),
      logs_(std::move(logs)),
      cells_(std::make_unique<Cell[]>(logs_.size())),
      synced_(loggers, durable.get()),
      recorded_(recorded) {}

Epoch GroupCommit::recorded() const {
  std::lock_guard lock(mutex_);
  return recorded_;
}

void GroupCommit::set_listener(unsigned worker, DurableListener* listener) {
  std::lock_guard lock(cells_[worker].listener_mutex);
  cells_[worker].listener = listener;
}

void GroupCommit::request_silently(Epoch epoch) {
  uint64_t known = requested_.load(std::memory_order_relaxed);
  // seq_cst: precedes the look whether somebody is stepping (Logger).
  while (known < epoch.value() &&
         !requested_.compare_exchange_weak(known, epoch.value(), std::memory_order_seq_cst,
                                           std::memory_order_relaxed)) {
  }
}

void GroupCommit::request_recorded(Epoch epoch) {
  std::lock_guard lock(mutex_);
  to_record_ = std::max(to_record_, epoch);
}

bool GroupCommit::wants_record() const {
  std::lock_guard lock(mutex_);
  return to_record_ > recorded_;
}

bool GroupCommit::request(unsigned worker, Epoch epoch) {
  if (durable_.covers(epoch)) return false;
  request_silently(epoch);
  Cell& cell = cells_[worker];
  if (cell.latest.load(std::memory_order_relaxed) < epoch.value()) {
    cell.latest.store(epoch.value(), std::memory_order_relaxed);  // published by the exchange below
  }
  uint64_t before = cell.wanted.load(std::memory_order_relaxed);
  while (!cell.wanted.compare_exchange_weak(before, std::min(before, epoch.value()),
                                            std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if (!durable_.covers(epoch)) return true;
  // D moved meanwhile, and whoever published it may have looked at the cell before.
  tell(cell);
  return false;
}

std::vector<Epoch> GroupCommit::last_data(Epoch completed) const {
  std::vector<Epoch> last(loggers());
  for (size_t worker = 0; worker < logs_.size(); ++worker) {
    Epoch& of_logger = last[worker % last.size()];
    of_logger = std::max(of_logger, logs_[worker]->last_data(completed));
  }
  return last;
}

bool GroupCommit::must_write(unsigned logger, std::span<const Epoch> last_data) const {
  std::lock_guard lock(mutex_);
  return last_data[logger] > synced_[logger];
}

bool GroupCommit::proves(const BatchTrailer& trailer) const {
  for (size_t logger = 0; logger < synced_.size(); ++logger) {
    if (trailer.last_data[logger] > synced_[logger]) return false;
  }
  return true;
}

void GroupCommit::publish(Epoch epoch) {
  if (epoch > durable_.get()) durable_.publish(epoch);
}

void GroupCommit::batch_synced(unsigned logger, const BatchTrailer& trailer) {
  {
    std::lock_guard lock(mutex_);
    synced_[logger] = std::max(synced_[logger], trailer.complete);
    // A logger that lags far behind makes the others forget some epochs; later ones prove more
    // anyway.
    if (unproven_.size() == remembered_trailers) unproven_.pop_front();
    unproven_.push_back(trailer);
    for (const BatchTrailer& candidate : unproven_) {
      if (candidate.complete > recorded_ && proves(candidate)) recorded_ = candidate.complete;
    }
    std::erase_if(unproven_, [&](const BatchTrailer& old) { return old.complete <= recorded_; });
    publish(recorded_);
  }
  tell_all();
}

bool GroupCommit::settle_without_write(const BatchTrailer& trailer) {
  {
    std::lock_guard lock(mutex_);
    // That every log holds its part of that is not enough: no trailer on disk may say so, if one
    // log's last is of a later epoch, of which another still lacks its part.
    Epoch last_data = *std::max_element(trailer.last_data.begin(), trailer.last_data.end());
    if (last_data > recorded_) return false;
    publish(trailer.complete);
  }
  tell_all();
  return true;
}

void GroupCommit::tell_all() {
  for (size_t worker = 0; worker < logs_.size(); ++worker) tell(cells_[worker]);
}

void GroupCommit::tell(Cell& cell) {
  Epoch durable = durable_.get();
  // A read-modify-write, so that it is ordered with the worker's (see the header).
  uint64_t wanted = cell.wanted.fetch_add(0, std::memory_order_acq_rel);
  while (wanted <= durable.value()) {
    bool more = cell.latest.load(std::memory_order_relaxed) > durable.value();
    if (cell.wanted.compare_exchange_weak(wanted, more ? durable.value() + 1 : nothing,
                                          std::memory_order_acq_rel, std::memory_order_acquire)) {
      std::lock_guard lock(cell.listener_mutex);
      if (cell.listener != nullptr) cell.listener->on_durable(durable);
      return;
    }
  }
}

}  // namespace pgsilo
