#include "wal/log/worker_log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/parker.h"
#include "wal/log/logger.h"
#include "wal/log/segment_store.h"

namespace pgsilo {
namespace {

// Bytes of a long append's records. One ends where the next entry would make it longer than
// `ring_record_bytes`: two that follow each other are longer than that together, but for a header.
size_t long_bytes(size_t entries, size_t bytes, size_t ring_record_bytes) {
  size_t all = record_bytes(entries, bytes);
  size_t pairs = all / (ring_record_bytes - log_format::record_header_bytes);
  size_t records = 2 * pairs + 2 + entries / RedoSink::most_at_once;
  return all + std::min(entries, records) * log_format::record_header_bytes;
}

}  // namespace

WorkerLog::WorkerLog(size_t buffer_bytes, size_t ring_record_bytes, SegmentStore& segments)
    : segments_(segments), ring_record_bytes_(ring_record_bytes), ring_(buffer_bytes) {
  PGSILO_CHECK(ring_record_bytes <= buffer_bytes / 4);
}

WorkerLog::~WorkerLog() { delete long_published_.load(std::memory_order_acquire); }

ReserveResult WorkerLog::reserve(size_t entries, size_t bytes, RedoPurpose purpose) {
  if (long_reserved_ != nullptr) [[unlikely]] {
    segments_.release_long(long_reserved_->capacity);
    long_reserved_ = nullptr;
  }
  wanted_bytes_ = record_bytes(entries, bytes);
  wanted_for_ = purpose;
  wanted_long_ = is_long(entries, wanted_bytes_);
  bool has_waited = std::exchange(has_waited_, false);
  switch (segments_.state(purpose)) {
    case LogSpace::ample:
      break;
    case LogSpace::preparing:
      return ReserveResult::must_wait;
    case LogSpace::exhausted:
      return ReserveResult::no_space;
  }
  if (wanted_long_) [[unlikely]]
    return reserve_long(entries, bytes, purpose, has_waited);
  return ring_.has_room(wanted_bytes_) ? ReserveResult::ok : ReserveResult::must_wait;
}

ReserveResult WorkerLog::reserve_long(size_t entries, size_t bytes, RedoPurpose purpose,
                                      bool has_waited) {
  size_t capacity = wanted_bytes_ = long_bytes(entries, bytes, ring_record_bytes_);
  if (long_published_.load(std::memory_order_acquire) != nullptr) return ReserveResult::must_wait;
  auto reserved = std::make_unique<LongAppend>();
  reserved->bytes.reset(new char[capacity]);
  reserved->capacity = capacity;
  LogSpace space = segments_.reserve_long(capacity, purpose, has_waited);
  if (space != LogSpace::ample) {
    logger_->want_segments();
    return space == LogSpace::exhausted ? ReserveResult::no_space : ReserveResult::must_wait;
  }
  long_reserved_ = std::move(reserved);
  return ReserveResult::ok;
}

void WorkerLog::expect(size_t entries, size_t bytes) {
  if (entries == 0) return segments_.expect_long(0);
  if (!is_long(entries, record_bytes(entries, bytes))) return;
  segments_.expect_long(long_bytes(entries, bytes, ring_record_bytes_));
  logger_->want_segments();
}

bool WorkerLog::can_reserve(size_t bytes, RedoPurpose purpose) {
  LogSpace space = segments_.state(purpose);
  if (space != LogSpace::ample) return space == LogSpace::exhausted;
  if (!wanted_long_) return ring_.has_room(bytes);
  return long_published_.load(std::memory_order_acquire) == nullptr &&
         segments_.long_decided(bytes, purpose);
}

void WorkerLog::wait_for_buffer(Parker& parker, int64_t deadline_us) {
  size_t wanted = wanted_bytes_;
  RedoPurpose purpose = wanted_for_;
  {
    std::lock_guard lock(waiters_mutex_);
    waiters_.push_back(&parker);
  }
  // Pairs with the exchange in wake_waiters(): either it sees the waiter, or we see the space it
  // gave back.
  waiter_count_.fetch_add(1, std::memory_order_acq_rel);
  if (!can_reserve(wanted, purpose)) {
    logger_->drain();
    buffer_waits_.add();
    parker.park(deadline_us);
  }
  waiter_count_.fetch_sub(1, std::memory_order_relaxed);
  has_waited_ = true;
  std::lock_guard lock(waiters_mutex_);
  std::erase(waiters_, &parker);
}

void WorkerLog::wake_waiters() {
  if (waiter_count_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  std::lock_guard lock(waiters_mutex_);
  for (Parker* parker : waiters_) parker->unpark();
}

void WorkerLog::append(Tid tid, std::span<const RedoEntry> entries) {
  remember(tid.epoch());
  size_t bytes = log_format::record_header_bytes;
  for (const RedoEntry& entry : entries) bytes += entry_bytes(entry);
  if (bytes > ring_record_bytes_ || long_reserved_ != nullptr) [[unlikely]] {
    append_part(tid, entries);
    // seq_cst: as LogBuffer::publish().
    long_published_.store(long_reserved_.release(), std::memory_order_seq_cst);
  } else {
    PGSILO_CHECK(ring_.has_room(bytes));
    encode_record(ring_.place(bytes), tid, entries);
    ring_.publish(bytes);
  }
  logger_->published();
  if (ring_.bytes_waiting() > ring_.capacity() / 2) [[unlikely]]
    logger_->drain();
}

// One transaction in several records: they share the TID, so its epoch, and recovery takes epochs
// whole.
void WorkerLog::append_part(Tid tid, std::span<const RedoEntry> entries) {
  PGSILO_CHECK(long_reserved_ != nullptr);
  LongAppend& target = *long_reserved_;
  while (!entries.empty()) {
    size_t count = 0;
    size_t bytes = log_format::record_header_bytes;
    while (count < entries.size() &&
           (count == 0 || bytes + entry_bytes(entries[count]) <= ring_record_bytes_)) {
      bytes += entry_bytes(entries[count++]);
    }
    PGSILO_CHECK(target.used + bytes <= target.capacity);
    target.used += encode_record(target.bytes.get() + target.used, tid, entries.first(count));
    entries = entries.subspan(count);
  }
}

void WorkerLog::remember(Epoch epoch) {
  uint64_t count = epoch_count_.load(std::memory_order_relaxed);
  if (count != 0 &&
      epochs_[(count - 1) % remembered_epochs].load(std::memory_order_relaxed) == epoch.value()) {
    return;
  }
  // Release, so that who reads a slot's new content also finds the slots before it overwritten.
  epochs_[count % remembered_epochs].store(epoch.value(), std::memory_order_release);
  epoch_count_.store(count + 1, std::memory_order_release);
}

// Slots are overwritten oldest first and with later epochs. So if the slot with the true answer has
// been overwritten, all older ones have been too, and none is <= completed: the answer is then an
// epoch that is too late, which is safe. While none has been overwritten, none <= completed means
// that there was none.
Epoch WorkerLog::last_data(Epoch completed) const {
  uint64_t count = epoch_count_.load(std::memory_order_acquire);
  uint64_t answer = 0;
  for (uint64_t i = 0; i < std::min<uint64_t>(count, remembered_epochs); ++i) {
    answer = epochs_[(count - 1 - i) % remembered_epochs].load(std::memory_order_acquire);
    if (answer <= completed.value()) return Epoch(answer);
  }
  bool overwritten = epoch_count_.load(std::memory_order_acquire) >= remembered_epochs;
  return overwritten ? Epoch(answer) : Epoch(0);
}

bool WorkerLog::has_records() const {
  return long_published_.load(std::memory_order_seq_cst) != nullptr || !ring_.drained();
}

std::optional<std::string_view> WorkerLog::next_record(Epoch limit) {
  std::string_view waiting[2] = {ring_.peek(ring_.tail()), {}};
  if (const LongAppend* append = long_published_.load(std::memory_order_acquire)) {
    waiting[1] = {append->bytes.get() + append->taken, append->used - append->taken};
  }
  for (std::string_view rest : waiting) {
    if (rest.empty()) continue;
    std::optional<RecordHeader> header = peek_record(rest);
    PGSILO_CHECK(header.has_value());
    if (header->tid.epoch() <= limit) return rest.substr(0, header->bytes);
  }
  return std::nullopt;
}

void WorkerLog::taken(std::string_view record) {
  LongAppend* append = long_published_.load(std::memory_order_acquire);
  if (append != nullptr && record.data() == append->bytes.get() + append->taken) {
    append->taken += record.size();
  } else {
    ring_.consume(record.size());
  }
}

void WorkerLog::batch_written() {
  LongAppend* append = long_published_.load(std::memory_order_acquire);
  if (append != nullptr && append->taken == append->used) {
    segments_.release_long(append->capacity);
    long_published_.store(nullptr, std::memory_order_release);  // pairs with reserve_long()
    delete append;
  }
  wake_waiters();
}

}  // namespace pgsilo
