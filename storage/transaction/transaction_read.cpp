// Reading by key, and locking what was read.
#include <algorithm>
#include <string_view>

#include "base/append.h"
#include "base/check.h"
#include "storage/relation/relation.h"
#include "storage/transaction/read_base.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

namespace {

bool locks(ReadPurpose purpose) {
  return purpose == ReadPurpose::for_update || purpose == ReadPurpose::conflicting ||
         purpose == ReadPurpose::referenced;
}

TransactionStatus no_row(RowRef* row) {
  *row = {};
  return TransactionStatus::not_found;
}

bool is_obsolete(const Record* record) { return record->tid_word().load().is_obsolete(); }
}  // namespace

// Relations nobody else can change until we end need no validation, nor does the past.
bool Transaction::registers(const Relation& relation) const {
  return !relation.is_private() && mode_ != TransactionMode::snapshot &&
         (!owner_.excludes_any() || !owner_.excludes(&relation));
}

// conflict_record if the record is obsolete.
[[gnu::always_inline]] inline TransactionStatus Transaction::get_record(
    Relation& relation, Record* record, RowBuffer& buffer, RowRef* row, ReadPurpose purpose,
    RowLock lock) {
  if (reads_past(relation, purpose)) [[unlikely]]
    return read_snapshot(relation, record, buffer, row, command_);
  WriteEntry* own = own_write(record);
  if (purpose != ReadPurpose::plain) [[unlikely]]
    return get_for_purpose(relation, record, own, buffer, row, purpose, lock);
  if (own != nullptr) [[unlikely]] {
    const PendingVersion* version = visible_version(*own, command_);
    if (version != nullptr) return own_row(relation, record, *version, row);
  }
  return read_base(relation, record, buffer, row, command_, registers(relation));
}

TransactionStatus Transaction::get(Relation& relation, std::string_view key, RowBuffer& buffer,
                                   RowRef* row, ReadPurpose purpose, RowLock lock) {
  return guarded(worker_, [&] { return get_by_key(relation, key, buffer, row, purpose, lock); });
}

TransactionStatus Transaction::narrow_read(const RowRef& row, const RowPart& used) {
  bool is_base = row.read_index != RowRef::not_registered;
  if (!is_base || partial_reads_.is_full() || writes_.find(row.record) != nullptr)
    return TransactionStatus::ok;
  return guarded(worker_, [&] {
    PGSILO_DCHECK(reads_[row.read_index].record == row.record);
    if (used.ranges.empty()) {
      reads_.weaken(row.read_index);
    } else {
      partial_reads_.add(row.read_index, row.row, used);
      reads_.note_partial();
    }
    return TransactionStatus::ok;
  });
}

TransactionStatus Transaction::get_by_key(Relation& relation, std::string_view key,
                                          RowBuffer& buffer, RowRef* row, ReadPurpose purpose,
                                          RowLock lock) {
  for (;;) {
    IndexTree::Found found = relation.tree().get(key);
    if (found.record == nullptr) {
      *row = {};
      bool registered = keeps_absence(purpose) && snapshot_ == nullptr && registers(relation);
      if (registered && !nodes_.add(found.node)) return TransactionStatus::conflict_node;
      return TransactionStatus::not_found;
    }
    size_t known = reads_.size();
    TransactionStatus status = get_record(relation, found.record, buffer, row, purpose, lock);
    if (status == TransactionStatus::not_found && reads_.size() != known) [[unlikely]] {
      if (keeps_absence(purpose)) guard_absence(found.node);
      return status;
    }
    if (status != TransactionStatus::conflict_record || !is_obsolete(found.record)) return status;
    help_unhook(relation, found.record);
  }
}

// The last read found no row of a key of `node`. Its record may be unhooked at any moment, by the
// server itself: in a block, which would have to be told, the node then answers for it.
void Transaction::guard_absence(NodeRef node) {
  auto last = static_cast<uint32_t>(reads_.size() - 1);
  if (mode_ != TransactionMode::interactive || !reads_[last].absent()) return;
  if (nodes_.add(node)) reads_.guard(last);
}

