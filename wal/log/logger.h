// The logger of one log directory: takes what its workers published, writes it, syncs once,
// publishes D (SiloR section 3.2). Group commit follows the device: while one
// batch is being synced, the next one collects.
//
// A step does the work, on whatever thread: the logger's own or that of a worker all of whose
// sessions wait; one at a time. A step advances E if somebody waits for an epoch that has not
// ended, takes the records up to the completed epoch, writes them with a trailer, syncs, and lets
// GroupCommit publish. Whoever ends a step while requests are open wakes the logger thread, which
// goes on as long as there are any.
//
// The thread sleeps while nobody waits. After activity it looks every flush_after_us whether there
// is something that nobody asked for and makes it durable; if not, it sleeps until the next
// append().
//
// Thread safety: try_step(), wake(), published(), drain(), want_segments(), space_changed(): any
// thread. Memory order: the pairs step flag / request and sleep flag / (request, tail) are Dekker's
// pattern, all accesses seq_cst.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/epoch/epoch_manager.h"
#include "wal/layout/progress_file.h"
#include "wal/log/batch_writer.h"
#include "wal/log/group_commit.h"
#include "wal/log/segment_store.h"

namespace pgsilo {

struct LogStatus;
class SegmentKeeper;
class WorkerLog;

class Logger {
 public:
  struct Parts {
    unsigned index;
    EpochManager& epochs;
    GroupCommit& commit;
    SegmentStore& segments;
    std::vector<WorkerLog*> logs;  // of its workers
    Uuid log;
    IncarnationName incarnation;
    uint64_t started_us;  // since 1970; no trailer is of a time before
    int64_t flush_after_us;
    bool compress;
  };
  explicit Logger(Parts parts);
  ~Logger() { stop(); }

  // Writes the first block of the incarnation, durably; before start() and any step.
  FileResult begin(std::string_view payload);
  // Before the first use: all loggers, and who prepares segments.
  void connect(std::vector<Logger*> peers, SegmentKeeper* keeper);
  void start();
  void stop();

  // Runs a step if somebody waits or buffers fill. True if something was written or became durable.
  bool try_step();
  // The thread, if there is one, looks whether there is something to do.
  void wake();

  // A worker appended.
  void published() {
    if (idle_.load(std::memory_order_seq_cst)) [[unlikely]]
      wake();
  }
  // Buffers fill up: take records although nobody waits for them.
  void drain();
  void want_segments();
  // The store's state may have changed: wakes who waits for space.
  void space_changed();

  SegmentStore& segments() { return parts_.segments; }
  const LogCounters& counters() const { return writer_.counters(); }
  uint64_t bytes_written() const { return static_cast<uint64_t>(counters().bytes.value()); }
  // Blocks on disk; any thread.
  uint64_t synced_blocks() const { return synced_blocks_.load(std::memory_order_seq_cst); }
  LogProgress progress() const;
  // But for the numbers of segments. Any thread.
  LogStatus status() const;

 private:
  bool has_work() const;
  bool step();
  bool may_record() const;
  void write_batch();
  void hand_over();
  bool has_undurable_data() const;
  bool has_records() const;
  void run();
  void sleep(int64_t us, bool forever);

  const Parts parts_;
  std::vector<Logger*> peers_;
  SegmentKeeper* keeper_ = nullptr;
  BatchWriter writer_;
  BatchTrailer trailer_;       // of the step that runs; kept for its memory
  uint64_t newest_time_us_;    // of a trailer
  uint64_t last_segment_ = 0;  // that a batch ended in
  std::atomic<uint64_t> synced_blocks_{0};
  alignas(64) std::atomic<bool> stepping_{false};
  std::atomic<bool> drain_{false};

  alignas(64) std::atomic<bool> idle_{false};  // the thread sleeps without a limit
  std::atomic<bool> asleep_{false};
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
};

}  // namespace pgsilo
