// Recovery without its result: what it reads, with trees for nothing. Thread safety:
// one call at a time; uses `threads` threads inside.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "wal/layout/control_file.h"
#include "wal/recovery/log_analyzer.h"
#include "wal/recovery/recovery_report.h"
#include "wal/recovery/recovery_result.h"

namespace pgsilo {

class FileSystem;
class LogDirectory;
class RecoveryMeter;
struct OpenedCheckpointFile;

// False: `why`, as analyze_logs() and replay_logs() say it; the report is then of what they would
// make of it with accept_data_loss, or empty if they refuse that, too.
bool inspect_logs(FileSystem& files, const std::vector<LogDirectory*>& logs,
                  const ControlFile& control, AnalyzerOptions options, RecoveryMeter& meter,
                  RecoveryReport* report, LogAnalysis* analysis, std::string* why);

// What is wrong with a relation's blocks in a checkpoint.
struct DamagedRelation {
  std::string why;  // of one of them, as load_checkpoint() says it
  // Those that a start could leave out, and others.
  uint64_t skippable_blocks = 0;
  uint64_t skippable_records = 0;
  uint64_t fatal_blocks = 0;
};
using CheckpointDamage = std::map<RelationId, DamagedRelation>;

// The blocks of a checkpoint, all of them.
CheckpointDamage inspect_checkpoint(FileSystem& files,
                                    const std::vector<OpenedCheckpointFile>& opened,
                                    unsigned threads, RecoveryMeter& meter,
                                    CheckpointReport* report);

// Leaves of it what load_checkpoint() would meet. It does not read what was dropped since, which
// the catalog tells, if that is whole.
void forget_dropped(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
                    const LogAnalysis& analysis, const LiveRelationsIn& live, unsigned threads,
                    RecoveryMeter& meter, CheckpointDamage* damage);

}  // namespace pgsilo