// That there is no row is an answer, and must stay true. Not that there is none to refer to, under
// READ COMMITTED: that is said of the moment of the look, so that it can always be said.
bool Transaction::keeps_absence(ReadPurpose purpose) const {
  switch (purpose) {
    case ReadPurpose::conflicting:
    case ReadPurpose::passing:
    case ReadPurpose::peek:
      return false;
    case ReadPurpose::referenced:
      return mode_ != TransactionMode::interactive || isolation_ != Isolation::read_committed;
    default:
      return true;
  }
}

TransactionStatus Transaction::get_via_entry(Relation& primary, const RowRef& entry,
                                             RowBuffer& buffer, RowRef* row, ReadPurpose purpose,
                                             RowLock lock) {
  return guarded(worker_, [&] {
    bool linked = entry.relation->links_to(primary.id());
    if (Record* record = linked ? entry.record->link_of(entry.tid) : nullptr) {
      TransactionStatus status = get_record(primary, record, buffer, row, purpose, lock);
      if (status != TransactionStatus::conflict_record || !is_obsolete(record)) return status;
    }
    TransactionStatus status = get_by_key(primary, entry.row, buffer, row, purpose, lock);
    if (status == TransactionStatus::ok && entry.tid != Tid())
      remember_link(entry, row->record, primary);
    return status;
  });
}

// Beside the entry's row, so that the next lookup saves a traversal. Under the
// entry's lock, so that no other version of the entry comes to the link.
void Transaction::remember_link(const RowRef& entry, Record* target, const Relation& primary) {
  TidWord seen;
  if (!entry.relation->link_to(primary.id())) return;
  if (!entry.record->tid_word().try_lock(LockPurpose::update, seen)) return;
  if (seen.tid() == entry.tid && !seen.is_absent()) entry.record->set_link(target);
  entry.record->tid_word().unlock();
}

// An obsolete record is on its way out of the tree: whoever meets it there finishes that.
void Transaction::help_unhook(Relation& relation, Record* record) {
  static_cast<void>(unhook_absent(relation, record, Tid(), worker_.reclaimer()));
}

// As get_record(), of a record of which the transaction has written `own`, or null.
TransactionStatus Transaction::get_for_purpose(Relation& relation, Record* record, WriteEntry* own,
                                               RowBuffer& buffer, RowRef* row, ReadPurpose purpose,
                                               RowLock lock) {
  if (own != nullptr) {
    if (purpose == ReadPurpose::peek || purpose == ReadPurpose::referenced)
      return own_row(relation, record, *own->newest, row);
    bool of_this_statement = own->newest->command >= command_;
    if (purpose == ReadPurpose::conflicting && of_this_statement)
      return TransactionStatus::self_modified;
    // What a later statement of the transaction has changed, its cursors neither lock nor show.
    if (purpose == ReadPurpose::for_update && own->newest->command > command_) return no_row(row);
    if (const PendingVersion* version = visible_version(*own, command_)) {
      if (locks(purpose) && own->held < lock.mode && mode_ == TransactionMode::interactive &&
          registers(relation)) {
        TransactionStatus status = lock_record(record, relation.id(), lock);
        if (status != TransactionStatus::ok) return status;
        own->held = lock.mode;
      }
      return own_row(relation, record, *version, row);
    }
  }
  // What another is inserting cannot be referred to yet, nor does a statement under READ COMMITTED
  // see it (docs/decisions/invisible-inserts.md): nobody waits for it.
  bool passes_inserts =
      purpose == ReadPurpose::referenced ||
      (purpose == ReadPurpose::for_update && isolation_ == Isolation::read_committed);
  bool is_hidden = passes_inserts && record->tid_word().load().is_absent();
  size_t lock_count = owner_.lock_count();
  if (locks(purpose) && !is_hidden && mode_ == TransactionMode::interactive &&
      registers(relation)) {
    TransactionStatus status = lock_record(record, relation.id(), lock);
    // Another's insert that nobody can see yet is not a row one could not have.
    bool is_row = !record->tid_word().load().is_absent();
    if (status != TransactionStatus::ok &&
        (status != TransactionStatus::lock_not_available || is_row)) {
      return status;
    }
    if (!is_row) unlock_since(lock_count);  // it was deleted while we waited
    is_hidden = !is_row;
  }
  // It has come alive.
  auto look_again = [&] {
    return get_for_purpose(relation, record, own, buffer, row, purpose, lock);
  };
  if (purpose == ReadPurpose::existence || purpose == ReadPurpose::referenced) {
    TransactionStatus status = read_existence(relation, record, row, purpose);
    return status == TransactionStatus::ok && is_hidden ? look_again() : status;
  }
  if (purpose == ReadPurpose::peek) return peek(relation, record, buffer, row);
  bool registered = purpose != ReadPurpose::passing && registers(relation);
  TransactionStatus status = read_base(relation, record, buffer, row, command_, registered);
  if (status == TransactionStatus::ok && is_hidden) return look_again();
  // A row of the running statement in a private relation is not in the write set.
  if (purpose == ReadPurpose::conflicting && status == TransactionStatus::not_found &&
      relation.is_private() && !record->tid_word().load().is_absent()) {
    return TransactionStatus::self_modified;
  }
  return status;
}

