#include "wal/backup/source_logs.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "wal/backup/archived_starts.h"
#include "wal/backup/backup_copy.h"
#include "wal/backup/backup_places.h"
#include "wal/backup/first_blocks.h"
#include "wal/backup/server_chain.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

SegmentScan scan_whole(FileSystem& files, const std::string& path, uint64_t number,
                       const Uuid& log) {
  return scan_segment(files, path, number, log, {.keep_all = true, .closed_at = {}});
}

// Of a start that died before it was named: the control file knows the next one, of its number.
bool is_nameless(const ControlFile& control, const BlockRun& run) {
  return run.only_begins &&
         std::ranges::any_of(control.incarnations, [&](const Incarnation& incarnation) {
           return incarnation.number == run.incarnation && is_others(incarnation, run);
         });
}

bool find_places(FileSystem& files, const BackupSource& source, const ControlFile& control,
                 std::vector<std::string>* places, std::string* why) {
  const std::vector<std::string>& named = source.log_directories;
  if (source.is_backup)
    return find_logs_inside(files, source.data_directory, named, control, places, why);
  *places = named;
  return true;
}

std::string where_missed(const BackupSource& source) {
  if (!source.is_backup) return " is in none of the log directories";
  return " is not in backup \"" + source.data_directory + "\"" +
         (source.archive_directories.empty() ? "" : ", nor in the archive") +
         "\nHINT:  Lay its directory into the backup's, under any name. Where the server had it, "
         "or behind a link, it may have gone on since.";
}

}  // namespace

std::string written_by_another_copy(const std::string& path, uint64_t start) {
  return "log segment \"" + path + "\" was written by another copy of this database: its start " +
         std::to_string(start) +
         " of the server is another one\nHINT:  An archive is of one history. A newer backup, or "
         "another archive, belongs to it; or somebody has laid a copy's segments into it.";
}

bool SourceLogs::find(FileSystem& files, const BackupSource& source, const ControlFile& control,
                      std::string* why) {
  progress_ = source.archive_progress;
  std::vector<std::string> places;
  if (!find_places(files, source, control, &places, why)) return false;
  for (const std::string& place : places) {
    if (!add(files, join_path(source.data_directory, place), control, why)) return false;
  }
  for (const std::string& path : source.archive_directories) {
    if (!find_begins(files, path, why)) return false;
  }
  const Incarnation& copied = control.incarnations.back();
  find_rests(copied, source.is_backup && source.stop < copied.first_epoch);
  for (const std::string& path : source.archive_directories) {
    if (!add(files, path, control, why) || !note_archived(files, path, why)) return false;
  }
  for (const Incarnation& incarnation : control.incarnations) {
    if (!needs_log(control, incarnation)) continue;
    for (const LogIdentity& identity : incarnation.logs) {
      if (log(identity.log) != nullptr) continue;
      *why = "log \"" + identity.path + "\" (" + identity.log.text() + ")" + where_missed(source);
      return false;
    }
  }
  return true;
}

bool SourceLogs::add(FileSystem& files, const std::string& path, const ControlFile& control,
                     std::string* why) {
  auto directory = std::make_unique<LogDirectory>(files, path);
  if (!directory->read_identity(why)) return false;
  if (!directory->has_identity()) return true;
  if (directory->database() != control.database) {
    *why = "log directory \"" + path + "\" belongs to another database (" +
           directory->database().text() + ", not " + control.database.text() + ")";
    return false;
  }
  std::vector<uint64_t> numbers;
  FileResult result = directory->list_segments(&numbers);
  if (!result.ok()) {
    *why = "could not read log directory \"" + path + "\": " + result.text();
    return false;
  }
  const Uuid identity = directory->log();
  const LogCut* cut = control.checkpoint.cut_of(identity);
  std::erase_if(numbers, [&](uint64_t number) { return cut != nullptr && number < cut->segment; });
  auto known = std::ranges::find_if(
      logs_, [&](const SourceLog& log) { return log.directory->log() == identity; });
  SourceLog& log = known != logs_.end() ? *known : logs_.emplace_back(std::move(directory));
  log.path = path;
  for (uint64_t number : numbers) {
    std::string segment = join_path(path, segment_name(number));
    auto [found, is_new] = log.segments.emplace(number, segment);
    bool other = !is_new && found->second != segment;
    if (other && !keep_later(files, &found->second, segment, number, identity, control, why))
      return false;
  }
  return true;
}

