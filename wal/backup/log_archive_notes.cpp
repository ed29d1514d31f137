// What an archive writes down of how far it has got (archive_directory.h).
#include <algorithm>

#include "wal/backup/archive_directory.h"
#include "wal/backup/log_archive.h"
#include "wal/backup/server_chain.h"

namespace pgsilo {
namespace {

// What a slot does not keep lies in the backup with which the archive was begun, or was copied. The
// first one that it can name may be one of which there is a part.
Epoch had_by(const LogSlot& slot) { return slot.restart > Epoch(1) ? slot.restart : Epoch(); }

}  // namespace

// Without notes, or if they are damaged, it is not known what was archived for good. A new archive
// has some from the beginning, which say nothing until it has a segment. Those of one whose logs
// have gone, or lie where nothing is mounted, stay.
bool LogArchive::read_notes(const LogSlot& slot) {
  ArchiveProgressRead read = ArchiveProgressRead::ok;
  if (!noted_) read = read_archive_progress(files_, directory_, &noted_, &why_);
  call_failed_ = read == ArchiveProgressRead::unreadable;
  if (call_failed_) return false;
  const bool says_nothing =
      noted_ ? noted_->ends.empty() && !noted_->tip : read == ArchiveProgressRead::ok;
  const bool is_new =
      says_nothing && std::ranges::all_of(logs_, [](const auto& log) { return log->segment == 0; });
  if (is_new && !note({.ends = {}, .tip = {}, .had = ArchivedHad{0, had_by(slot)}})) return false;
  tip_ = noted_ ? noted_->tip : std::nullopt;
  return true;
}

// In the server's present start, or, while that has made nothing durable, in the one that it went
// on from: later ones may do so, too.
ArchivedHad LogArchive::had_up_to(Epoch epoch) const {
  if (control_.incarnations.empty()) return {0, epoch};
  const Incarnation& present = control_.incarnations.back();
  if (epoch >= present.first_epoch) return {short_identity(present.id), epoch};
  const HistoryPoint& parent = present.parent;
  return {short_identity(parent.incarnation), std::min(epoch, parent.durable)};
}

ArchivedHad LogArchive::noted_had() const {
  return noted_ && noted_->had ? *noted_->had : ArchivedHad{};
}

// The slot begins behind what is archived.
bool LogArchive::is_behind_had(const LogSlot& slot) const { return had_ < had_by(slot); }

// A slot that was made anew tells what lies before it, not what the archive has. What was committed
// behind the state that a server was restored to no turn of the lost one had.
bool LogArchive::look_at_slot(const LogSlot& slot) {
  if (!read_notes(slot)) return false;
  if (!are_ends_mended_ && !mend_ends()) return false;
  find_kept(slot);
  had_ = noted_ && noted_->had ? noted_->had->epoch : had_by(slot);
  const bool is_tip_there = tip_ && restored_ && tip_->logged <= restored_->durable;
  const uint64_t tag = noted_had().tag;
  const bool is_its_own = is_listed(control_, tag) &&
                          tag != short_identity(restored_ ? restored_->incarnation : Uuid{});
  if (is_tip_there && !is_its_own) had_ = std::min(had_, restored_->durable);
  return true;
}

bool LogArchive::note_ends() {
  ArchiveProgress progress{.ends = {}, .tip = tip_, .had = noted_ ? noted_->had : std::nullopt};
  for (const auto& log : logs_) {
    if (log->offset == 0) continue;
    progress.ends.push_back({.log = log->directory.log(),
                             .segment = log->segment,
                             .incarnation = log->first.incarnation,
                             .incarnation_tag = log->first.incarnation_tag,
                             .next_number = log->next_number});
  }
  if (has_all_ && durable_.value() != 0) progress.had = had_up_to(durable_);
  return note(std::move(progress));
}

// Behind all that it says. While nothing comes, the file stays.
bool LogArchive::note(ArchiveProgress progress) {
  if (noted_ == progress && !notes_may_differ_) return true;
  FileResult result = write_archive_progress(files_, directory_, progress);
  if (!result.ok()) return fail("write file", join_path(directory_, archive_progress_name), result);
  noted_ = std::move(progress);
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
