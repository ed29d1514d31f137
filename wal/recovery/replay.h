// Recovery's second pass: puts the newest version of every key into its tree (SiloR section 5.2).
// Value logging needs no order: the largest TID per key wins, whichever is met first. Newest first
// is only faster. Deletes leave tombstones in the trees until all is replayed, so that an older
// insert met later loses (durability.md item 8). Thread safety: one call at a time; uses `threads`
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

struct ReplayCounts {
  uint64_t records = 0;
  uint64_t entries = 0;
};

// False: `why`; the log changed since it was analyzed, or memory ran out.
bool replay_logs(FileSystem& files, const LogAnalysis& analysis, unsigned threads,
                 RelationDirectory& relations, Reclaimer& reclaimer, RecoveryMeter& meter,
                 ReplayCounts* counts, std::string* why);

}  // namespace pgsilo
