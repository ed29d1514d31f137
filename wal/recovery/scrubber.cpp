#include "wal/recovery/scrubber.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "base/process_memory.h"
#include "base/server_log.h"
#include "wal/log/logger.h"
#include "wal/log/segment_reader.h"
#include "wal/recovery/checkpoint_blocks.h"
#include "wal/recovery/log_analyzer.h"

namespace pgsilo {
namespace {

// After so many bytes it rests.
constexpr uint64_t bytes_between_rests = uint64_t{1} << 20;
constexpr int64_t rest_per_work = 3;
constexpr int64_t shortest_rest_us = 1000;

constexpr size_t longest_block = log_format::max_block_bytes(SIZE_MAX);

}  // namespace

Scrubber::Scrubber(Parts parts, CheckpointManifest counts)
    : parts_(std::move(parts)),
      counts_(std::move(counts)),
      next_pass_us_(parts_.clock.now_us() + parts_.interval_us) {}

// --- what counts ---

// Before any of its predecessor's files go. Without memory the next pass has nothing to read.
void Scrubber::checkpoint_counts(const CheckpointManifest& manifest) {
  {
    std::lock_guard lock(mutex_);
    ++generation_;
    fresh_ = true;
    try {
      counts_ = manifest;
    } catch (const std::bad_alloc&) {
      counts_ = CheckpointManifest{};
    }
  }
  changed_.notify_all();
}

bool Scrubber::given_up() const {
  std::lock_guard lock(mutex_);
  return stopping_ || generation_ != generation_read_;
}

ScrubStatus Scrubber::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

// --- the thread ---

void Scrubber::start() {
  if (parts_.interval_us == 0) return;
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void Scrubber::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Scrubber::run() {
  take_thread_memory();
  while (wait_for_turn()) {
    try {
      pass(/*paced=*/true);
    } catch (const std::bad_alloc&) {
      // The next one comes.
    }
    std::lock_guard lock(mutex_);
    status_.running = false;
    next_pass_us_ = parts_.clock.now_us() + parts_.interval_us;
  }
}

bool Scrubber::wait_for_turn() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    int64_t now = parts_.clock.now_us();
    repair_if_due();
    if (fresh_ || now >= next_pass_us_) return true;
    int64_t until = next_pass_us_;
    if (unrepaired_) until = std::min(until, repair_not_before_us_);
    changed_.wait_for(lock, std::chrono::microseconds(until - now),
                      [this] { return stopping_ || fresh_; });
  }
  return false;
}

void Scrubber::repair_if_due() {
  int64_t now = parts_.clock.now_us();
  if (!unrepaired_ || now < repair_not_before_us_) return;
  unrepaired_ = false;
  repair_not_before_us_ = now + repair_pause_us;
  ++status_.repairs;
  parts_.checkpointer.repair();
}

// --- a pass ---

void Scrubber::run_once() {
  pass(/*paced=*/false);
  std::lock_guard lock(mutex_);
  status_.running = false;
}

void Scrubber::pass(bool paced) {
  paced_ = paced;
  told_ = untold_ = 0;
  since_rest_bytes_ = 0;
  since_rest_us_ = parts_.clock.now_us();
  {
    std::lock_guard lock(mutex_);
    fresh_ = false;
    generation_read_ = generation_;
    status_.running = true;
    status_.started_unix_us = unix_time_us();
    read_ = counts_;
  }
  if (read_.exists()) {
    scrub_checkpoint();
    for (const LogCut& cut : read_.cuts) {
      for (const CheckpointedLog& log : parts_.logs) {
        if (log.log == cut.log && !given_up()) scrub_log(log, cut);
      }
    }
  }
  if (given_up()) return;
  tell_of_the_rest();
  std::lock_guard lock(mutex_);
  ++status_.passes;
  status_.ended_unix_us = unix_time_us();
}

// So much was read. Rests if it is time.
void Scrubber::took(uint64_t bytes, uint64_t ScrubStatus::* counter) {
  std::unique_lock lock(mutex_);
  status_.*counter += bytes;
  since_rest_bytes_ += bytes;
  if (!paced_ || since_rest_bytes_ < bytes_between_rests) return;
  int64_t worked = parts_.clock.now_us() - since_rest_us_;
  int64_t rest = std::max(shortest_rest_us, rest_per_work * worked);
  changed_.wait_for(lock, std::chrono::microseconds(rest),
                    [this] { return stopping_ || generation_ != generation_read_; });
  since_rest_bytes_ = 0;
  since_rest_us_ = parts_.clock.now_us();
}

