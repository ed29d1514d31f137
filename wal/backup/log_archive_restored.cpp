// What an archive does where it has starts that are not the server's: another copy's, or, when the
// server was lost and is restored, what was left of it (docs/backup.md, what the server lost).
#include <algorithm>

#include "wal/backup/log_archive.h"
#include "wal/backup/server_chain.h"
#include "wal/backup/unfinished_starts.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

// What it holds changes with what is copied alone, which is the server's: each start of that is
// looked at once.
bool LogArchive::is_of_one_history() {
  const std::vector<Incarnation>& named = control_.incarnations;
  const Uuid present = named.empty() ? Uuid{} : named.back().id;
  if (judged_for_ == present) return true;
  std::optional<std::vector<ArchivedEnd>> ends;  // before they are written anew
  if (noted_) ends = noted_->ends;
  if (!goes_on_from_tip()) return false;
  to_leave_.clear();
  if (restored_ && !judge_ends(ends)) return false;
  // Before anything goes, so that nobody misses it.
  bool noted = to_leave_.empty() || (note_ends() && set_aside());
  if (!noted || !leave_strays(ends)) return false;
  noted = to_leave_.empty() || note_ends();
  bool done = noted && are_all_same() && set_aside();
  if (done) judged_for_ = present;
  return done;
}

// What was durable no server loses: one that does not come from there is another copy, which had
// been left before, or was restored to an earlier state.
// An archiver that was killed has not noted what it had copied; of a server that was lost
// meanwhile, and restored, that was lost, too (UnfinishedStarts).
bool LogArchive::goes_on_from_tip() {
  if (control_.incarnations.empty()) return true;
  ServerChain known = chain();
  // Once a restored one has logged, nothing of the lost one's is behind the tip any more.
  const bool is_own_tip = !restored_ || (tip_ && tip_->logged > restored_->durable);
  std::optional<ArchivedTip> newest;
  if (is_own_tip) newest = known.newest_proven(tip_);
  // What was had was looked at when it was noted. A log that comes back may hold older records.
  if (newest && newest->logged > noted_had().epoch) raise_tip(newest);
  if (known.failure().happened()) return fail_to_read(known.failure());
  if (!tip_) return true;
  const bool is_noted = noted_ && noted_->tip == tip_;
  const ServerChain::Leads leads = known.leads_to(*tip_, is_noted ? noted_had() : ArchivedHad{});
  if (known.failure().happened()) return fail_to_read(known.failure());
  if (leads == ServerChain::Leads::to_it) return true;
  // A restored one does not list those of the server that was lost.
  const bool may_be_own = is_listed(control_, tip_->tag) || restored_;
  if (leads == ServerChain::Leads::past_it || !may_be_own) return bypasses_tip();
  return never_archived("start " + std::to_string(known.last_number()) +
                        " of the server went on from epoch " +
                        std::to_string(known.last_parent().durable.value()) + " of a start that");
}

bool LogArchive::bypasses_tip() {
  auto ends_with_it = [&](const auto& log) {
    return log->offset != 0 && log->first.incarnation_tag == tip_->tag;
  };
  auto log = std::ranges::find_if(logs_, ends_with_it);
  return holds_others(log == logs_.end() ? nullptr : &(*log)->directory, tip_->number);
}

// All are asked before anything of any is copied.
bool LogArchive::are_all_same() {
  ReadFailure failure;
  if (!know_all(archived_logs(), &failure) || !know_all(server_logs(), &failure))
    return fail_to_read(failure);
  for (size_t i = 0; i < source_.size(); ++i) {
    const auto& source = source_[i];
    auto log = std::ranges::find_if(
        logs_, [&](const auto& each) { return each->directory.log() == source->log(); });
    if (log == logs_.end() || (*log)->offset == 0) continue;
    if (!are_same_before(*source_blocks_[i], **log)) return false;
    std::vector<uint64_t> numbers;
    FileResult result = source->list_segments(&numbers);
    if (!result.ok()) return fail("read log directory", source->path(), result);
    const bool is_there = std::ranges::binary_search(numbers, (*log)->segment);
    if (is_there ? !is_same(*source, **log) : !goes_on_behind(*source, **log)) return false;
  }
  return true;
}

