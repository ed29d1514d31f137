// The logs of a backup's source, and of an archive beside it: which segments there are, and what
// lies in them. Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/layout/log_directory.h"
#include "wal/recovery/incarnation_parts.h"

namespace pgsilo {

struct BackupSource;

struct SourceLog {
  std::unique_ptr<LogDirectory> directory;   // one of those that hold it
  std::string path;                          // of the last of them: an archive's, if it has one
  std::map<uint64_t, std::string> segments;  // path by number; from where the checkpoint needs them
};

class SourceLogs {
 public:
  // What `control` needs, and what else is there of its database. False: `why`.
  bool find(FileSystem& files, const BackupSource& source, const ControlFile& control,
            std::string* why);
  // Reads all segments. After find(). False: `why`.
  bool scan(FileSystem& files, std::string* why);

  // Null: it is not there.
  const SourceLog* log(const Uuid& log) const;
  const std::vector<SourceLog>& logs() const { return logs_; }
  // By log, as scan() found them.
  const std::vector<std::vector<SegmentScan>>& scans() const { return scans_; }
  // What of them was archived and is not there any more, as far as `control` needs it; a line each.
  // After scan().
  std::string lost_since_archived(const ControlFile& control) const;
  // Whether a block of a start was archived for good; if that is not known, it is taken for so.
  bool was_archived(const Uuid& log, const Incarnation& incarnation, uint64_t number) const;
  // Whether an archive has blocks of a start, from where the checkpoint needs its log on.
  bool has_archived(const Incarnation& incarnation) const;
  // Whose logs are all there. After scan().
  IncarnationParts parts(const ControlFile& control, const Incarnation& incarnation) const;

 private:
  bool add(FileSystem& files, const std::string& path, const ControlFile& control,
           std::string* why);
  bool note_archived(FileSystem& files, const std::string& path, std::string* why);

  std::vector<SourceLog> logs_;
  std::optional<std::vector<ArchivedEnd>> archived_ends_;
  std::vector<std::vector<SegmentScan>> scans_;
  std::vector<BlockHeader> archived_;  // the first of each of an archive's segments
};

}  // namespace pgsilo
