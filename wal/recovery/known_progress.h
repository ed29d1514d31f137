// What is known of how far the logs had got, from marks beside them (wal/layout/progress_file.h).
// Thread safety: pure function of the disk.
#pragma once

#include <optional>
#include <string>

#include "wal/layout/control_file.h"
#include "wal/layout/progress_file.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

class FileSystem;

// The newest mark of the control file's last incarnation. None and true: it is of a format that
// made none, or was closed and there is no file. False: `why`, for there should be one, or the
// newest is of an incarnation that the control file does not know but that had logged something.
bool find_progress(FileSystem& files, const std::string& directory, const ControlFile& control,
                   std::optional<ProgressMark>* mark, std::string* why);

// The segment of a log in which blocks were written, by the mark, that are not found; 0: it tells
// none. They are damaged or gone, though no start may need them any more. They may be archived, and
// numbers of segments do not come again. `mark`: null, or of the newest incarnation.
uint64_t lost_segment(const ProgressMark* mark, const Uuid& log,
                      const std::vector<SegmentScan>& scans);

}  // namespace pgsilo
