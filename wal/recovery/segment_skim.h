// Which segments recovery's first pass need not scan, so that it reads most of a long log once
// (docs/recovery.md). A segment is trusted to be filled without a gap from its first block on if
// the next one goes on in the same incarnation; replay checks that (RangeWalks). What the first
// pass is there for is elsewhere then: who behind it has a trailer that is durable proves that all
// before it was synced. And behind a segment in which there is no block there is none either, for
// the log begins a segment when the one before has been synced; so of the prepared ones at its end
// only the first is scanned. Not even that one if every incarnation is closed: how much counts is
// known then, and must be in what is scanned. Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/epoch/epoch.h"
#include "wal/layout/control_file.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

class FileSystem;
class LogDirectory;

// One of the segments that are there.
struct SegmentIndex {
  size_t log;    // directory
  size_t index;  // in the order of numbers
};

class SegmentSkim {
 public:
  using Scans = std::vector<std::vector<SegmentScan>>;  // by directory, ascending numbers

  // `scans` know numbers and paths.
  SegmentSkim(FileSystem& files, const std::vector<LogDirectory*>& logs, const ControlFile& control,
              Scans& scans)
      : files_(files), logs_(logs), control_(control), scans_(scans) {}

  // Gives those that are trusted their run, and marks those that are skipped.
  void trust();
  static bool is_trusted(const SegmentScan& scan) {
    return !scan.runs.empty() && !scan.runs.front().scanned;
  }
  // Once the others have been scanned: those of the trusted and skipped that are no longer. To be
  // called until there is none.
  std::vector<SegmentIndex> doubt();

 private:
  void trust_log(size_t log);
  void doubt_trusted(std::vector<SegmentIndex>& doubted);
  void doubt_skipped(std::vector<SegmentIndex>& doubted);
  bool known(uint64_t incarnation) const;
  Epoch proven(const Incarnation& incarnation) const;

  FileSystem& files_;
  const std::vector<LogDirectory*>& logs_;
  const ControlFile& control_;
  Scans& scans_;
};

}  // namespace pgsilo
