// The segments of one log directory: those written to, and empty ones prepared ahead, so that the
// commit path neither creates nor grows a file. Preparing: a retired one, which no recovery reads
// any more, gets the next number; while there is none, a new one is written full of zeros under a
// temporary name and synced. Then the directory is synced, and the segment is opened for the log.
// What a retired one holds belongs to another segment number and offset, and never counts.
//
// Space (durability.md item 10). What rings hold and may still take is promised to fit: while less
// than `low_water` bytes plus what long appends reserved are free in the current and the prepared
// segments, state() is not ample and workers reserve nothing. The writer only ever takes from the
// free side, so everything reserved before still fits.
//
// Thread safety: state(): any thread. prepare*(): one thread at a time. take(), consumed(): the
// logger's step. The rest: any.
#pragma once

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

namespace pgsilo {

enum class LogSpace : uint8_t {
  ample,
  preparing,  // more is being prepared: wait
  exhausted,  // no segment can be had (the device is full, an error of it): 53100
};

struct Segment {
  uint64_t number = 0;
  uint64_t bytes = 0;
  std::string path;
  std::unique_ptr<File> file;
};

struct SegmentStoreOptions {
  std::string directory;
  size_t segment_bytes = 0;
  size_t ring_bytes = 0;  // of all workers that log here
  unsigned workers = 0;
  unsigned spare_segments = 0;
  uint64_t retired_bytes = 0;  // of retired segments that are kept to be used again
  bool direct = true;          // else written through the page cache
};

class SegmentStore {
 public:
  SegmentStore(FileSystem& files, SegmentStoreOptions options);

  // Segments from `first` on are this incarnation's. `empty`: segments without a block from an
  // earlier start, to be used again.
  FileResult open(uint64_t first, const std::vector<uint64_t>& empty);
  const std::string& directory() const { return options_.directory; }
  size_t segment_bytes() const { return options_.segment_bytes; }

  LogSpace state() const { return state_.load(std::memory_order_acquire); }
  // Long appends. ample: promises room for `bytes` bytes of redo, until release_long(). preparing:
  // wait and ask again; segments for it are wanted. exhausted: they could not be had.
  LogSpace reserve_long(size_t bytes);
  // Whether reserve_long() would say something else than preparing.
  bool long_decided(size_t bytes) const;
  void release_long(size_t bytes);

  // Where the log stands: the segment being written and the number of its first block, or those of
  // the next one while there is none. Everything logged from now on lies there or behind.
  struct Position {
    uint64_t segment = 0;
    uint64_t block = 0;
  };
  Position position() const;

  // The next empty segment; there is one (the promise above). `first_block`: the number of the
  // first block that goes into it.
  Segment take(uint64_t first_block);
  // The writer has used the current segment up to `used` of `bytes`.
  void consumed(uint64_t used, uint64_t bytes);

  // True if segments are missing and prepare_one() should run.
  bool wants_segments() const;
  // Prepares one segment. Any failure, of memory too: while more are needed, state() is exhausted
  // until a later call succeeds.
  FileResult prepare_one();
  // Nobody reads segments below `number` any more. `newly`, if not null: how many of them were live
  // until now.
  FileResult retire_below(uint64_t number, uint64_t* newly = nullptr);
  // Whether more retired segments are there than are kept.
  bool has_surplus() const;
  // Removes one of them, gradually. As prepare_one(): one thread at a time.
  FileResult remove_surplus();
  // Removes all of them: the device is full. Whether there were any.
  bool remove_retired();
  uint64_t prepared() const { return prepared_.load(std::memory_order_relaxed); }
  // Empty ones at hand; any thread.
  size_t ready() const;
  // Segments that a recovery would read.
  uint64_t live() const;
  // Retired segments that are kept.
  size_t retired() const;

 private:
  FileResult open_segment(uint64_t number, Segment* segment);
  FileResult prepare_next();
  FileResult write_zeros(const std::string& path);
  FileResult make_segment(uint64_t number);
  std::optional<uint64_t> take_retired();
  // Redo bytes -> bytes of segments that certainly hold them.
  size_t worst_case(size_t redo_bytes) const;
  uint64_t free_bytes() const;    // with mutex_
  uint64_t needed_bytes() const;  // with mutex_
  void update_state();            // with mutex_

  FileSystem& files_;
  SegmentStoreOptions options_;
  size_t low_water_ = 0;
  std::atomic<LogSpace> state_{LogSpace::preparing};
  std::atomic<uint64_t> prepared_{0};
  mutable std::mutex mutex_;
  std::deque<Segment> ready_;
  std::deque<uint64_t> retired_;  // ascending
  uint64_t first_live_ = 0;       // number; 0: not known yet
  uint64_t next_number_ = 1;
  Position position_;  // of the current segment; 0: there is none
  uint64_t current_free_ = 0;
  uint64_t long_reserved_ = 0;
  uint64_t long_wanted_ = 0;   // of a long append that did not fit yet
  bool long_refused_ = false;  // ... and cannot be prepared for: its owner has not heard yet
  bool cannot_prepare_ = false;
};

}  // namespace pgsilo
