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

void SegmentKeeper::complain(const char* what, const SegmentStore& segments,
                             const FileResult& result) {
  if (complained_) return;
  std::fprintf(stderr, "pgsilo: could not %s a log segment in \"%s\": %s\n", what,
               segments.directory().c_str(), result.text().c_str());
  complained_ = true;
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
      complain("prepare", segments, result);
      all = false;
      break;
    }
    FileResult result = segments.remove_surplus();
    if (!result.ok()) complain("remove", segments, result);
  }
  if (listener_ != nullptr) listener_->log_has_grown();
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
