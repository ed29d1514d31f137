// What an archive writes down of how far it has got (archive_directory.h).
#include "wal/backup/archive_directory.h"
#include "wal/backup/log_archive.h"

namespace pgsilo {

// A new archive has notes from the beginning; without them nobody knows what it once had. Those of
// one whose logs have gone, or lie where nothing is mounted, stay.
bool LogArchive::begin_notes() {
  if (!logs_.empty()) return true;
  std::string path = join_path(directory_, archived_ends_name);
  std::unique_ptr<File> notes;
  FileResult result = files_.open(path, {}, &notes);
  if (result.status == FileStatus::not_found) return note_ends();
  return result.ok() || fail("open file", path, result);
}

// Behind all that it says. While nothing comes, the file stays.
bool LogArchive::note_ends() {
  std::vector<ArchivedEnd> ends;
  for (const auto& log : logs_) {
    if (log->offset == 0) continue;
    ends.push_back({.log = log->directory.log(),
                    .segment = log->segment,
                    .incarnation = log->first.incarnation,
                    .incarnation_tag = log->first.incarnation_tag,
                    .next_number = log->next_number});
  }
  if (noted_ends_ == ends) return true;
  FileResult result = write_archived_ends(files_, directory_, ends);
  if (!result.ok()) return fail("write file", join_path(directory_, archived_ends_name), result);
  noted_ends_ = std::move(ends);
  return true;
}

}  // namespace pgsilo
