// Inserting many rows: straight into the records that others find (loaded_rows.h).
#include <utility>

#include "base/memory_budget.h"
#include "storage/relation/relation.h"
#include "storage/transaction/commit.h"
#include "storage/transaction/transaction.h"

namespace pgsilo {

namespace {
constexpr size_t rows_per_forecast = 65536;
}

// They have no entry in the read set. So where they may be taken back alone, nothing would keep
// true what their COPY has told, that there was no row, for what comes after; but READ COMMITTED
// does not promise that.
bool Transaction::can_load(std::string_view row) const {
  return statement_loads_ && statement_runs_ && mode_ == TransactionMode::interactive &&
         (mark_depth_ == 0 || isolation_ == Isolation::read_committed) &&
         RecordAllocator::is_inline(row.size());
}

// Of millions of rows the log wants room that takes time to be had: it begins while they come.
inline void Transaction::foresee_loaded(const Relation& relation) {
  if (loaded_.size() % rows_per_forecast != 0 || !relation.logged()) [[likely]]
    return;
  worker_.sink().expect(writes_.size() + loaded_.size(), writes_.row_bytes() + loaded_.bytes());
  has_foretold_ = true;
}

// Where a commit has taken the room that was foretold, there is nothing to retract.
void Transaction::retract_forecast() {
  if (std::exchange(has_foretold_, false)) worker_.sink().expect(0, 0);
}

// As insert_row(). not_found: there is a record of the key already.
TransactionStatus Transaction::insert_loaded(Relation& relation, std::string_view key,
                                             std::string_view row) {
  loaded_.make_room(relation, command_);
  if (!nodes_.empty() && registers(relation)) {  // as in hook_placeholder()
    IndexTree::Found found = relation.tree().get(key);
    if (found.record != nullptr) return TransactionStatus::not_found;
    if (!nodes_.agrees(found.node)) return TransactionStatus::conflict_node;
  }
  RecordHolder holder = RecordHolder::of(&owner_, /*excludes_all=*/true).loading();
  Record* fresh = relation.records().create_held(key, row, holder, worker_.reclaimer());
  Record* there = nullptr;
  try {
    there = loaded_.insert(fresh, worker_.reclaimer(), changes_);
  } catch (...) {
    relation.records().destroy(fresh, worker_.reclaimer());
    throw;
  }
  if (there != nullptr) {
    relation.records().destroy(fresh, worker_.reclaimer());
    return TransactionStatus::not_found;
  }
  foresee_loaded(relation);
  return nodes_.apply(changes_) == NodeSet::Fixup::beaten ? TransactionStatus::conflict_node
                                                          : TransactionStatus::ok;
}

// From the last one on, so that each is in one place, whatever throws.
void Transaction::settle_loaded() {
  constexpr size_t bytes_each = bytes_per_read + bytes_per_write + commit_bytes_per_write;
  require_room(loaded_.size() * bytes_each + 2 * loaded_.bytes());
  size_t settled = 0;
  Relation* relation = nullptr;
  Record* record = nullptr;
  LockTable& locks = worker_.parts().locks;
  while (loaded_.last(&relation, &record)) {
    make_room(placeholders_, 1);
    locks.make_room_for_one(owner_);
    // Under READ COMMITTED no later statement rests on it, and the lock keeps others from the key.
    uint32_t read_index = RowRef::not_registered;
    if (isolation_ != Isolation::read_committed)
      read_index = reads_.add(record, TidWord::absent(Tid()), ReadKind::uniqueness);
    WriteEntry& written =
        writes_.add(nullptr, record, *relation, /*base_absent=*/true, record->quiet_row(),
                    /*tombstone=*/false, loaded_.command(), LockMode::update);
    written.held = LockMode::update;
    written.read_index = read_index;
    placeholders_.push_back({relation, record});
    locks.note_loaded(owner_, record);
    loaded_.pop();
    if (++settled % records_per_pause == 0) give_way();
  }
}

// A few at once; of more the worker takes out some now and then.
void Transaction::drop_loaded() {
  const bool at_once = loaded_.size() < records_per_pause;
  Relation* relation = nullptr;
  Record* record = nullptr;
  while (loaded_.last(&relation, &record)) {
    loaded_.pop();
    worker_.parts().locks.release_loaded(owner_, record);
    at_once ? unhook_placeholder({relation, record}) : queue_unhooking({relation, record});
  }
}

// They are there. Of millions of locks in one piece the others would notice.
void Transaction::release_loaded() {
  size_t released = 0;
  loaded_.visit([&](const Relation&, const Record* record) {
    worker_.parts().locks.release_loaded(owner_, record);
    if (++released % records_per_pause == 0) give_way();
    return true;
  });
  loaded_.clear();
}

// ---- Commit ----

// Nobody holds one of these for long: it belongs to who holds its intent lock. So their order does
// not matter.
TransactionStatus Commit::lock_loaded() {
  TransactionStatus status = TransactionStatus::ok;
  transaction_.loaded_.visit([&](const Relation&, Record* record) {
    TidWord seen;
    for (int rounds = 0; !record->tid_word().try_lock(LockPurpose::update, seen); pause_briefly()) {
      if (seen.is_obsolete() || ++rounds == Transaction::lock_patience) {
        status = TransactionStatus::conflict_lock;
        return false;
      }
    }
    ++loaded_locked_;
    if (!seen.is_absent() || seen.tid() != Tid()) status = TransactionStatus::conflict_unique;
    return status == TransactionStatus::ok;
  });
  return status;
}

void Commit::unlock_loaded() {
  transaction_.loaded_.visit([&](const Relation&, Record* record) {
    if (loaded_locked_ == 0) return false;
    record->tid_word().unlock();
    --loaded_locked_;
    return true;
  });
}

void Commit::install_loaded(Tid tid) {
  LoadedRows& loaded = transaction_.loaded_;
  loaded.visit([&](const Relation& relation, Record* record) {
    record->install_in_place(tid);
    if (relation.logged()) log({relation.id(), false, record->key(), record->quiet_row()}, tid);
    return true;
  });
  loaded_locked_ = 0;
  loaded.visit_relations([&](Relation& relation, size_t count) {
    relation.add_rows(worker_.index(), static_cast<int64_t>(count));
  });
}

}  // namespace pgsilo
