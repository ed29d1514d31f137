// Writing: everything goes into the write set, except rows of private relations (private_rows.h).
// An insert hooks an absent placeholder into the tree first (Silo section 4.5).
#include <algorithm>

#include "base/append.h"
#include "base/check.h"
#include "storage/limits.h"
#include "storage/relation/relation.h"
#include "storage/transaction/commit_wait.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

namespace {
constexpr int64_t longest_cautious_wait_us = 50'000;
}  // namespace

TransactionStatus Transaction::must_wait_for(LockTag lock, LockMode mode) {
  met_lock_ = lock;
  met_mode_ = mode;
  return TransactionStatus::must_wait;
}

// Before a write of a record that takes `mode` of its intent lock.
[[gnu::always_inline]] inline TransactionStatus Transaction::claim(Record* record,
                                                                   const Relation& relation,
                                                                   LockMode mode, LockMode* held) {
  if (mode_ == TransactionMode::one_shot && !record->tid_word().load().has_intent()) [[likely]]
    return TransactionStatus::ok;
  return claim_lock(record, relation.id(), mode, held);
}

// conflict_record: the row has another version. The lock bit of a version does not matter to a
// one-shot, which finds out when it commits.
inline TransactionStatus Transaction::check_current(const RowRef& row) const {
  TidWord word = row.record->tid_word().load();
  if (word.is_locked() && mode_ == TransactionMode::interactive) [[unlikely]] {
    TransactionStatus status = await_unlocked(*row.record, settings_, &word);
    if (status != TransactionStatus::ok) return status;
  }
  bool is_so = word.tid() == row.tid && !word.is_absent() && !word.is_obsolete();
  return is_so ? TransactionStatus::ok : TransactionStatus::conflict_record;
}

[[gnu::always_inline]] inline TransactionStatus Transaction::write_version(
    const RowRef& row, WriteEntry* entry, std::string_view new_row, bool tombstone, LockMode lock,
    std::span<const RowPatch> patches) {
  PGSILO_DCHECK(open_ && mode_ != TransactionMode::snapshot && row.record != nullptr);
  if (new_row.size() > max_row_bytes) return TransactionStatus::row_too_long;
  if (entry != nullptr && entry->newest->command >= command_)
    return TransactionStatus::self_modified;
  LockMode held = entry == nullptr ? LockMode::none : entry->held;
  if (registers(*row.relation) && held < lock) {
    // A write replaces a version that validation holds to, or only a part that it rests on.
    PGSILO_DCHECK(entry != nullptr ||
                  (row.read_index != RowRef::not_registered &&
                   (reads_[row.read_index].kind() == ReadKind::version || rests_on_part(row))));
    TransactionStatus status = claim(row.record, *row.relation, lock, &held);
    if (status != TransactionStatus::ok) return status;
    // Commit would find out as well; now less is lost.
    if (entry == nullptr && patches.empty()) status = check_current(row);
    if (status != TransactionStatus::ok) return status;
  }
  const PatchedRow* patched = nullptr;
  if (!patches.empty() && row.read_index != RowRef::not_registered) [[unlikely]]
    patched = writes_.copy_patches(row.tid, patches);
  WriteEntry& written = writes_.add(entry, row.record, *row.relation, /*base_absent=*/false,
                                    new_row, tombstone, command_, lock);
  written.held = held;
  if (entry == nullptr) written.read_index = row.read_index;
  if (patched != nullptr) [[unlikely]]
    written.newest->patched = patched;
  if (tombstone && held == LockMode::update) worker_.parts().locks.note_removal(owner_, row.record);
  return TransactionStatus::ok;
}

TransactionStatus Transaction::write(const RowRef& row, std::string_view new_row, bool tombstone,
                                     LockMode lock) {
  return guarded(worker_, [&] {
    WriteEntry* entry = own_write(row.record);
    // What is written as a whole, or goes, is used as a whole.
    if (reads_.has_flexible() && rests_on_part(row)) [[unlikely]]
      reads_.add(row.record, TidWord::present(row.tid), ReadKind::version);
    return write_version(row, entry, new_row, tombstone, lock, {});
  });
}

bool Transaction::rests_on_part(const RowRef& row) const {
  if (row.read_index == RowRef::not_registered) return false;
  return reads_[row.read_index].accepts_newer() || partial_reads_.contains(row.read_index);
}

