// Reads what recovery's first pass has found and hands every record in it to a visitor:
// bool visit(const RecordHeader&, std::string_view record), false if the record is damaged. Whether
// it counts is for the visitor to ask (ReplayRange::counts()). Thread safety: plain functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wal/log/block_payload.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {

// Between the two passes nobody else writes, and a record in a whole block is whole.
inline bool fail_range(const ReplayRange& range, uint64_t offset, std::string* why) {
  *why = "log file \"" + range.path + "\" changed at offset " + std::to_string(offset) +
         " while it was being read";
  return false;
}

template <typename Visit>
bool walk_payload(std::string_view payload, Visit& visit) {
  while (!payload.empty()) {
    std::optional<RecordHeader> header = peek_record(payload);
    if (!header || !visit(*header, payload.substr(0, header->bytes))) return false;
    payload.remove_prefix(header->bytes);
  }
  return true;
}

// The whole records of a range. False: `why`.
template <typename Visit>
bool walk_range(FileSystem& files, const ReplayRange& range, PayloadReader& payloads, Visit visit,
                std::string* why) {
  SegmentReader reader(files, range.path, range.segment, range.log);
  if (!reader.open(range.end).ok()) return fail_range(range, range.begin, why);
  for (uint64_t at = range.begin; at < range.end;) {
    std::optional<BlockView> block = reader.next(at, at + log_format::block_unit);
    if (!block) return fail_range(range, at, why);
    if (block->header.kind == BlockKind::records) {
      std::optional<std::string_view> payload = payloads.read(*block);
      if (!payload || !walk_payload(*payload, visit)) return fail_range(range, at, why);
    }
    at += block->bytes;
  }
  return true;
}

// One long record. False: `why`.
template <typename Visit>
bool walk_long_record(FileSystem& files, const LongRecord& record, PayloadReader& payloads,
                      Visit visit, std::string* why) {
  std::string bytes;
  bytes.reserve(record.total);
  for (const ReplayRange& piece : record.pieces) {
    SegmentReader reader(files, piece.path, piece.segment, piece.log);
    if (!reader.open(piece.end).ok()) return fail_range(piece, piece.begin, why);
    std::optional<BlockView> block = reader.next(piece.begin, piece.begin + log_format::block_unit);
    if (!block || block->header.piece_offset != bytes.size())
      return fail_range(piece, piece.begin, why);
    std::optional<std::string_view> payload = payloads.read(*block);
    if (!payload) return fail_range(piece, piece.begin, why);
    bytes.append(*payload);
  }
  const ReplayRange& first = record.pieces.front();
  return walk_payload(bytes, visit) || fail_range(first, first.begin, why);
}

}  // namespace pgsilo
