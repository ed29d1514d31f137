#include "wal/backup/archived_starts.h"

#include <algorithm>
#include <ranges>

#include "wal/log/segment_reader.h"
#include "wal/recovery/segment_scan.h"

namespace pgsilo {

bool same_incarnation(const BlockHeader& one, const BlockHeader& other) {
  return one.incarnation == other.incarnation && one.incarnation_tag == other.incarnation_tag;
}

FileResult read_first_block(FileSystem& files, const LogDirectory& log, uint64_t segment,
                            std::optional<BlockHeader>* first, std::optional<LogBegin>* begin) {
  SegmentReader reader(files, log.segment_path(segment), segment, log.log());
  FileResult result = reader.open(log_format::block_unit);
  std::optional<BlockView> block;
  if (result.ok()) block = reader.next(0, log_format::block_unit);
  if (result.ok()) result = reader.result();
  if (!result.ok() || !block) return result;
  *first = block->header;
  if (begin != nullptr && block->header.kind == BlockKind::begin)
    *begin = decode_log_begin(block->stored);
  return result;
}

bool look_at_first_blocks(FileSystem& files, const LogDirectory& log, ReadFailure* failure,
                          const std::function<bool(const FirstBlock&)>& look) {
  std::vector<uint64_t> numbers;
  if (!failure->note(log.list_segments(&numbers), log.path())) return false;
  for (uint64_t number : std::views::reverse(numbers)) {
    std::optional<BlockHeader> first;
    FirstBlock found;
    FileResult result = read_first_block(files, log, number, &first, &found.begin);
    if (result.status == FileStatus::not_found) continue;
    if (!failure->note(result, log.segment_path(number))) return false;
    if (!first) continue;
    found.segment = number;
    found.header = *first;
    if (!look(found)) break;
  }
  return true;
}

bool ArchivedStarts::list(const LogDirectory& log, std::vector<uint64_t>* numbers) {
  if (!failure_.note(log.list_segments(numbers), log.path())) return false;
  std::ranges::reverse(*numbers);
  return true;
}

// A segment may have gone since it was listed.
bool ArchivedStarts::read_first(const LogDirectory& log, uint64_t segment,
                                std::optional<BlockHeader>* first, std::optional<LogBegin>* begin) {
  FileResult result = read_first_block(files_, log, segment, first, begin);
  return result.status == FileStatus::not_found || failure_.note(result, log.segment_path(segment));
}

// A start begins with a segment of its own, mostly one of the last.
std::optional<LogBegin> ArchivedStarts::begin_in(const LogDirectory& log, uint64_t tag) {
  std::optional<LogBegin> found;
  look_at_first_blocks(files_, log, &failure_, [&](const FirstBlock& first) {
    if (first.begin && short_identity(first.begin->incarnation) == tag) found = first.begin;
    return !found;
  });
  return found;
}

std::optional<LogBegin> ArchivedStarts::begin_of(uint64_t tag) {
  for (const auto* logs : {&archived_, &server_}) {
    for (const LogDirectory* log : *logs) {
      if (std::optional<LogBegin> begin = begin_in(*log, tag)) return begin;
    }
  }
  return std::nullopt;
}

std::optional<Epoch> ArchivedStarts::counted(const BlockHeader& block, const LogBegin& later) {
  std::optional<LogBegin> own = begin_of(block.incarnation_tag);
  LogBegin last = later;
  for (;;) {
    if (restored_ && last.parent == *restored_) return std::nullopt;
    if (short_identity(last.parent.incarnation) == block.incarnation_tag)
      return last.parent.durable;
    // They went on from the same state, so nothing came between.
    if (own && own->parent == last.parent) return Epoch(own->first_epoch.value() - 1);
    std::optional<LogBegin> before = begin_of(short_identity(last.parent.incarnation));
    if (!before || before->first_epoch >= last.first_epoch) return std::nullopt;
    last = *std::move(before);
  }
}

std::optional<ArchivedStarts::Unfounded> ArchivedStarts::unfounded(const LogBegin& start) {
  LogBegin last = start;
  for (;;) {
    const HistoryPoint parent = last.parent;
    bool was_had = parent.durable <= had_ || parent.incarnation == Uuid{} ||
                   (restored_ && parent == *restored_);
    if (was_had) return std::nullopt;
    const uint64_t tag = short_identity(parent.incarnation);
    std::optional<LogBegin> before = begin_of(tag);
    // An archive may have been begun in the midst of it.
    std::string ends;
    if ((!before && !number_of(tag)) || !is_there_up_to(parent.durable, tag, &ends))
      return Unfounded{number_of(short_identity(last.incarnation)).value_or(0), parent.durable,
                       std::move(ends)};
    if (!before || before->first_epoch >= last.first_epoch) return std::nullopt;
    last = *std::move(before);
  }
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

// What the server has of it is yet to come, and judged where a log goes on from there.
bool ArchivedStarts::is_there_up_to(Epoch epoch, uint64_t tag, std::string* ends) {
  if (number_in(server_, tag)) return true;
  BlockHeader block;
  block.incarnation_tag = tag;
  return holds(block, epoch, ends);
}

std::optional<uint64_t> ArchivedStarts::number_of(uint64_t tag) {
  std::optional<uint64_t> number = number_in(archived_, tag);
  return number ? number : number_in(server_, tag);
}

// By any of its segments. None: there is none, or one could not be read.
std::optional<uint64_t> ArchivedStarts::number_in(const std::vector<const LogDirectory*>& logs,
                                                  uint64_t tag) {
  for (const LogDirectory* log : logs) {
    std::optional<uint64_t> found;
    bool read = look_at_first_blocks(files_, *log, &failure_, [&](const FirstBlock& first) {
      if (first.header.incarnation_tag == tag) found = first.header.incarnation;
      return !found;
    });
    if (found || !read) return found;
  }
  return std::nullopt;
}

// The last segments are enough: behind a trailer of an epoch that counts nothing older decides.
std::optional<ArchivedStarts::Part> ArchivedStarts::part_in(const LogDirectory& log, uint64_t tag,
                                                            Epoch counted) {
  std::vector<uint64_t> numbers;
  if (!list(log, &numbers)) return std::nullopt;
  std::optional<Part> part;
  std::vector<std::string> beginless;
  for (uint64_t number : numbers) {
    std::optional<BlockHeader> first;
    if (!read_first(log, number, &first, nullptr)) return std::nullopt;
    if (!first) beginless.push_back(log.segment_path(number));
    bool own = first && first->incarnation_tag == tag;
    if (!own && part) break;
    if (!own) continue;
    std::string path = log.segment_path(number);
    SegmentScan scan =
        scan_segment(files_, path, number, log.log(), {.keep_all = true, .closed_at = {}});
    if (!failure_.note(scan.result, path) || scan.runs.empty()) return std::nullopt;
    const BlockRun& run = scan.runs.front();
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
  if (!part) beginless_.insert(beginless_.end(), beginless.begin(), beginless.end());
  return part;
}

// Its last segment tells: where that begins with its begin block there is none before. One whose
// first block is damaged may be its last, too.
void ArchivedStarts::add_extent(const LogDirectory& log, uint64_t tag, Extent* extent) {
  std::vector<uint64_t> numbers;
  if (!list(log, &numbers)) return;
  for (uint64_t number : numbers) {
    std::optional<BlockHeader> first;
    if (!read_first(log, number, &first, nullptr)) return;
    if (first && first->incarnation_tag != tag) continue;
    std::string path = log.segment_path(number);
    SegmentScan scan =
        scan_segment(files_, path, number, log.log(), {.keep_all = true, .closed_at = {}});
    if (!failure_.note(scan.result, path)) return;
    bool any = false;
    for (const BlockRun& run : scan.runs) {
      if (run.incarnation_tag != tag) continue;
      any = true;
      extent->has_data |= !run.only_begins;
      extent->recorded = std::max(extent->recorded, run.recorded);
    }
    if (any) return;
  }
}

ArchivedStarts::Extent ArchivedStarts::extent(uint64_t tag) {
  Extent extent;
  for (const LogDirectory* log : archived_) add_extent(*log, tag, &extent);
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
  if (std::optional<LogBegin> begin = begin_in(*part.log, tag))
    return Place{begin->index, begin->logs, begin->first_epoch, true};
  if (const Incarnation* start = named(tag)) {
    auto log = std::ranges::find(start->logs, part.log->log(), &LogIdentity::log);
    if (log == start->logs.end()) return std::nullopt;
    return Place{.index = static_cast<size_t>(log - start->logs.begin()),
                 .logs = start->logs.size(),
                 .first_epoch = start->first_epoch};
  }
  return part.loggers == 1 ? std::optional<Place>(Place{}) : std::nullopt;
}

// Its log has an earlier one before it.
bool ArchivedStarts::began_here(const Part& part, const Place& place, uint64_t tag) {
  std::vector<uint64_t> numbers;
  std::optional<BlockHeader> first;
  return place.begins && list(*part.log, &numbers) && !numbers.empty() &&
         read_first(*part.log, numbers.back(), &first, nullptr) && first &&
         first->incarnation_tag != tag;
}

// Of a log that is not there from its beginning a trailer that was left out may be the proof.
bool ArchivedStarts::find_parts(uint64_t tag, Epoch counted, std::vector<Part>* parts) {
  Epoch first(1);
  beginless_.clear();
  began_here_ = false;
  for (const LogDirectory* log : archived_) {
    std::optional<Part> part = part_in(*log, tag, counted);
    if (!part) continue;
    std::optional<Place> place = place_of(*part, tag);
    if (!place || place->index >= place->logs) return false;
    if (!place->begins && (part->loggers == 0 || part->oldest > counted)) return false;
    began_here_ |= began_here(*part, *place, tag);
    parts->resize(std::max(parts->size(), place->logs));
    (*parts)[place->index] = *std::move(part);
    first = std::max(first, place->first_epoch);
  }
  if (parts->empty() || may_lack_logs(counted, *parts)) return false;
  const bool had = beginless_.empty();
  for (Part& part : *parts) {
    part.reaches = std::max(part.reaches, Epoch(first.value() - 1));
    if (part.log == nullptr && had) part.reaches = std::max(part.reaches, had_);
  }
  return true;
}

// A start that was archived to its end, or ended before the archive began, may have logs that are
// not in the archive, or not any more: one that is out of the server, or whose segments were taken
// out. No such log is one with a segment of which it is not known whose it is.
bool ArchivedStarts::may_lack_logs(Epoch counted, const std::vector<Part>& parts) const {
  bool lacks = std::ranges::any_of(parts, [](const Part& part) { return part.log == nullptr; });
  return lacks && counted <= had_ && beginless_.empty();
}

bool ArchivedStarts::holds(const BlockHeader& block, Epoch counted, std::string* damaged) {
  std::vector<Part> parts;
  std::optional<LogBegin> begin = begin_of(block.incarnation_tag);
  if (begin && counted < begin->first_epoch) return true;
  if (!find_parts(block.incarnation_tag, counted, &parts)) return true;
  // Who restores needs its begin block, if nothing else.
  bool lacks = std::ranges::any_of(parts, [](const Part& part) { return part.log == nullptr; });
  if (lacks && began_here_ && beginless_.empty()) return false;
  auto proves = [&](const BatchTrailer& trailer) {
    if (trailer.last_data.size() != parts.size()) return false;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (trailer.last_data[i] > parts[i].reaches) return false;
    }
    return true;
  };
  for (const Part& part : parts) {
    if (std::ranges::any_of(part.trailers, proves)) return true;
  }
  *damaged = ends_of(parts);
  return false;
}

std::string ArchivedStarts::ends_of(const std::vector<Part>& parts) const {
  std::string ends;
  auto add = [&](const std::string& path, uint64_t offset) {
    if (!ends.empty()) ends += ", or ";
    ends += "\"" + path + "\" at offset " + std::to_string(offset);
  };
  for (const Part& part : parts) {
    if (part.log != nullptr) add(part.log->segment_path(part.segment), part.end);
  }
  for (const std::string& path : beginless_) add(path, 0);
  return ends;
}

}  // namespace pgsilo
