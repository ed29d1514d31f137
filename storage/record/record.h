// One key's record: TID word, the key, and the row. Its address is stable for
// as long as the key is in its tree: when a row outgrows its place only the payload moves, so index
// entries, intent queues and read sets may point here. Created and destroyed by RecordAllocator;
// protected by a Pin.
//
// Memory:  | tid word | external payload, link, holder of the intent lock, or null | row size,
// inline words, key size | key, padded to 8 | inline row words | The key lies in the record, not
// beside the tree's nodes, so that the line a reader needs anyway holds it: a lookup compares what
// follows the last key slice without another cache miss, a new layer copies nothing, and a scan,
// the log and the unhooking of an absent record find the key at hand.
//
// Thread safety
// - key() never changes.
// - try_read(), stable_read(), try_compare(): any thread under a pin.
// - fits(), wastes(): any thread under a pin; a commit by another may make them untrue until the
//   record is locked.
// - link(): any thread under a pin. set_link(): the holder of the lock bit.
// - holder(), change_holder(): any thread under a pin; who may change what: docs/lock_table.md.
// - install*(): the holder of the record's lock bit, once per lock.
// Invariants: I1; I4: a successful read returns bytes that exactly one committed version held.
// The row of a record whose word says absent is meaningless; its bytes are not to be used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "storage/record/record_holder.h"
#include "storage/record/row_buffer.h"
#include "storage/record/row_copy.h"
#include "storage/record/row_range.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

// A payload outside its record, for a row that outgrew the inline space.
struct ExternalPayload {
  std::atomic<uint32_t> row_bytes{0};
  uint32_t capacity_words = 0;
  uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(this + 1); }
};
static_assert(sizeof(ExternalPayload) == 8);

