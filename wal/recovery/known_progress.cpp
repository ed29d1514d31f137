#include "wal/recovery/known_progress.h"

#include <algorithm>

#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

// A start writes such a mark before the control file names it, and may have come no further.
bool only_begun(const ProgressMark& mark) {
  return std::all_of(mark.logs.begin(), mark.logs.end(),
                     [](const LogProgress& log) { return log.blocks <= 1; });
}

std::string start(uint64_t incarnation) {
  return "start " + std::to_string(incarnation) + " of the server";
}

bool unknown(const std::string& what, std::string* why) {
  *why =
      what +
      "\nDETAIL:  Without it nobody can tell whether the logs are whole to their ends.\nHINT:  If "
      "the file is elsewhere, put it back. Set recovery_accept_data_loss=on to start from what "
      "the logs hold.";
  return false;
}

bool read_marks(FileSystem& files, const std::string& directory, const ControlFile& control,
                std::vector<ProgressMark>* marks, std::string* why) {
  std::string path = join_path(directory, progress_file_name);
  FileResult failure;
  switch (read_progress(files, directory, control.database, marks, &failure)) {
    case ProgressRead::ok:
      return true;
    case ProgressRead::missing:
      return control.incarnations.back().closed ||
             unknown("file \"" + path + "\", which says how far the logs had got, is missing", why);
    case ProgressRead::damaged:
      return control.incarnations.back().closed ||
             unknown("file \"" + path + "\", which says how far the logs had got, is damaged", why);
    case ProgressRead::unreadable:
      *why = failed_call("read file", path, failure);
      return false;
  }
  return false;
}

}  // namespace

bool find_progress(FileSystem& files, const std::string& directory, const ControlFile& control,
                   std::optional<ProgressMark>* mark, std::string* why) {
  mark->reset();
  if (control.incarnations.empty() || control.incarnations.back().id == Uuid{}) return true;
  const Incarnation& last = control.incarnations.back();
  std::vector<ProgressMark> marks;
  if (!read_marks(files, directory, control, &marks, why)) return false;
  std::string path = join_path(directory, progress_file_name);
  for (ProgressMark& each : marks) {
    if (each.id == last.id) {
      *mark = std::move(each);
      return true;
    }
    if (each.incarnation < last.number || only_begun(each)) continue;
    bool other_copy = each.incarnation == last.number;
    *why = "file \"" + path + "\" tells of " + start(each.incarnation) +
           (other_copy ? " in another copy of this database"
                       : ", of which the control file knows nothing") +
           "\nHINT:  The files of the data directory are not of the same time and place: put back "
           "those that belong together. Set recovery_accept_data_loss=on to start from what the "
           "control file knows.";
    return false;
  }
  if (last.closed) return true;
  return unknown("file \"" + path + "\" does not tell of " + start(last.number) +
                     ": it is older than the control file, or damaged",
                 why);
}

uint64_t lost_segment(const ProgressMark* mark, const Uuid& log,
                      const std::vector<SegmentScan>& scans) {
  const LogProgress* known = progress_of(mark, log);
  if (known == nullptr) return 0;
  uint64_t blocks = 0;
  for (const SegmentScan& scan : scans) {
    // A later start may have written over the begin block of one that logged nothing.
    if (scan.number == known->segment && !scan.runs.empty()) return 0;
    for (const BlockRun& run : scan.runs) {
      if (run.incarnation_tag == short_identity(mark->id)) blocks = run.next_number;
    }
  }
  return known->blocks > blocks ? known->segment : 0;
}

}  // namespace pgsilo