TransactionStatus Transaction::update_partial(const RowRef& row, std::string_view new_row,
                                              std::span<const RowPatch> patches) {
  bool is_partial =
      mode_ == TransactionMode::one_shot && !patches.empty() && writes_.find(row.record) == nullptr;
  if (!is_partial) return update(row, new_row);
  return guarded(worker_, [&] {
    return write_version(row, nullptr, new_row, /*tombstone=*/false, LockMode::no_key_update,
                         patches);
  });
}

// What it has made of a row's parts is used: it rests on the version that it was made of.
void Transaction::rest_on_base(WriteEntry& entry) {
  reads_.add(entry.record, TidWord::present(entry.newest->patched->base), ReadKind::version);
  entry.newest->patched = nullptr;
}

// Who waits with caution does so for a short while: those who wait crosswise have lost no more.
TransactionStatus Transaction::lock_record(const Record* record, RelationId relation,
                                           RowLock lock) {
  WaitSettings settings = settings_;
  if (lock.is_cautious) {
    settings.is_brief = true;
    settings.observer = nullptr;
    settings.lock_timeout_us = longest_cautious_wait_us;
  }
  return gain_lock(lock.policy, [&](WaitPolicy policy) {
    return worker_.parts().locks.acquire(
        owner_, LockTag::of(record, relation), lock.mode, policy, settings,
        lock.is_cautious ? LockTable::Use::cautious : LockTable::Use::ordinary);
  });
}

// READ COMMITTED: for a key that has turned out not to have the row that the locks gained since
// then were for; nobody has to wait for them. At SERIALIZABLE they help what was seen to stay true.
void Transaction::unlock_since(size_t lock_count) {
  if (isolation_ != Isolation::read_committed) return;
  worker_.parts().locks.release_locks(owner_, lock_count);
}

// Until nobody else is about to make or to remove the record's row. Holds what it held before.
TransactionStatus Transaction::await_writer(const Record* record, RelationId relation) {
  LockTable& locks = worker_.parts().locks;
  LockTag tag = LockTag::of(record, relation);
  std::optional<LockModes> before;
  TransactionStatus status = gain_lock(WaitPolicy::wait, [&](WaitPolicy policy) {
    return locks.gain(owner_, tag, LockMode::key_share, policy, settings_, &before);
  });
  if (before) locks.reduce(owner_, tag, *before);
  return status;
}

TransactionStatus Transaction::claim_lock(Record* record, RelationId relation, LockMode mode,
                                          LockMode* held) {
  if (mode_ == TransactionMode::interactive) {
    TransactionStatus status = lock_record(record, relation, {mode});
    if (status == TransactionStatus::ok) *held = mode;
    return status;
  }
  bool admitted = worker_.parts().locks.admits(owner_, record, mode);
  return admitted ? TransactionStatus::ok : must_wait_for(LockTag::of(record, relation), mode);
}

TransactionStatus Transaction::insert(Relation& relation, std::string_view key,
                                      std::string_view row, bool answers) {
  return guarded(worker_, [&] { return insert_row(relation, key, row, answers); });
}

TransactionStatus Transaction::insert_row(Relation& relation, std::string_view key,
                                          std::string_view row, bool answers) {
  PGSILO_DCHECK(open_ && mode_ != TransactionMode::snapshot);
  if (key.size() > max_key_bytes) return TransactionStatus::key_too_long;
  if (row.size() > max_row_bytes) return TransactionStatus::row_too_long;
  if (inserts_directly(relation)) return insert_private(relation, key, row);
  if (can_load(row) && !relation.is_private()) {
    TransactionStatus status = insert_loaded(relation, key, row);
    if (status != TransactionStatus::not_found) return status;
  }
  for (;;) {
    InsertionPlace place;
    TransactionStatus status = hook_placeholder(relation, key, row, &place);
    if (status != TransactionStatus::ok) return status;
    status = insert_at(relation, place, row, answers);
    if (status != TransactionStatus::conflict_record) return status;
    help_unhook(relation, place.record);  // obsolete: the next round finds another record or none
  }
}

TransactionStatus Transaction::load(Relation& relation, std::string_view key,
                                    std::string_view row) {
  return guarded(worker_, [&] {
    PGSILO_DCHECK(open_);
    WorkSharing* sharing = worker_.parts().sharing;
    bool shares = sharing != nullptr && settings_.parker != nullptr && inserts_directly(relation) &&
                  key.size() <= max_key_bytes && row.size() <= max_row_bytes;
    if (!shares) {
      TransactionStatus status = insert_row(relation, key, row, /*answers=*/true);
      if (status == TransactionStatus::duplicate_key)
        rejected_row_ = {std::string(key), std::string(row)};
      return status;
    }
    statement_wrote_direct_ = true;
    if (bulk_load_ == nullptr) bulk_load_ = std::make_shared<BulkLoad>(*sharing, settings_);
    TransactionStatus status = bulk_load_->add(worker_, settings_, relation, key, row);
    if (status == TransactionStatus::duplicate_key) rejected_row_ = bulk_load_->rejected();
    return status;
  });
}

