// A worker's ring of log records on their way to its logger. Records lie in it in disk format, each
// in one piece. Thread safety: one writer (the worker), one reader (whoever runs the logger's
// step). The writer publishes by moving the tail, the reader gives space back by moving the head,
// as soon as it has copied a record into a block: before the write, let alone the sync. Invariants:
// head <= tail <= head + capacity; the bytes in [head, tail) are whole records and skips; epochs
// ascend.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/byte_order.h"
#include "base/check.h"

namespace pgsilo {

class LogBuffer {
 public:
  // A power of two.
  explicit LogBuffer(size_t capacity) : capacity_(capacity), bytes_(new char[capacity]) {
    PGSILO_CHECK((capacity & (capacity - 1)) == 0);
  }

  size_t capacity() const { return capacity_; }

  // --- the worker ---
  // Room for one record of `bytes` bytes in one piece.
  bool has_room(size_t bytes) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    size_t needed = bytes + skip_before(tail, bytes);
    if (capacity_ - (tail - head_seen_) >= needed) return true;
    head_seen_ = head_.load(
        std::memory_order_acquire);  // pairs with consume(): the reader is done with those bytes
    return capacity_ - (tail - head_seen_) >= needed;
  }
  // Where to write a record of at most `bytes` bytes, for which there is room.
  char* place(size_t bytes) {
    PGSILO_DCHECK(has_room(bytes));
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    size_t skip = skip_before(tail, bytes);
    if (skip >= 4) store_le32(at(tail), 0);
    unpublished_ = tail + skip;
    return at(unpublished_);
  }
  // The record written at place() has `bytes` bytes. seq_cst: the worker next looks whether its
  // logger sleeps; the logger says that it sleeps and next looks at the tail.
  void publish(size_t bytes) { tail_.exchange(unpublished_ + bytes, std::memory_order_seq_cst); }
  // As seen by the worker when it last looked; may be too much.
  size_t bytes_waiting() {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > capacity_ / 2) head_seen_ = head_.load(std::memory_order_acquire);
    return tail - head_seen_;
  }

  // --- the reader ---
  // Nothing is published that was not consumed.
  bool drained() const { return tail() == head_.load(std::memory_order_relaxed); }
  // Everything published by now.
  uint64_t tail() const { return tail_.load(std::memory_order_seq_cst); }
  // The bytes from the next record on, as far as they lie in one piece before `tail`; empty if
  // there is none.
  std::string_view peek(uint64_t tail) {
    uint64_t head = head_.load(std::memory_order_relaxed);
    size_t to_end = capacity_ - (head & (capacity_ - 1));
    if (head != tail && (to_end < 4 || load_le32(at(head)) == 0)) {
      head += to_end;
      head_.store(head, std::memory_order_release);
      to_end = capacity_;
    }
    return {at(head), tail - head < to_end ? tail - head : to_end};
  }
  // The reader has copied the next record, of `bytes` bytes.
  void consume(size_t bytes) {
    head_.store(head_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }

 private:
  char* at(uint64_t position) { return bytes_.get() + (position & (capacity_ - 1)); }
  // Bytes to leave unused at the ring's end so that the record lies in one piece.
  size_t skip_before(uint64_t tail, size_t bytes) const {
    size_t to_end = capacity_ - (tail & (capacity_ - 1));
    return to_end < bytes ? to_end : 0;
  }

  const size_t capacity_;
  const std::unique_ptr<char[]> bytes_;  // untouched pages cost nothing
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) std::atomic<uint64_t> tail_{0};
  uint64_t head_seen_ = 0;    // the worker's copy of head_
  uint64_t unpublished_ = 0;  // the worker's: where place() pointed
};

}  // namespace pgsilo
