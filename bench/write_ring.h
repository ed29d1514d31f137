// Writes through io_uring, by its system calls alone: for log_device, to compare. Thread safety:
// none.
#pragma once

#include <linux/io_uring.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace pgsilo {

// How a write becomes durable.
enum class RingSync : uint8_t {
  none,
  linked_fdatasync,  // a request of its own, linked to the write
  dsync,             // RWF_DSYNC of the write
};

class WriteRing {
 public:
  // Opens `path` with O_DIRECT. Check usable() before anything else.
  explicit WriteRing(const std::string& path);
  ~WriteRing();
  WriteRing(const WriteRing&) = delete;
  WriteRing& operator=(const WriteRing&) = delete;

  bool usable() const { return entries_ != nullptr; }
  // Queues a write; at most queue_entries requests at a time.
  void add(const void* data, size_t bytes, uint64_t offset, RingSync sync);
  // Submits what is queued and waits for all of it, in one system call. A failure ends the process.
  void run();

  static constexpr unsigned queue_entries = 8;

 private:
  io_uring_sqe* next_entry();

  int file_ = -1;
  io_uring_params parameters_{};  // before ring_: filled with it
  int ring_ = -1;
  char* queues_ = nullptr;
  size_t queue_bytes_ = 0;
  io_uring_sqe* entries_ = nullptr;
  unsigned queued_ = 0;
};

}  // namespace pgsilo