// By their parents, each looked at once. Who goes on from a start that had logged nothing names
// what that went on from.
void SourceLogs::find_rests(const Incarnation& copied, bool was_idle) {
  rests_[short_identity(copied.id)] = Rests::on_it;
  for (const auto& [tag, any] : begins_) {
    std::vector<uint64_t> chain;
    Rests rests = Rests::unknown;
    for (uint64_t each = tag;;) {
      auto known = rests_.find(each);
      auto begun = begins_.find(each);
      if (known != rests_.end()) rests = known->second;
      if (known != rests_.end() || begun == begins_.end()) break;
      chain.push_back(each);
      rests_[each] = Rests::unknown;
      const HistoryPoint& parent = begun->second.parent;
      const bool is_before = parent.durable < copied.first_epoch;
      if (is_before) rests = was_idle && parent == copied.parent ? Rests::on_it : Rests::on_others;
      if (is_before) break;
      each = short_identity(parent.incarnation);
    }
    for (uint64_t each : chain) rests_[each] = rests;
  }
}

SourceLogs::Rests SourceLogs::rests_on_backups(uint64_t tag) const {
  auto found = rests_.find(tag);
  return found == rests_.end() ? Rests::unknown : found->second;
}

// Where that was restored, the lost one's are in the archive yet.
bool SourceLogs::is_strangers(const ControlFile& control, const BlockRun& run) const {
  const Incarnation& copied = control.incarnations.back();
  return !run.has_records && run.incarnation >= copied.number && is_others(copied, run) &&
         rests_on_backups(run.incarnation_tag) == Rests::on_others;
}

// Which start wrote to a segment last, and up to where without a gap. False: `why`.
bool SourceLogs::read_end(FileSystem& files, const std::string& path, uint64_t number,
                          const Uuid& log, const ControlFile& control, SegmentEnd* end,
                          std::string* why) const {
  SegmentScan scan = scan_whole(files, path, number, log);
  if (!scan.result.ok()) {
    *why = failed_log("read", path, scan.result);
    return false;
  }
  constexpr uint64_t none = UINT64_MAX;
  uint64_t next_number = none;
  for (const BlockRun& run : scan.runs) {
    if (run.incarnation < end->start || is_nameless(control, run) || is_strangers(control, run))
      continue;
    bool begins = run.incarnation > end->start;
    bool follows =
        begins ? run.first_number == 0 || run.begin == 0 : run.first_number == next_number;
    if (!begins && !follows) continue;
    *end = {run.incarnation, follows ? run.end : 0, run.only_begins ? 0 : run.incarnation_tag};
    next_number = follows ? run.next_number : none;
  }
  return true;
}

// Of two copies of a segment the one that was made later: a later start has begun there, for the
// server had lost what was written there before, or its blocks go further. One that was made while
// the server wrote may have a gap, and what comes behind that is of no use. False: `why`.
bool SourceLogs::keep_later(FileSystem& files, std::string* path, const std::string& other,
                            uint64_t number, const Uuid& log, const ControlFile& control,
                            std::string* why) const {
  SegmentEnd kept;
  SegmentEnd found;
  if (!read_end(files, *path, number, log, control, &kept, why) ||
      !read_end(files, other, number, log, control, &found, why)) {
    return false;
  }
  if (found.start == kept.start && found.tag != 0 && kept.tag != 0 && found.tag != kept.tag) {
    *why = written_by_another_copy(other, found.start);
    return false;
  }
  if (std::tie(found.start, found.bytes) > std::tie(kept.start, kept.bytes)) *path = other;
  return true;
}

