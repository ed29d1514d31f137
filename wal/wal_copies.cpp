// Which copy of the database this is, and that its log directories are no other's (docs/backup.md,
// Two copies).
#include <algorithm>

#include "wal/layout/copy_mark.h"
#include "wal/wal_state.h"

namespace pgsilo {

// A start from a label makes it up; so does one of a copy that an earlier version has started.
bool Wal::State::find_copy(std::string* why) {
  if (!from_backup && !read_copy_mark(files, directory, &copy, why)) return false;
  bool copied =
      from_backup || restored || std::ranges::any_of(control.own_starts, &OwnStart::copied);
  bool nameless = copied && copy == Uuid{};
  if (nameless) copy = Uuid::generate();
  marks_copy = nameless || forgotten;
  return true;
}

// Behind a checkpoint nothing of the logs may be needed, so that only this keeps a start from
// giving away what another copy needs.
bool Wal::State::are_this_copys_logs(std::string* why) const {
  if (marks_copy) return true;
  for (const LogUnit& unit : units) {
    if (!unit.directory->has_identity()) continue;
    Uuid marked;
    if (!read_copy_mark(files, unit.directory->path(), &marked, why)) return false;
    if (marked == copy) continue;
    // A start may have been cut short between making it and marking it.
    std::vector<uint64_t> segments;
    FileResult result = unit.directory->list_segments(&segments);
    if (marked == Uuid{} && result.ok() && segments.empty()) continue;
    *why = "log directory \"" + unit.directory->path() +
           "\" is another copy's of this database\nHINT:  Name this copy's own directories in "
           "log_directories; the other copy may need that one.";
    return false;
  }
  return true;
}

// Before the control file counts and before a segment is made; the data directory last, for then
// all have to tell. Only by a start that is not refused: the log directories may be the server's,
// if nobody could notice.
bool Wal::State::mark_copy(std::string* why) {
  if (copy == Uuid{}) return true;
  std::vector<std::string> marked;
  for (const LogDirectory* log : log_directories()) marked.push_back(log->path());
  marked.push_back(directory);
  for (const std::string& path : marked) {
    Uuid found;
    std::string damage;
    if (read_copy_mark(files, path, &found, &damage) && found == copy) continue;
    std::string what = "file \"" + join_path(path, copy_mark_name) + "\"";
    if (!write_small(what, [&] { return write_copy_mark(files, path, copy); }, why)) return false;
  }
  return true;
}

}  // namespace pgsilo