TransactionStatus Transaction::finish_load() {
  return guarded(worker_, [this] { return drain_load(); });
}

TransactionStatus Transaction::drain_load() {
  if (bulk_load_ == nullptr) return TransactionStatus::ok;
  TransactionStatus status = bulk_load_->finish(worker_, settings_);
  if (status == TransactionStatus::duplicate_key) rejected_row_ = bulk_load_->rejected();
  if (status == TransactionStatus::ok) bulk_load_.reset();
  return status;
}

void Transaction::abandon_load() {
  if (bulk_load_ == nullptr) return;
  bulk_load_->cancel(worker_, settings_);
  bulk_load_.reset();
}

bool Transaction::is_made_at(const Relation& relation, uint32_t depth) const {
  if (!relation.is_private()) return false;
  auto created = std::find_if(
      private_relations_.begin(), private_relations_.end(),
      [&](const PrivateRelation& candidate) { return candidate.relation == &relation; });
  return created != private_relations_.end() && created->mark_depth >= depth;
}

bool Transaction::made_since_savepoint(const Relation& relation) const {
  bool is_statements = statement_mark_ != 0 && statement_mark_ == mark_depth_;
  return is_made_at(relation, is_statements ? mark_depth_ - 1 : mark_depth_);
}

// Private rows are not in the write set and cannot be unwound to a mark that is newer than their
// relation.
bool Transaction::inserts_directly(const Relation& relation) const {
  return statement_inserts_directly_ && is_made_at(relation, mark_depth_);
}

TransactionStatus Transaction::insert_private(Relation& relation, std::string_view key,
                                              std::string_view row) {
  Record* existing = nullptr;
  statement_wrote_direct_ = true;
  TransactionStatus status =
      private_rows_.insert(worker_, settings_, relation, key, row, &existing);
  if (existing == nullptr) return status;
  return insert_at(relation, {existing}, row, /*answers=*/true);
}

// The record of `key`: the one that is in the tree or a new placeholder.
TransactionStatus Transaction::hook_placeholder(Relation& relation, std::string_view key,
                                                std::string_view row, InsertionPlace* place) {
  if (placeholders_.size() == placeholders_.capacity()) grow(placeholders_);
  // If our node set is beaten already, leave the node alone: two transactions that both scan a node
  // and insert into it would otherwise undo each other for ever, the loser's placeholder changing
  // the node under the winner.
  if (!nodes_.empty() && registers(relation)) {
    IndexTree::Found found = relation.tree().get(key);
    place->record = found.record;
    if (found.record != nullptr) return TransactionStatus::ok;
    if (!nodes_.agrees(found.node)) return TransactionStatus::conflict_node;
  }
  Record* fresh = relation.records().create(key, row.size(), worker_.reclaimer());
  try {
    place->record = relation.tree().insert(fresh, worker_.reclaimer(), changes_);
  } catch (...) {
    relation.records().destroy(fresh, worker_.reclaimer());
    throw;
  }
  if (place->record != nullptr) {
    relation.records().destroy(fresh, worker_.reclaimer());
    return TransactionStatus::ok;
  }
  *place = {fresh, changes_.changed->newest_gone() < validated_epoch_};
  append(placeholders_, Placeholder{&relation, fresh});
  NodeSet::Fixup fixup = nodes_.apply(changes_);
  // From now on it is not the node that tells whether somebody else has made the key's row: who
  // adopts our placeholder leaves the node as it is.
  if (fixup == NodeSet::Fixup::moved_on) note_absence(*place, TidWord::absent(Tid()));
  return fixup == NodeSet::Fixup::beaten ? TransactionStatus::conflict_node : TransactionStatus::ok;
}

uint32_t Transaction::note_absence(const InsertionPlace& place, TidWord word) {
  uint32_t index = reads_.add(place.record, word, ReadKind::uniqueness);
  // Else its row has come and gone since it was hooked in.
  if (place.is_lasting && word.tid() == Tid()) reads_.note_lasting(index);
  return index;
}

