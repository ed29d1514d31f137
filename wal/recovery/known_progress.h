// What is known of how far the logs had got, from marks beside them (wal/layout/progress_file.h).
// Thread safety: pure function of the disk.
#pragma once

#include <optional>
#include <string>

#include "wal/layout/control_file.h"
#include "wal/layout/progress_file.h"

namespace pgsilo {

class FileSystem;

// The newest mark of the control file's last incarnation. None and true: it is of a format that
// made none, or was closed and there is no file. False: `why`, for there should be one, or the
// newest is of an incarnation that the control file does not know but that had logged something.
bool find_progress(FileSystem& files, const std::string& directory, const ControlFile& control,
                   std::optional<ProgressMark>* mark, std::string* why);

}  // namespace pgsilo
