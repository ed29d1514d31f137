// What the loggers share: which epoch is durable over all logs, and who is told
// (wal/log/waiting_workers.h).
//
// The rule (docs/log_format.md, Batch and trailer). Logger l's trailer (c, last_data) says: my log
// holds everything of my workers up to c. Epoch c is durable if for every logger m its own last
// synced trailer reaches last_data[m]. So an idle logger holds nobody back. D as published may run
// ahead of what trailers on disk prove: where nobody has had data since, an epoch is durable
// without a write. recorded() is what trailers prove; only that goes to disk, and nothing is
// acknowledged that was written later.
//
// Thread safety: any thread, except request(), set_listener() and pass_on() of a worker: that
// worker's.
// Invariants: D = durable.get() never decreases; recorded() <= D; D is published only after the
// sync of every trailer it rests on.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch.h"
#include "wal/layout/log_format.h"
#include "wal/log/waiting_workers.h"

namespace pgsilo {

class DurableListener;
class WorkerLog;

class GroupCommit {
 public:
  // `logs[w]` belongs to logger w % loggers. What was recovered counts as durable in every log, and
  // up to `recorded` trailers of earlier starts prove it.
  GroupCommit(DurableEpoch& durable, std::vector<WorkerLog*> logs, unsigned loggers,
              Epoch recorded);

  unsigned loggers() const { return static_cast<unsigned>(synced_.size()); }
  Epoch durable() const { return durable_.get(); }
  Epoch recorded() const;
  // The largest epoch anybody asked for.
  Epoch requested() const { return Epoch(requested_.load(std::memory_order_seq_cst)); }
  bool satisfied() const { return requested() <= durable(); }

  // When it returns, the listener before is not called any more.
  void set_listener(unsigned worker, DurableListener* listener) {
    waiting_.set_listener(worker, listener);
  }
  // False if `epoch` is durable already; else the worker's listener will be told.
  bool request(unsigned worker, Epoch epoch);
  // The worker has been woken by its listener.
  void pass_on(unsigned worker) { waiting_.pass_on(worker); }
  // Nobody is told, but the epoch becomes durable soon.
  void request_silently(Epoch epoch);
  // Trailers on disk shall prove it, too, though nobody may have had data: until they do, the log
  // that is stepped writes if it has space. To be asked for again while recorded() is below it.
  void request_recorded(Epoch epoch);
  bool wants_record() const;

  // For a completed epoch: by logger, the last epoch <= completed in which its workers had data, or
  // a later one.
  void find_last_data(Epoch completed, std::vector<Epoch>* by_logger) const;
  // The same of one logger's.
  Epoch last_data(unsigned logger, Epoch completed) const;
  // Whether logger `logger` must write for an epoch with this last_data of it to become durable.
  bool must_write(unsigned logger, Epoch last_data) const;
  // Logger `logger` has synced a batch that ends in `trailer`. Publishes D and tells who waits.
  void batch_synced(unsigned logger, const BatchTrailer& trailer);
  // The same for an epoch for which no log needs a write: true, and it is durable now, if all data
  // up to it is in epochs that trailers on disk prove.
  bool settle_without_write(const BatchTrailer& trailer);

 private:
  static constexpr size_t remembered_trailers = 1024;

  // With mutex_:
  bool proves(const BatchTrailer& trailer) const;
  void remember(const BatchTrailer& trailer);
  void forget_proven();
  void publish(Epoch epoch);

  DurableEpoch& durable_;
  const std::vector<WorkerLog*> logs_;
  WaitingWorkers waiting_;
  alignas(64) std::atomic<uint64_t> requested_{0};

  alignas(64) mutable std::mutex mutex_;  // apart from what every commit reads
  std::vector<Epoch> synced_;             // by logger: `complete` of its last synced trailer
  Epoch recorded_;
  Epoch to_record_;  // the largest asked for
  // Synced trailers above recorded_ that wait for other loggers, oldest first; and those that do no
  // more, for the next ones: a step allocates nothing.
  std::list<BatchTrailer> unproven_;
  std::list<BatchTrailer> spare_;
};

}  // namespace pgsilo
