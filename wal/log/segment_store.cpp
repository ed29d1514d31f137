#include "wal/log/segment_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

// What growth may not touch, in halves of segments, and of it what commits that free space may not
// either, a checkpoint's share: one whole segment at least is empty then, and may be given up.
constexpr uint64_t reserve_halves = 8;
constexpr uint64_t share_halves = 3;
constexpr uint64_t given_halves = 2;

}  // namespace

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

uint64_t SegmentStore::needed_bytes(RedoPurpose purpose) const {
  uint64_t kept = purpose == RedoPurpose::growth ? reserve_halves
                  : share_given_                 ? share_halves - given_halves
                                                 : share_halves;
  return promised_bytes() + kept * (options_.segment_bytes / 2);
}

void SegmentStore::update_state() {
  for (RedoPurpose purpose : {RedoPurpose::growth, RedoPurpose::relief}) {
    LogSpace state = free_bytes() >= needed_bytes(purpose) ? LogSpace::ample
                     : cannot_prepare_                     ? LogSpace::exhausted
                                                           : LogSpace::preparing;
    state_[index(purpose)].store(state, std::memory_order_release);
  }
}

bool SegmentStore::is_short() const {
  std::lock_guard lock(mutex_);
  return short_ || state() == LogSpace::exhausted;
}

bool SegmentStore::long_decided(size_t bytes, RedoPurpose purpose) const {
  std::lock_guard lock(mutex_);
  return long_refused_ || free_bytes() >= needed_bytes(purpose) + worst_case(bytes);
}

LogSpace SegmentStore::reserve_long(size_t bytes, RedoPurpose purpose, bool has_waited) {
  std::lock_guard lock(mutex_);
  long_wanted_ = long_expected_ = 0;
  expected_in_vain_ = false;
  bool refused = std::exchange(long_refused_, false) && has_waited;
  if (free_bytes() >= needed_bytes(purpose) + worst_case(bytes)) {
    long_reserved_ += worst_case(bytes);
    return LogSpace::ample;
  }
  if (refused) return LogSpace::exhausted;
  long_wanted_ = worst_case(bytes);
  return LogSpace::preparing;
}

// Not while the device is full: who waits for room there needs it more.
void SegmentStore::expect_long(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes == 0) expected_in_vain_ = false;
  long_expected_ = short_ || expected_in_vain_ || bytes == 0 ? 0 : worst_case(bytes);
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

Segment SegmentStore::take(uint64_t first_block, Epoch complete) {
  std::lock_guard lock(mutex_);
  PGSILO_CHECK(!ready_.empty());  // what was reserved fits
  begun_.push_back({ready_.front().number, complete});
  position_ = {ready_.front().number, first_block};
  Segment segment = std::move(ready_.front());
  ready_.pop_front();
  current_free_ = segment.bytes;
  ++taken_;
  update_state();
  return segment;
}

// A batch is submitted when the one before is on disk, with an epoch that is complete by then. So a
// batch up to an epoch below a durable one was under way at that time at the latest, and if it
// holds records, it was on disk: all but blocks without records, behind the segment's beginning.
uint64_t SegmentStore::first_behind(Epoch epoch) const {
  std::lock_guard lock(mutex_);
  uint64_t segment = 0;
  for (const Begun& begun : begun_) {
    if (begun.complete >= epoch) break;
    segment = begun.segment;
  }
  return segment;
}

