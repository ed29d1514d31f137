#include "wal/checkpoint/checkpoint_retention.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/server_log.h"
#include "wal/checkpoint/checkpoint_origin.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/checkpoint/log_slots.h"
#include "wal/log/logger.h"

namespace pgsilo {
namespace {

// 0: the log is needed from its first segment on.
uint64_t cut_segment(const CheckpointManifest& checkpoint, const Uuid& log) {
  const LogCut* cut = checkpoint.cut_of(log);
  return cut == nullptr ? 0 : cut->segment;
}

}  // namespace

void CheckpointRetention::make_room() {
  std::lock_guard lock(mutex_);
  replaced_.reserve(replaced_.size() + 1);
}

void CheckpointRetention::replace(ControlFile&& next) noexcept {
  std::lock_guard lock(mutex_);
  std::swap(control_, next);  // now the one before
  if (next.checkpoint.exists()) replaced_.push_back(std::move(next.checkpoint));
}

uint64_t CheckpointRetention::first_needed(size_t log) const {
  const Uuid& identity = parts_.logs[log].log;
  uint64_t segment =
      std::min(cut_segment(control_.checkpoint, identity), slots_.first_needed(identity));
  for (const CheckpointHold* hold : holds_) {
    if (!hold->given_up_)
      segment = std::min(segment, cut_segment(hold->control_.checkpoint, identity));
  }
  return segment;
}

uint64_t CheckpointRetention::retire_segments() {
  uint64_t retired = 0;
  slots_.take_released();
  try {
    for (size_t i = 0; i < parts_.logs.size(); ++i) {
      SegmentStore& segments = parts_.logs[i].logger->segments();
      uint64_t first = 0;
      {
        std::lock_guard lock(mutex_);
        first = first_needed(i);
      }
      uint64_t newly = 0;
      static_cast<void>(segments.retire_below(first, &newly));
      retired += newly * segments.segment_bytes();
    }
  } catch (const std::bad_alloc&) {
  }
  return retired;
}

template <typename Condition>
bool CheckpointRetention::any_hold(Condition condition) const {
  return std::any_of(holds_.begin(), holds_.end(), [&](const CheckpointHold* hold) {
    return !hold->given_up_ && condition(hold->control_.checkpoint);
  });
}

// To the end of left_. Whatever comes of it, nothing is to be tidied that would wake anybody: what
// fails is as likely to fail again at once.
void CheckpointRetention::take_unneeded_files() {
  std::lock_guard lock(mutex_);
  untidy_ = false;
  size_t most = left_.size();
  for (const CheckpointManifest& manifest : replaced_) most += manifest.files.size();
  left_.reserve(most);  // from here on it cannot fail
  auto is_named = [&](const CheckpointFile& file) {
    return control_.checkpoint.names(file) ||
           any_hold([&](const CheckpointManifest& held) { return held.names(file); });
  };
  std::erase_if(replaced_, [&](CheckpointManifest& manifest) {
    if (any_hold([&](const CheckpointManifest& held) { return held.number == manifest.number; }))
      return false;
    for (CheckpointFile& file : manifest.files) {
      if (!is_named(file)) left_.push_back({.file = std::move(file)});
    }
    return true;
  });
}

// A directory may have moved, and another copy's file of that name be where it was. False: it is
// still to be removed, which is told.
bool CheckpointRetention::is_done_with(LeftFile& left) const {
  try {
    const CheckpointFile& file = left.file;
    std::string name = file.identity(parts_.database).name();
    std::string path = file.path(parts_.data_directory, parts_.database);
    Removable removable =
        is_removable(parts_.files, parts_.data_directory, file.directory, name, control_);
    if (removable == Removable::no) return true;
    FileResult result;
    if (removable == Removable::yes) result = parts_.files.remove_gradually(path);
    bool whose = removable == Removable::yes;
    if (whose && (result.ok() || result.status == FileStatus::not_found)) return true;
    if (left.told) return false;
    write_server_log(LogLevel::warning,
                     "could not remove \"" + path + "\" of a checkpoint that was replaced: " +
                         (whose ? result.text() : "what is in it cannot be read"),
                     "It is tried again behind the next checkpoint, and by the next start.");
    left.told = true;
  } catch (const std::bad_alloc&) {
  }
  return false;
}

void CheckpointRetention::remove_files() {
  try {
    take_unneeded_files();
  } catch (const std::bad_alloc&) {
  }
  std::erase_if(left_, [this](LeftFile& left) { return is_done_with(left); });
}

bool CheckpointRetention::give_up_holds() noexcept {
  std::lock_guard lock(mutex_);
  bool any = slots_.give_up_temporary();
  for (CheckpointHold* hold : holds_) any |= !std::exchange(hold->given_up_, true);
  if (any) {
    write_server_log(LogLevel::warning,
                     "a backup is given up: the log segments that it keeps are needed for space");
  }
  return any;
}

bool CheckpointRetention::is_untidy() const {
  std::lock_guard lock(mutex_);
  return untidy_ || slots_.has_released();
}

CheckpointHold::CheckpointHold(Checkpointer& checkpointer) : checkpointer_(checkpointer) {
  CheckpointRetention& retention = checkpointer.retention_;
  std::lock_guard lock(retention.mutex_);
  control_ = retention.control_;
  retention.holds_.push_back(this);
}

CheckpointHold::~CheckpointHold() {
  CheckpointRetention& retention = checkpointer_.retention_;
  {
    std::lock_guard lock(retention.mutex_);
    std::erase(retention.holds_, this);
    bool kept = retention.control_.checkpoint.number != control_.checkpoint.number;
    if (!kept) return;
    retention.untidy_ = true;
  }
  checkpointer_.log_has_grown();
}

bool CheckpointHold::given_up() const {
  std::lock_guard lock(checkpointer_.retention_.mutex_);
  return given_up_;
}

}  // namespace pgsilo
