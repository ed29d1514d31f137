// One worker's side of the log: RedoSink over a ring, and over memory of its own for what is too
// long for the ring. Thread safety: as RedoSink: the worker calls; take_*() by whoever runs the
// logger's step; last_data() any thread. Invariants
// - reserve() said ok: the ring (or the memory of a long append) has room, and so has the log:
// SegmentStore keeps free as much
//   preallocated space as all rings of its logger together can hold, and what long appends
//   reserved.
// - Records of one epoch are published before the worker leaves its commit slot in it; so for a
// completed epoch c,
//   everything with epoch <= c can be taken.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/counter.h"
#include "storage/epoch/epoch.h"
#include "storage/transaction/redo_sink.h"
#include "wal/layout/log_format.h"
#include "wal/log/log_buffer.h"

namespace pgsilo {

class Logger;
class SegmentStore;

// The redo of one commit that did not go through the ring: whole records, one after the other.
struct LongAppend {
  std::unique_ptr<char[]> bytes;
  size_t capacity = 0;
  size_t used = 0;
  size_t taken = 0;  // by the logger
};

class WorkerLog final : public RedoSink {
 public:
  // Records longer than `ring_record_bytes` take the long way. All references outlive the object.
  WorkerLog(size_t buffer_bytes, size_t ring_record_bytes, SegmentStore& segments);
  ~WorkerLog() override;

  // Before the first use. The logger is told when the ring is half full or somebody waits.
  void set_logger(Logger& logger) { logger_ = &logger; }

  ReserveResult reserve(size_t entries, size_t bytes, RedoPurpose purpose) override;
  void expect(size_t entries, size_t bytes) override;
  void wait_for_buffer(Parker& parker, int64_t deadline_us) override;
  void append(Tid tid, std::span<const RedoEntry> entries) override;
  void append_part(Tid tid, std::span<const RedoEntry> entries) override;

  // --- the logger's step ---
  // The next record, if its epoch is at or below `limit`; a view into the ring or the long append
  // until taken().
  std::optional<std::string_view> next_record(Epoch limit);
  // The record has been copied into a block, or written.
  void taken(std::string_view record);
  // What was taken has been written: frees a long append that is done and wakes who waits for
  // space.
  void batch_written();
  void wake_waiters();
  // Published and not taken, in any epoch. seq_cst, as LogBuffer::publish().
  bool has_records() const;
  // How often somebody waited for room in the buffer; any thread.
  const Counter& buffer_waits() const { return buffer_waits_; }

  // The last epoch <= `completed` in which this worker appended, 0 for none; a later one where that
  // was too long ago to be remembered.
  Epoch last_data(Epoch completed) const;

 private:
  static constexpr size_t remembered_epochs = 8;

  ReserveResult reserve_long(size_t entries, size_t bytes, RedoPurpose purpose, bool has_waited);
  bool is_long(size_t entries, size_t bytes) const {
    return bytes > ring_record_bytes_ || entries > most_at_once;
  }
  void remember(Epoch epoch);
  bool can_reserve(size_t bytes, RedoPurpose purpose);

  SegmentStore& segments_;
  Logger* logger_ = nullptr;
  const size_t ring_record_bytes_;
  LogBuffer ring_;
  size_t wanted_bytes_ = 0;  // of the last reserve() that had to wait
  bool wanted_long_ = false;
  bool has_waited_ = false;  // ... and did: it asks again next
  RedoPurpose wanted_for_ = RedoPurpose::growth;
  std::unique_ptr<LongAppend> long_reserved_;  // between reserve() and append()
  // Published by the worker, freed by the logger when it has taken all of it. Null: none.
  std::atomic<LongAppend*> long_published_{nullptr};

  // The last epochs with data, ascending, in a ring; written by the worker before it publishes.
  std::array<std::atomic<uint64_t>, remembered_epochs> epochs_{};
  std::atomic<uint64_t> epoch_count_{0};

  Counter buffer_waits_;
  std::atomic<uint32_t> waiter_count_{0};
  std::mutex waiters_mutex_;
  std::vector<Parker*> waiters_;
};

}  // namespace pgsilo
