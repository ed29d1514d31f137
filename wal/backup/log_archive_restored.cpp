// What an archive does when its server was lost, and is restored (docs/backup.md, what the server
// lost).
#include <algorithm>

#include "wal/backup/log_archive.h"
#include "wal/backup/unfinished_starts.h"

namespace pgsilo {

// What it holds changes with what is copied alone, which is the server's: it is looked at once.
bool LogArchive::leave_unfinished_starts() {
  if (!restored_ || looked_behind_ == restored_) return true;
  std::optional<std::vector<ArchivedEnd>> ends = noted_ends_;
  // Without notes, or if they are damaged, it is not known what was archived for good.
  bool known = ends || read_archived_ends(files_, directory_, &ends, &why_);
  call_failed_ = !known && !ends;
  if (call_failed_) return false;
  if (!known) ends.reset();
  to_leave_.clear();
  if (!step_back_behind_all(std::move(ends))) return false;
  // Before anything goes, so that nobody misses it.
  bool done = to_leave_.empty() || (note_ends() && set_aside());
  if (done) looked_behind_ = restored_;
  return done;
}

bool LogArchive::step_back_behind_all(std::optional<std::vector<ArchivedEnd>> ends) {
  UnfinishedStarts starts(files_, archived_logs(), server_logs(), *restored_, named_,
                          std::move(ends));
  for (const auto& log : logs_) {
    while (log->offset != 0) {
      ArchivedStart found = starts.judge(log->first);
      if (!starts.failure().ok()) return fail("read", starts.failed_path(), starts.failure());
      if (found == ArchivedStart::others) return went_on_from_there(*log);
      if (found == ArchivedStart::its) break;
      to_leave_.push_back({&log->directory, log->segment, log->first});
      if (!step_back(*log)) return false;
    }
  }
  return true;
}

// Two histories in an archive, and no restore would know which one is asked for.
bool LogArchive::went_on_from_there(const Log& log) {
  for (const auto& source : source_) {
    if (source->log() == log.directory.log()) return is_others(*source, log);
  }
  why_ =
      "the server is not the one that was archived: another history went on from there, with "
      "start " +
      std::to_string(log.first.incarnation) + " in \"" + log.directory.path() +
      "\", before this one was restored\nHINT:  Begin a new archive, and take a new backup.";
  return false;
}

// By a segment, to the end of what comes before it. Any may have been taken out meanwhile.
bool LogArchive::step_back(Log& log) {
  std::vector<uint64_t> numbers;
  FileResult result = log.directory.list_segments(&numbers);
  if (!result.ok()) return fail("read directory", log.directory.path(), result);
  std::erase_if(numbers, [&](uint64_t number) { return number >= log.segment; });
  log.segment = log.offset = log.next_number = 0;
  log.first = {};
  log.file.reset();
  return numbers.empty() || find_end_in(log, numbers.back());
}

// One after the other, the last one first: no gap is left whenever the power fails. Nobody can tell
// a copy that was laid beside by mistake from the server, so nothing is destroyed.
bool LogArchive::set_aside() {
  for (const Left& left : to_leave_) {
    const std::string path = left.log->segment_path(left.segment);
    const std::string aside = path + "." + std::to_string(left.first.incarnation) + "-" +
                              std::to_string(left.first.incarnation_tag) + ".left";
    FileResult result = files_.rename(path, aside);
    if (result.ok()) result = files_.sync_directory(left.log->path());
    if (!result.ok()) return fail("rename file", path, result);
    left_.push_back("what the archive had in part of start " +
                    std::to_string(left.first.incarnation) +
                    ", which the restored server never had, is now \"" + aside + "\"");
  }
  return true;
}

}  // namespace pgsilo
