#include "storage/record/record.h"

#include <unistd.h>

#include <algorithm>

#include "base/backoff.h"
#include "storage/limits.h"

namespace pgsilo {

Record::Record(std::string_view key, size_t inline_words, TidWord initial)
    : tid_word_(initial),
      inline_words_(static_cast<uint16_t>(inline_words)),
      key_bytes_(static_cast<uint16_t>(key.size())) {
  PGSILO_DCHECK(inline_words <= UINT16_MAX && key.size() <= max_key_bytes);
  uint64_t* key_words = reinterpret_cast<uint64_t*>(this + 1);
  if (!key.empty()) {
    key_words[row_words(key.size()) - 1] = 0;
    std::memcpy(key_words, key.data(), key.size());
  }
}

bool Record::try_read(RowBuffer& buffer, TidWord& seen) const {
  TidWord before = tid_word_.load();
  if (before.is_locked()) return false;
  if (before.is_absent() || before.is_obsolete()) {
    buffer.set_size(0);
    seen = before;
    return true;
  }
  // Which payload, and how long the row is, race with an install too; but a payload that was ever
  // current stays in memory under our pin, and a size stored with a place never exceeds that place.
  const ExternalPayload* external = this->external();
  const std::atomic<uint32_t>& size = external != nullptr ? external->row_bytes : inline_bytes_;
  size_t bytes = size.load(std::memory_order_relaxed);
  const uint64_t* row = external != nullptr ? external->words() : inline_row();
  copy_racing_row_out(buffer.reserve(bytes), row, row_words(std::min(bytes, buffer.wanted())));
  TidWord after = tid_word_.load_after_reading();
  // An intent raised or dropped meanwhile did not touch the row.
  if (after.is_locked() || after.tid() != before.tid()) return false;
  buffer.set_size(bytes);
  seen = after;
  return true;
}

bool Record::try_compare(const RowPart& part, const char* expected, TidWord& seen,
                         bool& equal) const {
  TidWord before = tid_word_.load();
  if (before.is_locked()) return false;
  seen = before;
  equal = !before.is_absent() && !before.is_obsolete() && contains(part, expected);
  TidWord after = tid_word_.load_after_reading();
  return !after.is_locked() && after.tid() == before.tid();
}

// As in try_read() the row may be changing.
bool Record::contains(const RowPart& part, const char* expected) const {
  const ExternalPayload* external = this->external();
  const std::atomic<uint32_t>& size = external != nullptr ? external->row_bytes : inline_bytes_;
  size_t bytes = size.load(std::memory_order_relaxed);
  const uint64_t* row = external != nullptr ? external->words() : inline_row();
  if (part.row_bytes != 0 && part.row_bytes != bytes) return false;
  for (RowRange range : part.ranges) {
    if (size_t{range.offset} + range.bytes > bytes ||
        !equals_racing_row(row, range.offset, range.bytes, expected)) {
      return false;
    }
    expected += range.bytes;
  }
  return true;
}

TidWord Record::stable_read_patiently(RowBuffer& buffer) const {
  constexpr int rounds_before_sleep = 1024;
  constexpr useconds_t sleep_us = 500;
  TidWord seen;
  Backoff backoff;
  for (int rounds = 0; !try_read(buffer, seen); ++rounds) {
    if (rounds < rounds_before_sleep) {
      backoff.pause();
    } else {
      usleep(sleep_us);
    }
  }
  return seen;
}

void Record::write_row(std::string_view row, ExternalPayload* external) {
  std::atomic<uint32_t>& size = external != nullptr ? external->row_bytes : inline_bytes_;
  copy_racing_row_in(external != nullptr ? external->words() : inline_row(), row.data(),
                     row.size());
  size.store(static_cast<uint32_t>(row.size()), std::memory_order_relaxed);
}

void Record::write_first_row(std::string_view row) {
  ExternalPayload* external = this->external();
  if (!row.empty())
    copy_first_row_in(external != nullptr ? external->words() : inline_row(), row.data(),
                      row.size());
  std::atomic<uint32_t>& size = external != nullptr ? external->row_bytes : inline_bytes_;
  size.store(static_cast<uint32_t>(row.size()), std::memory_order_relaxed);
}

// Who holds the intent lock in this word does not stay: he has seen our lock, or was moved into the
// lock table before it was taken for this (Commit::prepare_payload).
void Record::set_external(ExternalPayload* external) {
  uintptr_t bits = payload_.load(std::memory_order_relaxed);
  for (Backoff backoff;;) {
    if (!RecordHolder::of_word(bits).is_none()) {
      backoff.pause();
      bits = payload_.load(std::memory_order_relaxed);
    } else if (payload_.compare_exchange_weak(bits, reinterpret_cast<uintptr_t>(external),
                                              std::memory_order_release,
                                              std::memory_order_relaxed)) {
      return;
    }
  }
}

// An external payload is larger than the record's own room, so one of a row that fits there is
// never replaced by another.
ExternalPayload* Record::install(std::string_view row, Tid tid, ExternalPayload* spare,
                                 bool shrinks) {
  uintptr_t bits = payload_.load(std::memory_order_relaxed);
  const bool is_bare = bits == 0 || !RecordHolder::of_word(bits).is_none();
  if (is_bare && fits_inline(row.size())) [[likely]] {
    write_row(row, nullptr);
    tid_word_.install(tid, /*absent=*/false);
    return spare;
  }
  ExternalPayload* current = external();
  ExternalPayload* place = current;
  if (!stays_inline(row.size())) [[unlikely]] {
    shrinks = shrinks && wastes(row.size());
    if (shrinks && fits_inline(row.size())) {
      place = nullptr;
    } else if (!fits(row.size()) || (shrinks && spare != nullptr)) {
      PGSILO_CHECK(spare != nullptr && row_words(row.size()) <= spare->capacity_words);
      place = spare;
    }
  }
  write_row(row, place);
  set_external(place);  // forgets a link; release: its capacity is set
  tid_word_.install(tid, /*absent=*/false);
  return place == current ? spare : current;
}

}  // namespace pgsilo
