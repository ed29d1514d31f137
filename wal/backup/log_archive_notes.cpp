// What an archive writes down of how far it has got (archive_directory.h).
#include "wal/backup/archive_directory.h"
#include "wal/backup/log_archive.h"
#include "wal/backup/server_chain.h"

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
  if (noted_ends_ == ends && noted_tip_ == tip_ && !notes_may_differ_) return true;
  FileResult result = write_archived_ends(files_, directory_, ends, tip_);
  if (!result.ok()) return fail("write file", join_path(directory_, archived_ends_name), result);
  noted_ends_ = std::move(ends);
  noted_tip_ = tip_;
  notes_may_differ_ = false;
  return true;
}

// What was copied when it was not durable yet may be it now.
void LogArchive::note_durable() {
  for (const auto& log : logs_) {
    if (log->logged <= durable_) log->durable = log->logged;
  }
}

// When all that the server had was copied. A start that has logged nothing is none, and one before
// it may have logged more since it was looked at last.
bool LogArchive::find_tip() {
  if (control_.incarnations.empty()) return true;
  const Incarnation& present = control_.incarnations.back();
  const uint64_t tag = short_identity(present.id);
  const bool is_present = tip_ && tip_->tag == tag;
  Epoch logged = is_present ? tip_->logged : Epoch();
  for (const auto& log : logs_) {
    if (log->offset != 0 && log->first.incarnation_tag == tag)
      logged = std::max(logged, log->durable);
  }
  if (logged.value() != 0) {
    tip_ = {tag, present.number, logged};
    return true;
  }
  if (std::exchange(tip_found_for_, present.id) == present.id) return true;
  ServerChain known = chain();
  std::optional<ArchivedTip> before = known.newest_before(tip_);
  if (known.failure().happened()) {
    tip_found_for_.reset();
    return fail_to_read(known.failure());
  }
  raise_tip(before);
  return true;
}

void LogArchive::raise_tip(const std::optional<ArchivedTip>& found) {
  bool is_newer = found && (!tip_ || found->tag != tip_->tag || found->logged > tip_->logged);
  if (is_newer) tip_ = found;
}

}  // namespace pgsilo
