#include "wal/backup/state_times.h"

#include <algorithm>

#include "wal/backup/backup_label.h"
#include "wal/backup/source_logs.h"
#include "wal/backup/timestamp.h"

namespace pgsilo {

bool StateTimes::read(const SourceLogs& logs, const BackupLabel& label, Epoch earliest,
                      std::string* why) {
  states_.clear();
  for (const Incarnation& incarnation : label.control.incarnations) {
    bool counts = !incarnation.closed || incarnation.durable >= incarnation.first_epoch;
    if (counts && needs_log(label.control, incarnation)) add(logs, label.control, incarnation);
  }
  // Behind a log that was out of the server while the clock was set back times are earlier, too.
  State latest{.unix_us = 0, .epoch = Epoch(0)};
  for (State& state : states_) {
    latest.epoch = state.epoch = std::max(latest.epoch, state.epoch);
    latest.unix_us = state.unix_us = std::max(latest.unix_us, state.unix_us);
  }
  std::erase_if(states_, [&](const State& state) {
    return state.epoch < earliest || state.epoch > label.stop;
  });
  if (!states_.empty()) return true;
  *why = "the backup's logs do not tell the time of any state that it holds";
  return false;
}

// A state that is not proven, or was given up by the next start, ends them: at its time and later
// nobody knows what was committed.
void StateTimes::add(const SourceLogs& logs, const ControlFile& control,
                     const Incarnation& incarnation) {
  IncarnationParts parts = logs.parts(control, incarnation);
  std::vector<State> states;
  for (const LogPart& part : parts.logs) {
    for (const LogPart::Piece& piece : part.prefix) {
      for (const BatchTrailer& trailer : piece.run->trailers)
        if (trailer.unix_time_us != 0) states.push_back({trailer.unix_time_us, trailer.complete});
    }
  }
  std::ranges::sort(states, [](const State& one, const State& other) {
    return one.unix_us != other.unix_us ? one.unix_us < other.unix_us : one.epoch < other.epoch;
  });
  Epoch last = proven_epoch(control, incarnation, parts);
  if (incarnation.closed) last = std::min(last, incarnation.durable);
  auto beyond =
      std::ranges::find_if(states, [&](const State& state) { return state.epoch > last; });
  states_.insert(states_.end(), states.begin(), beyond);
  const bool is_damaged = incarnation.closed && last < incarnation.durable;
  if (is_damaged && !states_.empty()) states_.back().is_last_readable = true;
}

bool StateTimes::find(uint64_t unix_us, Epoch* epoch, std::string* why) const {
  if (first_us() <= unix_us && unix_us <= last_us()) {
    auto behind = std::ranges::upper_bound(states_, unix_us, {}, &State::unix_us);
    const State& found = *std::prev(behind);
    *epoch = found.epoch;
    if (!found.is_last_readable) return true;
    *why = "it cannot be told what there was at " + timestamp_text(unix_us) +
           ": a log is damaged behind " + timestamp_text(found.unix_us) + ", epoch " +
           std::to_string(found.epoch.value()) + "\nHINT:  Name a time before that.";
    return false;
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
