// The segments of one log directory: those written to, and empty ones prepared ahead, so that the
// commit path neither creates nor grows a file. Preparing: a retired one, which no recovery reads
// any more, gets the next number; while there is none, a new one is written full of zeros under a
// temporary name and synced. Then the directory is synced, and the segment is opened for the log.
// What a retired one holds belongs to another segment number and offset, and never counts.
//
// Space (docs/disk_space.md). What rings hold and may still take is promised to fit: while less
// than `low_water` bytes plus what long appends reserved are free in the current and the prepared
// segments, state() is not ample and workers reserve nothing. The writer only ever takes from the
// free side, so everything reserved before still fits.
//
// The way out of a full device. Above that lie four segments which growth may not touch: they
// are for commits that free space, but for one and a half, a checkpoint's share. That is given up
// when a checkpoint, which alone gives log space back, needs its room (make_room()). The rest never
// is: others may take what becomes free on the device. While it is short of space (is_short()) no
// more is prepared than that, and while a checkpoint uses the room nothing is.
//
// Thread safety: state(): any thread. prepare*(): one thread at a time. take(), consumed(): the
// logger's step. The rest: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "storage/epoch/epoch.h"
#include "storage/transaction/redo_sink.h"

namespace pgsilo {

enum class LogSpace : uint8_t {
  ample,
  preparing,  // more is being prepared: wait
  exhausted,  // no segment can be had (the device is full, an error of it): 53100
};

// Whether workers may have been promised room: not while a server starts, nor when it has stopped.
enum class LogUse : uint8_t { busy, idle };

struct Segment {
  uint64_t number = 0;
  uint64_t bytes = 0;
  std::string path;
  std::unique_ptr<File> file;
};

struct SegmentStoreOptions {
  std::string directory;
  Uuid log = {};  // whose directory it is
  size_t segment_bytes = 0;
  size_t ring_bytes = 0;  // of all workers that log here
  unsigned workers = 0;
  unsigned spare_segments = 0;  // at most; as many bytes as were logged
  uint64_t retired_bytes = 0;   // of retired segments that are kept to be used again
  bool direct = true;           // else written through the page cache
};

class SegmentStore {
 public:
  SegmentStore(FileSystem& files, SegmentStoreOptions options);

  // Segments from `first` on are this incarnation's. `empty`: segments without a block from an
  // earlier start, to be used again.
  FileResult open(uint64_t first, const std::vector<uint64_t>& empty);
  const std::string& directory() const { return options_.directory; }
  size_t segment_bytes() const { return options_.segment_bytes; }

  LogSpace state(RedoPurpose purpose = RedoPurpose::growth) const {
    return state_[index(purpose)].load(std::memory_order_acquire);
  }
  // A segment could not be had for want of space, or writers are refused for whatever reason, and
  // no checkpoint has been made since.
  bool is_short() const;
  // Long appends. ample: promises room for `bytes` bytes of redo, until release_long(). preparing:
  // wait and ask again; segments for it are wanted. exhausted: they could not be had. Said only to
  // who `has_waited`: it may have been found out for one that has given up since.
  LogSpace reserve_long(size_t bytes, RedoPurpose purpose, bool has_waited);
  // Segments for a reserve_long() of so much are wanted, before it comes; none: it will not come.
  // Promises nothing; any reserve_long() ends it.
  void expect_long(size_t bytes);
  // Whether reserve_long() would say something else than preparing.
  bool long_decided(size_t bytes, RedoPurpose purpose) const;
  void release_long(size_t bytes);

  // Where the log stands: the segment being written and the number of its first block, or those of
  // the next one while there is none. Everything logged from now on lies there or behind.
  struct Position {
    uint64_t segment = 0;
    uint64_t block = 0;
  };
  Position position() const;

  // The next empty segment; there is one (the promise above). `first_block`: the number of the
  // first block that goes into it; `complete`: up to which epoch the batch that is being written
  // holds records, nothing if it is the incarnation's first block.
  Segment take(uint64_t first_block, Epoch complete);
  // The last segment of this start such that who looks at the log when all of `epoch` is durable
  // finds everything before it; 0: none.
  uint64_t first_behind(Epoch epoch) const;
  // The first of this start's that is live; 0: none is begun.
  uint64_t first_begun() const;
  // The writer has used the current segment up to `used` of `bytes`.
  void consumed(uint64_t used, uint64_t bytes);

