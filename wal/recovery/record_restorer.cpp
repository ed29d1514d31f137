#include "wal/recovery/record_restorer.h"

#include <algorithm>
#include <array>

#include "base/backoff.h"
#include "base/byte_order.h"
#include "base/check.h"
#include "storage/record/record.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/unhook_queue.h"
#include "wal/recovery/restored_relations.h"

namespace pgsilo {

RecordRestorer::Known& RecordRestorer::known(RelationId id) {
  if (last_ != nullptr && id == last_id_) return *last_;
  auto [at, is_new] = known_.try_emplace(id.value());
  Known& known = at->second;
  if (is_new && restored_.contains(id)) {
    known.relation = &relations_.get_or_create(id, RelationOptions{});
  } else if (is_new) {
    relations_.raise_id_floor(id);  // never given out again, for who may hold what it was
  }
  last_id_ = id;
  last_ = &known;
  return known;
}

void RecordRestorer::restore(std::span<const TimedEntry> entries) {
  std::array<IndexTree::Lookup, IndexTree::max_lookups> lookups;
  size_t count = 0;
  for (const TimedEntry& timed : entries) {
    if (const Relation* relation = known(timed.entry.relation).relation)
      lookups[count++] = {&relation->tree(), timed.entry.key};
  }
  IndexTree::prefetch(std::span(lookups).first(count));
  for (const TimedEntry& timed : entries) restore(timed.tid, timed.entry);
}

void RecordRestorer::restore(Tid tid, const RedoEntry& entry) {
  Known& target = known(entry.relation);
  if (target.relation == nullptr) return;
  Relation& relation = *target.relation;
  // Of tables without a key the key is the hidden row id; for others this floor means nothing.
  if (entry.key.size() == sizeof(uint64_t)) {
    target.largest_row_id = std::max(target.largest_row_id, load_be64(entry.key.data()));
  }
  Record* record = relation.tree().get(entry.key).record;
  if (record == nullptr) {
    RecordAllocator& records = relation.records();
    Record* fresh = entry.tombstone ? records.create_absent(entry.key, tid, handle_)
                                    : records.create_filled(entry.key, entry.row, tid, handle_);
    try {
      record = relation.tree().insert(fresh, handle_, changes_);
    } catch (...) {
      records.destroy(fresh, handle_);
      throw;
    }
    if (record == nullptr) {
      if (entry.tombstone) tombstones_.push_back({&relation, fresh, tid});
      if (!entry.tombstone) relation.add_rows(handle_.index(), 1);
      return;
    }
    records.destroy(fresh, handle_);
  }
  overwrite(relation, record, tid, entry);
}

void RecordRestorer::overwrite(Relation& relation, Record* record, Tid tid,
                               const RedoEntry& entry) {
  AtomicTidWord& word = record->tid_word();
  if (word.load().tid() >= tid) return;
  ExternalPayload* spare = nullptr;
  if (!entry.tombstone && !record->fits(entry.row.size())) {
    spare = relation.records().create_payload(entry.row.size(), handle_);
  }
  if (entry.tombstone) tombstones_.push_back({&relation, record, tid});
  TidWord seen;
  for (Backoff backoff; !word.try_lock(LockPurpose::update, seen);) backoff.pause();
  ExternalPayload* unused = spare;
  if (seen.tid() >= tid) {
    word.unlock();
  } else if (entry.tombstone) {
    record->install_absent(tid);
    if (!seen.is_absent()) relation.add_rows(handle_.index(), -1);
  } else {
    unused = record->install(entry.row, tid, spare, /*shrinks=*/true);
    if (seen.is_absent()) relation.add_rows(handle_.index(), 1);
  }
  if (unused == nullptr) return;
  if (unused == spare) {
    relation.records().destroy(unused, handle_);
  } else {
    relation.records().retire(unused, handle_);
  }
}

void RecordRestorer::finish() {
  for (auto& [id, known] : known_) {
    if (known.relation != nullptr) known.relation->raise_row_id_floor(known.largest_row_id);
  }
  for (const Tombstone& tombstone : tombstones_) {
    // Adopted: a newer version came later. Busy cannot be: nobody else is here.
    (void)unhook_absent(*tombstone.relation, tombstone.record, tombstone.tid, handle_);
  }
  tombstones_.clear();
}

}  // namespace pgsilo
