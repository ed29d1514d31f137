// A recovery report as text for people. Thread safety: plain functions.
#pragma once

#include <string>

#include "wal/recovery/recovery_report.h"

namespace pgsilo {

class FileSystem;

// `sound`: a start would not refuse; else the text tells what it would make of the logs with
// recovery_accept_data_loss. Looks at what lies behind the ends of the logs.
std::string recovery_text(FileSystem& files, const RecoveryReport& report, bool sound);

}  // namespace pgsilo
