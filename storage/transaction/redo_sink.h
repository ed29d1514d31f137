// The seam through which a commit hands its changes to the log. storage owns it, wal implements it,
// one per worker.
//
// Protocol of one commit (docs/commit_protocol.md):
//   reserve()            before the first record lock; ok promises that the next append() of at
//   most that size cannot fail
//   ... lock, enter the commit slot, validate, install ...
//   append()             after install (append_part() before it, of what is long), before the
//   worker leaves its commit slot; publishes with a release store
// Between an ok reserve() and its append() the worker runs no other fiber. A commit that fails
// validation simply does not append; the next reserve() replaces the reservation. Epoch e of this
// worker is complete in the sink when its commit slot has left e: the logger takes what append()
// published and needs no help from the worker. Thread safety: one worker calls; the logger reads
// what was published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/strong_id.h"
#include "storage/record/tid_word.h"

namespace pgsilo {

class Parker;

// One changed record: the largest TID per (relation, key) wins at recovery. `tombstone`: the key
// has no row; `row` is empty.
struct RedoEntry {
  RelationId relation;
  bool tombstone = false;
  std::string_view key;
  std::string_view row;
};

enum class [[nodiscard]] ReserveResult : uint8_t {
  ok,
  must_wait,  // no free buffer now: wait_for_buffer(), try again
  no_space,   // the log device is full: 53100
};

// What a commit does to the room that data takes on disk.
enum class RedoPurpose : uint8_t {
  growth,
  relief,  // rows or relations go and no row of a user's is written: may use the device's last room
};

class RedoSink {
 public:
  virtual ~RedoSink() = default;
  // Room for one append() of at most `entries` entries whose keys and rows have at most `bytes`
  // bytes together.
  virtual ReserveResult reserve(size_t entries, size_t bytes, RedoPurpose purpose) = 0;
  // A reserve() of so much, for growth, will probably come soon: what takes time may begin. Of
  // none: it will not come.
  virtual void expect(size_t /*entries*/, size_t /*bytes*/) {}
  // Parks the caller until buffers may be free again or until `deadline_us`. Spurious returns are
  // allowed. Called with no lock held.
  virtual void wait_for_buffer(Parker& parker, int64_t deadline_us) = 0;
  // One atomic unit of redo at `tid`; the epoch that the worker announced is at most the tid's.
  // Cannot fail.
  virtual void append(Tid tid, std::span<const RedoEntry> entries) = 0;
  // Of a unit for which room for more than `most_at_once` was reserved: entries before those of its
  // append(), so that they need not all be listed.
  static constexpr size_t most_at_once = 4096;
  virtual void append_part(Tid tid, std::span<const RedoEntry> entries) = 0;
};

// Keeps nothing: for tests, and for a server that was told to run without a log.
class NullRedoSink final : public RedoSink {
 public:
  ReserveResult reserve(size_t, size_t, RedoPurpose) override { return ReserveResult::ok; }
  void wait_for_buffer(Parker&, int64_t) override {}
  void append(Tid, std::span<const RedoEntry>) override {}
  void append_part(Tid, std::span<const RedoEntry>) override {}
};

}  // namespace pgsilo
