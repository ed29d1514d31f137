// Where the logs of a data directory lie, for tools: a server is told by its setting
// log_directories, a tool finds them by what the control file says. Locks nothing and writes
// nothing. Thread safety: plain functions.
#pragma once

#include <string>
#include <vector>

#include "wal/layout/control_file.h"

namespace pgsilo {

class FileSystem;

// Directories of the logs that the control file names, in its order, each once. Those of `named`
// come first, as they are; relative ones lie in the data directory. A log that is not among them is
// looked for where a copied or moved data directory has it, under the same name inside of it, then
// where it was. One that is nowhere is left out. Where nothing is named at all: the directory that
// a server takes by default.
std::vector<std::string> find_log_directories(FileSystem& files, const std::string& data_directory,
                                              const ControlFile& control,
                                              const std::vector<std::string>& named);

}  // namespace pgsilo
