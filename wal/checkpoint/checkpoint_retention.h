// What a checkpoint that was replaced leaves: its files, and the log behind its cuts. They go once
// no hold keeps them, and no slot the log.
//
// Thread safety: a CheckpointHold: any thread, each one owner. CheckpointRetention: the
// checkpointer's thread, but for is_untidy().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "wal/layout/control_file.h"

namespace pgsilo {

class Checkpointer;
class CheckpointHold;
class LogSlots;
struct CheckpointParts;

class CheckpointRetention {
 public:
  // `control` is the one that counts; it is changed by replace() only as long as there are holds.
  CheckpointRetention(const CheckpointParts& parts, ControlFile& control, LogSlots& slots)
      : parts_(parts), control_(control), slots_(slots) {}

  // For one replace(). Throws std::bad_alloc.
  void make_room();
  // `next` is on disk: it counts from now on.
  void replace(ControlFile&& next) noexcept;
  // Segments that neither the checkpoint that counts nor a hold or a slot needs go to their stores.
  // Their bytes.
  uint64_t retire_segments();
  // Files that neither needs. What cannot be removed is told once, and tried again by the next call
  // and the next start; nobody is woken for it.
  void remove_files();
  // The device is full: no backup is worth the writers' standstill. True if there were any holds or
  // temporary slots.
  bool give_up_holds() noexcept;
  // Whether a hold or a slot that went kept something.
  bool is_untidy() const;

 private:
  friend class CheckpointHold;
  uint64_t first_needed(size_t log) const;  // with mutex_
  template <typename Condition>
  bool any_hold(Condition condition) const;  // with mutex_
  struct LeftFile {
    CheckpointFile file;
    bool told = false;
  };
  void take_unneeded_files();
  bool is_done_with(LeftFile& left) const;

  const CheckpointParts& parts_;
  mutable std::mutex mutex_;
  ControlFile& control_;
  LogSlots& slots_;
  std::vector<CheckpointManifest> replaced_;  // whose files are there
  std::vector<CheckpointHold*> holds_;
  bool untidy_ = false;
  std::vector<LeftFile> left_;  // to be removed: the checkpointer's thread only
};

// As long as it lives, the files of the checkpoint that counted when it was made stay, and the log
// from its cuts on: what a recovery of any later epoch needs.
class CheckpointHold {
 public:
  explicit CheckpointHold(Checkpointer& checkpointer);
  ~CheckpointHold();
  CheckpointHold(const CheckpointHold&) = delete;
  CheckpointHold& operator=(const CheckpointHold&) = delete;

  // As it was when the hold was made.
  const ControlFile& control() const { return control_; }
  // It keeps nothing any more: the log had no other space.
  bool given_up() const;

 private:
  friend class CheckpointRetention;
  Checkpointer& checkpointer_;
  ControlFile control_;
  bool given_up_ = false;  // guarded by the retention's mutex
};

}  // namespace pgsilo
