// Keeps prepared segments ahead of every logger, removes retired ones that are too many, and tells
// that the log has grown; on a thread of its own or by calls.
// Thread safety: wake(): any thread. start(), stop(): the owner. run_once(): the thread, or the
// owner while there is none. When preparing fails (the device is full, an error of it) it tries
// again every second, so that service resumes by itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace pgsilo {

class Logger;
class SegmentStore;
struct FileResult;

// Wants to know that segments fill up (checkpoints).
class LogGrowthListener {
 public:
  virtual void log_has_grown() = 0;

 protected:
  ~LogGrowthListener() = default;
};

class SegmentKeeper {
 public:
  // The loggers outlive the keeper.
  explicit SegmentKeeper(std::vector<Logger*> loggers) : loggers_(std::move(loggers)) {}
  ~SegmentKeeper() { stop(); }

  // Before start(). Told whenever a segment was begun. Null: nobody.
  void set_listener(LogGrowthListener* listener) { listener_ = listener; }
  void start();
  void stop();
  void wake();
  // Prepares what is missing. False if that failed, of memory too.
  bool run_once();

 private:
  void complain(const char* what, const SegmentStore& segments, const FileResult& result);
  bool supply_all();
  bool supply(Logger& logger);
  bool remove_surplus(SegmentStore& segments);
  bool stopping();
  void run();

  const std::vector<Logger*> loggers_;
  LogGrowthListener* listener_ = nullptr;
  bool complained_ = false;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
};

}  // namespace pgsilo