void Scrubber::scrub_checkpoint() {
  std::vector<OpenedCheckpointFile> opened;
  for (const CheckpointFile& file : read_.files) {
    OpenedCheckpointFile next;
    CheckpointFault fault = open_checkpoint_file(parts_.files, parts_.data_directory,
                                                 parts_.directories, parts_.database, file, &next);
    if (fault) {
      note(fault, "");
    } else {
      opened.push_back(std::move(next));
    }
  }
  CheckpointBlocks blocks(parts_.files, opened);
  for (uint32_t file = 0; file < opened.size(); ++file) {
    for (const CheckpointBlock& block : opened[file].footer.blocks) {
      if (given_up()) return;
      CheckpointBlockReader reader;
      CheckpointFault fault = blocks.read(file, block, &reader);
      if (fault) note(fault, contents_of(block));
      took(block.bytes, &ScrubStatus::checkpoint_bytes);
    }
  }
}

// As a start that leaves the block out says it.
std::string Scrubber::contents_of(const CheckpointBlock& block) const {
  std::string words = names_ == nullptr ? "" : names_->held_by(block);
  if (words.empty()) return ", of relation " + std::to_string(block.relation.value());
  return ": " + words;
}

// The segments behind which the log has begun another one already: whoever writes that has synced
// them.
void Scrubber::scrub_log(const CheckpointedLog& log, const LogCut& cut) {
  uint64_t current = log.logger->segments().position().segment;
  for (uint64_t number = cut.segment; number + 1 < current && !given_up(); ++number)
    scrub_segment(log, number);
}

// Its blocks have all numbers from its first to the next segment's first, unless that is of another
// start of the server: then nobody knows where they end.
void Scrubber::scrub_segment(const CheckpointedLog& log, uint64_t number) {
  const std::string& directory = log.logger->segments().directory();
  SegmentReader next(parts_.files, join_path(directory, segment_name(number + 1)), number + 1,
                     log.log);
  std::optional<BlockHeader> behind;
  if (next.open(longest_block).ok()) {
    if (std::optional<BlockView> block = next.next(0, log_format::block_unit))
      behind = block->header;
  }
  std::string path = join_path(directory, segment_name(number));
  SegmentReader reader(parts_.files, path, number, log.log);
  std::optional<BlockHeader> last;
  uint64_t at = 0;
  if (reader.open().ok()) {
    while (!given_up()) {
      std::optional<BlockView> block = reader.next(at, at + log_format::block_unit);
      if (!block || (last && block->header.number != last->number + 1)) break;
      last = block->header;
      at += block->bytes;
      took(block->bytes, &ScrubStatus::log_bytes);
    }
  }
  if (given_up()) return;
  if (!reader.result().ok()) {
    note(CheckpointFault::unreadable("log file \"" + path + "\" at offset " + std::to_string(at),
                                     reader.result()),
         "");
    return;
  }
  bool ends_here = last && behind &&
                   (behind->incarnation != last->incarnation || behind->number == last->number + 1);
  // Where the next one has no first block, that one is what is damaged.
  if (!last || (behind && !ends_here)) note(CheckpointFault::damaged(damaged_log(path, at)), "");
}

// --- faults ---

// What is missing because another checkpoint counts by now is none.
void Scrubber::note(const CheckpointFault& fault, const std::string& of_what) {
  if (given_up()) return;
  std::string words = fault.words.substr(0, fault.words.find('\n')) + of_what;
  bool repairs = fault.is_of_the_disk();
  if (told_ < most_told) {
    write_server_log(LogLevel::warning, words, {},
                     repairs ? "A new checkpoint is made, which needs none of it. Look after the "
                               "disk, and after backups."
                             : std::string_view());
    ++told_;
  } else {
    ++untold_;
  }
  std::lock_guard lock(mutex_);
  bool unreadable = fault.kind == CheckpointFault::Kind::unreadable;
  ++(unreadable ? status_.unreadable : status_.damaged);
  status_.last_fault = std::move(words);
  status_.last_fault_unix_us = unix_time_us();
  unrepaired_ = unrepaired_ || repairs;
  repair_if_due();
}

void Scrubber::tell_of_the_rest() const {
  if (untold_ == 0) return;
  write_server_log(LogLevel::warning, std::to_string(untold_) +
                                          " more places of the checkpoint or the log are damaged "
                                          "or cannot be read");
}

}  // namespace pgsilo
