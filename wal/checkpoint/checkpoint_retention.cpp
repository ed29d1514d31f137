#include "wal/checkpoint/checkpoint_retention.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/server_log.h"
#include "wal/checkpoint/checkpoint_origin.h"
#include "wal/checkpoint/checkpointer.h"
#include "wal/log/logger.h"
#include "wal/slots/log_slots.h"

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

std::vector<CheckpointFile> CheckpointRetention::take_unneeded_files() {
  std::lock_guard lock(mutex_);
  size_t most = 0;
  for (const CheckpointManifest& manifest : replaced_) most += manifest.files.size();
  std::vector<CheckpointFile> unneeded;
  unneeded.reserve(most);  // from here on it cannot fail
  untidy_ = false;
  auto is_named = [&](const CheckpointFile& file) {
    return control_.checkpoint.names(file) ||
           any_hold([&](const CheckpointManifest& held) { return held.names(file); });
  };
  std::erase_if(replaced_, [&](CheckpointManifest& manifest) {
    if (any_hold([&](const CheckpointManifest& held) { return held.number == manifest.number; }))
      return false;
    for (CheckpointFile& file : manifest.files) {
      if (!is_named(file)) unneeded.push_back(std::move(file));
    }
    return true;
  });
  return unneeded;
}

namespace {

// A directory may have moved, and another copy's file of that name be where it was. False: it is
// still to be removed.
bool is_done_with(const CheckpointFile& file, const CheckpointParts& parts,
                  const ControlFile& control) {
  try {
    std::string name = file.identity(parts.database).name();
    Removable removable =
        is_removable(parts.files, parts.data_directory, file.directory, name, control);
    if (removable != Removable::yes) return removable == Removable::no;
    FileResult result =
        parts.files.remove_gradually(file.path(parts.data_directory, parts.database));
    return result.ok() || result.status == FileStatus::not_found;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

void CheckpointRetention::remove_files() {
  try {
    make_room();
    CheckpointManifest left;
    left.files = take_unneeded_files();
    std::erase_if(left.files, [this](const CheckpointFile& file) {
      return is_done_with(file, parts_, control_);
    });
    if (left.files.empty()) return;
    std::lock_guard lock(mutex_);
    replaced_.push_back(std::move(left));
    untidy_ = true;
  } catch (const std::bad_alloc&) {
    std::lock_guard lock(mutex_);
    untidy_ = true;
  }
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
