#include "wal/recovery/range_walks.h"

#include <algorithm>
#include <utility>

namespace pgsilo {

bool RangeWalk::add(const ReplayRange& range, const BlockView& block) {
  const BlockHeader& header = block.header;
  bool first = first_number == next_number;
  if (header.incarnation != range.incarnation || header.incarnation_tag != range.incarnation_tag ||
      (!first && header.number != next_number))
    return false;
  // Nobody has looked there for what comes first.
  if (range.trusted && header.system) return false;
  if (first) first_number = header.number;
  next_number = header.number + 1;
  end = block.offset + block.bytes;
  // As the ranges of what was scanned leave it out.
  if (header.kind != BlockKind::begin) bytes += block.bytes;
  largest_seen = std::max(largest_seen, largest_mentioned(block));
  if (header.kind == BlockKind::piece) {
    pieces.push_back(
        {block.offset, block.bytes, block.payload_bytes, header.piece_offset, header.piece_total});
  }
  return true;
}

bool RangeWalks::complete(std::string* why) const {
  uint64_t expected = 0;
  uint64_t end = 0;
  for (size_t i = ranges_.size(); i-- > 0;) {
    const ReplayRange& range = ranges_[i];
    if (!range.trusted) continue;
    if (range.begin == 0) {
      expected = range.trusted->first_number;
      end = 0;
    }
    const RangeWalk& walk = walks_[i];
    if (walk.first_number != walk.next_number && walk.first_number == expected) {
      expected = walk.next_number;
      end = walk.end;
    }
    if (range.end == range.trusted->end && expected != range.trusted->next_number) {
      *why = damaged_log(range.path, end) + accept_hint;
      return false;
    }
  }
  return true;
}

Epoch RangeWalks::largest_seen() const {
  Epoch largest;
  for (const RangeWalk& walk : walks_) largest = std::max(largest, walk.largest_seen);
  return largest;
}

uint64_t RangeWalks::bytes() const {
  uint64_t bytes = 0;
  for (const RangeWalk& walk : walks_) bytes += walk.bytes;
  return bytes;
}

std::vector<LongRecord> RangeWalks::long_records() const {
  std::vector<LongRecord> records;
  LongRecord open;
  const ReplayRange* before = nullptr;
  for (size_t i = ranges_.size(); i-- > 0;) {
    bool goes_on = before != nullptr && before->log == ranges_[i].log &&
                   before->incarnation == ranges_[i].incarnation;
    before = &ranges_[i];
    if (!goes_on) open = {};
    for (const PieceRef& ref : walks_[i].pieces) {
      if (ref.piece_offset == 0) open = {.pieces = {}, .total = ref.piece_total};
      if (open.pieces.empty() && ref.piece_offset != 0) continue;
      open.pieces.push_back(ranges_[i]);
      open.pieces.back().begin = ref.offset;
      open.pieces.back().end = ref.offset + ref.bytes;
      if (ref.piece_offset + ref.payload_bytes == ref.piece_total)
        records.push_back(std::exchange(open, {}));
    }
  }
  return records;
}

}  // namespace pgsilo
