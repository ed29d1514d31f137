// What an archive does where it has starts that are not the server's: another copy's, or, when the
// server was lost and is restored, what was left of it (docs/backup.md, what the server lost).
#include <algorithm>

#include "wal/backup/log_archive.h"
#include "wal/backup/unfinished_starts.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

// What it holds changes with what is copied alone, which is the server's: each start of that is
// looked at once.
bool LogArchive::is_of_one_history() {
  const std::vector<Incarnation>& named = control_.incarnations;
  const Uuid present = named.empty() ? Uuid{} : named.back().id;
  if (judged_for_ == present) return true;
  std::optional<std::vector<ArchivedEnd>> ends;
  to_leave_.clear();
  if (restored_ && !read_ends(&ends)) return false;
  if (!judge_ends(std::move(ends))) return false;
  // Before anything goes, so that nobody misses it.
  bool done = to_leave_.empty() || (note_ends() && set_aside());
  if (done) judged_for_ = present;
  return done;
}

// Without notes, or if they are damaged, it is not known what was archived for good.
bool LogArchive::read_ends(std::optional<std::vector<ArchivedEnd>>* ends) {
  *ends = noted_ends_;
  if (*ends) return true;
  call_failed_ =
      read_archived_ends(files_, directory_, ends, &why_) == ArchivedEndsRead::unreadable;
  return !call_failed_;
}

bool LogArchive::judge_ends(std::optional<std::vector<ArchivedEnd>> ends) {
  UnfinishedStarts starts(files_, archived_logs(), server_logs(), restored_, restored_start_,
                          control_, std::move(ends));
  return std::ranges::all_of(logs_, [&](const auto& log) { return judge_end(*log, starts); });
}

bool LogArchive::judge_end(Log& log, UnfinishedStarts& starts) {
  while (log.offset != 0) {
    ArchivedStart found = starts.judge(log.first);
    if (starts.failure().happened()) return fail_to_read(starts.failure());
    if (found == ArchivedStart::others) return holds_others(log, log.first.incarnation);
    if (found == ArchivedStart::its) return true;
    to_leave_.push_back({&log.directory, log.segment, log.first});
    if (!step_back(log)) return false;
  }
  return log.segment == 0 || judge_beginless(log, starts);
}

// Its last segment's first block is damaged; the others tell whose they are.
bool LogArchive::judge_beginless(const Log& log, UnfinishedStarts& starts) {
  const std::string path = log.directory.segment_path(log.segment);
  SegmentScan scan = scan_segment(files_, path, log.segment, log.directory.log(),
                                  {.keep_all = true, .closed_at = {}});
  if (!scan.result.ok()) return fail("read log segment", path, scan.result);
  for (const BlockRun& run : scan.runs) {
    BlockHeader block;
    block.incarnation = run.incarnation;
    block.incarnation_tag = run.incarnation_tag;
    ArchivedStart found = starts.judge(block);
    if (starts.failure().happened()) return fail_to_read(starts.failure());
    if (found == ArchivedStart::others) return holds_others(log, run.incarnation);
  }
  return true;
}

// Two histories in an archive, and no restore would know which one is asked for.
bool LogArchive::holds_others(const Log& log, uint64_t start) {
  for (const auto& source : source_) {
    if (source->log() == log.directory.log()) return is_others(*source, log);
  }
  const std::string in = std::to_string(start) + " in \"" + log.directory.path() + "\"";
  if (restored_) {
    why_ =
        "the server is not the one that was archived: another history went on from there, with "
        "start " +
        in + ", before this one was restored\nHINT:  Begin a new archive, and take a new backup.";
  } else {
    why_ = "the server is not the one that was archived: start " + in +
           " was written by another copy of this database\nHINT:  An archive is of one history. "
           "Begin a new one, and take a new backup, or take out what is not this server's.";
  }
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
