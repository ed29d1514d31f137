#include "wal/tool/leftover.h"

#include <algorithm>

namespace pgsilo {

Leftover classify_leftover(std::string_view bytes, const BlockPlace& place) {
  std::string_view unit = bytes.substr(0, log_format::block_unit);
  if (unit.find_first_not_of('\0') == std::string_view::npos) return Leftover::nothing;
  std::optional<BlockClaim> claim = read_claim(bytes);
  if (!claim) return Leftover::other_bytes;
  if (claim->intact && is_foreign_block(bytes, place.log)) return Leftover::foreign_block;
  bool here = claim->place.segment == place.segment && claim->place.offset == place.offset;
  if (here) return Leftover::broken_block;
  return claim->intact ? Leftover::old_block : Leftover::other_bytes;
}

FileResult read_leftover(FileSystem& files, const std::string& path, const BlockPlace& place,
                         Leftover* leftover) {
  std::unique_ptr<File> file;
  FileResult result = files.open(path, {}, &file);
  uint64_t end = 0;
  if (result.ok()) result = file->size(&end);
  uint64_t left = end - std::min(end, place.offset);
  std::string bytes(std::min<uint64_t>(left, log_format::max_block_bytes(SIZE_MAX)), '\0');
  size_t got = 0;
  if (result.ok()) result = file->read_at(bytes.data(), bytes.size(), place.offset, &got);
  *leftover = classify_leftover(std::string_view(bytes).substr(0, got), place);
  return result;
}

std::string_view describe(Leftover leftover) {
  switch (leftover) {
    case Leftover::nothing:
      return "nothing";
    case Leftover::old_block:
      return "a block from the segment's earlier use";
    case Leftover::foreign_block:
      return "a block of another log";
    case Leftover::broken_block:
      return "a block that is not whole";
    case Leftover::other_bytes:
      return "bytes that are no block";
  }
  return "";
}

}  // namespace pgsilo
