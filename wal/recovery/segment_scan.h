// What recovery's first pass finds in one segment: the runs of undamaged blocks that follow each
// other without a gap. Thread safety: values; functions from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "storage/epoch/epoch.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_format.h"

namespace pgsilo {

// Offsets in a segment.
struct BlockSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct BlockRun {
  // False: taken on trust of the first blocks of its segment and the next (skim_segments()), to be
  // checked as it is replayed. It has no trailers or system blocks then, and ends with the file.
  bool scanned = true;
  uint64_t incarnation = 0;
  uint64_t incarnation_tag = 0;
  bool only_begins = false;  // consists of an incarnation's first block, which holds no records
  bool has_records = false;  // batches may be without; of blocks that were scanned
  uint64_t begin = 0;        // offsets in the segment
  uint64_t end = 0;
  uint64_t first_number = 0;
  uint64_t next_number = 0;
  Epoch recorded;      // the largest D its blocks record
  Epoch largest_seen;  // the largest epoch that any field of its blocks mentions
  // Offsets about a megabyte apart, begin and end included; of blocks, if they were scanned.
  std::vector<uint64_t> splits;
  // Of the blocks that may hold entries of system relations, ascending, each at most about a
  // megabyte.
  std::vector<BlockSpan> system;
  HistoryPoint parent;          // by its begin block: what the start went on from, durable then
  uint64_t newest_time_us = 0;  // of its trailers and its begin block
  Epoch first_complete;         // `complete` of its first trailer; 0: it has none
  // Those that may still decide about D (TrailerRule), the last one always.
  std::vector<BatchTrailer> trailers;
};

struct SegmentScan {
  uint64_t number = 0;
  std::string path;
  uint64_t bytes = 0;
  std::vector<BlockRun> runs;
  FileResult result;     // of reading
  bool foreign = false;  // holds blocks of another log
  bool skipped = false;  // not scanned: behind an unused one (SegmentSkim)
};

// Where trailers that decide nothing any more may be dropped: those of epochs below one that a
// later block records as durable, unless damage is to be accepted, and unless the incarnation has
// been closed at an even older epoch (after accepted damage).
struct TrailerRule {
  bool keep_all = false;
  std::map<uint64_t, Epoch> closed_at;  // by incarnation
};

// The run of a segment that is not scanned: `first` is its first block's header, `next` that of the
// segment behind it.
BlockRun trusted_run(const BlockHeader& first, const BlockHeader& next, uint64_t segment_bytes);

SegmentScan scan_segment(FileSystem& files, const std::string& path, uint64_t number,
                         const Uuid& log, const TrailerRule& rule);

}  // namespace pgsilo
