#include "storage/transaction/version_preserver.h"

#include <cstring>

#include "storage/relation/relation.h"

namespace pgsilo {

VersionPreserver::~VersionPreserver() {
  for (OldVersion* version : room_) {
    if (version != nullptr) versions_.destroy(version, thread_index_);
  }
}

// Absence is not kept: that no version covers a boundary says it. Of a relation that is still
// private no snapshot knows.
bool VersionPreserver::is_needed(const WriteEntry& entry, Epoch newest) {
  if (entry.is_void() || entry.relation->is_private()) return false;
  TidWord word = entry.record->tid_word().load();
  return !word.is_absent() && !word.is_obsolete() && word.tid().epoch() <= newest;
}

bool VersionPreserver::has_room(Epoch newest) const {
  for (uint32_t i = 0; i < writes_.size(); ++i) {
    const WriteEntry& entry = writes_[i];
    if (!is_needed(entry, newest)) continue;
    if (room_.empty() || room_[i] == nullptr) return false;
    if (room_[i]->capacity < entry.record->quiet_row().size()) return false;
  }
  return true;
}

// The rows may change or go before they are locked: then has_room() or validation finds out.
void VersionPreserver::make_room(Epoch newest) {
  room_.resize(writes_.size());
  for (uint32_t i = 0; i < writes_.size(); ++i) {
    const WriteEntry& entry = writes_[i];
    if (!is_needed(entry, newest)) continue;
    size_t bytes = entry.record->quiet_row().size();
    if (room_[i] != nullptr && room_[i]->capacity >= bytes) continue;
    if (room_[i] != nullptr) versions_.destroy(room_[i], thread_index_);
    room_[i] = nullptr;
    room_[i] = versions_.create(entry.record, bytes, thread_index_);
  }
}

void VersionPreserver::preserve(Epoch newest, Epoch epoch) {
  for (uint32_t i = 0; i < writes_.size(); ++i) {
    const WriteEntry& entry = writes_[i];
    if (!is_needed(entry, newest)) continue;
    OldVersion* version = room_[i];
    room_[i] = nullptr;
    std::string_view row = entry.record->quiet_row();
    version->tid = entry.record->tid_word().load().tid();
    version->replaced_in = epoch;
    version->row_bytes = row.size();
    std::memcpy(version->bytes(), row.data(), row.size());
    versions_.add(version);
  }
}

}  // namespace pgsilo
