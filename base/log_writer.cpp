#include "base/log_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/process_memory.h"

namespace pgsilo {
namespace {

constexpr int64_t never = INT64_MAX;
constexpr int64_t farewell_us = 1'000'000;
constexpr int poll_ms = 100;

}  // namespace

LogWriter::LogWriter(int descriptor, size_t limit_bytes, DescribeLoss describe_loss)
    : descriptor_(descriptor),
      limit_bytes_(limit_bytes),
      describe_loss_(std::move(describe_loss)),
      stop_at_us_(never),
      thread_([this] { run(); }) {}

LogWriter::~LogWriter() {
  {
    std::lock_guard lock(mutex_);
    stop_at_us_.store(monotonic_us() + farewell_us, std::memory_order_relaxed);
  }
  changed_.notify_one();
  thread_.join();
}

void LogWriter::write(std::string_view entry) noexcept {
  {
    std::lock_guard lock(mutex_);
    bool fits = queued_.size() + entry.size() <= limit_bytes_;
    try {
      if (fits) queued_.append(entry);
    } catch (const std::bad_alloc&) {
      fits = false;
    }
    if (!fits) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    idle_.store(false, std::memory_order_relaxed);
  }
  changed_.notify_one();
}

bool LogWriter::drain(int64_t limit_us) noexcept {
  int64_t until_us = monotonic_us() + limit_us;
  // No lock: who drains may hold it.
  while (!idle_.load(std::memory_order_acquire)) {
    if (monotonic_us() >= until_us) return false;
    usleep(1000);
  }
  return true;
}

// False: it is over.
bool LogWriter::take(std::string* batch) {
  batch->clear();
  std::unique_lock lock(mutex_);
  if (queued_.empty()) {
    // Release: pairs with drain().
    idle_.store(true, std::memory_order_release);
    changed_.wait(lock, [this] {
      return !queued_.empty() || stop_at_us_.load(std::memory_order_relaxed) != never;
    });
  }
  if (queued_.empty()) return false;
  std::swap(*batch, queued_);
  uint64_t lost = dropped();
  if (lost == told_) return true;
  try {
    batch->append(describe_loss_(lost - told_));
    told_ = lost;
  } catch (const std::bad_alloc&) {
    // It is told with the next ones.
  }
  return true;
}

void LogWriter::run() {
  take_thread_memory();
  std::string batch;
  while (take(&batch)) put(batch);
}

// A pipe that is writable takes as much as PIPE_BUF at once, so that no write waits for long: a
// server that stops is not held up by somebody who does not read.
void LogWriter::put(std::string_view bytes) {
  while (!bytes.empty() && wait_until_writable()) {
    ssize_t written = ::write(descriptor_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      break;
    }
  }
  if (!bytes.empty()) dropped_.fetch_add(1, std::memory_order_relaxed);
}

// False: there is no time left.
bool LogWriter::wait_until_writable() {
  for (;;) {
    pollfd watched{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    if (poll(&watched, 1, poll_ms) > 0) return true;
    if (monotonic_us() >= stop_at_us_.load(std::memory_order_relaxed)) return false;
  }
}

}  // namespace pgsilo
