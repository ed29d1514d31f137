// Writes lines to a descriptor from a thread of its own, so that nobody who has something to say
// waits for a pipe that is not read or for a disk that is slow. What does not fit into the queue
// meanwhile is dropped and counted; the count is told as soon as lines get through again.
// Thread safety: write(), drain() and dropped() from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace pgsilo {

class LogWriter {
 public:
  // The line that says how much was dropped.
  using DescribeLoss = std::function<std::string(uint64_t entries)>;
  LogWriter(int descriptor, size_t limit_bytes, DescribeLoss describe_loss);
  // What is queued is written if that does not take long.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // An entry: whole lines. Also without memory; it is dropped then.
  void write(std::string_view entry) noexcept;
  // False: after `limit_us` not everything is written. Also for who holds no memory, and in a
  // thread that was in the middle of write().
  bool drain(int64_t limit_us) noexcept;
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool take(std::string* batch);
  void put(std::string_view bytes);
  bool wait_until_writable();

  const int descriptor_;
  const size_t limit_bytes_;
  const DescribeLoss describe_loss_;
  std::mutex mutex_;  // guards queued_ and told_
  std::condition_variable changed_;
  std::string queued_;
  uint64_t told_ = 0;  // of what was dropped
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> idle_{true};  // nothing is queued or being written
  std::atomic<int64_t> stop_at_us_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace pgsilo
