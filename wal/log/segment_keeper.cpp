#include "wal/log/segment_keeper.h"

#include <chrono>
#include <cstdio>

#include "wal/log/logger.h"
#include "wal/log/segment_store.h"

namespace pgsilo {

void SegmentKeeper::start() {
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void SegmentKeeper::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SegmentKeeper::wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

bool SegmentKeeper::run_once() {
  bool all = true;
  for (Logger* logger : loggers_) {
    SegmentStore& segments = logger->segments();
    while (segments.wants_segments()) {
      FileResult result = segments.prepare_one();
      logger->space_changed();
      if (result.ok()) {
        complained_ = false;
        continue;
      }
      if (!complained_) {
        std::fprintf(stderr, "pgsilo: could not prepare a log segment in \"%s\": %s\n",
                     segments.directory().c_str(), result.text().c_str());
      }
      complained_ = true;
      all = false;
      break;
    }
  }
  return all;
}

void SegmentKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    woken_ = false;
    lock.unlock();
    bool satisfied = run_once();
    lock.lock();
    auto due = [this] { return woken_ || stopping_; };
    if (satisfied) {
      changed_.wait(lock, due);
    } else {
      changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; });
    }
  }
}

}  // namespace pgsilo
