// Validation: Silo's phase 2, and the same check outside commit (docs/commit_protocol.md).
#include <algorithm>

#include "base/append.h"
#include "base/backoff.h"
#include "base/check.h"
#include "storage/relation/relation.h"
#include "storage/transaction/commit_wait.h"
#include "storage/transaction/transaction.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

namespace {

// Who has locked a record that is absent may be about to unhook it, which is no conflict; or be in
// commit and wait for us, so that it is waited for only shortly.
TidWord patient_look(const Record& record, int patience) {
  TidWord word = record.tid_word().load_for_validation();
  for (int rounds = 0; word.is_locked() && rounds < patience; ++rounds) {
    pause_briefly();
    word = record.tid_word().load_for_validation();
  }
  return word;
}

}  // namespace

TransactionStatus Transaction::validate() {
  return guarded(worker_, [this] {
    Epoch before = worker_.parts().epochs.current();
    TransactionStatus status = validate_reads(/*in_commit=*/false, {});
    if (status != TransactionStatus::ok) return status;
    validated_epoch_ = before;
    gained_exclusion_ = false;
    nodes_.forget_removals();
    note_validated();
    return status;
  });
}

void Transaction::note_validated() {
  validated_reads_ = reads_.size();
  validated_nodes_ = nodes_.size();
}

bool Transaction::is_validated() const {
  return reads_.size() == validated_reads_ && nodes_.size() == validated_nodes_ &&
         !nodes_.met_removals() && !gained_exclusion_;
}

void Transaction::give_way() {
  if (settings_.parker != nullptr) settings_.parker->give_way();
}

TransactionStatus Transaction::end_statement(bool changes_catalog) {
  if (mode_ == TransactionMode::one_shot) {
    statement_runs_ = false;
    return TransactionStatus::ok;
  }
  if (!statement_is_covered()) {
    TransactionStatus status = validate();
    if (status != TransactionStatus::ok) return status;
  }
  end_statement_snapshot();
  statement_runs_ = false;
  if (isolation_ == Isolation::read_committed && !changes_catalog) forget_statement_reads();
  note_validated();
  return TransactionStatus::ok;
}

// What it has written nobody else can change: it has the intents.
void Transaction::forget_statement_reads() {
  if (statement_began_interactive_ && nodes_.forget_statement()) cut_reads(statement_reads_);
}

// Nodes that are forgotten with them have been already.
void Transaction::cut_reads(size_t first) {
  reads_.truncate(first);
  partial_reads_.truncate(first);
  validated_reads_ = std::min(validated_reads_, first);
  validated_nodes_ = std::min(validated_nodes_, nodes_.size());
}

TransactionStatus Transaction::end_part(const Part& part) {
  in_part_ = false;
  return guarded(worker_, [&] {
    PGSILO_DCHECK(part.reads <= reads_.size() && part.nodes <= nodes_.size());
    TransactionStatus status = validate_reads(/*in_commit=*/false, part);
    if (!nodes_.forget_part())
      return status == TransactionStatus::ok ? status : TransactionStatus::conflict_lock;
    cut_reads(part.reads);
    return status;
  });
}

// True if all that was read since the transaction validated last was so already then, by the
// running statement or by one that has failed: then all its reads were true together at that
// moment. A version is that old if its epoch had ended before that validation began. A key without
// a record had no row then, unless one has gone from the range of its node since, nor has one with
// a placeholder that no row was ever put into. A relation that nobody else can change from now on,
// and whose reads are not registered, may have been changed since then. That the trees which it
// read are a table's present ones is not told by their versions: whoever reads looks at the
// descriptor behind the relation's lock (executor/table_lock.h).
bool Transaction::statement_is_covered() const {
  if (gained_exclusion_ || !loaded_.empty()) return false;
  if (nodes_.met_removals() || nodes_.any_gone(validated_nodes_, validated_epoch_)) return false;
  if (reads_.size() == 1 && nodes_.empty()) return true;  // one read fits together with itself
  for (size_t i = validated_reads_; i < reads_.size(); ++i) {
    const ReadEntry& entry = reads_[static_cast<uint32_t>(i)];
    bool was_so = entry.tid() == Tid() ? entry.is_lasting() || entry.is_guarded()
                                       : entry.tid().epoch() < validated_epoch_;
    if (!was_so) return false;
  }
  return true;
}