  // True if segments are missing and prepare_one() should run.
  bool wants_segments() const;
  // Prepares one segment, if any is wanted. Any failure, of memory too: while more are needed,
  // state() is exhausted until a later call succeeds.
  FileResult prepare_one();
  // Nobody reads segments below `number` any more. `newly`, if not null: how many of them were live
  // until now.
  FileResult retire_below(uint64_t number, uint64_t* newly = nullptr);
  // Whether more retired segments are there than are kept.
  bool has_surplus() const;
  // Removes one of them, gradually. As prepare_one(): one thread at a time.
  FileResult remove_surplus();
  // The device is full and somebody needs room there: removes retired segments, then empty ones,
  // until that many bytes are free; none if they would not be enough. Of a busy log none that
  // commits which free space may want. Whether it did. Nothing is prepared then until
  // end_of_need().
  bool make_room(uint64_t bytes, LogUse use);
  // The checkpoint has been made, or given up.
  void end_of_need(bool made);
  uint64_t prepared() const { return prepared_.load(std::memory_order_relaxed); }
  // Empty ones at hand; any thread.
  size_t ready() const;
  // Segments that a recovery would read.
  uint64_t live() const;
  // The first of these.
  uint64_t first_live() const;
  // Retired segments that are kept.
  size_t retired() const;
  // On disk, about: those of all three kinds.
  uint64_t bytes() const { return (live() + ready() + retired()) * options_.segment_bytes; }

 private:
  FileResult open_segment(uint64_t number, Segment* segment);
  FileResult prepare_next();
  FileResult write_zeros(const std::string& path);
  FileResult make_segment(uint64_t number);
  FileResult may_be_reused(const std::string& path, bool* may) const;
  std::optional<uint64_t> take_retired();
  // With mutex_: down to one that the incarnation may begin in, and of a busy log to what others
  // may want.
  uint64_t removable_segments(LogUse use) const;
  bool remove_last_ready(LogUse use);
  bool remove_retired();
  static constexpr size_t index(RedoPurpose purpose) { return static_cast<size_t>(purpose); }
  // Redo bytes -> bytes of segments that certainly hold them.
  size_t worst_case(size_t redo_bytes) const;
  // With mutex_:
  uint64_t free_bytes() const;
  uint64_t logged_bytes() const;  // since the start, with what was left at ends of segments
  uint64_t promised_bytes() const { return low_water_ + long_reserved_; }
  uint64_t needed_bytes(RedoPurpose purpose) const;
  void update_state();

  FileSystem& files_;
  SegmentStoreOptions options_;
  size_t low_water_ = 0;
  std::array<std::atomic<LogSpace>, 2> state_{LogSpace::preparing, LogSpace::preparing};
  std::atomic<uint64_t> prepared_{0};
  alignas(64) mutable std::mutex mutex_;  // apart from what every commit reads
  std::deque<Segment> ready_;
  std::deque<uint64_t> retired_;  // ascending
  uint64_t first_live_ = 0;       // number; 0: not known yet
  uint64_t taken_ = 0;            // so many were begun
  uint64_t next_number_ = 1;
  Position position_;  // of the current segment; 0: there is none
  struct Begun {
    uint64_t segment;
    Epoch complete;
  };
  std::deque<Begun> begun_;  // by this start, ascending; live ones
  uint64_t current_free_ = 0;
  uint64_t long_reserved_ = 0;
  uint64_t long_wanted_ = 0;       // of a long append that did not fit yet
  uint64_t long_expected_ = 0;     // of one to come; nobody waits for it
  bool expected_in_vain_ = false;  // there was no room for it
  bool long_refused_ = false;      // ... and cannot be prepared for: its owner has not heard yet
  bool cannot_prepare_ = false;
  bool short_ = false;        // for want of space
  bool given_up_ = false;     // a checkpoint uses the room
  bool share_given_ = false;  // ... its share, too, and none has been prepared since
  std::mutex preparation_;    // held while a segment is prepared or given up; before mutex_
};

}  // namespace pgsilo
