#include "wal/recovery/segment_scan.h"

#include <algorithm>

#include "wal/log/segment_reader.h"

namespace pgsilo {
namespace {

constexpr uint64_t split_bytes = uint64_t{1} << 20;

bool follows(const BlockRun& run, const BlockView& block) {
  return run.end == block.offset && run.incarnation == block.header.incarnation &&
         run.next_number == block.header.number;
}

void note_epochs(BlockRun& run, const BlockView& block) {
  const BlockHeader& header = block.header;
  run.recorded = std::max(run.recorded, header.recorded_durable);
  run.largest_seen = std::max({run.largest_seen, header.recorded_durable, header.largest_epoch});
  if (!block.trailer) return;
  run.largest_seen = std::max(run.largest_seen, block.trailer->complete);
  for (Epoch epoch : block.trailer->last_data) run.largest_seen = std::max(run.largest_seen, epoch);
}

void add_block(BlockRun& run, const BlockView& block) {
  if (run.splits.empty()) run.splits.push_back(block.offset);
  if (block.offset - run.splits.back() >= split_bytes) run.splits.push_back(block.offset);
  run.end = block.offset + block.bytes;
  run.next_number = block.header.number + 1;
  note_epochs(run, block);
  if (block.header.kind == BlockKind::piece) {
    run.pieces.push_back({block.offset, block.bytes, block.payload_bytes, block.header.piece_offset,
                          block.header.piece_total});
  }
  if (block.trailer) run.trailers.push_back(*block.trailer);
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
    if (run.splits.back() != run.end) run.splits.push_back(run.end);
  }
  return scan;
}

}  // namespace pgsilo
