// Keeps prepared segments ahead of every logger, on a thread of its own or by calls.
// Thread safety: wake(): any thread. start(), stop(): the owner. run_once(): the thread, or the
// owner while there is none. When the device is full it tries again every second, so that service
// resumes by itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace pgsilo {

class Logger;

class SegmentKeeper {
 public:
  // The loggers outlive the keeper.
  explicit SegmentKeeper(std::vector<Logger*> loggers) : loggers_(std::move(loggers)) {}
  ~SegmentKeeper() { stop(); }

  void start();
  void stop();
  void wake();
  // Prepares what is missing. False if that failed.
  bool run_once();

 private:
  void run();

  const std::vector<Logger*> loggers_;
  bool complained_ = false;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
};

}  // namespace pgsilo
