// Which copy of the database this is, and that its log directories are no other's (docs/backup.md,
// Two copies).
#include <algorithm>
#include <optional>

#include "base/failed_call.h"
#include "base/file.h"
#include "wal/backup/archived_starts.h"
#include "wal/layout/copy_mark.h"
#include "wal/log/log_format.h"
#include "wal/wal_state.h"

namespace pgsilo {

// A start from a label makes it up; so does one of a copy that an earlier version has started.
bool Wal::State::find_copy(std::string* why) {
  if (!from_backup && !read_copy_mark(files, directory, &copy, why)) return false;
  bool copied =
      from_backup || restored || std::ranges::any_of(control.own_starts, &OwnStart::copied);
  nameless = copied && copy == Uuid{};
  marks_copy = nameless || forgotten;
  return true;
}

// By a log of its own that tells: a start may have been cut short between the marks, or the data
// directory's may be lost.
bool Wal::State::name_copy(std::string* why) {
  for (const LogUnit& unit : units) {
    if (from_backup || !unit.directory->has_identity()) continue;
    Uuid marked;
    bool own = false;
    if (!read_copy_mark(files, unit.directory->path(), &marked, why)) return false;
    if (marked == Uuid{}) continue;
    if (!is_own_log(*unit.directory, &own, why)) return false;
    if (!own) continue;
    copy = marked;
    return true;
  }
  copy = Uuid::generate();
  return true;
}

// Where an earlier version may have left it, which marks none: it lies in the data directory, as
// all of a copy did first, or what was begun in it last was by this copy. Nothing is in the
// server's log that a start of the copy's own wrote.
bool Wal::State::is_own_log(const LogDirectory& log, bool* own, std::string* why) const {
  *own = lies_inside(files, log.path(), directory);
  if (*own) return true;
  std::vector<uint64_t> segments;
  std::optional<BlockHeader> last;
  FileResult result = log.list_segments(&segments);
  for (; result.ok() && !last && !segments.empty(); segments.pop_back())
    result = read_first_block(files, log, segments.back(), &last, /*begin=*/nullptr);
  *own = last && std::ranges::any_of(control.own_starts, [&](const OwnStart& start) {
           return !start.copied && start.id != Uuid{} &&
                  short_identity(start.id) == last->incarnation_tag;
         });
  if (!result.ok()) *why = could_not("read log directory", log.path(), result);
  return result.ok();
}

// Of what it is marked with. One that has no segments is nobody's yet: a start may have been cut
// short between making it and marking it, or between the marks, behind which the next one makes up
// another copy. A server that is none would leave the mark there.
bool Wal::State::may_use_log(const LogDirectory& log, const Uuid& marked, bool* may,
                             std::string* why) const {
  *may = marked == copy;
  if (*may || copy == Uuid{}) return true;
  std::vector<uint64_t> segments;
  FileResult result = log.list_segments(&segments);
  *may = result.ok() && segments.empty();
  if (*may || marked != Uuid{} || !marks_copy) return true;
  return is_own_log(log, may, why);
}

// Behind a checkpoint nothing of the logs may be needed, so that only this keeps a start from
// giving away what another copy needs. Those of a backup that has not been started are known by
// their names (are_backups_logs()) and by all that its label needs; those that are only read lose
// nothing.
bool Wal::State::are_this_copys_logs(std::string* why) {
  if (nameless && !name_copy(why)) return false;
  for (size_t i = 0; !from_backup && i < std::min(units.size(), log_format::max_loggers); ++i) {
    const LogDirectory& log = *units[i].directory;
    if (!log.has_identity()) continue;
    Uuid marked;
    bool may_use = false;
    if (!read_copy_mark(files, log.path(), &marked, why)) return false;
    if (!may_use_log(log, marked, &may_use, why)) return false;
    if (may_use) continue;
    *why = "log directory \"" + log.path() +
           "\" is another copy's of this database\nHINT:  Name this copy's own directories in "
           "log_directories; the other copy may need that one. If it is this one's own, " +
           way_out(log.path(), marked) + ".";
    return false;
  }
  return true;
}

// For whoever knows that the log is this copy's.
std::string Wal::State::way_out(const std::string& log, const Uuid& marked) const {
  bool names_none = nameless || copy == Uuid{};
  if (names_none && marked == Uuid{}) return "move it into the data directory";
  const std::string& from = names_none ? log : directory;
  const std::string& to = names_none ? directory : log;
  return "copy \"" + join_path(from, copy_mark_name) + "\" into \"" + to + "\"";
}

// Before the control file counts and before a segment is made; the data directory last, for then
// all have to tell. Only by a start that is not refused: the log directories may be the server's,
// if nobody could notice.
bool Wal::State::mark_copy(std::string* why) {
  if (copy == Uuid{}) return true;
  for (const LogUnit& unit : units) {
    if (!mark_directory(unit.directory->path(), why)) return false;
  }
  // Their device may be full, and they are not asked before they are written to.
  std::string ignored;
  for (const auto& log : read_logs) static_cast<void>(mark_directory(log->path(), &ignored));
  return mark_directory(directory, why);
}

bool Wal::State::mark_directory(const std::string& path, std::string* why) {
  Uuid found;
  std::string damage;
  if (read_copy_mark(files, path, &found, &damage) && found == copy) return true;
  std::string what = "file \"" + join_path(path, copy_mark_name) + "\"";
  return write_small(what, [&] { return write_copy_mark(files, path, copy); }, why);
}

}  // namespace pgsilo
