// What one commit keeps for open snapshots: copies of the rows that it is about to replace
// (docs/snapshots.md). Does nothing and owns nothing while no snapshot is open. Internal to
// commit.cpp. Thread safety: the commit's.
#pragma once

#include <vector>

#include "storage/epoch/epoch.h"
#include "storage/transaction/old_versions.h"
#include "storage/transaction/write_set.h"

namespace pgsilo {

class VersionPreserver {
 public:
  VersionPreserver(OldVersions& versions, WriteSet& writes, unsigned thread_index)
      : versions_(versions), writes_(writes), thread_index_(thread_index) {}
  ~VersionPreserver();
  VersionPreserver(const VersionPreserver&) = delete;
  VersionPreserver& operator=(const VersionPreserver&) = delete;

  // The records are locked. Whether there is room for each row that a snapshot up to `newest` may
  // see.
  bool has_room(Epoch newest) const;
  // Nothing is locked. Throws std::bad_alloc.
  void make_room(Epoch newest);
  // The records are locked and has_room(newest): the rows are kept as what a commit in `epoch`
  // replaced.
  void preserve(Epoch newest, Epoch epoch);

 private:
  static bool is_needed(const WriteEntry& entry, Epoch newest);

  OldVersions& versions_;
  WriteSet& writes_;
  const unsigned thread_index_;
  std::vector<OldVersion*> room_;  // one for each write entry, or none at all; null: not needed
};

}  // namespace pgsilo
