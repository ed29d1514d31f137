// What an archive does when its server was lost, and is restored (docs/backup.md, what the server
// lost).
#include <algorithm>

#include "wal/backup/log_archive.h"
#include "wal/backup/unfinished_starts.h"

namespace pgsilo {

// Without notes, or if they are damaged, it is not known what was archived for good.
bool LogArchive::leave_unfinished_starts() {
  if (!restored_) return true;
  std::optional<std::vector<ArchivedEnd>> ends = noted_ends_;
  bool known = ends || read_archived_ends(files_, directory_, &ends, &why_);
  call_failed_ = !known && !ends;
  if (!known || !ends) return !call_failed_;
  std::vector<const LogDirectory*> archived;
  std::vector<const LogDirectory*> server;
  for (const auto& log : logs_) archived.push_back(&log->directory);
  for (const auto& log : source_) server.push_back(log.get());
  UnfinishedStarts left(files_, std::move(archived), std::move(server), *restored_, named_,
                        *std::move(ends));
  for (const auto& log : logs_) {
    if (log->offset != 0) left.add(log->first.incarnation_tag);
  }
  if (!left.failure().ok()) return fail("read", left.failed_path(), left.failure());
  if (left.tags().empty()) return true;
  for (const auto& log : logs_) {
    if (!step_back(*log, left.tags())) return false;
  }
  // Before anything goes, so that nobody misses it.
  return note_ends() &&
         std::ranges::all_of(logs_, [this](const auto& log) { return remove_behind_end(*log); });
}

// To the end of what comes before those starts.
bool LogArchive::step_back(Log& log, const std::vector<uint64_t>& starts) {
  std::vector<uint64_t> numbers;
  FileResult result = log.directory.list_segments(&numbers);
  if (!result.ok()) return fail("read directory", log.directory.path(), result);
  while (log.offset != 0 && std::ranges::find(starts, log.first.incarnation_tag) != starts.end()) {
    numbers.pop_back();
    log.segment = log.offset = log.next_number = 0;
    log.first = {};
    log.file.reset();
    if (!numbers.empty() && !find_end_in(log, numbers.back())) return false;
  }
  return true;
}

// One after the other: no gap is left whenever the power fails.
bool LogArchive::remove_behind_end(const Log& log) {
  std::vector<uint64_t> numbers;
  FileResult result = log.directory.list_segments(&numbers);
  while (result.ok() && !numbers.empty() && numbers.back() > log.segment) {
    result = files_.remove(log.directory.segment_path(numbers.back()));
    if (result.ok()) result = files_.sync_directory(log.directory.path());
    numbers.pop_back();
  }
  return result.ok() || fail("remove segments in", log.directory.path(), result);
}

}  // namespace pgsilo
