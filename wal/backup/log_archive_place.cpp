// Whether an archive lies where its files are held open (docs/backup.md, the archive): one that is
// followed for good may be moved meanwhile, put back from a copy, or lose files.
#include <algorithm>

#include "base/failed_call.h"
#include "wal/backup/archive_directory.h"
#include "wal/backup/backup_label.h"
#include "wal/backup/log_archive.h"
#include "wal/layout/control_file.h"

namespace pgsilo {
namespace {

constexpr char archive_lock_name[] = "archive.lock";

}  // namespace

// What is written to an archive goes over what a data directory, a log or a backup has there.
bool LogArchive::is_its_own() {
  std::vector<std::string> names;
  FileResult result = files_.list(directory_, &names);
  if (result.status == FileStatus::not_found) return true;
  if (!result.ok()) return fail("read directory", directory_, result);
  for (const char* others :
       {control_file_name, lock_file_name, backup_label_name, used_label_name, log_identity_name}) {
    if (std::ranges::find(names, others) == names.end()) continue;
    why_ = "directory \"" + directory_ + "\" is no archive: it holds \"" + others +
           "\"\nHINT:  Name a directory that is new, empty, or an archive of this server's log.";
    return false;
  }
  return true;
}

bool LogArchive::lock() {
  lock_.reset();
  std::unique_ptr<File> file;
  std::string part;
  FileResult result = make_directories(files_, directory_, &part);
  if (!result.ok()) return fail("create directory", part, result);
  std::string path = join_path(directory_, archive_lock_name);
  result = files_.open(path, {.write = true, .create = true}, &file);
  if (result.ok()) result = file->try_lock();
  if (result.ok()) {
    lock_ = std::move(file);
    return true;
  }
  if (result.status != FileStatus::locked) return fail("lock file", path, result);
  why_ = "archive \"" + directory_ + "\" is in use by another process";
  return false;
}

// What is written to a file without a name nobody reads. Another archive than before, or a part of
// one, is looked at as if it were new.
bool LogArchive::see_if_replaced() {
  bool same = false;
  if (!is_named(lock_.get(), join_path(directory_, archive_lock_name), &same)) return false;
  if (!same) {
    was_moved_ |= noted_.has_value();
    notes_may_differ_ = true;
    known_ = false;
    return is_still_there() && lock();
  }
  for (const auto& log : logs_) {
    if (log->file == nullptr) continue;
    const std::string path = log->directory.segment_path(log->segment);
    if (!is_named(log->file.get(), path, &same)) return false;
    notes_may_differ_ |= !same;
    known_ &= same;
  }
  return true;
}

// Where nothing is mounted any more no archive is begun.
bool LogArchive::is_still_there() {
  if (!noted_) return true;
  const std::string path = join_path(directory_, archive_progress_name);
  std::unique_ptr<File> notes;
  FileResult result = files_.open(path, {}, &notes);
  return result.ok() || fail("open file", path, result);
}

// False: it cannot be told.
bool LogArchive::is_named(const File* file, const std::string& path, bool* is) {
  *is = false;
  if (file == nullptr) return true;
  FileResult result = file->is_at(path, is);
  return result.ok() || result.status == FileStatus::not_found ||
         fail("look at file", path, result);
}

// Before what was written there counts.
bool LogArchive::has_its_name(const Log& log) {
  const std::string path = log.directory.segment_path(log.segment);
  bool same = false;
  if (!is_named(log.file.get(), path, &same)) return false;
  if (same) return true;
  notes_may_differ_ = true;
  call_failed_ = true;
  why_ = "file \"" + path + "\" was removed or replaced while it was written";
  return false;
}

// Of what is gone the server may have all yet: a log goes on where it then ends, and never behind
// what was there. A log's directory that is gone nobody makes anew; nor is anything written to an
// archive that is not there whole yet, for somebody may still be copying it there.
bool LogArchive::find_logs_anew() {
  if (!find_logs()) return false;
  if (!noted_) return true;
  for (const ArchivedEnd& end : noted_->ends) {
    auto log = std::ranges::find_if(
        logs_, [&](const auto& each) { return each->directory.log() == end.log; });
    const bool is_there = log != logs_.end();
    const bool is_whole = is_there && reaches(**log, end) && has_its_length(**log);
    if (was_moved_ ? !is_whole : !is_there && is_servers(end.log)) {
      const std::string place = is_there ? (*log)->directory.path() : directory_;
      why_ =
          "archive \"" + place + "\" does not hold any more what was archived of log " +
          end.log.text() + " up to segment " + std::to_string(end.segment) +
          "\nHINT:  Put it back. Begun anew this takes what is there, and copies what the server "
          "still has.";
      call_failed_ = true;
      return false;
    }
    if (is_there && (*log)->segment == 0) (*log)->segment = end.segment;
  }
  was_moved_ = false;
  return true;
}

bool LogArchive::is_servers(const Uuid& log) const {
  return std::ranges::any_of(source_, [&](const auto& each) { return each->log() == log; });
}

// Who copies it there may still write the zeros behind its blocks. Of a segment that the server has
// no more nothing is to come.
bool LogArchive::has_its_length(const Log& log) {
  uint64_t bytes = 0;
  uint64_t of_server = 0;
  auto source = std::ranges::find_if(
      source_, [&](const auto& each) { return each->log() == log.directory.log(); });
  if (source == source_.end()) return true;
  std::unique_ptr<File> segment;
  FileResult result = files_.open((*source)->segment_path(log.segment), {}, &segment);
  if (result.status == FileStatus::not_found) return true;
  if (result.ok()) result = segment->size(&of_server);
  return result.ok() && log.file->size(&bytes).ok() && bytes >= of_server;
}

// Or a later start has begun in its place.
bool LogArchive::reaches(const Log& log, const ArchivedEnd& end) {
  if (log.segment != end.segment) return log.segment > end.segment;
  const bool same = log.offset != 0 && log.first.incarnation_tag == end.incarnation_tag;
  return same ? log.next_number >= end.next_number : log.first.incarnation > end.incarnation;
}

}  // namespace pgsilo
