// What the logs hold of one incarnation, put together from the scans of their segments: how far
// each log's blocks follow each other, and the epoch that they prove durable. Thread safety: none;
// values that refer to the scans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/epoch/epoch.h"
#include "wal/layout/control_file.h"
#include "wal/layout/progress_file.h"
#include "wal/recovery/recovery_report.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

class LogDirectory;

// One incarnation's part of one log.
struct LogPart {
  const LogDirectory* directory = nullptr;
  struct Piece {
    const SegmentScan* scan;
    const BlockRun* run;
  };
  std::vector<Piece> prefix;  // runs that follow each other from the first block on
  bool gap = false;           // undamaged blocks come after the prefix
  std::string end_path;       // where the prefix ends
  uint64_t end_offset = 0;
  uint64_t next_number = 0;   // of the block that would come there
  uint64_t known_blocks = 0;  // those of lower numbers were on disk, by the mark of progress
  Epoch reaches;              // `complete` of its last trailer
};

struct IncarnationParts {
  std::vector<LogPart> logs;  // by logger
  Epoch recorded;             // the largest D that any of its blocks, or the mark, records
  std::string heir;           // who says that even more was durable: a later start, and where
  bool has_blocks = false;
  bool files_missing = false;  // a log has not one segment, though segments were prepared before
                               // the incarnation began
};

bool made_checkpoint(const ControlFile& control, const Incarnation& incarnation);
// The first epoch of which the logs are needed.
Epoch first_needed(const ControlFile& control, const Incarnation& incarnation);

// Of blocks that are another incarnation's of the same number: of a copy that went on apart.
bool is_others(const Incarnation& incarnation, const BlockRun& run);
// Whether a later start that the control file names went on from the one that wrote the run.
bool is_parent(const ControlFile& control, const BlockRun& run);
// Takes out those of which no log is needed, or that ended in good order and logged nothing. What
// the newest state was of them, and of those before; null: it is not known.
HistoryPoint forget_incarnations(ControlFile* control);

// `scans` are by directory. `mark`, if not null: of the incarnation.
IncarnationParts collect_parts(const ControlFile& control, const Incarnation& incarnation,
                               const std::vector<LogDirectory*>& logs,
                               const std::vector<std::vector<SegmentScan>>& scans,
                               const ProgressMark* mark);

// Later starts say how much of it they went on from. That was durable, even of those of which
// nothing is there but a begin block: who died in between has found no more than is there still.
// (What was given up since is no question any more: the control file has closed it.)
void ask_heirs(const Incarnation& incarnation, const std::vector<std::vector<SegmentScan>>& scans,
               IncarnationParts& parts);

// The largest epoch that the parts prove durable; that before the first one needed if they prove
// none.
Epoch proven_epoch(const ControlFile& control, const Incarnation& incarnation,
                   const IncarnationParts& parts);
// Whether a log has not even what was made durable in it before the incarnation was named, or not
// all that the mark of progress says was.
bool lacks_blocks(const Incarnation& incarnation, const LogPart& part);

IncarnationReport report_on(const Incarnation& incarnation, const IncarnationParts& parts);
// Which logs lost what: epochs up to `known` were durable, `durable` is proven.
std::string describe_loss(const Incarnation& incarnation, const IncarnationParts& parts,
                          Epoch known, Epoch durable);

}  // namespace pgsilo
