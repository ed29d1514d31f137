// Recovery's first pass: reads every log (of a long one only what it needs: SegmentSkim), finds for
// each incarnation the epoch D up to which its records count, and refuses what is damaged at or
// below an epoch that is known to have been durable (docs/recovery.md).
//
// For an incarnation, each log counts as far as its blocks follow each other without a gap from the
// first one. Epoch c is durable if a trailer (c, last_data) is there and every log's last trailer
// reaches last_data of that log. If any block anywhere, or the control file, records a larger D,
// or a later start has gone on from one, then a log has lost what it once held: data loss. So it
// has if it lacks blocks that the mark of progress (wal/layout/progress_file.h) knows of, or the
// first one, which is there before the control file names the incarnation. A gap above all that is
// the torn end of the last batch.
//
// With a checkpoint, what is older counts no more: of the incarnation that made it, each log begins
// with the block that its cut names, and holds all that is needed of the epochs before the
// checkpoint; incarnations before that one have nothing in the logs that is needed.
//
// Thread safety: one call at a time; uses `threads` threads inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/epoch/epoch.h"
#include "wal/layout/control_file.h"
#include "wal/recovery/recovery_report.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

class FileSystem;
struct FileResult;
class LogDirectory;
class RecoveryMeter;
struct ProgressMark;

// A segment that was not scanned: it must hold these blocks.
struct TrustedSegment {
  uint64_t first_number = 0;
  uint64_t next_number = 0;
  uint64_t end = 0;  // of the file
};

// Blocks [begin, end) of a segment whose records with epochs from `first` to `durable` count. Of a
// trusted one: those that begin there.
struct ReplayRange {
  std::string path;
  uint64_t incarnation = 0;
  uint64_t incarnation_tag = 0;
  uint64_t segment = 0;
  Uuid log;
  uint64_t begin = 0;
  uint64_t end = 0;
  Epoch first;
  Epoch durable;
  std::optional<TrustedSegment> trusted;

  bool counts(Epoch epoch) const { return first <= epoch && epoch <= durable; }
};

struct LogAnalysis {
  // The newest state of starts of which no log is needed any more, and which `control` has
  // forgotten. Null: it is not known.
  HistoryPoint forgotten;
  Epoch largest_seen;               // in any file, as far as it was read
  uint64_t newest_time_us = 0;      // of a trailer or begin block, likewise
  std::vector<ReplayRange> ranges;  // newest first
  uint64_t replay_bytes = 0;        // of `ranges`
  // Of all segments that are needed, whole, but the one that each log has always.
  uint64_t segment_bytes = 0;
  uint64_t trusted_segments = 0;
  // The blocks among them that may hold entries of system relations.
  std::vector<ReplayRange> system_ranges;
  uint64_t system_bytes = 0;
  // By log directory: the first segment number of the next incarnation, and which segments from
  // there on exist, without a block that counts or will.
  std::vector<uint64_t> next_segment;
  std::vector<std::vector<uint64_t>> empty_segments;
  // They hold first blocks of incarnations that `control` has closed; until its file says so, too,
  // a start looks for them.
  bool close_first = false;
  std::string data_loss;     // with accept_data_loss
  bool call_failed = false;  // refused for that: of what is on disk nothing is known
  // All that the control file names, in its order, up to the one that was refused; without counts
  // of records.
  std::vector<IncarnationReport> incarnations;
};

struct AnalyzerOptions {
  unsigned threads = 1;
  bool accept_data_loss = false;
  bool scan_all = true;  // trusts no segment
  // How far the logs of its incarnation were known to reach; null: not known.
  const ProgressMark* mark = nullptr;
};

// As a start says it: of bytes that are not what was written, and of a call that failed, behind
// which they may all be.
std::string failed_log(const char* what, const std::string& path, const FileResult& result);
std::string failed_call(const std::string& what, const std::string& path, const FileResult& result);
std::string damaged_log(const std::string& path, uint64_t offset);
inline constexpr char accept_hint[] =
    "\nHINT:  Set recovery_accept_data_loss=on to start from the newest consistent state before "
    "it.";

// Closes the incarnations of `control` that are open: sets their `durable`. Drops those that its
// checkpoint covers and those that ended in good order without a record; no other, for its blocks
// may turn up later. False: `why`.
bool analyze_logs(FileSystem& files, const std::vector<LogDirectory*>& logs,
                  const AnalyzerOptions& options, RecoveryMeter& meter, ControlFile* control,
                  LogAnalysis* analysis, std::string* why);

}  // namespace pgsilo
