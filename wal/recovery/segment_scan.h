// What recovery's first pass finds in one segment: the runs of undamaged blocks that follow each
// other without a gap. Thread safety: values; scan_segment() from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "storage/epoch/epoch.h"
#include "wal/log/log_format.h"

namespace pgsilo {

// A block that holds part of a long record.
struct PieceRef {
  uint64_t offset;  // in the segment
  uint64_t bytes;   // on disk
  uint64_t payload_bytes;
  uint64_t piece_offset;
  uint64_t piece_total;
};

struct BlockRun {
  uint64_t incarnation = 0;
  uint64_t begin = 0;  // offsets in the segment
  uint64_t end = 0;
  uint64_t first_number = 0;
  uint64_t next_number = 0;
  Epoch recorded;                // the largest D its blocks record
  Epoch largest_seen;            // the largest epoch that any field of its blocks mentions
  std::vector<uint64_t> splits;  // block boundaries about a megabyte apart, begin and end included
  std::vector<PieceRef> pieces;
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
};

// Where trailers that decide nothing any more may be dropped: those of epochs below one that a
// later block records as durable, unless damage is to be accepted, and unless the incarnation has
// been closed at an even older epoch (after accepted damage).
struct TrailerRule {
  bool keep_all = false;
  std::map<uint64_t, Epoch> closed_at;  // by incarnation
};

SegmentScan scan_segment(FileSystem& files, const std::string& path, uint64_t number,
                         const Uuid& log, const TrailerRule& rule);

}  // namespace pgsilo