uint64_t SegmentStore::first_begun() const {
  std::lock_guard lock(mutex_);
  return begun_.empty() ? 0 : begun_.front().segment;
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

uint64_t SegmentStore::first_live() const {
  std::lock_guard lock(mutex_);
  return first_live_;
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
  if (given_up_) return false;
  uint64_t spare =
      short_ ? 0 : std::min(logged_bytes(), options_.spare_segments * options_.segment_bytes);
  return free_bytes() <
         needed_bytes(RedoPurpose::growth) + std::max(long_wanted_, long_expected_) + spare;
}

uint64_t SegmentStore::logged_bytes() const {
  return taken_ * options_.segment_bytes - current_free_;
}

// Whatever fails, writers must hear of it: they wait for this without a deadline.
FileResult SegmentStore::prepare_one() {
  std::lock_guard preparation(preparation_);
  // It may have been given up since somebody looked whether segments are wanted.
  if (!wants_segments()) return {};
  FileResult result;
  try {
    result = prepare_next();
  } catch (const std::bad_alloc&) {
    result = {FileStatus::failed, ENOMEM};
  }
  std::lock_guard lock(mutex_);
  // What was only expected need not come: nobody is told that there is no room.
  const bool is_needed = long_wanted_ != 0 || free_bytes() < needed_bytes(RedoPurpose::growth);
  if (!result.ok() && std::exchange(long_expected_, 0) != 0) {
    expected_in_vain_ = true;
    if (!is_needed) return {};
  }
  cannot_prepare_ = !result.ok();
  short_ |= result.status == FileStatus::no_space;
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
  share_given_ = false;
  ++next_number_;
  prepared_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

// An empty segment under its name: a retired one of the right size, or a new one.
FileResult SegmentStore::make_segment(uint64_t number) {
  std::string finished = join_path(options_.directory, segment_name(number));
  while (std::optional<uint64_t> retired = take_retired()) {
    std::string path = join_path(options_.directory, segment_name(*retired));
    bool may = false;
    FileResult result = may_be_reused(path, &may);
    if (result.ok() && may) return files_.rename(path, finished);
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

// Of the right size, and of this log: nobody has read it since it was retired, and what another log
// wrote would be taken for damage in its new place.
FileResult SegmentStore::may_be_reused(const std::string& path, bool* may) const {
  std::unique_ptr<File> file;
  uint64_t bytes = 0;
  FileResult result = files_.open(path, {}, &file);
  if (result.ok()) result = file->size(&bytes);
  if (!result.ok() || bytes != options_.segment_bytes) return result;
  AlignedBytes first = allocate_aligned(log_format::block_unit);
  size_t got = 0;
  result = file->read_at(first.get(), log_format::block_unit, 0, &got);
  if (!result.ok()) return {};  // not this one, then
  std::optional<BlockClaim> claim = read_claim({first.get(), got});
  *may = !claim || claim->place.log.high == short_identity(options_.log);
  return {};
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
  while (!begun_.empty() && begun_.front().segment < first_live_) begun_.pop_front();
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

// Of the empty ones. What is above the reserve nobody misses; the share is one of the reserve's,
// once, as far as deletes have left what was promised.
uint64_t SegmentStore::removable_segments(LogUse use) const {
  // The incarnation needs one to begin in.
  uint64_t most = ready_.empty() ? 0 : ready_.size() - 1;
  if (use == LogUse::idle) return most;
  auto segments_above = [&](uint64_t kept) {
    return (free_bytes() - std::min(free_bytes(), kept)) / options_.segment_bytes;
  };
  uint64_t spare = segments_above(needed_bytes(RedoPurpose::growth));
  uint64_t share = share_given_ ? 0 : 1;
  return std::min({most, spare + share, segments_above(promised_bytes())});
}

bool SegmentStore::make_room(uint64_t bytes, LogUse use) {
  std::lock_guard preparation(preparation_);
  {
    std::lock_guard lock(mutex_);
    uint64_t removable = (retired_.size() + removable_segments(use)) * options_.segment_bytes;
    if (bytes == 0 || removable < bytes) return false;
    short_ = given_up_ = true;
  }
  uint64_t removed = 0;
  while (removed < bytes && (remove_retired() || remove_last_ready(use)))
    removed += options_.segment_bytes;
  std::lock_guard lock(mutex_);
  // Who waits for more is refused.
  cannot_prepare_ = true;
  long_expected_ = 0;
  if (std::exchange(long_wanted_, 0) != 0) long_refused_ = true;
  update_state();
  return removed != 0;
}

void SegmentStore::end_of_need(bool made) {
  std::lock_guard lock(mutex_);
  given_up_ = false;
  if (made) short_ = false;
}

// The last one, so that numbers never have a gap.
bool SegmentStore::remove_last_ready(LogUse use) {
  std::string path;
  {
    std::lock_guard lock(mutex_);
    if (removable_segments(use) == 0) return false;
    share_given_ |= use == LogUse::busy &&
                    free_bytes() < needed_bytes(RedoPurpose::growth) + options_.segment_bytes;
    path = std::move(ready_.back().path);
    ready_.pop_back();
    --next_number_;
    update_state();
  }
  FileResult result = files_.remove(path);
  if (result.ok()) result = files_.sync_directory(options_.directory);
  return result.ok();
}

// One of them, at once. False: there is none, or it could not be removed.
bool SegmentStore::remove_retired() {
  std::optional<uint64_t> number = take_retired();
  return number && files_.remove(join_path(options_.directory, segment_name(*number))).ok();
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
