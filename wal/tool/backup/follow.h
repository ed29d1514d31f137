// `pgsilo-backup follow`: the server's log, archived as it is written, by a replication slot.
#pragma once

#include <string>

#include "wal/tool/backup/command_line.h"

namespace pgsilo {
class FileSystem;
}  // namespace pgsilo

namespace pgsilo::backup_tool {

// Until it is told to end by SIGINT or SIGTERM, or by --once; a server that is away, and devices
// that fail or are full, are waited for.
// False: `why`.
bool follow(FileSystem& files, const CommandLine& line, std::string* why);

}  // namespace pgsilo::backup_tool
