// Reads what recovery's first pass has found and hands the whole records in it to a visitor, as
// many as lie together: bool visit(std::string_view records), false if one is damaged. Whether they
// count is for the visitor to ask (ReplayRange::counts()). Thread safety: plain functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wal/log/block_payload.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/log_analyzer.h"
#include "wal/recovery/range_walks.h"

namespace pgsilo {

// Between the two passes nobody else writes, and a record in a whole block is whole. What was
// trusted may be damaged.
inline bool fail_range(const ReplayRange& range, uint64_t offset, const FileResult& read,
                       std::string* why) {
  *why = !read.ok()      ? failed_log("read", range.path, read)
         : range.trusted ? damaged_log(range.path, offset) + accept_hint
                         : "log file \"" + range.path + "\" changed at offset " +
                               std::to_string(offset) + " while it was being read";
  return false;
}

// One after the other to bool visit(const RecordHeader&, std::string_view record).
template <typename Visit>
bool walk_records(std::string_view records, Visit visit) {
  while (!records.empty()) {
    std::optional<RecordHeader> header = peek_record(records);
    if (!header || !visit(*header, records.substr(0, header->bytes))) return false;
    records.remove_prefix(header->bytes);
  }
  return true;
}

// The whole records of a range; `walk` tells what else is in it. False: `why`.
template <typename Visit>
bool walk_range(FileSystem& files, const ReplayRange& range, PayloadReader& payloads, Visit visit,
                RangeWalk* walk, std::string* why) {
  SegmentReader reader(files, range.path, range.segment, range.log);
  if (!reader.open(range.end).ok()) return fail_range(range, range.begin, reader.result(), why);
  for (uint64_t at = range.begin; at < range.end;) {
    // Where the blocks of a trusted segment begin is still to be found.
    std::optional<BlockView> block =
        reader.next(at, range.trusted ? range.end : at + log_format::block_unit);
    if (!block && range.trusted && reader.result().ok()) return true;
    if (!block || !walk->add(range, *block)) return fail_range(range, at, reader.result(), why);
    if (block->header.kind == BlockKind::records) {
      std::optional<std::string_view> payload = payloads.read(*block);
      if (!payload || !visit(*payload)) return fail_range(range, at, reader.result(), why);
    }
    at = block->offset + block->bytes;
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
    if (!reader.open(piece.end).ok()) return fail_range(piece, piece.begin, reader.result(), why);
    std::optional<BlockView> block = reader.next(piece.begin, piece.begin + log_format::block_unit);
    if (!block || block->header.piece_offset != bytes.size())
      return fail_range(piece, piece.begin, reader.result(), why);
    std::optional<std::string_view> payload = payloads.read(*block);
    if (!payload) return fail_range(piece, piece.begin, reader.result(), why);
    bytes.append(*payload);
  }
  const ReplayRange& first = record.pieces.front();
  return visit(bytes) || fail_range(first, first.begin, FileResult{}, why);
}

}  // namespace pgsilo
