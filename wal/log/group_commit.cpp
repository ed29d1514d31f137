#include "wal/log/group_commit.h"

#include <algorithm>
#include <iterator>

#include "wal/log/worker_log.h"

namespace pgsilo {

GroupCommit::GroupCommit(DurableEpoch& durable, std::vector<WorkerLog*> logs, unsigned loggers,
                         Epoch recorded)
    : durable_(durable),
      logs_(std::move(logs)),
      waiting_(durable, logs_.size()),
      synced_(loggers, durable.get()),
      recorded_(recorded) {}

Epoch GroupCommit::recorded() const {
  std::lock_guard lock(mutex_);
  return recorded_;
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
  return waiting_.wait(worker, epoch);
}

void GroupCommit::find_last_data(Epoch completed, std::vector<Epoch>* by_logger) const {
  by_logger->clear();
  for (unsigned logger = 0; logger < loggers(); ++logger)
    by_logger->push_back(last_data(logger, completed));
}

Epoch GroupCommit::last_data(unsigned logger, Epoch completed) const {
  Epoch last;
  for (size_t worker = logger; worker < logs_.size(); worker += loggers())
    last = std::max(last, logs_[worker]->last_data(completed));
  return last;
}

bool GroupCommit::must_write(unsigned logger, Epoch last_data) const {
  std::lock_guard lock(mutex_);
  return last_data > synced_[logger];
}

bool GroupCommit::proves(const BatchTrailer& trailer) const {
  for (size_t logger = 0; logger < synced_.size(); ++logger) {
    if (trailer.last_data[logger] > synced_[logger]) return false;
  }
  return true;
}

void GroupCommit::remember(const BatchTrailer& trailer) {
  // A logger that lags far behind makes the others forget some epochs; later ones prove more
  // anyway.
  if (unproven_.size() == remembered_trailers)
    spare_.splice(spare_.end(), unproven_, unproven_.begin());
  if (spare_.empty()) spare_.emplace_back();
  spare_.back() = trailer;
  unproven_.splice(unproven_.end(), spare_, std::prev(spare_.end()));
}

void GroupCommit::forget_proven() {
  for (auto at = unproven_.begin(); at != unproven_.end();) {
    auto trailer = at++;
    if (trailer->complete <= recorded_) spare_.splice(spare_.end(), unproven_, trailer);
  }
}

void GroupCommit::publish(Epoch epoch) {
  if (epoch > durable_.get()) durable_.publish(epoch);
}

void GroupCommit::batch_synced(unsigned logger, const BatchTrailer& trailer) {
  {
    std::lock_guard lock(mutex_);
    synced_[logger] = std::max(synced_[logger], trailer.complete);
    remember(trailer);
    for (const BatchTrailer& candidate : unproven_) {
      if (candidate.complete > recorded_ && proves(candidate)) recorded_ = candidate.complete;
    }
    forget_proven();
    publish(recorded_);
  }
  waiting_.tell_all();
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
  waiting_.tell_all();
  return true;
}

}  // namespace pgsilo
