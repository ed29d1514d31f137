// Recovery's second pass: puts the newest version of every key into its tree (SiloR section 5.2).
// Value logging needs no order: the largest TID per key wins, whichever is met first. Newest first
// is only faster. Deletes leave tombstones in the trees until all is replayed, so that an older
// insert met later loses (docs/recovery.md). Thread safety: one call at a time; uses `threads`
// threads inside. Nobody else uses the relations meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "wal/recovery/log_analyzer.h"

namespace pgsilo {

class FileSystem;
class Reclaimer;
class RecoveryMeter;
class RelationDirectory;
class RestoredRelations;

struct ReplayCounts {
  uint64_t records = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;  // of blocks
  Epoch largest_seen;  // that any block mentions
};

// Restores what `restored` contains. `counts`: of all that was read. False: `why`; what was trusted
// is damaged, the log changed since it was analyzed, or memory ran out.
bool replay_logs(FileSystem& files, const LogAnalysis& analysis, const RestoredRelations& restored,
                 unsigned threads, RelationDirectory& relations, Reclaimer& reclaimer,
                 RecoveryMeter& meter, ReplayCounts* counts, std::string* why);

}  // namespace pgsilo