class Record {
 public:
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  AtomicTidWord& tid_word() { return tid_word_; }
  const AtomicTidWord& tid_word() const { return tid_word_; }
  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_bytes_}; }
  // Whether key() is `key_bytes` long and ends with `rest`: equality with a key that is known to
  // agree before `rest`.
  bool key_ends_with(std::string_view rest, size_t key_bytes) const {
    return key_bytes == key_bytes_ &&
           std::memcmp(key().data() + key_bytes - rest.size(), rest.data(), rest.size()) == 0;
  }

  // One attempt: copies the row into `buffer` and sets `seen` to the word it was current under
  // (unlocked). If the row is absent or obsolete, `seen` says so and the buffer is empty. False if
  // the record is locked or changed under the read. Throws std::bad_alloc if the buffer cannot
  // grow.
  [[nodiscard]] bool try_read(RowBuffer& buffer, TidWord& seen) const;
  // Repeats until it succeeds. Lock holders wait for nothing, but who commits millions of rows has
  // their locks for some hundred milliseconds: only for threads that serve nobody (sessions:
  // storage/transaction/commit_wait.h).
  TidWord stable_read(RowBuffer& buffer) const {
    TidWord seen;
    if (!try_read(buffer, seen)) [[unlikely]]
      seen = stable_read_patiently(buffer);
    return seen;
  }

  // One attempt, as try_read(), but the row stays where it is: whether the record has one that
  // has `part`, with the bytes `expected` in its ranges, one behind the other.
  [[nodiscard]] bool try_compare(const RowPart& part, const char* expected, TidWord& seen,
                                 bool& equal) const;
  // The same of a record whose lock the caller holds.
  bool compare_locked(const RowPart& part, const char* expected) const {
    return !tid_word_.load().is_absent() && contains(part, expected);
  }

  // The row as it lies in memory, of a present record that nobody writes meanwhile.
  std::string_view quiet_row() const {
    const ExternalPayload* external = this->external();
    const uint64_t* words = external != nullptr ? external->words() : inline_row();
    const std::atomic<uint32_t>& size = external != nullptr ? external->row_bytes : inline_bytes_;
    return {reinterpret_cast<const char*>(words), size.load(std::memory_order_relaxed)};
  }

  // Whether a row of `bytes` bytes can be installed without a spare.
  bool fits(size_t bytes) const { return row_words(bytes) <= capacity_words(); }
  // Whether a row of `bytes` bytes would leave half of an external payload empty.
  bool wastes(size_t bytes) const {
    const ExternalPayload* external = this->external();
    return external != nullptr && 2 * row_words(bytes) <= external->capacity_words;
  }
  bool fits_inline(size_t bytes) const { return row_words(bytes) <= inline_words_; }
  // What most rows do.
  bool stays_inline(size_t bytes) const { return fits_inline(bytes) && external() == nullptr; }

  // Lock holder: writes `row` and publishes it as version `tid`, releasing the lock in the same
  // step. If !fits(row.size()) then `spare`, allocated before locking (I3), takes the row; if it
  // wastes() room and `shrinks`, the record itself, or the spare if there is one. Returns the
  // payload that is in nobody's use any more: the unused spare (free it), or the one replaced
  // (retire it); tell them apart by comparing with `spare`. Null if neither.
  [[nodiscard]] ExternalPayload* install(std::string_view row, Tid tid, ExternalPayload* spare,
                                         bool shrinks = false);
  // Fetches its first lines, in which most rows lie; it may have been freed.
  void prefetch() const {
    constexpr size_t lines = 3;
    const char* line = reinterpret_cast<const char*>(this);
    for (size_t i = 0; i < lines; ++i) __builtin_prefetch(line + i * 64);
  }

  // For entries of secondary indexes: a record that this one leads to, remembered beside the row
  // until the next install(), and never logged. Null if there is none. It belongs to the version
  // `tid` only if the word still has that tid afterwards, which link_of() checks.
  Record* link_of(Tid tid) const {
    // Acquire, pairs with set_link(): who sees the link of a later version sees its tid as well.
    uintptr_t bits = payload_.load(std::memory_order_acquire);
    if (!is_link(bits) || tid_word_.load().tid() != tid) return nullptr;
    return reinterpret_cast<Record*>(bits & ~RecordHolder::link_bit);
  }
  // Likewise, of whatever version.
  void prefetch_link() const {
    uintptr_t bits = payload_.load(std::memory_order_relaxed);
    if (is_link(bits)) reinterpret_cast<Record*>(bits & ~RecordHolder::link_bit)->prefetch();
  }
  // Lock holder. Ignored if the row is external, or somebody holds the intent lock here: there is
  // no room then.
  void set_link(Record* target) {
    uintptr_t bits = payload_.load(std::memory_order_relaxed);
    if (bits != 0 && !is_link(bits)) return;
    // Nobody else changes a link; who comes with the intent lock may have taken an empty word.
    payload_.compare_exchange_strong(bits,
                                     reinterpret_cast<uintptr_t>(target) | RecordHolder::link_bit,
                                     std::memory_order_release, std::memory_order_relaxed);
  }

  RecordHolder holder() const {
    return RecordHolder::of_word(payload_.load(std::memory_order_seq_cst));
  }
  // From none: only where there is neither a payload nor a link. False: it was another.
  bool change_holder(RecordHolder from, RecordHolder to) {
    uintptr_t bits = from.word();
    return payload_.compare_exchange_strong(bits, to.word(), std::memory_order_seq_cst);
  }

  // Lock holder, of a record that RecordAllocator::create_held() has made: its row is there now.
  void install_in_place(Tid tid) { tid_word_.install(tid, /*absent=*/false); }
  // Lock holder: publishes that the key has no row since `tid`, and unlocks.
  void install_absent(Tid tid) { tid_word_.install(tid, /*absent=*/true); }

 private:
  friend class RecordAllocator;
  Record(std::string_view key, size_t inline_words, TidWord initial);

  // Null: the row is inline.
  ExternalPayload* external() const {
    uintptr_t bits = payload_.load(std::memory_order_acquire);  // pairs with set_external()
    constexpr uintptr_t none = RecordHolder::link_bit | RecordHolder::held_bit;
    return (bits & none) != 0 ? nullptr : reinterpret_cast<ExternalPayload*>(bits);
  }
  // Lock holder. Null: the row is inline, and a link is forgotten.
  void set_external(ExternalPayload* external);
  static bool is_link(uintptr_t bits) { return (bits & RecordHolder::link_bit) != 0; }
  size_t capacity_words() const {
    const ExternalPayload* payload = external();
    return payload != nullptr ? payload->capacity_words : inline_words_;
  }
  uint64_t* inline_row() { return reinterpret_cast<uint64_t*>(this + 1) + row_words(key_bytes_); }
  const uint64_t* inline_row() const {
    return reinterpret_cast<const uint64_t*>(this + 1) + row_words(key_bytes_);
  }
  TidWord stable_read_patiently(RowBuffer& buffer) const;
  bool contains(const RowPart& part, const char* expected) const;
  void write_row(std::string_view row, ExternalPayload* external);
  // Of a record that nobody else can find yet.
  void write_first_row(std::string_view row);

  AtomicTidWord tid_word_;
  // An external payload, or a link | link_bit, or a RecordHolder, or 0.
  std::atomic<uintptr_t> payload_{0};
  std::atomic<uint32_t> inline_bytes_{
      0};  // <= inline_words_ * 8 at any moment, torn reads included
  uint16_t inline_words_;
  uint16_t key_bytes_;
};
static_assert(sizeof(Record) == 24);

}  // namespace pgsilo
