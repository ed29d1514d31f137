#include "wal/backup/archived_starts.h"

#include <algorithm>

namespace pgsilo {

bool same_incarnation(const BlockHeader& one, const BlockHeader& other) {
  return one.incarnation == other.incarnation && one.incarnation_tag == other.incarnation_tag;
}

// What has begun since the server's logs were looked at is found by looking once more.
bool ArchivedStarts::may_be_in_server(uint64_t tag) {
  if (!know_all(server_, &failure_)) return false;
  if (start_in(server_, tag) != nullptr) return true;
  bool read = std::ranges::all_of(server_, [&](auto* log) { return log->look(&failure_); });
  return read && start_in(server_, tag) != nullptr;
}

std::optional<LogBegin> ArchivedStarts::begin_of(uint64_t tag) {
  if (!know_all(archived_, &failure_)) return std::nullopt;
  const FirstBlocks::Start* start = begun_in(archived_, tag);
  if (start == nullptr && may_be_in_server(tag)) start = begun_in(server_, tag);
  return start != nullptr ? start->begin : std::nullopt;
}

std::optional<Epoch> ArchivedStarts::counted(const BlockHeader& block, const LogBegin& later) {
  std::optional<LogBegin> own = begin_of(block.incarnation_tag);
  LogBegin last = later;
  for (;;) {
    if (restored_ && last.parent == *restored_ && restored_->durable <= had_.epoch)
      return std::nullopt;
    if (short_identity(last.parent.incarnation) == block.incarnation_tag)
      return last.parent.durable;
    // They went on from the same state, so nothing came between.
    if (own && own->parent == last.parent) return Epoch(own->first_epoch.value() - 1);
    std::optional<LogBegin> before = begin_of(short_identity(last.parent.incarnation));
    if (!before || before->first_epoch >= last.first_epoch) return std::nullopt;
    last = *std::move(before);
  }
}

// What a server was restored to may be ahead of the archive. What the start rests on of which
// something was had was looked at then.
bool ArchivedStarts::rests_on_what_was_had(const LogBegin& start) {
  const HistoryPoint& parent = start.parent;
  if (parent.incarnation == Uuid{} || short_identity(start.incarnation) == had_.tag) return true;
  if (restored_ && parent == *restored_ && parent.durable <= had_.epoch) return true;
  const bool is_behind_tip = tip_ && start.first_epoch > tip_->logged;
  if (parent.durable > had_.epoch) return false;
  return !is_behind_tip || short_identity(parent.incarnation) == tip_->tag || is_below_had(parent);
}

// What was had went on from there, as far as that is known: of what was pruned by the server.
bool ArchivedStarts::is_below_had(const HistoryPoint& state) {
  const uint64_t tag = short_identity(state.incarnation);
  if (tag == had_.tag) return true;
  if (had_states_.empty() && know_all(archived_, &failure_) && know_all(server_, &failure_)) {
    std::vector<FirstBlocks*> logs = archived_;
    logs.insert(logs.end(), server_.begin(), server_.end());
    for (const StartState& each : states_below(logs, {had_.tag, had_.epoch}))
      had_states_.emplace(each.tag, each.epoch);
  }
  auto found = had_states_.find(tag);
  return found != had_states_.end() && state.durable <= found->second;
}

std::optional<uint64_t> ArchivedStarts::oldest_in(const FirstBlocks& log) {
  auto oldest = std::find_if(log.segments().rbegin(), log.segments().rend(),
                             [](const auto& segment) { return segment.second.has_value(); });
  return oldest == log.segments().rend() ? std::nullopt : oldest->second;
}

// A log begins with segment 1.
std::optional<uint64_t> ArchivedStarts::oldest_left_in(const FirstBlocks& log) {
  const bool is_pruned = !log.segments().empty() && log.segments().rbegin()->first != 1;
  return is_pruned ? oldest_in(log) : std::nullopt;
}

// What came before it was pruned: the archive has begun with something older, or it was looked at
// then.
bool ArchivedStarts::is_oldest_archived(const LogBegin& start) {
  if (!know_all(archived_, &failure_)) return false;
  const FirstBlocks::Start* found = start_in(archived_, short_identity(start.incarnation));
  auto has_older = [&](const FirstBlocks* log) {
    const std::optional<uint64_t> oldest = oldest_in(*log);
    return oldest && log->start(*oldest)->number < found->number;
  };
  return found != nullptr && std::ranges::none_of(archived_, has_older);
}

// Before a start that went on from it, as far as that is known: a backup from behind it, for which
// old segments were taken out, its begin block, too, does not need it.
bool ArchivedStarts::was_pruned(const HistoryPoint& state) {
  if (!know_all(archived_, &failure_)) return false;
  return std::ranges::any_of(archived_, [&](const FirstBlocks* log) {
    const std::optional<uint64_t> oldest = oldest_left_in(*log);
    const std::optional<LogBegin> begin = oldest ? begin_of(*oldest) : std::nullopt;
    return begin && rests_on(state, *begin);
  });
}

// By its parents; where they are not there any more it may.
bool ArchivedStarts::rests_on(const HistoryPoint& state, const LogBegin& start) {
  for (std::optional<LogBegin> each = start; each->first_epoch > state.durable;) {
    const HistoryPoint parent = each->parent;
    const Epoch begun = each->first_epoch;
    if (parent == state) return true;
    if (parent.durable < state.durable) return false;
    each = begin_of(short_identity(parent.incarnation));
    if (!each) return true;
    if (each->first_epoch >= begun) return false;
  }
  return false;
}

// Each start is followed once: what it rests on stays.
std::optional<ArchivedStarts::Unfounded> ArchivedStarts::unfounded(const LogBegin& start) {
  LogBegin last = start;
  std::set<uint64_t> passed;
  while (passed.insert(short_identity(last.incarnation)).second) {
    const HistoryPoint parent = last.parent;
    if (rests_on_what_was_had(last) || is_oldest_archived(last) || was_pruned(parent)) break;
    const uint64_t tag = short_identity(parent.incarnation);
    std::optional<LogBegin> before = begin_of(tag);
    // An archive may have been begun in the midst of it.
    std::string ends;
    if ((!before && !number_of(tag)) || !is_there_up_to(parent.durable, tag, &ends))
      return Unfounded{number_of(short_identity(last.incarnation)).value_or(0), parent.durable,
                       std::move(ends)};
    bool ends_here = !before || before->first_epoch >= last.first_epoch;
    if (ends_here || founded_.contains(tag)) break;
    last = *std::move(before);
  }
  if (!failure_.happened()) founded_.merge(passed);
  return std::nullopt;
}

uint64_t ArchivedStarts::heir_of(uint64_t tag, const LogBegin& later) {
  std::optional<LogBegin> last = later;
  for (Epoch behind; last && (behind == Epoch() || last->first_epoch < behind);) {
    const uint64_t parent = short_identity(last->parent.incarnation);
    if (parent == tag) return number_of(short_identity(last->incarnation)).value_or(0);
    behind = last->first_epoch;
    last = begin_of(parent);
  }
  return 0;
}

// What the server keeps of it is yet to come, and judged where a log goes on from there.
bool ArchivedStarts::is_there_up_to(Epoch epoch, uint64_t tag, std::string* ends) {
  auto keeps = [&](const FirstBlocks* log) { return log->keeps(tag); };
  if (may_be_in_server(tag) && std::ranges::any_of(server_, keeps)) return true;
  if (start_in(archived_, tag) == nullptr) return false;
  BlockHeader block;
  block.incarnation_tag = tag;
  return holds(block, epoch, ends);
}

// By any of its segments. None: there is none, or one could not be read.
std::optional<uint64_t> ArchivedStarts::number_of(uint64_t tag) {
  if (!know_all(archived_, &failure_)) return std::nullopt;
  const FirstBlocks::Start* start = start_in(archived_, tag);
  if (start == nullptr && may_be_in_server(tag)) start = start_in(server_, tag);
  return start != nullptr ? std::optional(start->number) : std::nullopt;
}

bool ArchivedStarts::scan(const FirstBlocks& log, uint64_t segment, SegmentScan* scan) {
  const std::string path = log.log().segment_path(segment);
  *scan = scan_segment(files_, path, segment, log.log().log(), {.keep_all = true, .closed_at = {}});
  return failure_.note(scan->result, path);
}

// The last segments are enough: behind a trailer of an epoch that counts nothing older decides.
// What lies before one whose first block is damaged is not asked.
std::optional<ArchivedStarts::Part> ArchivedStarts::part_in(const FirstBlocks& log, uint64_t tag,
                                                            Epoch counted) {
  const FirstBlocks::Start* start = log.start(tag);
  if (start == nullptr) return std::nullopt;
  std::optional<Part> part;
  uint64_t later = 0;
  for (uint64_t number : start->segments) {
    if (part && number + 1 != later) break;
    later = number;
    SegmentScan segment;
    if (!scan(log, number, &segment) || segment.runs.empty()) return std::nullopt;
    const BlockRun& run = segment.runs.front();
    if (!part) {
      part.emplace();
      part->log = &log;
      part->segment = number;
      part->end = run.end;
    }
    if (!run.trailers.empty()) part->oldest = run.trailers.front().complete;
    for (const BatchTrailer& trailer : run.trailers) {
      part->loggers = trailer.last_data.size();
      part->reaches = std::max(part->reaches, trailer.complete);
      if (trailer.complete >= counted) part->trailers.push_back(trailer);
    }
    if (!run.trailers.empty() && run.trailers.front().complete < counted) break;
  }
  return part;
}

// One without a block is nobody's: prepared by the server, and laid there.
void ArchivedStarts::note_beginless(const FirstBlocks& log) {
  for (const auto& [segment, tag] : log.segments()) {
    SegmentScan found;
    if (!tag && (!scan(log, segment, &found) || !found.runs.empty()))
      beginless_.push_back(log.log().segment_path(segment));
  }
}

// Its last segment tells, but for batches without records: where that begins with its begin block
// there is none before. One whose first block is damaged may be its last, too.
void ArchivedStarts::add_extent(const FirstBlocks& log, uint64_t tag, Extent* extent) {
  bool any = false;
  for (const auto& [number, whose] : log.segments()) {
    if (whose && whose != tag) continue;
    SegmentScan segment;
    if (!scan(log, number, &segment)) return;
    bool begins = false;
    for (const BlockRun& run : segment.runs) {
      if (run.incarnation_tag != tag) continue;
      any = true;
      begins |= run.first_number == 0;
      extent->has_data |= !run.only_begins;
      extent->has_records |= run.has_records;
      extent->recorded = std::max(extent->recorded, run.recorded);
    }
    if (begins || extent->has_records) return;
  }
  extent->has_records |= any;
}

ArchivedStarts::Extent ArchivedStarts::extent(uint64_t tag) {
  Extent extent;
  if (!know_all(archived_, &failure_)) return extent;
  for (const FirstBlocks* log : archived_) add_extent(*log, tag, &extent);
  return extent;
}

// Null: the control file has forgotten it, with a later checkpoint.
const Incarnation* ArchivedStarts::named(uint64_t tag) const {
  auto found = std::ranges::find_if(
      named_, [&](const Incarnation& each) { return short_identity(each.id) == tag; });
  return found == named_.end() ? nullptr : &*found;
}

// Its begin block tells, or the control file; of a start with one log nobody asks.
std::optional<ArchivedStarts::Place> ArchivedStarts::place_of(const Part& part, uint64_t tag) {
  if (const std::optional<LogBegin>& begin = part.log->start(tag)->begin)
    return Place{begin->index, begin->logs, begin->first_epoch, true};
  if (const Incarnation* start = named(tag)) {
    auto log = std::ranges::find(start->logs, part.log->log().log(), &LogIdentity::log);
    if (log == start->logs.end()) return std::nullopt;
    return Place{.index = static_cast<size_t>(log - start->logs.begin()),
                 .logs = start->logs.size(),
                 .first_epoch = start->first_epoch};
  }
  return part.loggers == 1 ? std::optional<Place>(Place{}) : std::nullopt;
}

// It came behind what was had, or its log has an earlier one before it.
bool ArchivedStarts::began_here(const Part& part, const Place& place, uint64_t tag) const {
  std::optional<uint64_t> oldest = part.log->segments().rbegin()->second;
  return place.begins && (place.first_epoch > had_.epoch || (oldest && oldest != tag));
}

// Nobody tells which of the others each is: as if any were any.
bool ArchivedStarts::place_anywhere(std::vector<Part> anywhere, std::vector<Part>* parts) {
  auto is_free = [](const Part& part) { return part.log == nullptr; };
  const auto free = static_cast<size_t>(std::ranges::count_if(*parts, is_free));
  if (anywhere.empty() || anywhere.size() > free) return anywhere.empty();
  const Epoch reaches = std::ranges::max(anywhere, {}, &Part::reaches).reaches;
  for (Part& part : *parts) {
    if (!is_free(part)) continue;
    if (!anywhere.empty()) {
      part = std::move(anywhere.back());
      anywhere.pop_back();
    }
    part.reaches = reaches;
  }
  return true;
}

// Of a log that is not there from its beginning a trailer that was left out may be the proof.
bool ArchivedStarts::find_parts(uint64_t tag, Epoch counted, std::vector<Part>* parts) {
  Epoch first(1);
  std::vector<Part> anywhere;
  beginless_.clear();
  began_here_ = false;
  if (!know_all(archived_, &failure_)) return false;
  for (const FirstBlocks* log : archived_) {
    std::optional<Part> part = part_in(*log, tag, counted);
    if (failure_.happened()) return false;
    if (!part) note_beginless(*log);
    if (!part) continue;
    std::optional<Place> place = place_of(*part, tag);
    if (place && place->index >= place->logs) return false;
    const bool begins = place && place->begins;
    if (!begins && (part->loggers == 0 || part->oldest > counted)) return false;
    parts->resize(std::max(parts->size(), place ? place->logs : part->loggers));
    if (!place) {
      anywhere.push_back(*std::move(part));
      continue;
    }
    began_here_ |= began_here(*part, *place, tag);
    (*parts)[place->index] = *std::move(part);
    first = std::max(first, place->first_epoch);
  }
  if (parts->empty() || !place_anywhere(std::move(anywhere), parts)) return false;
  if (may_lack_logs(tag, counted, *parts)) return false;
  const bool had = beginless_.empty();
  for (Part& part : *parts) {
    part.reaches = std::max(part.reaches, Epoch(first.value() - 1));
    if (part.log == nullptr && had) part.reaches = std::max(part.reaches, had_.epoch);
  }
  return true;
}

// A start that was archived to its end, or ended before the archive began, may have logs that are
// not in the archive, or not any more: one that is out of the server, or whose segments were taken
// out, which a log tells that begins with a later start. No such log is one with a segment of which
// it is not known whose it is.
bool ArchivedStarts::may_lack_logs(uint64_t tag, Epoch counted,
                                   const std::vector<Part>& parts) const {
  bool lacks = std::ranges::any_of(parts, [](const Part& part) { return part.log == nullptr; });
  if (!lacks || !beginless_.empty()) return false;
  auto begins_behind = [&](const FirstBlocks* log) {
    const std::optional<uint64_t> oldest = oldest_left_in(*log);
    return oldest && log->start(*oldest)->number > start_in(archived_, tag)->number;
  };
  return counted <= had_.epoch || std::ranges::any_of(archived_, begins_behind);
}

bool ArchivedStarts::holds(const BlockHeader& block, Epoch counted, std::string* damaged) {
  std::vector<Part> parts;
  std::optional<LogBegin> begin = begin_of(block.incarnation_tag);
  if (begin && counted < begin->first_epoch) return true;
  if (!find_parts(block.incarnation_tag, counted, &parts)) return true;
  // Who restores needs its begin block, if nothing else.
  bool lacks = std::ranges::any_of(parts, [](const Part& part) { return part.log == nullptr; });
  if (lacks && began_here_ && beginless_.empty()) return false;
  if (any_proves(parts)) return true;
  *damaged = ends_of(parts);
  return false;
}

bool ArchivedStarts::any_proves(const std::vector<Part>& parts) {
  auto proves = [&](const BatchTrailer& trailer) {
    if (trailer.last_data.size() != parts.size()) return false;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (trailer.last_data[i] > parts[i].reaches) return false;
    }
    return true;
  };
  return std::ranges::any_of(
      parts, [&](const Part& part) { return std::ranges::any_of(part.trailers, proves); });
}