// What an archive's begin blocks say.
bool SourceLogs::find_begins(FileSystem& files, const std::string& path, std::string* why) {
  LogDirectory directory(files, path);
  if (!directory.read_identity(why)) return false;
  if (!directory.has_identity()) return true;
  FirstBlocks blocks(files, directory);
  ReadFailure failure;
  if (!blocks.know(&failure)) {
    *why = failed_log("read", failure.path, failure.result);
    return false;
  }
  for (const auto& [tag, start] : blocks.starts()) {
    if (start.begin) begins_.emplace(tag, *start.begin);
    firsts_.push_back({directory.log(), path, tag, *start.segments.rbegin()});
  }
  return true;
}

// Where the server was lost and restored of an older backup, its log may go on before the segment
// from which on the backup needs it.
std::string SourceLogs::begun_before(const ControlFile& control) const {
  for (const First& first : firsts_) {
    const LogCut* cut = control.checkpoint.cut_of(first.log);
    if (cut == nullptr || first.segment >= cut->segment) continue;
    const Incarnation& copied = control.incarnations.back();
    const bool is_later =
        first.tag != short_identity(copied.id) && rests_on_backups(first.tag) == Rests::on_it;
    if (!is_later) continue;
    return "log \"" + first.path + "\" goes on in segment " + std::to_string(first.segment) +
           ", before the backup's first, " + std::to_string(cut->segment) +
           ": the server was restored of an older backup meanwhile, or of one that did not have "
           "that log. Restore that one, or one that was taken later";
  }
  return "";
}

// Of a segment that the backup has, too, only one copy is scanned.
bool SourceLogs::note_archived(FileSystem& files, const std::string& path, std::string* why) {
  LogDirectory directory(files, path);
  if (!directory.read_identity(why)) return false;
  const SourceLog* known = log(directory.log());
  if (known == nullptr) return true;
  for (const auto& [number, any] : known->segments) {
    std::optional<BlockHeader> first;
    FileResult result = read_first_block(files, directory, number, &first, nullptr);
    if (first) archived_.push_back(*first);
    if (result.ok() || result.status == FileStatus::not_found) continue;
    *why = failed_log("read", directory.segment_path(number), result);
    return false;
  }
  return true;
}

bool SourceLogs::scan(FileSystem& files, std::string* why) {
  for (const SourceLog& log : logs_) {
    std::vector<SegmentScan>& scans = scans_.emplace_back();
    for (const auto& [number, path] : log.segments) {
      scans.push_back(scan_whole(files, path, number, log.directory->log()));
      if (scans.back().result.ok()) continue;
      *why = failed_log("read", path, scans.back().result);
      return false;
    }
  }
  return true;
}

const SourceLog* SourceLogs::log(const Uuid& log) const {
  auto found = std::ranges::find_if(
      logs_, [&](const SourceLog& each) { return each.directory->log() == log; });
  return found == logs_.end() ? nullptr : &*found;
}

// Older than what the checkpoint needs segments may be taken out of an archive.
std::string SourceLogs::lost_since_archived(const ControlFile& control) const {
  std::string lost = begun_before(control);
  if (!progress_) return lost;
  for (const ArchivedEnd& end : progress_->ends) {
    const LogCut* cut = control.checkpoint.cut_of(end.log);
    if (end.incarnation < control.checkpoint.incarnation) continue;
    const Incarnation& copied = control.incarnations.back();
    const bool is_behind = end.incarnation >= copied.number;
    if (is_behind && rests_on_backups(end.incarnation_tag) == Rests::on_others) continue;
    if (cut != nullptr && end.segment < cut->segment) continue;
    auto found = std::ranges::find_if(
        logs_, [&](const SourceLog& each) { return each.directory->log() == end.log; });
    std::string one =
        found == logs_.end()
            ? "log " + end.log.text() + " is missing"
            : lost_since(end, found->path, scans_[static_cast<size_t>(found - logs_.begin())]);
    if (!one.empty()) lost += (lost.empty() ? "" : "\n") + one;
  }
  return lost;
}

