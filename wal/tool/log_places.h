// Where the logs of a data directory lie, for tools: a server is told by its setting
// log_directories, a tool finds those inside of the directory by what the control file says. Locks
// nothing and writes nothing. Thread safety: plain functions.
#pragma once

#include <string>
#include <vector>

#include "wal/layout/control_file.h"

namespace pgsilo {

class FileSystem;

// Directories of the logs that the control file names, in its order, each once, as log_directories
// would name them: relative ones lie in the data directory. Those of `named` come first, as they
// are. A log that is not among them is looked for inside of the data directory only, under the name
// that it had: elsewhere the control file of a copy finds the original's. Where none is found: the
// directory that a server takes by default. `*elsewhere`, if not null: logs that are not among
// them.
std::vector<std::string> find_log_directories(FileSystem& files, const std::string& data_directory,
                                              const ControlFile& control,
                                              const std::vector<std::string>& named,
                                              std::vector<LogIdentity>* elsewhere = nullptr);

}  // namespace pgsilo
