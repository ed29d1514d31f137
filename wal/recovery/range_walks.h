// What walks over the ranges of a log met, beside whole records: the numbers of blocks that no
// first pass has seen, and the pieces of long records, which are put together when all ranges have
// been walked. Thread safety: each walk is its walker's; the rest when they are done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/epoch/epoch.h"
#include "wal/layout/log_format.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {

// A block that holds part of a long record.
struct PieceRef {
  uint64_t offset;  // in the segment
  uint64_t bytes;   // on disk
  uint64_t payload_bytes;
  uint64_t piece_offset;
  uint64_t piece_total;
};

struct RangeWalk {
  // Of the blocks that begin in the range; equal: none does.
  uint64_t first_number = 0;
  uint64_t next_number = 0;
  uint64_t end = 0;    // of the last one in the segment
  uint64_t bytes = 0;  // of all
  Epoch largest_seen;  // that any field of them mentions
  std::vector<PieceRef> pieces;

  // False: it does not belong there.
  bool add(const ReplayRange& range, const BlockView& block);
};

// A record too long for one block: its pieces, in order.
struct LongRecord {
  std::vector<ReplayRange> pieces;
  uint64_t total = 0;
};

class RangeWalks {
 public:
  // `ranges` are newest first.
  explicit RangeWalks(const std::vector<ReplayRange>& ranges)
      : ranges_(ranges), walks_(ranges.size()) {}

  RangeWalk& operator[](size_t range) { return walks_[range]; }

  // Whether trusted segments hold what their neighbours' numbers said. False: `why`.
  bool complete(std::string* why) const;
  Epoch largest_seen() const;
  uint64_t bytes() const;
  // A long record whose end is missing was in the torn end of the log and is left out; so is one
  // whose beginning lies before the cut.
  std::vector<LongRecord> long_records() const;

 private:
  const std::vector<ReplayRange>& ranges_;
  std::vector<RangeWalk> walks_;
};

}  // namespace pgsilo
