#include "wal/log/segment_keeper.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/process_memory.h"
#include "base/server_log.h"
#include "wal/log/logger.h"
#include "wal/log/progress_marks.h"
#include "wal/log/segment_store.h"

namespace pgsilo {
namespace {

// When nothing has been written for so long, how far the logs have got is written down; but no more
// often than that.
constexpr auto quiet_moment = std::chrono::milliseconds(10);
constexpr int64_t quiet_marks_apart_us = 200'000;

}  // namespace

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

void SegmentKeeper::ask(KeeperErrand& errand) {
  {
    std::lock_guard lock(mutex_);
    errands_.push_back(&errand);
    woken_ = true;
  }
  changed_.notify_one();
}

// Those that are there: who asks meanwhile comes behind the log's segments.
void SegmentKeeper::run_errands() {
  std::vector<KeeperErrand*> errands;
  {
    std::lock_guard lock(mutex_);
    errands.swap(errands_);
  }
  for (KeeperErrand* errand : errands) errand->run();
}

bool SegmentKeeper::stopping() {
  std::lock_guard lock(mutex_);
  return stopping_;
}

void SegmentKeeper::complain(const char* what, const SegmentStore& segments,
                             const FileResult& result) {
  if (complained_) return;
  std::array<char, 1024> text;
  std::snprintf(text.data(), text.size(), "could not %s a log segment in \"%s\": %s", what,
                segments.directory().c_str(), result.words());
  write_server_log(LogLevel::warning, text.data());
  complained_ = true;
}

bool SegmentKeeper::run_once() {
  bool all = keep_house();
  return mark() && all;
}

bool SegmentKeeper::mark() {
  if (marks_ == nullptr || !marks_->behind()) return true;
  FileResult result;
  try {
    result = marks_->write();
  } catch (const std::bad_alloc&) {
    result = {FileStatus::failed, ENOMEM};
  }
  if (!result.ok() && !complained_of_marks_) {
    std::array<char, 1024> text;
    std::snprintf(text.data(), text.size(), "could not write down how far the log has got: %s",
                  result.words());
    write_server_log(LogLevel::warning, text.data());
  }
  complained_of_marks_ = !result.ok();
  return result.ok();
}

bool SegmentKeeper::mark_if_quiet() {
  if (marks_ == nullptr || !marks_->behind()) return true;
  uint64_t written = marks_->written();
  bool quiet = std::exchange(written_seen_, written) == written;
  int64_t now_us = monotonic_us();
  if (!quiet || now_us - quiet_mark_us_ < quiet_marks_apart_us) return false;
  quiet_mark_us_ = now_us;
  mark();
  return !marks_->behind();
}

bool SegmentKeeper::keep_house() {
  // First: what follows takes time.
  run_errands();
  if (marks_ != nullptr && marks_->segment_begun()) mark();
  bool all = supply_all();
  if (listener_ != nullptr) listener_->log_has_grown();
  for (Logger* logger : loggers_) {
    // One by one: that takes time, in which the log may have come to need segments.
    while (all && !stopping() && remove_surplus(logger->segments())) all = supply_all();
  }
  return all;
}

bool SegmentKeeper::supply_all() {
  bool all = true;
  for (Logger* logger : loggers_) all &= supply(*logger);
  return all;
}

bool SegmentKeeper::supply(Logger& logger) {
  SegmentStore& segments = logger.segments();
  while (segments.wants_segments()) {
    FileResult result = segments.prepare_one();
    logger.space_changed();
    if (!result.ok()) {
      complain("prepare", segments, result);
      return false;
    }
    complained_ = false;
  }
  return true;
}

// One segment. False: there is none, or it could not be removed.
bool SegmentKeeper::remove_surplus(SegmentStore& segments) {
  if (!segments.has_surplus()) return false;
  FileResult result;
  try {
    result = segments.remove_surplus();
  } catch (const std::bad_alloc&) {
    result = {FileStatus::failed, ENOMEM};
  }
  if (!result.ok()) complain("remove", segments, result);
  return result.ok();
}

void SegmentKeeper::run() {
  take_thread_memory();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    woken_ = false;
    lock.unlock();
    bool satisfied = keep_house();
    bool marked = mark_if_quiet();
    lock.lock();
    sleep(lock, satisfied, marked);
  }
  // Somebody waits for each.
  lock.unlock();
  run_errands();
}

void SegmentKeeper::sleep(std::unique_lock<std::mutex>& lock, bool satisfied, bool marked) {
  auto due = [this] { return woken_ || stopping_; };
  if (!satisfied) {
    changed_.wait_for(lock, std::chrono::seconds(1),
                      [this] { return stopping_ || !errands_.empty(); });
    return;
  }
  rests_.store(marked, std::memory_order_seq_cst);
  if (marked && (marks_ == nullptr || !marks_->behind())) {
    changed_.wait(lock, due);
  } else {
    changed_.wait_for(lock, quiet_moment, due);
  }
  rests_.store(false, std::memory_order_relaxed);
}

}  // namespace pgsilo
