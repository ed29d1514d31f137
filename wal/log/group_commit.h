// What the loggers share: which epoch is durable over all logs, who waits for which, and who is
// told.
//
// The rule (durability.md item 1). Logger l's trailer (c, last_data) says: my log holds everything
// of my workers up to c. Epoch c is durable if for every logger m its own last synced trailer
// reaches last_data[m]. So an idle logger holds nobody back. D as published may run ahead of what
// trailers on disk prove: where nobody has had data since, an epoch is durable without a write.
// recorded() is what trailers prove; only that goes to disk, and nothing is acknowledged that was
// written later.
//
// Waiting. Each worker has one cell: the smallest epoch it wants to hear about, and the largest it
// asked for. The worker sets the former by a read-modify-write and then reads D; the publisher
// stores D and then reads the cell by a read-modify-write. Whichever comes second on the cell sees
// what the other did before. A worker that asked for more than D has reached is told again each
// time D moves.
//
// Thread safety: any thread, except request()/set_listener() of a worker: that worker's.
// Invariants: D = durable.get() never decreases; recorded() <= D; D is published only after the
// sync of every trailer it rests on.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/epoch/durable_epoch.h"
#include "storage/epoch/epoch.h"
#include "wal/log/log_format.h"

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
  void set_listener(unsigned worker, DurableListener* listener);
  // False if `epoch` is durable already; else the worker's listener will be told.
  bool request(unsigned worker, Epoch epoch);
  // Nobody is told, but the epoch becomes durable soon.
  void request_silently(Epoch epoch);
  // Trailers on disk shall prove it, too, though nobody may have had data: until they do, the log
  // that is stepped writes if it has space. To be asked for again while recorded() is below it.
  void request_recorded(Epoch epoch);
  bool wants_record() const;

  // For a completed epoch: by logger, the last epoch <= completed in which its workers had data, or
  // a later one.
  std::vector<Epoch> last_data(Epoch completed) const;
  // Whether logger `logger` must write for an epoch with this last_data to become durable.
  bool must_write(unsigned logger, std::span<const Epoch> last_data) const;
  // Logger `logger` has synced a batch that ends in `trailer`. Publishes D and tells who waits.
  void batch_synced(unsigned logger, const BatchTrailer& trailer);
  // The same for an epoch for which no log needs a write: true, and it is durable now, if all data
  // up to it is in epochs that trailers on disk prove.
  bool settle_without_write(const BatchTrailer& trailer);

 private:
  struct alignas(64) Cell {
    std::atomic<uint64_t> wanted{nothing};
    std::atomic<uint64_t> latest{0};  // written by the worker before `wanted`
    std::mutex listener_mutex;        // held while the listener is called, so that it can go away
    DurableListener* listener = nullptr;
  };
  static constexpr uint64_t nothing = UINT64_MAX;
  static constexpr size_t remembered_trailers = 1024;

  bool proves(const BatchTrailer& trailer) const;  // with mutex_
  void publish(Epoch epoch);                       // with mutex_
  void tell_all();
  void tell(Cell& cell);

  DurableEpoch& durable_;
  const std::vector<WorkerLog*> logs_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<uint64_t> requested_{0};

  mutable std::mutex mutex_;
  std::vector<Epoch> synced_;  // by logger: `complete` of its last synced trailer
  Epoch recorded_;
  Epoch to_record_;  // the largest asked for
  std::deque<BatchTrailer>
      unproven_;  // synced trailers above recorded_ that wait for other loggers
};

}  // namespace pgsilo
