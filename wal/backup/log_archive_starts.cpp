// Whether an archive has of the server's starts what a later one rests on (docs/backup.md, the
// archive).
#include "wal/backup/archived_starts.h"
#include "wal/backup/log_archive.h"
#include "wal/backup/server_chain.h"

namespace pgsilo {

std::vector<FirstBlocks*> LogArchive::archived_logs() const {
  std::vector<FirstBlocks*> logs;
  logs.reserve(logs_.size());
  for (const auto& log : logs_) logs.push_back(&log->first_blocks);
  return logs;
}

std::vector<FirstBlocks*> LogArchive::server_logs() const {
  std::vector<FirstBlocks*> logs;
  logs.reserve(source_blocks_.size());
  for (const auto& log : source_blocks_) logs.push_back(log.get());
  return logs;
}

// One for all that is copied in a turn, for what was followed once.
ArchivedStarts& LogArchive::starts() {
  if (!starts_)
    starts_.emplace(files_, archived_logs(), server_logs(), restored_, control_.incarnations,
                    ArchivedHad{noted_had().tag, had_}, tip_);
  return *starts_;
}

ServerChain LogArchive::chain() const { return {files_, archived_logs(), server_logs(), control_}; }

// Who restores finds out what a start went on from by the begin blocks of those before it.
bool LogArchive::rests_on_what_was_had(const LogBegin& start) {
  ArchivedStarts& known = starts();
  std::optional<ArchivedStarts::Unfounded> found = known.unfounded(start);
  if (known.failure().happened()) return fail_to_read(known.failure());
  if (!found) return true;
  return lacks_directory(
      "start " + std::to_string(found->start) + " of the server went on from epoch " +
      std::to_string(found->parents.value()) + " of a start that was " +
      (found->ends.empty() ? "never archived" : "archived only up to log segment " + found->ends));
}

bool LogArchive::never_archived(const std::string& what) {
  return lacks_directory(what + " was never archived");
}

bool LogArchive::lacks_directory(const std::string& what) {
  why_ =
      what +
      "\nHINT:  Let the server have its directory again until this has caught up, or begin a new "
      "archive, and take a new backup.";
  return false;
}

// Whether the archive has of a start what the next one went on from, as far as that can be told.
bool LogArchive::is_whole(const BlockHeader& start, const LogBegin& successor) {
  ArchivedStarts& known = starts();
  std::string damaged;
  std::optional<Epoch> counted = known.counted(start, successor);
  bool holds = !counted || known.holds(start, *counted, &damaged);
  if (known.failure().happened()) return fail_to_read(known.failure());
  if (holds) return true;
  if (damaged.empty())
    return never_archived("a log of start " + std::to_string(start.incarnation) + " of the server");
  why_ = "log segment " + damaged + " is damaged: start " + std::to_string(start.incarnation) +
         " of the server counts up to epoch " + std::to_string(counted->value()) +
         ", and its log does not\nHINT:  If a log was taken out of the server, let that have its "
         "directory again until this has caught up. Else put a sound copy of the segment in the "
         "place of the damaged one, of the server's or of the archive's. If neither can be done, "
         "drop the slot, run CHECKPOINT, begin a new archive, and take a new backup.";
  return false;
}

// The server tells what the trailers in its logs prove; so do those that were copied. A damaged
// block is no end, and another directory than that server's has less.
bool LogArchive::has_what_was_told(const BackupSource& source) {
  if (control_.incarnations.empty()) return true;
  const Incarnation& present = control_.incarnations.back();
  // What an earlier start proved was asked for where the present one begins.
  if (durable_ <= had_ || durable_ < present.first_epoch) return true;
  ArchivedStarts& known = starts();
  std::string ends;
  const bool proves = known.proves(present, durable_, &ends);
  if (known.failure().happened()) return fail_to_read(known.failure());
  if (proves) return true;
  why_ =
      "the server told epoch " + std::to_string(durable_.value()) +
      " to be durable, and its log does not" +
      (ends.empty() ? ": \"" : ": log segment " + ends + " is damaged, or \"") +
      source.data_directory +
      "\" is not the directory of that server\nHINT:  Run this where the server runs. (One of an "
      "earlier version tells so until its next commit.) If the "
      "segment is damaged and there is no sound copy of it, drop the slot, run CHECKPOINT, begin a "
      "new archive, "
      "and take a new backup.";
  return false;
}

}  // namespace pgsilo
