#include "wal/recovery/segment_scan.h"

#include <algorithm>

#include "wal/log/log_begin.h"
#include "wal/log/segment_reader.h"

namespace pgsilo {
namespace {

constexpr uint64_t split_bytes = uint64_t{1} << 20;
// Parts of a segment that was not scanned: larger, for in each of them a reader first has to find a
// block.
constexpr uint64_t trusted_splits = 8;

bool follows(const BlockRun& run, const BlockView& block) {
  return run.end == block.offset && run.incarnation == block.header.incarnation &&
         run.incarnation_tag == block.header.incarnation_tag &&
         run.next_number == block.header.number;
}

void add_system_block(BlockRun& run, const BlockView& block) {
  BlockSpan span{.begin = block.offset, .end = block.offset + block.bytes};
  bool follows = !run.system.empty() && run.system.back().end == span.begin;
  if (follows && span.end - run.system.back().begin <= split_bytes) {
    run.system.back().end = span.end;
  } else {
    run.system.push_back(span);
  }
}

void add_begin(BlockRun& run, const BlockView& block) {
  std::optional<LogBegin> begin = decode_log_begin(block.stored);
  if (!begin) return;
  run.newest_time_us = begin->unix_time_us;
  run.parent = begin->parent;
  run.largest_seen = std::max(run.largest_seen, begin->parent.durable);
}

void add_block(BlockRun& run, const BlockView& block) {
  bool begins = block.header.kind == BlockKind::begin;
  run.only_begins = begins && run.end == 0;
  run.has_records |= !begins && block.payload_bytes != 0;
  // An incarnation's first block has no records.
  if (run.splits.empty() && !begins) run.splits.push_back(block.offset);
  if (!begins && block.offset - run.splits.back() >= split_bytes)
    run.splits.push_back(block.offset);
  run.end = block.offset + block.bytes;
  run.next_number = block.header.number + 1;
  run.recorded = std::max(run.recorded, block.header.recorded_durable);
  run.largest_seen = std::max(run.largest_seen, largest_mentioned(block));
  if (block.header.system) add_system_block(run, block);
  if (begins) add_begin(run, block);
  if (!block.trailer) return;
  if (run.first_complete == Epoch(0)) run.first_complete = block.trailer->complete;
  run.trailers.push_back(*block.trailer);
  run.newest_time_us = std::max(run.newest_time_us, block.trailer->unix_time_us);
}

// The last trailer stays in any case: it tells how far the log reaches.
void drop_decided_trailers(BlockRun& run, const TrailerRule& rule) {
  if (rule.keep_all || run.trailers.empty()) return;
  Epoch decided = run.recorded;
  auto closed = rule.closed_at.find(run.incarnation);
  if (closed != rule.closed_at.end()) decided = std::min(decided, closed->second);
  BatchTrailer last = run.trailers.back();
  run.trailers.pop_back();
  std::erase_if(run.trailers,
                [&](const BatchTrailer& trailer) { return trailer.complete < decided; });
  run.trailers.push_back(std::move(last));
}

}  // namespace

BlockRun trusted_run(const BlockHeader& first, const BlockHeader& next, uint64_t segment_bytes) {
  BlockRun run;
  run.scanned = false;
  run.incarnation = first.incarnation;
  run.incarnation_tag = first.incarnation_tag;
  run.end = segment_bytes;
  run.first_number = first.number;
  run.next_number = next.number;
  run.recorded = first.recorded_durable;
  run.largest_seen = std::max(first.recorded_durable, first.largest_epoch);
  uint64_t step = log_format::round_up(segment_bytes / trusted_splits);
  for (uint64_t at = 0; at < segment_bytes; at += step) run.splits.push_back(at);
  run.splits.push_back(segment_bytes);
  return run;
}

SegmentScan scan_segment(FileSystem& files, const std::string& path, uint64_t number,
                         const Uuid& log, const TrailerRule& rule) {
  SegmentScan scan;
  scan.number = number;
  scan.path = path;
  SegmentReader reader(files, path, number, log);
  scan.result = reader.open();
  if (!scan.result.ok()) return scan;
  scan.bytes = reader.bytes();
  uint64_t at = 0;
  while (std::optional<BlockView> block = reader.next(at, scan.bytes)) {
    at = block->offset + block->bytes;
    if (scan.runs.empty() || !follows(scan.runs.back(), *block)) {
      BlockRun run;
      run.incarnation = block->header.incarnation;
      run.incarnation_tag = block->header.incarnation_tag;
      run.begin = block->offset;
      run.first_number = block->header.number;
      scan.runs.push_back(std::move(run));
    }
    BlockRun& run = scan.runs.back();
    add_block(run, *block);
    if (run.trailers.size() % 1024 == 0) drop_decided_trailers(run, rule);
  }
  scan.result = reader.result();
  scan.foreign = reader.met_foreign_block();
  for (BlockRun& run : scan.runs) {
    drop_decided_trailers(run, rule);
    if (!run.splits.empty() && run.splits.back() != run.end) run.splits.push_back(run.end);
  }
  return scan;
}

}  // namespace pgsilo