// The newest version that a statement with this command id sees; null: it sees the committed one.
const PendingVersion* Transaction::visible_version(const WriteEntry& entry, CommandId command) {
  const PendingVersion* version = entry.newest;
  while (version != nullptr && version->command >= command) version = version->older;
  return version;
}

TransactionStatus Transaction::own_row(Relation& relation, Record* record,
                                       const PendingVersion& version, RowRef* row) {
  if (version.tombstone) return no_row(row);
  *row = {&relation, record, version.bytes(), Tid(), RowRef::not_registered};
  return TransactionStatus::ok;
}

// The row that `record` had at the snapshot's boundary, or that this transaction has made of it
// since it locked it, which was before. Present versions of later epochs have left
// theirs in the registry. An obsolete record had none, for no snapshot sees what was there before
// (docs/snapshots.md).
TransactionStatus Transaction::read_snapshot(Relation& relation, Record* record, RowBuffer& buffer,
                                             RowRef* row, CommandId command) {
  if (const WriteEntry* own = writes_.find(record)) {
    if (const PendingVersion* version = visible_version(*own, command))
      return own_row(relation, record, *version, row);
  }
  *row = {};
  TidWord word = record->tid_word().load();
  if (word.tid().epoch() <= snapshot_->boundary()) {
    TransactionStatus status = stable_read(*record, buffer, settings_, &word);
    if (status != TransactionStatus::ok) return status;
  }
  if (word.tid().epoch() > snapshot_->boundary()) {
    const OldVersion* version = snapshot_->find_version(record);
    if (version == nullptr) return TransactionStatus::not_found;
    *row = {&relation, record, version->row(), version->tid, RowRef::not_registered};
    return TransactionStatus::ok;
  }
  if (word.is_absent() || word.is_obsolete()) return TransactionStatus::not_found;
  *row = {&relation, record, buffer.bytes(), word.tid(), RowRef::not_registered};
  return TransactionStatus::ok;
}

TransactionStatus Transaction::check_past_descriptor(const Record* catalog_record, Tid tid) const {
  TidWord word = catalog_record->tid_word().load();
  const OldVersion* version = nullptr;
  if (word.tid().epoch() > snapshot_->boundary()) {
    version = snapshot_->find_version(catalog_record);
  }
  Tid seen = version != nullptr ? version->tid : word.tid();
  return seen == tid && tid.epoch() <= snapshot_->boundary() ? TransactionStatus::ok
                                                             : TransactionStatus::conflict_record;
}

