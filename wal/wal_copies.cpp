// Which copy of the database this is, and that its log directories are no other's (docs/backup.md,
// Two copies).
#include <algorithm>
#include <optional>

#include "base/failed_call.h"
#include "base/file.h"
#include "wal/layout/copy_mark.h"
#include "wal/layout/log_format.h"
#include "wal/log/log_begin.h"
#include "wal/log/segment_reader.h"
#include "wal/wal_state.h"

namespace pgsilo {

// Which start wrote a segment.
struct SegmentStart {
  std::optional<BlockHeader> first;
  bool unused = false;  // none has
  bool alone = false;   // nothing is behind its begin block
  std::optional<LogBegin> begin;
};

namespace {

FileResult read_start(FileSystem& files, const LogDirectory& log, uint64_t segment,
                      SegmentStart* start) {
  constexpr uint64_t unit = log_format::block_unit;
  SegmentReader reader(files, log.segment_path(segment), segment, log.log());
  FileResult result = reader.open(4 * unit);
  if (!result.ok()) return result;
  std::optional<BlockView> block = reader.next(0, unit);
  if (!block) {
    start->unused = reader.result().ok() && reader.begins_unused();
    return reader.result();
  }
  start->first = block->header;
  if (block->header.kind != BlockKind::begin) return reader.result();
  start->begin = decode_log_begin(block->stored);
  uint64_t behind = block->bytes;
  start->alone = !reader.next(behind, behind + unit);
  return reader.result();
}

bool lists(const std::vector<OwnStart>& starts, uint64_t tag) {
  return std::ranges::any_of(starts, [&](const OwnStart& start) {
    return start.id != Uuid{} && short_identity(start.id) == tag;
  });
}

}  // namespace

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
    std::optional<bool> own;
    if (!read_copy_mark(files, unit.directory->path(), &marked, why)) return false;
    if (marked == Uuid{}) continue;
    if (!is_own_log(*unit.directory, &own, why)) return false;
    if (!own.value_or(false)) continue;
    copy = marked;
    return true;
  }
  copy = Uuid::generate();
  return true;
}

// Where an earlier version may have left it, which marks none: it lies in the data directory, as
// all of a copy did first, or this copy wrote to it last. Nothing is in the server's log that a
// start of the copy's own wrote. None: nobody has written to it.
bool Wal::State::is_own_log(const LogDirectory& log, std::optional<bool>* own,
                            std::string* why) const {
  if (lies_inside(files, log.path(), directory)) *own = true;
  std::vector<uint64_t> segments;
  FileResult result = log.list_segments(&segments);
  bool written = false;
  for (; result.ok() && !*own && !segments.empty(); segments.pop_back()) {
    SegmentStart start;
    result = read_start(files, log, segments.back(), &start);
    written |= !start.unused;
    if (!start.unused) *own = is_own_start(start);
  }
  if (written && !*own) *own = false;
  if (!result.ok()) *why = could_not("read log directory", log.path(), result);
  return result.ok();
}

// One that died before the control file named it has a begin block alone, and went on from a start
// of this copy, or from one of the server's: then it tells nothing. Nor does a block that is torn.
std::optional<bool> Wal::State::is_own_start(const SegmentStart& start) const {
  std::vector<OwnStart> own = control.own_starts;
  std::erase_if(own, &OwnStart::copied);
  if (!start.first) return std::nullopt;
  if (lists(own, start.first->incarnation_tag)) return true;
  if (!start.alone || !start.begin) return false;
  uint64_t parent = short_identity(start.begin->parent.incarnation);
  if (lists(own, parent)) return true;
  return lists(control.own_starts, parent) ? std::nullopt : std::optional(false);
}

// What an earlier version has restored elsewhere has no mark: starts that were never this server's
// have written there. What cannot be read is a recovery's business.
bool Wal::State::holds_others(const LogDirectory& log, std::string* which) const {
  if (lies_inside(files, log.path(), directory)) return false;
  std::vector<uint64_t> segments;
  if (!log.list_segments(&segments).ok()) return false;
  return std::ranges::any_of(segments, [&](uint64_t segment) {
    SegmentStart start;
    if (!read_start(files, log, segment, &start).ok() || !is_anothers_start(start)) return false;
    *which = "\nDETAIL:  Log segment \"" + log.segment_path(segment) + "\" was written by start " +
             std::to_string(start.first->incarnation) +
             " of the server, of which the control file knows nothing.";
    return true;
  });
}

// Each start gets the next number, and is listed, but for those that died before the control file
// named them: they have a begin block alone, and went on from a start that is listed. Of a list
// that has forgotten some the first may be the checkpoint's, far from the second.
bool Wal::State::is_anothers_start(const SegmentStart& start) const {
  const std::vector<OwnStart>& own = control.own_starts;
  if (!start.first || start.first->incarnation_tag == 0) return false;
  if (lists(own, start.first->incarnation_tag)) return false;
  bool forgotten_some = may_have_forgotten_starts(control);
  uint64_t listed = own.size() - (forgotten_some || own.front().id == Uuid{} ? 1 : 0);
  uint64_t number = start.first->incarnation;
  if (number + listed <= control.last_incarnation) return false;
  if (!start.alone) return true;
  // It went on from one before the list.
  if (!start.begin || forgotten_some || number + listed <= control.last_incarnation + 1)
    return false;
  const Uuid& parent = start.begin->parent.incarnation;
  return parent != Uuid{} && parent != control.checkpoint.incarnation_id &&
         !lists(own, short_identity(parent));
}

// Of what it is marked with. One that nobody has written to is nobody's yet: a start may have been
// cut short between making it and marking it, or between the marks, behind which the next one makes
// up another copy. A server that is none would leave the mark there. `*why`, where it may not: the
// detail, if there is one.
bool Wal::State::may_use_log(const LogDirectory& log, const Uuid& marked, bool* may,
                             std::string* why) const {
  *may = marked == copy && (copy != Uuid{} || forgotten || !holds_others(log, why));
  if (*may || copy == Uuid{}) return true;
  std::vector<uint64_t> segments;
  FileResult result = log.list_segments(&segments);
  *may = result.ok() && segments.empty();
  if (*may || marked != Uuid{} || !marks_copy) return true;
  std::optional<bool> own;
  if (!is_own_log(log, &own, why)) return false;
  *may = own.value_or(true);
  return true;
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
    *why = "log directory \"" + log.path() + "\" is another copy's of this database" + *why +
           "\nHINT:  Name this copy's own directories in "
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
  for (const auto& log : read_logs) {
    if (!is_marked(log->path())) static_cast<void>(write_copy_mark(files, log->path(), copy));
  }
  return mark_directory(directory, why);
}

bool Wal::State::is_marked(const std::string& path) const {
  Uuid found;
  std::string damage;
  return read_copy_mark(files, path, &found, &damage) && found == copy;
}

bool Wal::State::mark_directory(const std::string& path, std::string* why) {
  if (is_marked(path)) return true;
  std::string what = "file \"" + join_path(path, copy_mark_name) + "\"";
  return write_small(what, path, [&] { return write_copy_mark(files, path, copy); }, why);
}

}  // namespace pgsilo
