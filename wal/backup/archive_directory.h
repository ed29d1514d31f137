// What lies in the directory of an archive: a directory for each log, and beside them a file that
// says up to where all of it was there once, for nothing else tells an end that was lost from an
// end. Thread safety: values and plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/epoch/epoch.h"
#include "wal/layout/log_directory.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

inline constexpr char archive_progress_name[] = "archive.progress";

// Where a log ended that was archived as far as it went. Later blocks come behind that, or those of
// a later start in the place of what the server had lost.
struct ArchivedEnd {
  Uuid log;
  uint64_t segment = 0;
  uint64_t incarnation = 0;  // of the segment's blocks
  uint64_t incarnation_tag = 0;
  uint64_t next_number = 0;  // of the block that would come behind them

  bool operator==(const ArchivedEnd&) const = default;
};

// The newest start of which something is archived that the server told to be durable: it never
// loses that, so that each later start went on from there.
struct ArchivedTip {
  uint64_t tag = 0;     // short_identity() of its id
  uint64_t number = 0;  // the start's
  Epoch logged;         // of a record that is

  bool operator==(const ArchivedTip&) const = default;
};

// All that was committed up to there is archived, or lies before the backup that the archive was
// begun with; in which start that is; 0: not known.
struct ArchivedHad {
  uint64_t tag = 0;
  Epoch epoch;

  bool operator==(const ArchivedHad&) const = default;
};

// What an archive notes of how far it has got.
struct ArchiveProgress {
  std::vector<ArchivedEnd> ends;
  std::optional<ArchivedTip> tip;
  std::optional<ArchivedHad> had;  // none: an earlier version has not noted it

  bool operator==(const ArchiveProgress&) const = default;
};

// The directories that hold a log, in the order of their names. What else there is, a file system's
// own lost+found, say, is none of ours. False: `why`; `*call_failed`: and it may go better.
bool list_archive(FileSystem& files, const std::string& archive, std::vector<LogDirectory>* logs,
                  bool* call_failed, std::string* why);
enum class ArchiveProgressRead {
  ok,  // or there are none, as in an archive of an earlier version
  unreadable,
  damaged,  // or of a later version: none
};
// `why`, unless it is ok.
ArchiveProgressRead read_archive_progress(FileSystem& files, const std::string& archive,
                                          std::optional<ArchiveProgress>* progress,
                                          std::string* why);

// Atomically and durably; what it names is durable.
FileResult write_archive_progress(FileSystem& files, const std::string& archive,
                                  const ArchiveProgress& progress);
// What of a log is not there any more, of which `scans` are the segments in `directory`; empty:
// nothing.
std::string lost_since(const ArchivedEnd& end, const std::string& directory,
                       const std::vector<SegmentScan>& scans);

}  // namespace pgsilo
