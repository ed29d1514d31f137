// The changes of one transaction, by record: what it will install, and the older pending versions
// that statements with smaller command ids must go on seeing (docs/commit_protocol.md, Statements).
//
// Every write makes a PendingVersion; a WriteEntry per record heads the chain of its versions,
// newest first. Versions are also kept in the order of writing, so that a rollback to a mark pops
// them (savepoints). Records are found by a hash table once there are more than a few.
//
// Keys are not copied: they live in the records. Rows live in the transaction's arena.
// Thread safety: none; one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "storage/record/record.h"
#include "storage/relation/lock_mode.h"
#include "storage/transaction/partial_row.h"
#include "storage/transaction/pointer_filter.h"
#include "storage/transaction/pointer_index.h"

namespace pgsilo {

class Parker;

class Relation;
using CommandId = uint32_t;

struct PendingVersion {
  PendingVersion* older;
  char* row;
  uint32_t row_bytes;
  CommandId command;
  uint32_t entry;
  bool tombstone;
  LockMode needed;  // of the record's intent lock, by this version and the older ones
  // Not null: the only version of its record, which may be made anew from a newer base.
  const PatchedRow* patched = nullptr;

  std::string_view bytes() const { return {row, row_bytes}; }
};

struct WriteEntry {
  Record* record;
  Relation* relation;
  PendingVersion* newest = nullptr;
  ExternalPayload* spare = nullptr;     // prepared by commit for a row that needs it, or null
  ExternalPayload* replaced = nullptr;  // by the one that was installed, or null
  bool base_absent = false;             // the committed record had no row when first written
  bool locked = false;                  // by the commit that runs now
  bool shrinks = false;                 // its payload is too large for the row
  LockMode held = LockMode::none;       // the transaction has at least this much of it
  uint32_t read_index = UINT32_MAX;     // ReadSet::note_own_lock()

  LockMode needed() const { return newest->needed; }
  // Nothing to install: the row came and went within the transaction.
  bool is_void() const { return base_absent && newest->tombstone; }
};

class WriteSet {
  auto record_at() const {
    return [this](uint32_t position) { return entries_[position].record; };
  }

 public:
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // Of the rows, and of patches, those taken back included.
  size_t row_bytes() const { return row_bytes_; }
  WriteEntry* begin() { return entries_.data(); }
  WriteEntry* end() { return entries_.data() + entries_.size(); }
  WriteEntry& operator[](uint32_t index) { return entries_[index]; }

  // Null if the transaction did not write the record.
  WriteEntry* find(const Record* record) {
    if (!filter_.may_hold(record)) [[likely]]
      return nullptr;
    uint32_t position = index_.find(record, entries_.size(), record_at());
    return position == PointerIndex::none ? nullptr : &entries_[position];
  }

  // A new version of `record`; `entry` is what find() returned. Throws std::bad_alloc and has then
  // changed nothing. Returns the entry.
  WriteEntry& add(WriteEntry* entry, Record* record, Relation& relation, bool base_absent,
                  std::string_view row, bool tombstone, CommandId command, LockMode needed);

  // For PendingVersion::patched. Throws std::bad_alloc.
  const PatchedRow* copy_patches(Tid base, std::span<const RowPatch> patches);

  // Number of versions written so far; rollback_to() forgets those written since.
  uint32_t mark() const { return static_cast<uint32_t>(versions_.size()); }
  void rollback_to(uint32_t mark);

  // Indexes of the entries in the order of their records' addresses. Of a large set the parker (or
  // null) gives way now and then. Throws std::bad_alloc.
  const std::vector<uint32_t>& in_lock_order(Parker* parker);
  // For a find() that comes soon.
  void prefetch(const Record* record) const { index_.prefetch(record, entries_.size()); }

  void clear() {
    // Of rows that were rolled back no version is left.
    if (!versions_.empty() || row_bytes_ != 0 || arena_.bytes_reserved() > ordinary_arena_bytes)
      forget();
  }

 private:
  static constexpr size_t ordinary_arena_bytes = size_t{1} << 20;
  void forget();
  static constexpr size_t piece = 4096;  // is sorted without giving way
  bool locked_before(uint32_t a, uint32_t b) const {
    return entries_[a].record < entries_[b].record;
  }
  WriteEntry& add_entry(Record* record, Relation& relation, bool base_absent);
  void merge_runs(size_t run, Parker* parker);

  std::vector<WriteEntry> entries_;
  std::vector<PendingVersion*> versions_;
  PointerFilter filter_;  // of the entries, and of some that have gone
  PointerIndex index_;
  std::vector<uint32_t> order_;
  size_t row_bytes_ = 0;
  Arena arena_;
};

}  // namespace pgsilo