// A start that does not rest on the backup's is one that this rests on, or another line's: the
// control file of a server that was never restored lists all of its own, but for the oldest of
// many; else the begin blocks tell of those before, as far as they are there.
bool SourceLogs::is_of_others(const ControlFile& control) const {
  if (!progress_ || !progress_->tip) return false;
  const ArchivedTip& tip = *progress_->tip;
  const Incarnation& copied = control.incarnations.back();
  if (rests_on_backups(tip.tag) != Rests::on_others) return false;
  if (tip.number > copied.number) return true;
  auto is_no_other = [](const OwnStart& own) { return own.id != Uuid{} && !own.copied; };
  if (!may_have_forgotten_starts(control) && std::ranges::all_of(control.own_starts, is_no_other)) {
    return !is_listed(control, tip.tag);
  }
  HistoryPoint state = copied.parent;
  for (std::set<uint64_t> met; state.durable >= tip.logged;) {
    const uint64_t tag = short_identity(state.incarnation);
    if (tag == tip.tag || !met.insert(tag).second) return false;
    std::optional<HistoryPoint> parent = parent_of(control, state.incarnation);
    if (!parent) return is_beside_listed(control, tip);
    state = *parent;
  }
  return true;
}

// As far as the control file or an archived begin block tells.
std::optional<HistoryPoint> SourceLogs::parent_of(const ControlFile& control,
                                                  const Uuid& start) const {
  auto named = std::ranges::find(control.incarnations, start, &Incarnation::id);
  if (named != control.incarnations.end()) return named->parent;
  auto begun = begins_.find(short_identity(start));
  if (begun != begins_.end()) return begun->second.parent;
  return std::nullopt;
}

// Its number is one of those that the server's history lists with other starts: all of them, or the
// last ones, which are the server's own since it was restored.
bool SourceLogs::is_beside_listed(const ControlFile& control, const ArchivedTip& tip) {
  const std::vector<OwnStart>& starts = control.own_starts;
  const uint64_t last = control.incarnations.back().number;
  const bool lists_all =
      starts.size() == last && std::ranges::find(starts, Uuid{}, &OwnStart::id) == starts.end();
  const auto own = static_cast<uint64_t>(std::ranges::count(starts, false, &OwnStart::copied));
  return (lists_all || tip.number + own > last) && !is_listed(control, tip.tag);
}

Epoch SourceLogs::archived_up_to() const {
  if (!progress_ || !progress_->tip) return Epoch();
  const ArchivedTip& tip = *progress_->tip;
  return rests_on_backups(tip.tag) == Rests::on_others ? Epoch() : tip.logged;
}

bool SourceLogs::was_archived(const Uuid& log, const Incarnation& incarnation,
                              uint64_t number) const {
  if (!progress_) return true;
  auto end = std::ranges::find(progress_->ends, log, &ArchivedEnd::log);
  if (end == progress_->ends.end() || end->incarnation < incarnation.number) return false;
  bool others = end->incarnation == incarnation.number && incarnation.id != Uuid{} &&
                end->incarnation_tag != short_identity(incarnation.id);
  if (others) return false;
  return end->incarnation > incarnation.number || number < end->next_number;
}

bool SourceLogs::was_noted(uint64_t number) const {
  return !progress_ || std::ranges::any_of(progress_->ends, [&](const ArchivedEnd& end) {
    return end.incarnation >= number;
  });
}

bool SourceLogs::has_archived(const Incarnation& incarnation) const {
  return std::ranges::any_of(archived_, [&](const BlockHeader& first) {
    bool others =
        incarnation.id != Uuid{} && first.incarnation_tag != short_identity(incarnation.id);
    return first.incarnation == incarnation.number && !others;
  });
}

IncarnationParts SourceLogs::parts(const ControlFile& control,
                                   const Incarnation& incarnation) const {
  std::vector<LogDirectory*> directories;
  directories.reserve(logs_.size());
  for (const SourceLog& log : logs_) directories.push_back(log.directory.get());
  return collect_parts(control, incarnation, directories, scans_, nullptr);
}

}  // namespace pgsilo