// Makes `row` the row of the record if there is none. conflict_record if the record is obsolete.
TransactionStatus Transaction::insert_at(Relation& relation, const InsertionPlace& place,
                                         std::string_view row, bool answers) {
  Record* record = place.record;
  if (WriteEntry* entry = own_write(record)) {
    if (!entry->newest->tombstone) return TransactionStatus::duplicate_key;
    writes_.add(entry, record, relation, entry->base_absent, row, /*tombstone=*/false, command_,
                LockMode::update);
    return TransactionStatus::ok;
  }
  TidWord word;
  TransactionStatus status = unlocked_word(*record, settings_, &word);
  if (status != TransactionStatus::ok) return status;
  if (word.is_obsolete()) return TransactionStatus::conflict_record;
  if (relation.is_private()) {
    if (!word.is_absent()) return TransactionStatus::duplicate_key;
    writes_.add(nullptr, record, relation, /*base_absent=*/true, row, /*tombstone=*/false, command_,
                LockMode::update);
    return TransactionStatus::ok;
  }
  const LockTable& locks = worker_.parts().locks;
  // Who looks for itself waits there, for the row before its entries.
  if (!word.is_absent() && !answers) return TransactionStatus::duplicate_key;
  // There is a row unless somebody has deleted it, which is told when that one ends.
  if (!word.is_absent() && (!word.has_intent() || !locks.removal_pending(owner_, record)))
    return found_live(record, word);
  LockMode held = LockMode::none;
  size_t lock_count = owner_.lock_count();
  status = claim(record, relation, LockMode::update, &held);
  if (status != TransactionStatus::ok) return status;
  if (mode_ == TransactionMode::interactive) {
    status = unlocked_word(*record, settings_, &word);
    if (status != TransactionStatus::ok) return status;
    if (word.is_obsolete()) return TransactionStatus::conflict_record;
  }
  if (!word.is_absent()) {
    unlock_since(lock_count);
    return answers ? found_live(record, word) : TransactionStatus::duplicate_key;
  }
  uint32_t read_index = note_absence(place, word);
  note_version(word.tid());
  WriteEntry& written = writes_.add(nullptr, record, relation, /*base_absent=*/true, row,
                                    /*tombstone=*/false, command_, LockMode::update);
  written.held = held;
  written.read_index = read_index;
  return TransactionStatus::ok;
}

TransactionStatus Transaction::find_duplicate(Relation& relation, std::string_view key,
                                              bool answers) {
  return guarded(worker_, [&] {
    for (;;) {
      Record* record = relation.tree().get(key).record;
      if (record == nullptr) return TransactionStatus::ok;
      TransactionStatus status = find_duplicate_at(relation, record, answers);
      if (status != TransactionStatus::conflict_record) return status;
      help_unhook(relation, record);
    }
  });
}

// As insert_at(). conflict_record if the record is obsolete.
TransactionStatus Transaction::find_duplicate_at(Relation& relation, Record* record, bool answers) {
  if (WriteEntry* entry = own_write(record))
    return entry->newest->tombstone ? TransactionStatus::ok : TransactionStatus::duplicate_key;
  TidWord word;
  TransactionStatus status = unlocked_word(*record, settings_, &word);
  if (status != TransactionStatus::ok) return status;
  bool is_open =
      word.has_intent() && !relation.is_private() &&
      (word.is_absent() || (answers && worker_.parts().locks.removal_pending(owner_, record)));
  if (is_open) {
    LockMode held = LockMode::none;
    status = mode_ == TransactionMode::interactive
                 ? await_writer(record, relation.id())
                 : claim(record, relation, LockMode::update, &held);
    if (status == TransactionStatus::ok) status = unlocked_word(*record, settings_, &word);
    if (status != TransactionStatus::ok) return status;
  }
  if (word.is_obsolete()) return TransactionStatus::conflict_record;
  if (word.is_absent()) return TransactionStatus::ok;
  return answers && !relation.is_private() ? found_live(record, word)
                                           : TransactionStatus::duplicate_key;
}

bool Transaction::has_own_row(Relation& relation, std::string_view key) {
  Record* record = relation.tree().get(key).record;
  WriteEntry* entry = record == nullptr ? nullptr : own_write(record);
  return entry != nullptr && !entry->newest->tombstone;
}

TransactionStatus Transaction::found_live(Record* record, TidWord word) {
  reads_.add(record, word, ReadKind::existence);
  note_version(word.tid());
  return TransactionStatus::duplicate_key;
}

}  // namespace pgsilo