bool Transaction::entry_validates(const ReadEntry& entry, TidWord word, bool own_lock) const {
  if (word.tid() != entry.tid() || word.is_absent() != entry.absent()) return false;
  if (word.is_obsolete()) return entry.is_guarded();
  if (own_lock || !word.is_locked()) return true;
  return entry.accepts_newer() && word.counts_as_present();
}

TransactionStatus Transaction::refresh_reads(size_t first, bool in_commit) {
  TransactionStatus status = TransactionStatus::ok;
  if (reads_.has_existence()) status = refresh_existence(first);
  if (status == TransactionStatus::ok && reads_.has_partial())
    status = refresh_partial_reads(first, in_commit);
  return status;
}

// Existence reads accept newer versions: they read again, at the beginning of validation, before
// anything else is checked.
TransactionStatus Transaction::refresh_existence(size_t first) {
  for (auto i = static_cast<uint32_t>(first); i < reads_.size(); ++i) {
    const ReadEntry& entry = reads_[i];
    if (!entry.accepts_newer()) continue;
    TidWord word = entry.record->tid_word().load_for_validation();
    if (word.tid() == entry.tid()) continue;
    if (!word.counts_as_present()) return TransactionStatus::conflict_record;
    reads_.refresh(i, word);
    note_version(word.tid());
  }
  return TransactionStatus::ok;
}

// So do reads of parts, of a newer version with the same bytes.
TransactionStatus Transaction::refresh_partial_reads(size_t first, bool in_commit) {
  for (const PartialReads::Read& read : partial_reads_) {
    if (read.index < first) continue;
    const ReadEntry& entry = reads_[read.index];
    TidWord word = entry.record->tid_word().load_for_validation();
    if (entry.is_undisturbed(word)) continue;
    const WriteEntry* written = in_commit ? writes_.find(entry.record) : nullptr;
    TransactionStatus status = TransactionStatus::ok;
    if (written == nullptr || !written->locked)
      status = look_again(*entry.record, read, in_commit, &word);
    else if (word.tid() != entry.tid() && !entry.record->compare_locked(read.part, read.bytes))
      status = TransactionStatus::conflict_record;
    if (status != TransactionStatus::ok) return status;
    reads_.refresh(read.index, word);
    note_version(word.tid());
  }
  return TransactionStatus::ok;
}

// Whether the row has the bytes still; *word is its version then. Who has locked it in commit may
// wait for us, so that a commit waits for him only shortly.
TransactionStatus Transaction::look_again(const Record& record, const PartialReads::Read& read,
                                          bool in_commit, TidWord* word) const {
  bool equal = false;
  CommitWait wait(settings_);
  for (int rounds = 0; !record.try_compare(read.part, read.bytes, *word, equal);) {
    if (!in_commit) {
      TransactionStatus status = wait.pause();
      if (status != TransactionStatus::ok) return status;
      continue;
    }
    if (++rounds == lock_patience) return TransactionStatus::conflict_lock;
    pause_briefly();
  }
  return equal ? TransactionStatus::ok : TransactionStatus::conflict_record;
}

inline TransactionStatus Transaction::validate_entries(const ReadEntry* at, const ReadEntry* end,
                                                       bool in_commit) {
  for (; at != end; ++at) {
    const ReadEntry& entry = *at;
    TidWord word = entry.record->tid_word().load_for_validation();
    if (entry.is_undisturbed(word)) [[likely]]
      continue;
    TransactionStatus status = validate_disturbed(entry, word, in_commit);
    if (status != TransactionStatus::ok) return status;
  }
  return TransactionStatus::ok;
}

TransactionStatus Transaction::validate_reads(bool in_commit, const Part& since) {
  if (in_commit && reads_.minds_locks()) {
    TransactionStatus status = validate_references();
    if (status != TransactionStatus::ok) return status;
  }
  if (reads_.has_flexible()) [[unlikely]] {
    TransactionStatus status = refresh_reads(since.reads, in_commit);
    if (status != TransactionStatus::ok) return status;
  }
  if (reads_.size() >= records_per_pause || nodes_.size() >= records_per_pause) [[unlikely]]
    return validate_many(in_commit, since);
  TransactionStatus status =
      validate_entries(reads_.begin() + since.reads, reads_.end(), in_commit);
  if (status != TransactionStatus::ok) return status;
  if (since.nodes == nodes_.size()) return status;  // as of those that read by key alone
  return nodes_.validates(since.nodes, since.nodes, nodes_.size())
             ? TransactionStatus::ok
             : TransactionStatus::conflict_node;
}