TransactionStatus Transaction::peek(Relation& relation, Record* record, RowBuffer& buffer,
                                    RowRef* row) const {
  TidWord word;
  TransactionStatus status = stable_read(*record, buffer, settings_, &word);
  if (status != TransactionStatus::ok) return status;
  if (word.is_obsolete()) return TransactionStatus::conflict_record;
  *row = {};
  if (word.is_absent()) return TransactionStatus::not_found;
  *row = {&relation, record, buffer.bytes(), word.tid(), RowRef::not_registered};
  return TransactionStatus::ok;
}

TransactionStatus Transaction::read_existence(Relation& relation, Record* record, RowRef* row,
                                              ReadPurpose purpose) {
  bool refers = purpose == ReadPurpose::referenced;
  TidWord word = record->tid_word().load();
  // An updater's lock leaves the row where it is; a deleter's or an inserter's may not.
  for (CommitWait wait(settings_); word.is_locked() && !word.counts_as_present();
       word = record->tid_word().load()) {
    TransactionStatus status = wait.pause();
    if (status != TransactionStatus::ok) return status;
  }
  if (word.is_obsolete()) return TransactionStatus::conflict_record;
  bool registered = registers(relation);
  if (refers && registered && !word.is_absent()) {
    if (std::find(referenced_.begin(), referenced_.end(), &relation) == referenced_.end())
      append(referenced_, &relation);
    TransactionStatus status = mode_ == TransactionMode::one_shot
                                   ? admit(record, LockMode::key_share)
                                   : TransactionStatus::ok;
    if (status != TransactionStatus::ok) return status;
  }
  note_version(word.tid());
  uint32_t index = RowRef::not_registered;
  if (registered && (!word.is_absent() || keeps_absence(purpose))) {
    ReadKind kind = refers ? ReadKind::reference : ReadKind::existence;
    index = reads_.add(record, word, word.is_absent() ? ReadKind::version : kind);
  }
  // A private row of the running command is in no write set.
  bool seen = !relation.is_private() || refers || private_rows_.sees(command_, word);
  if (word.is_absent() || !seen) {
    *row = {};
    return TransactionStatus::not_found;
  }
  *row = {&relation, record, {}, word.tid(), index};
  return TransactionStatus::ok;
}

TransactionStatus Transaction::lock_row(RowRef* row, RowBuffer& buffer, RowLock lock) {
  return guarded(worker_, [&] {
    const WriteEntry* own = writes_.find(row->record);
    if (own != nullptr && own->newest->command > command_) return TransactionStatus::self_modified;
    if (mode_ != TransactionMode::interactive || !registers(*row->relation))
      return TransactionStatus::ok;
    size_t lock_count = owner_.lock_count();
    TransactionStatus status = lock_record(row->record, row->relation->id(), lock);
    if (status != TransactionStatus::ok) return status;
    bool registered = row->read_index != RowRef::not_registered;
    // A row we have written nobody else has changed.
    if (!registered && own != nullptr) return TransactionStatus::ok;
    TidWord word;
    status = stable_read(*row->record, buffer, settings_, &word);
    if (status != TransactionStatus::ok) return status;
    if (word.is_absent() || word.is_obsolete()) unlock_since(lock_count);
    if (word.is_obsolete())
      return registered ? TransactionStatus::conflict_record : TransactionStatus::not_found;
    note_version(word.tid());
    if (!registered) row->read_index = reads_.add(row->record, word, ReadKind::version);
    if (word.tid() == row->tid) {
      row->row = buffer.bytes();
      return TransactionStatus::ok;
    }
    if (row->read_index < statement_reads_) return TransactionStatus::conflict_record;
    if (registered) {
      reads_.refresh(row->read_index, word);
      // It was the older version that has been found true.
      validated_reads_ = std::min<size_t>(validated_reads_, row->read_index);
    }
    if (word.is_absent()) return TransactionStatus::not_found;
    row->row = buffer.bytes();
    row->tid = word.tid();
    return TransactionStatus::row_changed;
  });
}

}  // namespace pgsilo
