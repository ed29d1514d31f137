// The life of a transaction: begin, statements, marks, abort. Reading, writing, validation and
// commit have files of their own.
#include "storage/transaction/transaction.h"

#include <algorithm>
#include <new>
#include <span>

#include "base/append.h"
#include "base/check.h"
#include "storage/relation/relation.h"
#include "storage/relation/relation_directory.h"
#include "storage/transaction/transaction_guard.h"

namespace pgsilo {

namespace {

// Of what is rolled back, which cannot fail.
[[gnu::noinline]] void drop_private(WorkerContext& worker, const Relation& relation) {
  try {
    worker.parts().relations.drop(relation.id(), worker.reclaimer());
  } catch (const std::bad_alloc&) {
    // Nobody names it: its memory stays until the next start.
  }
}

}  // namespace

Transaction::Transaction(WorkerContext& worker, const WaitSettings& settings)
    : worker_(worker), settings_(settings), owner_(worker.parts().locks.take_owner()) {}

Transaction::~Transaction() {
  abort();
  worker_.parts().locks.return_owner(owner_);
}

void Transaction::begin(TransactionMode mode, Isolation isolation) {
  PGSILO_CHECK(!open_);
  if (!pin_) pin_.emplace(worker_.reclaimer());
  open_ = true;
  ++number_;
  mode_ = mode;
  isolation_ = isolation;
  statement_runs_ = false;
  newest_seen_ = Tid();
  command_ = last_command_ = 0;
  mark_depth_ = 0;
  validated_epoch_ = Epoch();
  gained_exclusion_ = has_foretold_ = false;
  statement_reads_ = 0;
  validated_reads_ = validated_nodes_ = 0;
  newest_epoch_ = Epoch();
  commit_tid_ = Tid();
  met_mode_ = LockMode::none;
}

TransactionStatus Transaction::begin_snapshot() {
  return guarded(worker_, [this] {
    std::shared_ptr<const Snapshot> snapshot;
    TransactionStatus status = Snapshot::open(worker_.parts().snapshots, settings_, &snapshot);
    if (status == TransactionStatus::ok) begin_snapshot(std::move(snapshot));
    return status;
  });
}

void Transaction::begin_snapshot(std::shared_ptr<const Snapshot> snapshot) {
  begin(TransactionMode::snapshot);
  snapshot_ = std::move(snapshot);
  newest_epoch_ = snapshot_->boundary();
}

TransactionStatus Transaction::become_snapshot() {
  return guarded(worker_, [this] {
    PGSILO_DCHECK(open_ && !has_writes());
    if (mode_ == TransactionMode::snapshot) return TransactionStatus::ok;
    std::shared_ptr<const Snapshot> snapshot;
    TransactionStatus status = Snapshot::open(worker_.parts().snapshots, settings_, &snapshot);
    // Each version was committed before it was read, hence at or before the boundary, and is there
    // now, behind it.
    if (status == TransactionStatus::ok) status = validate_reads(/*in_commit=*/false, {});
    if (status != TransactionStatus::ok) return status;
    partial_reads_.clear();
    reads_.clear();
    nodes_.clear();
    statement_reads_ = 0;
    note_validated();
    mode_ = TransactionMode::snapshot;
    snapshot_ = std::move(snapshot);
    rest_on(snapshot_->boundary());
    return status;
  });
}

TransactionStatus Transaction::begin_statement_snapshot() {
  return guarded(worker_, [this] {
    if (snapshot_ != nullptr || mode_ != TransactionMode::interactive ||
        isolation_ != Isolation::read_committed || !statement_runs_ ||
        !statement_began_interactive_ || in_part_) {
      return TransactionStatus::ok;
    }
    std::shared_ptr<const Snapshot> snapshot;
    TransactionStatus status = Snapshot::open(worker_.parts().snapshots, settings_, &snapshot);
    // As in become_snapshot(). What it has written nobody else has changed since.
    if (status == TransactionStatus::ok) status = validate();
    if (status != TransactionStatus::ok) return status;
    forget_statement_reads();
    note_validated();
    snapshot_ = std::move(snapshot);
    rest_on(snapshot_->boundary());
    return status;
  });
}

void Transaction::end_statement_snapshot() {
  if (mode_ == TransactionMode::interactive) snapshot_.reset();
}

TransactionStatus Transaction::begin_statement() {
  return guarded(worker_, [this] {
    PGSILO_DCHECK(open_);
    forget_failed_statement();
    if (!loaded_.empty()) settle_loaded();
    in_part_ = false;
    statement_runs_ = statement_inserts_directly_ = true;
    statement_wrote_direct_ = statement_loads_ = false;
    command_ = ++last_command_;
    statement_reads_ = reads_.size();
    nodes_.begin_statement();
    statement_versions_ = writes_.mark();
    statement_depth_ = mark_depth_;
    statement_began_interactive_ = mode_ == TransactionMode::interactive;
    return private_relations_.empty() ? TransactionStatus::ok : show_private_rows();
  });
}

TransactionStatus Transaction::continue_statement() {
  if (!statement_runs_) return begin_statement();
  return guarded(worker_, [this] {
    PGSILO_DCHECK(open_);
    if (!loaded_.empty()) settle_loaded();
    command_ = ++last_command_;
    return private_relations_.empty() ? TransactionStatus::ok : show_private_rows();
  });
}

// The command that begins sees the rows of those before it.
TransactionStatus Transaction::show_private_rows() {
  TransactionStatus status = drain_load();
  if (status == TransactionStatus::ok) status = private_rows_.stream(worker_, settings_);
  if (status == TransactionStatus::ok) private_rows_.begin_statement(command_, worker_.last_tid());
  return status;
}

TransactionStatus Transaction::restart_statement() {
  return guarded(worker_, [this] {
    PGSILO_DCHECK(open_ && mode_ == TransactionMode::interactive);
    end_statement_snapshot();
    if (statement_wrote_direct_ || bulk_load_ != nullptr || !nodes_.forget_statement())
      return TransactionStatus::conflict_record;
    mark_depth_ = statement_depth_;
    drop_loaded();
    writes_.rollback_to(statement_versions_);
    cut_reads(statement_reads_);
    return validate();
  });
}

void Transaction::forget_failed_statement() {
  if (mode_ == TransactionMode::interactive && statement_runs_ &&
      isolation_ == Isolation::read_committed) {
    end_statement_snapshot();
    forget_statement_reads();
  }
}

size_t Transaction::bookkeeping_bytes() const {
  return reads_.size() * bytes_per_read + nodes_.bytes() + writes_.size() * bytes_per_write +
         writes_.row_bytes() + owner_.lock_bytes() + partial_reads_.bytes() +
         loaded_.size() * sizeof(Record*);
}

size_t Transaction::commit_bytes() const {
  constexpr size_t commit_bytes_per_load = 32;  // in the log, beside key and row
  return writes_.size() * commit_bytes_per_write + writes_.row_bytes() +
         loaded_.size() * commit_bytes_per_load + loaded_.bytes();
}

// ---- savepoints ----

TransactionStatus Transaction::settle() {
  return guarded(worker_, [this] {
    settle_loaded();
    return TransactionStatus::ok;
  });
}

Transaction::Mark Transaction::mark() {
  PGSILO_DCHECK(bulk_load_ == nullptr && loaded_.empty());
  ++mark_depth_;
  statement_mark_ = 0;
  return {writes_.mark(),
          static_cast<uint32_t>(private_relations_.size()),
          static_cast<uint32_t>(dropped_.size()),
          static_cast<uint32_t>(placeholders_.size()),
          static_cast<uint32_t>(owner_.lock_count()),
          static_cast<uint32_t>(owner_.relation_count()),
          static_cast<uint32_t>(referenced_.size()),
          reads_.size(),
          nodes_.size(),
          mark_depth_};
}

Transaction::Mark Transaction::mark_statement() {
  Mark made = mark();
  statement_mark_ = made.depth;
  return made;
}

void Transaction::rollback_to(const Mark& mark) {
  PGSILO_DCHECK(mark.depth != 0 && mark.depth <= mark_depth_);
  mark_depth_ = mark.depth;
  abandon_load();
  drop_loaded();  // newer than any mark
  retract_forecast();
  writes_.rollback_to(mark.versions);
  statement_wrote_direct_ = false;  // only into relations made since, which go
  dropped_.resize(mark.dropped);
  drop_relations_since(mark);
}

// In whatever order; with what was written into them.
void Transaction::drop_relations_since(const Mark& mark) {
  auto gone = std::span(private_relations_).subspan(mark.relations);
  if (gone.empty()) return;
  std::ranges::sort(gone, {}, &PrivateRelation::relation);
  auto since = placeholders_.begin() + mark.placeholders;  // the relations are newer than the mark
  placeholders_.erase(std::remove_if(since, placeholders_.end(),
                                     [&](const Placeholder& each) {
                                       return std::ranges::binary_search(
                                           gone, each.relation, {}, &PrivateRelation::relation);
                                     }),
                      placeholders_.end());
  while (private_relations_.size() > mark.relations) {
    Relation* relation = private_relations_.back().relation;
    private_relations_.pop_back();
    private_rows_.forget(*relation);
    drop_private(worker_, *relation);
  }
}

void Transaction::release_locks_since(const Mark& mark) {
  let_go_since(mark, LockTable::Exclusions::stay);
}

// Reads of statements are forgotten as these end. What is left since the mark DDL has made, which
// is unwound. Nodes from before the mark may rest on reads since then (note_absence()): those of
// DDL, too, and of what ran before BEGIN in the same query.
void Transaction::forget_since(const Mark& mark) {
  if (mode_ != TransactionMode::interactive || isolation_ != Isolation::read_committed) return;
  forget_failed_statement();
  statement_runs_ = false;
  bool has_read = reads_.size() != mark.reads || nodes_.size() != mark.nodes;
  if (has_read && mark.nodes != 0) return;
  nodes_.truncate(mark.nodes);
  cut_reads(mark.reads);
  let_go_since(mark, LockTable::Exclusions::go);
}

void Transaction::let_go_since(const Mark& mark, LockTable::Exclusions exclusions) {
  PGSILO_DCHECK(mark.versions == writes_.mark());
  ++number_;  // what rested on a share of that time must ask for it again
  owner_.visit_locks(mark.locks, [this](LockTag tag, LockModes before) {
    WriteEntry* entry = tag.is_record() ? writes_.find(tag.record()) : nullptr;
    if (entry != nullptr) entry->held = std::min(entry->held, before.strongest());
  });
  worker_.parts().locks.release_locks(owner_, mark.locks);
  worker_.parts().locks.release_relations_since(owner_, mark.relation_locks, exclusions);
  referenced_.resize(mark.referenced);  // commit asks whether the others are locked
}

void Transaction::release(const Mark& mark) {
  PGSILO_DCHECK(mark.depth != 0 && mark.depth <= mark_depth_);
  mark_depth_ = mark.depth - 1;
  // What was created under the mark belongs to the one around it now.
  for (size_t i = mark.relations; i < private_relations_.size(); ++i)
    private_relations_[i].mark_depth = std::min(private_relations_[i].mark_depth, mark_depth_);
}

// ---- relations and descriptors ----

Relation* Transaction::create_relation(RelationOptions options) {
  PGSILO_DCHECK(mode_ != TransactionMode::snapshot);
  try {
    make_room(private_relations_, 1);
    Relation& relation = worker_.parts().relations.create(options, /*is_private=*/true);
    private_relations_.push_back({&relation, mark_depth_});
    return &relation;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

TransactionStatus Transaction::drop_relation(Relation& relation) {
  return guarded(worker_, [&] {
    dropped_.push_back(&relation);
    return TransactionStatus::ok;
  });
}

TransactionStatus Transaction::use_descriptor(const Record* catalog_record, Tid tid) {
  return guarded(worker_, [&] {
    if (mode_ == TransactionMode::snapshot) return check_past_descriptor(catalog_record, tid);
    if (writes_.find(catalog_record) != nullptr)
      return TransactionStatus::ok;  // our own uncommitted DDL
    reads_.add(catalog_record, TidWord::present(tid), ReadKind::version);
    note_version(tid);
    return catalog_record->tid_word().load().tid() == tid ? TransactionStatus::ok
                                                          : TransactionStatus::conflict_record;
  });
}

TransactionStatus Transaction::use_written_descriptor(CatalogVersion row, CatalogVersion lasting) {
  PGSILO_DCHECK(mode_ == TransactionMode::one_shot);
  return guarded(worker_, [&] {
    // What it has written itself is not read, and has no version yet.
    if (lasting.record != nullptr && writes_.find(row.record) == nullptr)
      append(later_reads_, LaterRead{static_cast<uint32_t>(reads_.size()), lasting});
    return use_descriptor(row.record, row.tid);
  });
}

TransactionStatus Transaction::check_descriptor(const Record* catalog_record, Tid tid) const {
  return catalog_record->tid_word().load().tid() == tid ? TransactionStatus::ok
                                                        : TransactionStatus::conflict_record;
}

TransactionStatus Transaction::lock_relation(Relation& relation, LockMode mode, WaitPolicy policy) {
  return guarded(worker_, [&] {
    if (relation.is_private() || mode_ == TransactionMode::snapshot) return TransactionStatus::ok;
    const EngineParts& parts = worker_.parts();
    // A lock of its own, which stays to the end, is none that is kept.
    if (mode > LockMode::row_exclusive && keeps_writers_out()) let_writers_in();
    if (mode_ == TransactionMode::interactive || mode > LockMode::row_exclusive) {
      bool excluded = owner_.excludes(&relation);
      TransactionStatus status = gain_lock(policy, [&](WaitPolicy how) {
        return parts.locks.lock_relation(owner_, relation, mode, how, parts.epochs, settings_);
      });
      gained_exclusion_ |= !excluded && owner_.excludes(&relation);
      return status;
    }
    if (relation.gate().stops(mode) && !owner_.modes_of(&relation).covers(mode))
      return must_wait_for(LockTag::of(relation), mode);
    bool known = std::any_of(later_locks_.begin(), later_locks_.end(), [&](const LaterLock& lock) {
      return lock.relation == &relation && lock.mode == mode;
    });
    if (!known) append(later_locks_, LaterLock{&relation, mode});
    return TransactionStatus::ok;
  });
}

TransactionStatus Transaction::keep_writers_out(Relation& relation) {
  return guarded(worker_, [&] {
    PGSILO_DCHECK(mode_ != TransactionMode::one_shot);
    if (relation.is_private() || mode_ == TransactionMode::snapshot) return TransactionStatus::ok;
    const EngineParts& parts = worker_.parts();
    TransactionStatus status =
        parts.locks.keep_writers_out(owner_, relation, parts.epochs, settings_);
    return status == TransactionStatus::lock_timeout ||
                   status == TransactionStatus::lock_not_available
               ? TransactionStatus::ok
               : status;
  });
}

// Of a run that has ended, they were all that was held.
void Transaction::let_writers_in() {
  worker_.parts().locks.let_writers_in(owner_);
  if (!open_ && !owner_.holds_any()) pin_.reset();
}

void Transaction::let_go_of_caution() {
  worker_.parts().locks.let_go_of_cautious(owner_);
  let_writers_in();
}

// ---- the end ----

void Transaction::roll_back() {
  lost_records_ = written_records();
  abandon_load();
  drop_loaded();
  for (const PrivateRelation& created : private_relations_)
    drop_private(worker_, *created.relation);
  clean_placeholders();
}

void Transaction::abort() {
  if (open_) roll_back();
  end(Keep::nothing);
}

void Transaction::abort_to_run_again() {
  if (open_) roll_back();
  end(Keep::writers_out);
}

TransactionStatus Transaction::wait_for_intent() {
  PGSILO_CHECK(pin_.has_value() && met_mode_ != LockMode::none);
  LockTag lock = met_lock_;
  LockMode mode = met_mode_;
  if (open_) roll_back();
  end(Keep::pin);
  const EngineParts& parts = worker_.parts();
  TransactionStatus status =
      lock.is_relation() ? parts.locks.lock_relation(owner_, *lock.relation(), mode,
                                                     WaitPolicy::wait, parts.epochs, settings_)
                         : parts.locks.acquire(owner_, lock, mode, WaitPolicy::wait, settings_,
                                               LockTable::Use::of_one_shot);
  if (status == TransactionStatus::conflict_record)
    status = TransactionStatus::ok;  // unhooked meanwhile: run again
  if (status != TransactionStatus::ok) end(Keep::nothing);
  return status;
}

// Placeholders of inserts that did not come about: of an aborted transaction, rolled back to a
// mark, or deleted again.
void Transaction::clean_placeholders() {
  if (placeholders_.empty()) return;
  for (const Placeholder& placeholder : placeholders_) unhook_placeholder(placeholder);
  constexpr size_t ordinary = 4096;
  if (placeholders_.capacity() > ordinary) [[unlikely]]
    free_memory(placeholders_);
  placeholders_.clear();
}

void Transaction::unhook_placeholder(const Placeholder& placeholder) {
  try {
    UnhookResult result =
        unhook_absent(*placeholder.relation, placeholder.record, Tid(), worker_.reclaimer());
    if (result == UnhookResult::busy) queue_unhooking(placeholder);
  } catch (const std::bad_alloc&) {
    queue_unhooking(placeholder);
  }
}

void Transaction::queue_unhooking(const Placeholder& placeholder) {
  try {
    std::string_view key = placeholder.record->key();
    worker_.unhooks().reserve(1, key.size());
    worker_.unhooks().push(placeholder.relation->id(), placeholder.record, key, Tid());
  } catch (const std::bad_alloc&) {
    // The placeholder stays: absent, without a trace that anybody could observe, and adopted by
    // the next insert.
  }
}

void Transaction::end(Keep keep) {
  open_ = false;
  if (reads_.has_partial()) [[unlikely]]
    partial_reads_.clear();
  reads_.clear();
  nodes_.clear();
  writes_.clear();
  loaded_.clear();  // also of relations into which nothing went
  retract_forecast();
  referenced_.clear();
  private_rows_.clear();
  bulk_load_.reset();  // finished or abandoned
  placeholders_.clear();
  private_relations_.clear();
  dropped_.clear();
  frees_space_ = false;
  later_locks_.clear();
  later_reads_.clear();
  if (owner_.holds_any()) {
    LockTable& locks = worker_.parts().locks;
    locks.release_locks(owner_);
    keep == Keep::writers_out ? locks.release_relations_but_kept(owner_)
                              : locks.release_relations(owner_);
  }
  snapshot_.reset();
  // It protects the relations of locks that are kept.
  if (keep != Keep::pin && !keeps_writers_out()) pin_.reset();
}

}  // namespace pgsilo
