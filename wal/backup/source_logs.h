// The logs of a backup's source, and of an archive beside it: which segments there are, and what
// lies in them. Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wal/backup/archive_directory.h"
#include "wal/layout/log_directory.h"
#include "wal/log/log_begin.h"
#include "wal/recovery/incarnation_parts.h"

namespace pgsilo {

struct BackupSource;

// Why a segment is refused whose start has the number of another one.
std::string written_by_another_copy(const std::string& path, uint64_t start);

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
  // Whether the archive went on from another state than the backup: its tip is neither a start that
  // the backup's rests on nor one that rests on that, as far as that is known.
  bool is_of_others(const ControlFile& control) const;
  // Of the last record of the backup's server that was archived for good; 0: it is not known.
  Epoch archived_up_to() const;
  // Whether a block of a start was archived for good; if that is not known, it is taken for so.
  bool was_archived(const Uuid& log, const Incarnation& incarnation, uint64_t number) const;
  // Whether an archive noted that it had come to a start, or a later one; if that is not known, so
  // it is.
  bool was_noted(uint64_t number) const;
  // Whether an archive has blocks of a start, from where the checkpoint needs its log on.
  bool has_archived(const Incarnation& incarnation) const;
  // Whether a start went on from the one that the backup was taken of; unknown: its parents are not
  // all there.
  enum class Rests : uint8_t { on_it, on_others, unknown };
  Rests rests_on_backups(uint64_t tag) const;
  // Whether a run is of a start that logged nothing, and that the backup's server never had.
  bool is_strangers(const ControlFile& control, const BlockRun& run) const;
  // Whose logs are all there. After scan().
  IncarnationParts parts(const ControlFile& control, const Incarnation& incarnation) const;

 private:
  static bool is_beside_listed(const ControlFile& control, const ArchivedTip& tip);
  std::optional<HistoryPoint> parent_of(const ControlFile& control, const Uuid& start) const;
  // The last start that wrote to a segment, and where its blocks end.
  struct SegmentEnd {
    uint64_t start = 0;  // its number
    uint64_t bytes = 0;
    uint64_t tag = 0;  // 0: of a begin block alone
  };

  void find_rests(const Incarnation& copied, bool was_idle);
  bool find_begins(FileSystem& files, const std::string& path, std::string* why);
  std::string begun_before(const ControlFile& control) const;
  bool read_end(FileSystem& files, const std::string& path, uint64_t number, const Uuid& log,
                const ControlFile& control, SegmentEnd* end, std::string* why) const;
  bool keep_later(FileSystem& files, std::string* path, const std::string& other, uint64_t number,
                  const Uuid& log, const ControlFile& control, std::string* why) const;
  bool add(FileSystem& files, const std::string& path, const ControlFile& control,
           std::string* why);
  bool note_archived(FileSystem& files, const std::string& path, std::string* why);

  std::vector<SourceLog> logs_;
  std::optional<ArchiveProgress> progress_;
  std::vector<std::vector<SegmentScan>> scans_;
  std::map<uint64_t, LogBegin> begins_;  // an archive's, by their tags
  std::map<uint64_t, Rests> rests_;      // by tag
  // In which segment of an archived log a start is first.
  struct First {
    Uuid log;
    std::string path;
    uint64_t tag = 0;
    uint64_t segment = 0;
  };
  std::vector<First> firsts_;
  std::vector<BlockHeader> archived_;  // the first of each of an archive's segments
};

}  // namespace pgsilo