// What lies before the archived end is looked at no more. A copy that was restored of a newer
// backup and archived by mistake may have come behind the begin block of an idle start, which gave
// way.
bool LogArchive::are_same_before(const FirstBlocks& source, const Log& log) {
  for (const auto& [segment, tag] : log.first_blocks.segments()) {
    auto found = source.segments().find(segment);
    const bool is_known = tag && found != source.segments().end() && found->second;
    const bool differs = segment < log.segment && is_known && found->second != tag;
    const bool has_data = differs && starts().extent(*tag).has_data;
    if (starts().failure().happened()) return fail_to_read(starts().failure());
    if (has_data) return is_others(source.log(), log, segment);
  }
  return true;
}

// The archived segment is not there any more, so it must be whole, and the next one there.
bool LogArchive::goes_on_behind(const LogDirectory& source, Log& log) {
  std::optional<BlockHeader> next;
  if (!find_next(source, log, &next)) return false;
  return next ? follows(source, log, *next) : lacks(source, log.segment);
}

bool LogArchive::judge_ends(const std::optional<std::vector<ArchivedEnd>>& ends) {
  UnfinishedStarts starts(files_, archived_logs(), server_logs(), *restored_, control_, ends);
  return std::ranges::all_of(logs_, [&](const auto& log) { return judge_end(*log, starts); });
}

bool LogArchive::judge_end(Log& log, UnfinishedStarts& starts) {
  while (log.offset != 0) {
    ArchivedStart found = starts.judge(log.first);
    if (starts.failure().happened()) return fail_to_read(starts.failure());
    if (found == ArchivedStart::others) return holds_others(&log.directory, log.first.incarnation);
    if (found == ArchivedStart::its) return true;
    to_leave_.push_back({&log, log.segment, log.first});
    if (!step_back(log)) return false;
  }
  return log.segment == 0 || judge_beginless(log, starts);
}

// None of its segments has a first block, so the other blocks of one tell whose they are. That is
// gone where all of the log was pruned beneath a running archiver.
bool LogArchive::judge_beginless(const Log& log, UnfinishedStarts& starts) {
  const std::string path = log.directory.segment_path(log.segment);
  SegmentScan scan = scan_segment(files_, path, log.segment, log.directory.log(),
                                  {.keep_all = true, .closed_at = {}});
  if (scan.result.status == FileStatus::not_found) return true;
  if (!scan.result.ok()) return fail("read log segment", path, scan.result);
  for (const BlockRun& run : scan.runs) {
    BlockHeader block;
    block.incarnation = run.incarnation;
    block.incarnation_tag = run.incarnation_tag;
    ArchivedStart found = starts.judge(block);
    if (starts.failure().happened()) return fail_to_read(starts.failure());
    if (found == ArchivedStart::others) return holds_others(&log.directory, run.incarnation);
  }
  return true;
}

// Two histories in an archive, and no restore would know which one is asked for. `archived`: a log
// of it that has the start; null: none is known.
bool LogArchive::holds_others(const LogDirectory* archived, uint64_t start) {
  for (const auto& source : source_) {
    Log* log = archived != nullptr && source->log() == archived->log() ? log_of(*source) : nullptr;
    if (log != nullptr) return is_others(*source, *log);
  }
  const std::string in = std::to_string(start) + " in \"" +
                         (archived != nullptr ? archived->path() : directory_) + "\"";
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
  log.forget_end();
  return numbers.empty() || find_end_among(log, numbers);
}

// One after the other, the last one first: no gap is left whenever the power fails. Nobody can tell
// a copy that was laid beside by mistake from the server, so nothing is destroyed.
bool LogArchive::set_aside() {
  for (const Left& left : to_leave_) {
    const LogDirectory& directory = left.log->directory;
    const std::string path = directory.segment_path(left.segment);
    const std::string aside = path + "." + std::to_string(left.first.incarnation) + "-" +
                              std::to_string(left.first.incarnation_tag) + ".left";
    FileResult result = files_.rename(path, aside);
    if (result.ok()) result = files_.sync_directory(directory.path());
    if (!result.ok()) return fail("rename file", path, result);
    left.log->first_blocks.forget(left.segment);
    left_.push_back("what the archive had in part of start " +
                    std::to_string(left.first.incarnation) + ", which the " +
                    (restored_ ? "restored " : "") + "server never had, is now \"" + aside + "\"");
  }
  to_leave_.clear();
  return true;
}

}  // namespace pgsilo
