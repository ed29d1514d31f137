#include "wal/backup/first_blocks.h"

#include <algorithm>
#include <utility>

#include "wal/log/segment_reader.h"

namespace pgsilo {

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

bool FirstBlocks::look(ReadFailure* failure) {
  std::vector<uint64_t> numbers;
  if (!failure->note(log_.list_segments(&numbers), log_.path())) return false;
  std::vector<uint64_t> gone;
  for (const auto& [segment, tag] : segments_) {
    if (!std::ranges::binary_search(numbers, segment)) gone.push_back(segment);
  }
  for (uint64_t segment : gone) forget(segment);
  looked_ = std::ranges::all_of(numbers, [&](uint64_t each) { return read(each, failure); });
  return looked_;
}

// It may have gone since it was listed.
bool FirstBlocks::read(uint64_t segment, ReadFailure* failure) {
  auto known = segments_.find(segment);
  if (known != segments_.end() && known->second) return true;
  std::optional<BlockHeader> first;
  std::optional<LogBegin> begin;
  FileResult result = read_first_block(files_, log_, segment, &first, &begin);
  if (result.status == FileStatus::not_found) return true;
  if (!failure->note(result, log_.segment_path(segment))) return false;
  if (first) {
    note(segment, *first, std::move(begin));
  } else {
    segments_[segment] = std::nullopt;
  }
  return true;
}

const FirstBlocks::Start* FirstBlocks::start(uint64_t tag) const {
  auto found = starts_.find(tag);
  return found == starts_.end() ? nullptr : &found->second;
}

bool FirstBlocks::keeps(uint64_t tag) const {
  const Start* found = start(tag);
  return found != nullptr && *found->segments.begin() >= kept_from_;
}

void FirstBlocks::note(uint64_t segment, const BlockHeader& first, std::optional<LogBegin> begin) {
  forget(segment);
  segments_[segment] = first.incarnation_tag;
  Start& start = starts_[first.incarnation_tag];
  start.number = first.incarnation;
  start.segments.insert(segment);
  if (begin) start.begin = std::move(begin);
}

// A start's begin block is in the first of its segments.
void FirstBlocks::forget(uint64_t segment) {
  auto known = segments_.find(segment);
  if (known == segments_.end()) return;
  if (known->second) {
    Start& start = starts_[*known->second];
    if (*start.segments.rbegin() == segment) start.begin.reset();
    start.segments.erase(segment);
    if (start.segments.empty()) starts_.erase(*known->second);
  }
  segments_.erase(known);
}

bool know_all(const std::vector<FirstBlocks*>& logs, ReadFailure* failure) {
  return std::ranges::all_of(logs, [&](FirstBlocks* log) { return log->know(failure); });
}

const FirstBlocks::Start* start_in(const std::vector<FirstBlocks*>& logs, uint64_t tag) {
  for (const FirstBlocks* log : logs) {
    if (const FirstBlocks::Start* start = log->start(tag)) return start;
  }
  return nullptr;
}

const FirstBlocks::Start* begun_in(const std::vector<FirstBlocks*>& logs, uint64_t tag) {
  for (const FirstBlocks* log : logs) {
    const FirstBlocks::Start* start = log->start(tag);
    if (start != nullptr && start->begin) return start;
  }
  return nullptr;
}

std::vector<StartState> states_below(const std::vector<FirstBlocks*>& logs,
                                     const StartState& from) {
  std::vector<StartState> states = {from};
  std::set<uint64_t> met = {from.tag};
  while (const FirstBlocks::Start* start = begun_in(logs, states.back().tag)) {
    const HistoryPoint& parent = start->begin->parent;
    const uint64_t tag = short_identity(parent.incarnation);
    if (parent.incarnation == Uuid{} || !met.insert(tag).second) break;
    states.push_back({tag, parent.durable});
  }
  return states;
}

}  // namespace pgsilo