// In pieces whose cache misses overlap. Outside of commit nobody waits for it, so it gives way:
// what is found unchanged after a pause was unchanged when the first record was looked at.
TransactionStatus Transaction::validate_many(bool in_commit, const Part& since) {
  constexpr ptrdiff_t piece = 32;
  size_t pieces = 0;
  for (const ReadEntry* at = reads_.begin() + since.reads; at != reads_.end();) {
    const ReadEntry* end = at + std::min(piece, reads_.end() - at);
    for (const ReadEntry* entry = at; entry != end; ++entry) {
      __builtin_prefetch(entry->record);
      if (in_commit) writes_.prefetch(entry->record);
    }
    TransactionStatus status = validate_entries(at, end, in_commit);
    if (status != TransactionStatus::ok) return status;
    at = end;
    if (!in_commit && ++pieces % (records_per_pause / piece) == 0) give_way();
  }
  for (size_t at = since.nodes; at < nodes_.size(); at += records_per_pause) {
    size_t end = std::min(at + records_per_pause, nodes_.size());
    if (!nodes_.validates(since.nodes, at, end)) return TransactionStatus::conflict_node;
    if (!in_commit && end != nodes_.size()) give_way();
  }
  return TransactionStatus::ok;
}

// A one-shot has no locks on the rows that it refers to. Who has locked one against that may have
// looked for rows that refer to it already, before our locks were there to be seen: it comes first.
// Before the rows themselves are validated: who is gone by now has left its delete to be seen
// there.
TransactionStatus Transaction::validate_references() {
  if (mode_ == TransactionMode::interactive) return TransactionStatus::ok;
  for (const ReadEntry& entry : reads_) {
    LockMode mode = LockMode::none;
    if (entry.kind() == ReadKind::reference) mode = LockMode::key_share;
    if (entry.kind() == ReadKind::version && reads_.is_shared()) mode = LockMode::for_share;
    if (mode == LockMode::none) continue;
    TransactionStatus status = admit(entry.record, mode);
    if (status != TransactionStatus::ok) return status;
  }
  return TransactionStatus::ok;
}

// As validate_references(): who has locked a row may have looked for what we are about to make of
// it, and found nothing.
TransactionStatus Transaction::share_reads(Relation& relation) {
  return guarded(worker_, [&] {
    PGSILO_DCHECK(open_ && mode_ == TransactionMode::one_shot);
    append(referenced_, &relation);
    reads_.share();
    return TransactionStatus::ok;
  });
}

TransactionStatus Transaction::admit(const Record* record, LockMode mode) {
  if (!record->tid_word().load_for_validation().has_intent() ||
      worker_.parts().locks.admits(owner_, record, mode)) {
    return TransactionStatus::ok;
  }
  return must_wait_for(LockTag::of(record, referenced_relation_of(record)), mode);
}

// For who looks at the lock from outside: reads do not say where they were.
RelationId Transaction::referenced_relation_of(const Record* record) const {
  auto holds = [record](const Relation* relation) {
    return relation->tree().get(record->key()).record == record;
  };
  auto found = std::find_if(referenced_.begin(), referenced_.end(), holds);
  return found == referenced_.end() ? RelationId() : (*found)->id();
}

// A read whose record is locked, by us or another, or changed.
TransactionStatus Transaction::validate_disturbed(const ReadEntry& entry, TidWord word,
                                                  bool in_commit) {
  bool own_lock = false;
  if (word.is_locked() && in_commit) {
    const WriteEntry* written = writes_.find(entry.record);
    own_lock = written != nullptr && written->locked;
    if (!own_lock && entry.is_guarded()) word = patient_look(*entry.record, lock_patience);
  } else if (word.is_locked()) {
    // Outside commit we hold no lock and may wait until it is known whether the holder installs.
    for (CommitWait wait(settings_);
         word.is_locked() && word.tid() == entry.tid() && !entry_validates(entry, word, false);
         word = entry.record->tid_word().load_for_validation()) {
      TransactionStatus status = wait.pause();
      if (status != TransactionStatus::ok) return status;
    }
  }
  if (entry_validates(entry, word, own_lock)) return TransactionStatus::ok;
  return entry.kind() == ReadKind::uniqueness ? TransactionStatus::conflict_unique
                                              : TransactionStatus::conflict_record;
}

}  // namespace pgsilo
