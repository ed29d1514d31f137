#include "storage/transaction/commit.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/append.h"
#include "base/backoff.h"
#include "base/check.h"
#include "base/memory_budget.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/relation/system_relations.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

namespace {

// It is committed: the memory of what nobody names any more may stay until the next start.
[[gnu::noinline]] void drop_for_good(WorkerContext& worker, const Relation& relation) {
  try {
    worker.drop_relation(relation.id());
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

TransactionStatus Transaction::commit() {
  PGSILO_CHECK(open_);
  forget_failed_statement();
  TransactionStatus status = TransactionStatus::ok;
  if (!has_writes()) {
    // Without writes it may stand anywhere between its begin and now: where its reads were last
    // found to be true together.
    if (!is_validated())
      status = guarded(worker_, [this] { return validate_reads(/*in_commit=*/false, {}); });
  } else {
    PGSILO_CHECK(mode_ != TransactionMode::snapshot);
    status = guarded(worker_, [this] {
      // A conflict that is found here has made nobody wait.
      bool large = reads_.size() >= records_per_pause;
      TransactionStatus found =
          large ? validate_reads(/*in_commit=*/false, {}) : TransactionStatus::ok;
      return found == TransactionStatus::ok ? Commit(*this).run() : found;
    });
  }
  if (status != TransactionStatus::ok) {
    roll_back();
    // The record or gate to wait for stays protected until wait_for_intent() or the next begin() or
    // abort().
    bool waits = status == TransactionStatus::must_wait;
    end(waits ? Keep::pin : is_conflict(status) ? Keep::writers_out : Keep::nothing);
    return status;
  }
  if (!placeholders_.empty()) clean_placeholders();
  if (!loaded_.empty()) release_loaded();
  for (Relation* relation : dropped_) drop_for_good(worker_, *relation);
  // All but the oldest locks: of millions in one piece the others would notice.
  while (owner_.lock_count() > records_per_pause) {
    worker_.parts().locks.release_locks(owner_, owner_.lock_count() - records_per_pause);
    give_way();
  }
  end(Keep::nothing);
  return status;
}

TransactionStatus Commit::run() {
  TransactionStatus status = TransactionStatus::ok;
  try {
    status = prepare();
    if (status == TransactionStatus::ok) {
      Attempt result = attempt();
      for (; result != Attempt::done && result != Attempt::failed; result = attempt()) {
        if (result == Attempt::epoch_exhausted) worker_.parts().epochs.advance();
        if (result == Attempt::lacks_room) preserver_.make_room(newest_snapshot_);
      }
      if (result == Attempt::failed) status = failure_;
    }
  } catch (...) {  // from prepare() and make_room()
    dispose_of_payloads();
    throw;
  }
  dispose_of_payloads();
  return status;
}

// Everything that may fail for want of space, wait or allocate.
TransactionStatus Commit::prepare() {
  Transaction& t = transaction_;
  TransactionStatus status = t.drain_load();
  if (status == TransactionStatus::ok) status = t.private_rows_.stream(worker_, t.settings_);
  if (status != TransactionStatus::ok) return status;
  size_t logged = 0, bytes = 0, removed = 0, removed_key_bytes = 0, payloads = 0;
  size_t looked_at = 0;
  bool frees = t.frees_space_ || !t.dropped_.empty();
  bool grows = false;
  for (WriteEntry& entry : t.writes_) {
    if (++looked_at % Transaction::records_per_pause == 0) t.give_way();
    if (entry.is_void()) continue;
    const PendingVersion& version = *entry.newest;
    if (version.tombstone) {
      ++removed;
      removed_key_bytes += entry.record->key().size();
    } else if (!entry.record->stays_inline(version.row_bytes)) [[unlikely]] {
      payloads += prepare_payload(entry);
    }
    if (entry.relation->logged()) {
      ++logged;
      bool users = !is_system_relation(entry.relation->id());
      (version.tombstone ? frees : grows) |= users;
      bytes += entry.record->key().size() + version.row_bytes;
    }
  }
  if (!t.loaded_.empty()) {
    t.loaded_.visit_relations([&](const Relation& relation, size_t count) {
      logged += relation.logged() ? count : 0;
      grows |= relation.logged() && !is_system_relation(relation.id());
    });
    bytes += t.loaded_.bytes();
  }
  order_ = &t.writes_.in_lock_order(t.settings_.parker);
  t.redo_.clear();
  t.redo_.reserve(std::min(logged, RedoSink::most_at_once));
  is_logged_ = logged != 0;
  if (is_logged_) {
    RedoPurpose purpose = frees && !grows ? RedoPurpose::relief : RedoPurpose::growth;
    status = reserve_log(worker_.sink(), logged, bytes, purpose, t.settings_);
    if (status != TransactionStatus::ok) return status;
  }
  // After the last possible wait: other transactions of this worker use the same reserves.
  worker_.unhooks().reserve(removed, removed_key_bytes);
  worker_.reclaimer().reserve(payloads);
  return TransactionStatus::ok;
}

// Whether one may be replaced. One that takes less is welcome, not needed. Who gives the record
// less room behind our back changes what we read, and validation refuses us.
bool Commit::prepare_payload(WriteEntry& entry) {
  const size_t bytes = entry.newest->row_bytes;
  const bool fits = entry.record->fits(bytes);
  entry.shrinks = fits && entry.record->wastes(bytes);
  if (fits && !entry.shrinks) return false;
  // Where the lock may lie, there the payload will be.
  worker_.parts().locks.move_to_table(transaction_.owner_, entry.record);
  if (!fits || (!entry.record->fits_inline(bytes) && memory_admits(bytes)))
    entry.spare = entry.relation->records().create_payload(bytes, worker_.reclaimer());
  return true;
}

Commit::Attempt Commit::attempt() {
  Transaction& t = transaction_;
  worker_.slot().enter();
  failure_ = lock_writes();
  if (failure_ == TransactionStatus::ok) {
    Epoch epoch = worker_.slot().serialization_epoch();
    failure_ = check_gates();
    if (failure_ == TransactionStatus::ok) failure_ = t.validate_reads(/*in_commit=*/true, {});
    if (failure_ == TransactionStatus::ok) {
      newest_snapshot_ = worker_.parts().snapshots.newest();
      bool has_room = newest_snapshot_ == Epoch(0) || preserver_.has_room(newest_snapshot_);
      auto tid = Tid::following(newest_tid(), epoch);
      if (has_room && tid) {
        install(*tid);
        if (is_logged_) worker_.sink().append(*tid, t.redo_);
        worker_.slot().leave();
        return Attempt::done;
      }
      unlock_all();
      worker_.slot().leave();
      return has_room ? Attempt::epoch_exhausted : Attempt::lacks_room;
    }
  }
  unlock_all();
  worker_.slot().leave();
  return Attempt::failed;
}

// Phase 1.
TransactionStatus Commit::lock_writes() {
  newest_locked_ = Tid();
  for (uint32_t index : *order_) {
    WriteEntry& entry = transaction_.writes_[index];
    if (entry.is_void()) continue;
    TransactionStatus status = lock(entry);
    if (status != TransactionStatus::ok) return status;
  }
  return transaction_.loaded_.empty() ? TransactionStatus::ok : lock_loaded();
}

TransactionStatus Commit::lock(WriteEntry& entry) {
  AtomicTidWord& word = entry.record->tid_word();
  LockPurpose purpose = entry.newest->tombstone ? LockPurpose::remove : LockPurpose::update;
  TidWord seen;
  for (int rounds = 0; !word.try_lock(purpose, seen); pause_briefly()) {
    if (seen.is_obsolete()) {
      return entry.base_absent ? TransactionStatus::conflict_unique
                               : TransactionStatus::conflict_record;
    }
    if (++rounds == Transaction::lock_patience) return TransactionStatus::conflict_lock;
  }
  entry.locked = true;
  transaction_.reads_.note_own_lock(entry.read_index, entry.record);
  newest_locked_ = std::max(newest_locked_, seen.tid());
  const PatchedRow* patched = entry.newest->patched;
  if (patched != nullptr && patched->base != seen.tid() && !renew(entry)) [[unlikely]]
    return TransactionStatus::conflict_record;
  if (!seen.has_intent() || entry.held >= entry.needed()) return TransactionStatus::ok;
  if (worker_.parts().locks.admits(transaction_.owner_, entry.record, entry.needed()))
    return TransactionStatus::ok;
  // Who has an intent on a record of a relation that is all ours cannot commit and will let go of
  // it.
  if (!transaction_.registers(*entry.relation)) return TransactionStatus::ok;
  return transaction_.must_wait_for(LockTag::of(entry.record, entry.relation->id()),
                                    entry.needed());
}

// Makes the row that is installed of the one that is there now. False: that is of another size, or
// cannot be changed so; who runs again finds out.
bool Commit::renew(const WriteEntry& entry) {
  std::span<char> row(entry.newest->row, entry.newest->row_bytes);
  if (entry.record->tid_word().load().is_absent()) return false;
  std::string_view base = entry.record->quiet_row();
  if (base.size() != row.size()) return false;
  std::memcpy(row.data(), base.data(), base.size());
  return apply_patches(entry.newest->patched->patches, row);
}

inline TransactionStatus Commit::check_gate(Relation& relation, LockMode mode) {
  if (!relation.gate().stops(mode) || transaction_.owner_.modes_of(&relation).covers(mode))
      [[likely]]
    return TransactionStatus::ok;
  if (transaction_.mode_ == TransactionMode::interactive)
    return TransactionStatus::conflict_relation;
  return transaction_.must_wait_for(LockTag::of(relation), mode);
}

// A gate that was raised before we read our epoch is seen here; who raises it later waits for us
// (relation_gate.h). Who holds a lock was there before the one that is waited for with the gate.
TransactionStatus Commit::check_gates() {
  constexpr LockMode writes = LockMode::row_exclusive;
  for (WriteEntry& entry : transaction_.writes_) {
    if (!entry.relation->gate().stops(writes)) [[likely]]
      continue;
    TransactionStatus status = check_gate(*entry.relation, writes);
    if (status != TransactionStatus::ok) return status;
  }
  TransactionStatus status = TransactionStatus::ok;
  if (!transaction_.loaded_.empty()) {
    transaction_.loaded_.visit_relations([&](Relation& relation, size_t) {
      if (status == TransactionStatus::ok) status = check_gate(relation, writes);
    });
  }
  // Who has a relation to itself changes its rows without locks of theirs.
  for (Relation* relation : transaction_.referenced_) {
    if (status == TransactionStatus::ok) status = check_gate(*relation, LockMode::row_share);
  }
  return status;
}

// Whoever registers a read has noted its version.
Tid Commit::newest_tid() const {
  Tid seen = transaction_.newest_seen_;
  PGSILO_DCHECK(std::ranges::all_of(
      transaction_.reads_, [seen](const ReadEntry& entry) { return entry.tid() <= seen; }));
  return std::max({newest_locked_, worker_.last_tid(), seen});
}

// Phase 3.
void Commit::install(Tid tid) {
  Transaction& t = transaction_;
  if (newest_snapshot_ != Epoch(0)) preserver_.preserve(newest_snapshot_, tid.epoch());
  // Others find these relations through catalog rows that are installed below.
  for (const Transaction::PrivateRelation& created : t.private_relations_)
    created.relation->publish();
  for (uint32_t index : *order_) {
    WriteEntry& entry = t.writes_[index];
    if (!entry.is_void()) install(entry, tid);
  }
  if (!t.loaded_.empty()) install_loaded(tid);
  worker_.set_last_tid(tid);
  t.commit_tid_ = tid;
  t.note_version(tid);
}

void Commit::install(WriteEntry& entry, Tid tid) {
  const PendingVersion& version = *entry.newest;
  std::string_view key = entry.record->key();
  if (version.tombstone) {
    entry.record->install_absent(tid);
    worker_.unhooks().push(entry.relation->id(), entry.record, key, tid);
    entry.relation->add_rows(worker_.index(), -1);
  } else {
    ExternalPayload* left_over =
        entry.record->install(version.bytes(), tid, entry.spare, entry.shrinks);
    if (left_over != entry.spare) {
      entry.replaced = left_over;
      entry.spare = nullptr;
    }
    if (entry.base_absent) entry.relation->add_rows(worker_.index(), 1);
  }
  entry.locked = false;
  if (entry.relation->logged())
    log({entry.relation->id(), version.tombstone, key, version.bytes()}, tid);
}

void Commit::log(const RedoEntry& entry, Tid tid) {
  std::vector<RedoEntry>& redo = transaction_.redo_;
  if (redo.size() == RedoSink::most_at_once) [[unlikely]] {
    worker_.sink().append_part(tid, redo);
    redo.clear();
  }
  redo.push_back(entry);  // prepare() has made room
}

void Commit::unlock_all() {
  for (WriteEntry& entry : transaction_.writes_) {
    if (!entry.locked) continue;
    entry.record->tid_word().unlock();
    entry.locked = false;
    transaction_.reads_.forget_own_lock(entry.read_index, entry.record);
  }
  if (loaded_locked_ != 0) unlock_loaded();
}

void Commit::dispose_of_payloads() {
  for (WriteEntry& entry : transaction_.writes_) {
    if (entry.spare != nullptr) entry.relation->records().destroy(entry.spare, worker_.reclaimer());
    if (entry.replaced != nullptr)
      entry.relation->records().retire(entry.replaced, worker_.reclaimer());
    entry.spare = entry.replaced = nullptr;
  }
  constexpr size_t ordinary = 4096;
  if (transaction_.redo_.capacity() > ordinary) [[unlikely]]
    free_memory(transaction_.redo_);
}

}  // namespace pgsilo
