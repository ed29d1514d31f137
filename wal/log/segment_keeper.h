// Keeps prepared segments ahead of every logger, removes retired ones that are too many, tells that
// the log has grown, writes the marks of progress, and runs errands; on a thread of its own or by
// calls.
// Thread safety: wake(), wake_if_resting(), ask(): any thread. start(), stop(): the owner.
// run_once(): the thread, or the owner while there is none. When preparing fails (the device is
// full, an error of it) it tries again every second, so that service resumes by itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace pgsilo {

class Logger;
class ProgressMarks;
class SegmentStore;
struct FileResult;

// Wants to know that segments fill up (checkpoints).
class LogGrowthListener {
 public:
  virtual void log_has_grown() = 0;

 protected:
  ~LogGrowthListener() = default;
};

// Something that waits for the disk, done for one whose thread must not. Thread safety: run(): the
// keeper's thread; may block, must not throw.
class KeeperErrand {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~KeeperErrand() = default;
};

class SegmentKeeper {
 public:
  // The loggers outlive the keeper.
  explicit SegmentKeeper(std::vector<Logger*> loggers) : loggers_(std::move(loggers)) {}
  ~SegmentKeeper() { stop(); }

  // Before start(). Null: none are written.
  void set_marks(ProgressMarks* marks) { marks_ = marks; }
  // Before start(). Told whenever a segment was begun. Null: nobody.
  void set_listener(LogGrowthListener* listener) { listener_ = listener; }
  void start();
  void stop();
  void wake();
  // Something has been written, which is to be marked when the logs are quiet. seq_cst: it rests
  // and then looks whether something has been; the writer does these in the other order.
  void wake_if_resting() {
    if (rests_.load(std::memory_order_seq_cst) && rests_.exchange(false)) wake();
  }
  // It is run soon, once, and by then there still. Throws std::bad_alloc.
  void ask(KeeperErrand& errand);
  // Prepares what is missing, and marks what has been written. False if that failed, of memory too.
  bool run_once();

 private:
  bool keep_house();
  void run_errands();
  bool mark();
  // True: there is nothing to be marked.
  bool mark_if_quiet();
  void sleep(std::unique_lock<std::mutex>& lock, bool satisfied, bool marked);
  void complain(const char* what, const SegmentStore& segments, const FileResult& result);
  bool supply_all();
  bool supply(Logger& logger);
  bool remove_surplus(SegmentStore& segments);
  bool stopping();
  void run();

  const std::vector<Logger*> loggers_;
  LogGrowthListener* listener_ = nullptr;
  ProgressMarks* marks_ = nullptr;
  bool complained_ = false;
  bool complained_of_marks_ = false;
  uint64_t written_seen_ = 0;  // when it last looked whether the logs are quiet
  int64_t quiet_mark_us_ = 0;  // when the last one of a quiet moment was written
  std::atomic<bool> rests_{false};
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<KeeperErrand*> errands_;
  bool woken_ = false;
  bool stopping_ = false;
};

}  // namespace pgsilo