// What a log had logged up to what was had needs no trailer any more.
bool ArchivedStarts::proves(const Incarnation& start, Epoch epoch, std::string* ends) {
  std::vector<Part> parts(start.logs.size());
  beginless_.clear();
  if (!know_all(archived_, &failure_)) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    auto log = std::ranges::find_if(
        archived_, [&](const FirstBlocks* each) { return each->log().log() == start.logs[i].log; });
    std::optional<Part> part;
    if (log != archived_.end()) part = part_in(**log, short_identity(start.id), epoch);
    if (part) parts[i] = *std::move(part);
    parts[i].reaches =
        std::max({parts[i].reaches, had_.epoch, Epoch(start.first_epoch.value() - 1)});
  }
  *ends = ends_of(parts);
  return any_proves(parts);
}

std::string ArchivedStarts::ends_of(const std::vector<Part>& parts) const {
  std::string ends;
  auto add = [&](const std::string& path, uint64_t offset) {
    if (!ends.empty()) ends += ", or ";
    ends += "\"" + path + "\" at offset " + std::to_string(offset);
  };
  for (const Part& part : parts) {
    if (part.log != nullptr) add(part.log->log().segment_path(part.segment), part.end);
  }
  for (const std::string& path : beginless_) add(path, 0);
  return ends;
}

}  // namespace pgsilo
