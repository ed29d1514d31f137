// Recovery without its result: what it reads, with trees for nothing. Thread safety:
// one call at a time; uses `threads` threads inside.
#pragma once

#include <string>
#include <vector>

#include "wal/layout/control_file.h"
#include "wal/recovery/log_analyzer.h"
#include "wal/recovery/recovery_report.h"

namespace pgsilo {

class FileSystem;
class LogDirectory;
class RecoveryMeter;
struct OpenedCheckpointFile;

// False: `why`, as analyze_logs() and replay_logs() say it; the report is then of what they would
// make of it with accept_data_loss, or empty if they refuse that, too.
bool inspect_logs(FileSystem& files, const std::vector<LogDirectory*>& logs,
                  const ControlFile& control, AnalyzerOptions options, RecoveryMeter& meter,
                  RecoveryReport* report, std::string* why);

// The blocks of a checkpoint. False: `why`, as load_checkpoint() says it.
bool inspect_checkpoint(FileSystem& files, const std::vector<OpenedCheckpointFile>& opened,
                        unsigned threads, RecoveryMeter& meter, CheckpointReport* report,
                        std::string* why);

}  // namespace pgsilo
