#include "wal/log/segment_reader.h"

#include <algorithm>
#include <utility>

namespace pgsilo {
namespace {

using log_format::block_unit;

constexpr size_t window_capacity = size_t{4} << 20;
constexpr size_t longest_block = log_format::max_block_bytes(SIZE_MAX);
static_assert(window_capacity >= 2 * longest_block);

}  // namespace

SegmentReader::SegmentReader(FileSystem& files, std::string path, uint64_t number, Uuid log)
    : files_(files), path_(std::move(path)), number_(number), log_(log) {}

FileResult SegmentReader::sync(uint64_t* file_bytes) {
  std::unique_ptr<File> file;
  result_ = files_.open(path_, {.write = true}, &file);
  if (result_.ok()) result_ = file->sync_data();
  if (result_.ok()) result_ = file->size(file_bytes);
  return result_;
}

FileResult SegmentReader::open(uint64_t limit) {
  result_ = files_.open(path_, {.direct = true}, &file_);
  if (result_.status == FileStatus::unsupported) result_ = files_.open(path_, {}, &file_);
  if (result_.ok()) result_ = file_->size(&bytes_);
  limit_ = std::min(limit, bytes_);
  if (result_.ok()) window_ = allocate_aligned(window_capacity);
  return result_;
}

bool SegmentReader::fill(uint64_t offset, size_t wanted) {
  wanted = std::min<uint64_t>(wanted, bytes_ - offset);
  if (offset >= window_start_ && offset + wanted <= window_start_ + window_bytes_) return true;
  window_start_ = offset;
  uint64_t ahead = std::min<uint64_t>(window_capacity, limit_ - offset);
  size_t piece = log_format::round_up(std::max<uint64_t>(wanted, ahead));
  result_ = file_->read_at(window_.get(), piece, offset, &window_bytes_);
  return result_.ok();
}

bool SegmentReader::begins_unused() {
  if (!fill(0, block_unit)) return false;
  std::string_view begin(window_.get(), window_bytes_);
  if (begin.find_first_not_of('\0') == std::string_view::npos) return !begin.empty();
  size_t claimed = begin.size() < block_unit ? 0 : claimed_bytes(begin);
  if (claimed == 0 || claimed > longest_block || !fill(0, claimed)) return false;
  begin = {window_.get(), window_bytes_};
  std::optional<BlockClaim> claim = read_claim(begin);
  return claim && claim->intact && !is_foreign_block(begin, log_) && claim->place.offset == 0 &&
         claim->place.segment < number_;
}

std::optional<BlockView> SegmentReader::next(uint64_t from, uint64_t to) {
  uint64_t end = std::min(to, limit_);
  for (uint64_t offset = from; offset + block_unit <= end; offset += block_unit) {
    if (!fill(offset, block_unit)) return std::nullopt;
    size_t at = offset - window_start_;
    size_t claimed = claimed_bytes({window_.get() + at, window_bytes_ - at});
    if (claimed == 0 || claimed > longest_block) continue;
    if (!fill(offset, claimed)) return std::nullopt;
    at = offset - window_start_;
    BlockPlace place{.log = log_, .segment = number_, .offset = offset};
    std::string_view rest(window_.get() + at, window_bytes_ - at);
    if (std::optional<BlockView> block = open_block(rest, place)) return block;
    // Elsewhere, what lies there may be what a user stored, in a block of the segment's earlier
    // use.
    if (offset == 0) met_foreign_block_ = is_foreign_block(rest, log_);
  }
  return std::nullopt;
}

}  // namespace pgsilo
