#include "wal/log/segment_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "wal/log/log_format.h"

namespace pgsilo {
SegmentStore::SegmentStore(FileSystem& files, SegmentStoreOptions options)
    : files_(files), options_(std::move(options)) {
  PGSILO_CHECK(options_.segment_bytes >= log_format::min_segment_bytes &&
               options_.segment_bytes % log_format::segment_granule == 0);
  // Each worker may hand over one more transaction after space ran low, in a batch of its own; and
  // there may be one batch without data (Logger::may_record()).
  low_water_ = worst_case(options_.ring_bytes) + log_format::block_unit +
               (options_.workers + 2) * log_format::max_block_bytes(options_.segment_bytes);
}

FileResult SegmentStore::open(uint64_t first, const std::vector<uint64_t>& empty) {
  std::deque<Segment> reusable;
  bool fit = true;
  for (uint64_t number : empty) {
    Segment segment;
    FileResult result = open_segment(number, &segment);
    if (!result.ok()) return result;
    fit &= number == first + reusable.size() && segment.bytes == options_.segment_bytes;
    reusable.push_back(std::move(segment));
  }
  if (!fit) {
    // Left by a start with another segment size. Highest first, so that numbers never have a gap.
    for (; !reusable.empty(); reusable.pop_back()) {
      FileResult result = files_.remove(reusable.back().path);
      if (result.ok()) result = files_.sync_directory(options_.directory);
      if (!result.ok()) return result;
    }
  }
  std::lock_guard lock(mutex_);
  next_number_ = first + reusable.size();
  ready_ = std::move(reusable);
  update_state();
  return {};
}

FileResult SegmentStore::open_segment(uint64_t number, Segment* segment) {
  segment->number = number;
  segment->path = join_path(options_.directory, segment_name(number));
  FileResult result{FileStatus::unsupported, 0};
  if (options_.direct) {
    result = files_.open(segment->path, {.write = true, .direct = true, .synchronous = true},
                         &segment->file);
    if (result.status == FileStatus::unsupported) options_.direct = false;
  }
  if (!options_.direct) result = files_.open(segment->path, {.write = true}, &segment->file);
  if (result.ok()) result = segment->file->size(&segment->bytes);
  return result;
}

// A block and the next one together are longer than one block can be, or they would be one: at most
// half of the space is lost to records that did not fit, and at most a quarter of a segment to
// blocks that did not fit at its end.
size_t SegmentStore::worst_case(size_t redo_bytes) const {
  return 3 * redo_bytes + 2 * log_format::max_block_bytes(options_.segment_bytes);
}

uint64_t SegmentStore::free_bytes() const {
  uint64_t bytes = current_free_;
  for (const Segment& segment : ready_) bytes += segment.bytes;
  return bytes;
}

uint64_t SegmentStore::needed_bytes() const { return low_water_ + long_reserved_; }

void SegmentStore::update_state() {
  LogSpace state = free_bytes() >= needed_bytes() ? LogSpace::ample
                   : cannot_prepare_              ? LogSpace::exhausted
                                                  : LogSpace::preparing;
  state_.store(state, std::memory_order_release);
}

bool SegmentStore::long_decided(size_t bytes) const {
  std::lock_guard lock(mutex_);
  return long_refused_ || free_bytes() >= needed_bytes() + worst_case(bytes);
}

LogSpace SegmentStore::reserve_long(size_t bytes) {
  std::lock_guard lock(mutex_);
  long_wanted_ = 0;
  if (free_bytes() >= needed_bytes() + worst_case(bytes)) {
    long_reserved_ += worst_case(bytes);
    return LogSpace::ample;
  }
  if (std::exchange(long_refused_, false)) return LogSpace::exhausted;
  long_wanted_ = worst_case(bytes);
  return LogSpace::preparing;
}

void SegmentStore::release_long(size_t bytes) {
  std::lock_guard lock(mutex_);
  PGSILO_CHECK(long_reserved_ >= worst_case(bytes));
  long_reserved_ -= worst_case(bytes);
  update_state();
}

SegmentStore::Position SegmentStore::position() const {
  std::lock_guard lock(mutex_);
  if (position_.segment != 0) return position_;
  return {ready_.empty() ? next_number_ : ready_.front().number, 0};
}

Segment SegmentStore::take(uint64_t first_block) {
  std::lock_guard lock(mutex_);
  PGSILO_CHECK(!ready_.empty());  // what was reserved fits
  position_ = {ready_.front().number, first_block};
  Segment segment = std::move(ready_.front());
  ready_.pop_front();
  current_free_ = segment.bytes;
  update_state();
  return segment;
}

void SegmentStore::consumed(uint64_t used, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  current_free_ = bytes - used;
  update_state();
}

uint64_t SegmentStore::live() const {
  uint64_t current = position().segment;
  std::lock_guard lock(mutex_);
  uint64_t end = position_.segment == 0 ? current : position_.segment + 1;
  return first_live_ == 0 || first_live_ > end ? 0 : end - first_live_;
}

size_t SegmentStore::retired() const {
  std::lock_guard lock(mutex_);
  return retired_.size();
}

size_t SegmentStore::ready() const {
  std::lock_guard lock(mutex_);
  return ready_.size();
}

bool SegmentStore::wants_segments() const {
  std::lock_guard lock(mutex_);
  uint64_t spare = uint64_t{options_.spare_segments} * options_.segment_bytes;
  return free_bytes() < needed_bytes() + long_wanted_ + spare;
}

// Whatever fails, writers must hear of it: they wait for this without a deadline.
FileResult SegmentStore::prepare_one() {
  FileResult result;
  try {
    result = prepare_next();
  } catch (const std::bad_alloc&) {
    result = {FileStatus::failed, ENOMEM};
  }
  std::lock_guard lock(mutex_);
  cannot_prepare_ = !result.ok();
  if (cannot_prepare_ && std::exchange(long_wanted_, 0) != 0) long_refused_ = true;
  update_state();
  return result;
}

FileResult SegmentStore::prepare_next() {
  uint64_t number = 0;
  {
    std::lock_guard lock(mutex_);
    number = next_number_;
  }
  Segment segment;
  FileResult result = make_segment(number);
  if (result.ok()) result = files_.sync_directory(options_.directory);
  if (result.ok()) result = open_segment(number, &segment);
  if (!result.ok()) return result;

  std::lock_guard lock(mutex_);
  ready_.push_back(std::move(segment));
  ++next_number_;
  prepared_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

// An empty segment under its name: a retired one of the right size, or a new one.
FileResult SegmentStore::make_segment(uint64_t number) {
  std::string finished = join_path(options_.directory, segment_name(number));
  while (std::optional<uint64_t> retired = take_retired()) {
    std::string path = join_path(options_.directory, segment_name(*retired));
    std::unique_ptr<File> file;
    uint64_t bytes = 0;
    FileResult result = files_.open(path, {}, &file);
    if (result.ok()) result = file->size(&bytes);
    if (result.ok() && bytes == options_.segment_bytes) return files_.rename(path, finished);
    if (result.ok()) result = files_.remove(path);
    if (!result.ok() && result.status != FileStatus::not_found) return result;
  }
  std::string unfinished = join_path(options_.directory, unfinished_segment_name(number));
  FileResult result = write_zeros(unfinished);
  if (result.ok()) result = files_.rename(unfinished, finished);
  if (!result.ok())
    (void)files_.remove(unfinished);  // gives back what space it took; the failure is reported
  return result;
}

std::optional<uint64_t> SegmentStore::take_retired() {
  std::lock_guard lock(mutex_);
  if (retired_.empty()) return std::nullopt;
  uint64_t number = retired_.front();
  retired_.pop_front();
  return number;
}

FileResult SegmentStore::retire_below(uint64_t number, uint64_t* newly) {
  std::vector<std::string> names;
  FileResult result = files_.list(options_.directory, &names);
  if (!result.ok()) return result;
  std::vector<uint64_t> numbers;
  uint64_t first_live = UINT64_MAX;
  for (const std::string& name : names) {
    std::optional<uint64_t> segment = parse_segment_name(name);
    if (!segment) continue;
    if (*segment >= number) {
      first_live = std::min(first_live, *segment);
    } else {
      numbers.push_back(*segment);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  std::lock_guard lock(mutex_);
  if (newly != nullptr)
    *newly = static_cast<uint64_t>(numbers.end() - std::ranges::lower_bound(numbers, first_live_));
  first_live_ = first_live == UINT64_MAX ? next_number_ : first_live;
  retired_.assign(numbers.begin(), numbers.end());
  return result;
}

bool SegmentStore::has_surplus() const {
  std::lock_guard lock(mutex_);
  return retired_.size() * options_.segment_bytes > options_.retired_bytes;
}

FileResult SegmentStore::remove_surplus() {
  std::optional<uint64_t> number = take_retired();
  if (!number) return {};
  FileResult result = files_.remove_gradually(join_path(options_.directory, segment_name(*number)));
  return result.status == FileStatus::not_found ? FileResult{} : result;
}

bool SegmentStore::remove_retired() {
  bool any = false;
  while (std::optional<uint64_t> number = take_retired()) {
    FileResult result = files_.remove(join_path(options_.directory, segment_name(*number)));
    any |= result.ok();
  }
  return any;
}

FileResult SegmentStore::write_zeros(const std::string& path) {
  std::unique_ptr<File> file;
  FileResult result =
      files_.open(path, {.write = true, .create = true, .direct = options_.direct}, &file);
  if (result.status == FileStatus::unsupported && options_.direct) {
    options_.direct = false;
    result = files_.open(path, {.write = true, .create = true}, &file);
  }
  if (result.ok()) result = file->allocate(options_.segment_bytes);
  if (!result.ok()) return result;
  size_t piece = std::min(options_.segment_bytes, huge_page_bytes);
  AlignedBytes zeros = allocate_aligned(piece);
  std::memset(zeros.get(), 0, piece);
  for (size_t at = 0; at < options_.segment_bytes && result.ok(); at += piece) {
    result = file->write_at(zeros.get(), std::min(piece, options_.segment_bytes - at), at);
  }
  if (result.ok()) result = file->sync_data();
  return result;
}

}  // namespace pgsilo
