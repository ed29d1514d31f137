#include "wal/backup/state_times.h"

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "wal/backup/backup_copy.h"
#include "wal/backup/backup_label.h"
#include "wal/backup/timestamp.h"
#include "wal/layout/log_directory.h"
#include "wal/recovery/incarnation_parts.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

// The segments of the logs of the incarnation that was copied.
class CopiedLogs {
 public:
  CopiedLogs(FileSystem& files, const BackupLabel& label)
      : files_(files), control_(label.control), copied_(label.control.incarnations.back()) {}

  bool scan(const BackupSource& source, std::string* why) {
    for (const LogIdentity& log : copied_.logs) {
      if (!find(source, log, why) || !scan_log(why)) return false;
    }
    return true;
  }

  IncarnationParts parts() const {
    return collect_parts(control_, copied_, directories_, scans_, nullptr);
  }

 private:
  bool find(const BackupSource& source, const LogIdentity& log, std::string* why) {
    for (const std::string& place : source.log_directories) {
      auto directory =
          std::make_unique<LogDirectory>(files_, join_path(source.data_directory, place));
      std::string ignored;
      if (!directory->read_identity(&ignored) || directory->log() != log.log) continue;
      directories_.push_back(directory.get());
      owned_.push_back(std::move(directory));
      return true;
    }
    *why = "log \"" + log.path + "\" (" + log.log.text() + ") is in none of the log directories";
    return false;
  }

  bool scan_log(std::string* why) {
    const LogDirectory& directory = *directories_.back();
    std::vector<uint64_t> numbers;
    FileResult result = directory.list_segments(&numbers);
    if (!result.ok()) {
      *why = "could not read log directory \"" + directory.path() + "\": " + result.text();
      return false;
    }
    const LogCut* cut =
        made_checkpoint(control_, copied_) ? cut_of(control_, directory.log()) : nullptr;
    std::vector<SegmentScan>& scans = scans_.emplace_back();
    for (uint64_t number : numbers) {
      if (cut != nullptr && number < cut->segment) continue;
      std::string path = directory.segment_path(number);
      scans.push_back(
          scan_segment(files_, path, number, directory.log(), {.keep_all = true, .closed_at = {}}));
      if (scans.back().result.ok()) continue;
      *why = failed_log("read", path, scans.back().result);
      return false;
    }
    return true;
  }

  FileSystem& files_;
  const ControlFile& control_;
  const Incarnation& copied_;
  std::vector<std::unique_ptr<LogDirectory>> owned_;
  std::vector<LogDirectory*> directories_;
  std::vector<std::vector<SegmentScan>> scans_;  // by directory
};

}  // namespace

bool StateTimes::read(FileSystem& files, const BackupSource& source, const BackupLabel& label,
                      std::string* why) {
  CopiedLogs logs(files, label);
  if (!logs.scan(source, why)) return false;
  IncarnationParts parts = logs.parts();
  states_.clear();
  for (const LogPart& part : parts.logs) {
    for (const LogPart::Piece& piece : part.prefix) {
      for (const BatchTrailer& trailer : piece.run->trailers)
        if (trailer.unix_time_us != 0) states_.push_back({trailer.unix_time_us, trailer.complete});
    }
  }
  sort_out(earliest_stop(label),
           proven_epoch(label.control, label.control.incarnations.back(), parts));
  if (!states_.empty()) return true;
  *why = "the backup's logs do not tell the time of any state that it holds";
  return false;
}

// A state that is not proven ends them: at its time and later nobody knows what was committed.
void StateTimes::sort_out(Epoch earliest, Epoch proven) {
  std::ranges::sort(states_, [](const State& one, const State& other) {
    return one.unix_us != other.unix_us ? one.unix_us < other.unix_us : one.epoch < other.epoch;
  });
  auto beyond =
      std::ranges::find_if(states_, [&](const State& state) { return state.epoch > proven; });
  states_.erase(beyond, states_.end());
  Epoch largest;
  for (State& state : states_) largest = state.epoch = std::max(largest, state.epoch);
  std::erase_if(states_, [&](const State& state) { return state.epoch < earliest; });
}

bool StateTimes::find(uint64_t unix_us, Epoch* epoch, std::string* why) const {
  if (first_us() <= unix_us && unix_us <= last_us()) {
    *epoch = std::prev(std::ranges::upper_bound(states_, unix_us, {}, &State::unix_us))->epoch;
    return true;
  }
  bool early = unix_us < first_us();
  *why = std::string("the backup holds no state ") + (early ? "before " : "after ") +
         timestamp_text(early ? first_us() : last_us()) + "\nDETAIL:  It holds those from " +
         timestamp_text(first_us()) + " to " + timestamp_text(last_us()) + "; asked for was " +
         timestamp_text(unix_us) + ".\nHINT:  Restore " + (early ? "an earlier" : "a later") +
         " backup, or name " + (early ? "a later" : "an earlier") + " time.";
  return false;
}

}  // namespace pgsilo
