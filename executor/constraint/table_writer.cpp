#include "executor/constraint/table_writer.h"

#include <algorithm>

#include "base/check.h"
#include "executor/constraint/reference_events.h"
#include "executor/constraint/row_patches.h"
#include "executor/execution_context.h"
#include "executor/execution_state.h"
#include "executor/transaction_status.h"
#include "sql/memory_error.h"
#include "sql/sql_error.h"
#include "storage/limits.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {
// What one record written takes beside its bytes: in its tree, in the transaction, in the log. More
// than it is.
constexpr size_t each_record = 512;

// Whether computing the same once more would fail again, whoever does it: the memory, the stack and
// who cancels have no part in it.
bool rests_on_values(const SqlError& error) {
  SqlState state = error.state();
  return state.condition_class() == sqlstate::data_exception.condition_class() ||
         state.condition_class() == sqlstate::check_violation.condition_class() ||
         state == sqlstate::program_limit_exceeded;
}
}  // namespace

TableWriter::TableWriter(ExecutionState& state, const TableDescriptor& table,
                         const RowChanges& changes, const IndexKeySource& keys)
    : context_(state.session),
      table_(table),
      watch_(ReferenceWatch::of(state, table, changes)),
      may_load_(table.primary_key.is_hidden_row_id()),
      keys_(keys),
      entry_buffer_(entry_memory_) {
  row_.set_asks(false);  // UPDATE in place goes on above memory_limit
  for (const auto& index : table.indexes) {
    if (!index->is_primary_tree()) secondary_.push_back(index.get());
    may_load_ &= !index->unique;
    unique_secondary_ |= index->unique && !index->is_primary_tree();
  }
}

TableWriter::~TableWriter() = default;

// The key of the row's entry. False: the index does not have the row.
bool TableWriter::encode_entry(const IndexDescriptor& index, std::span<const Datum> row,
                               std::string_view primary_key, ByteBuffer& out) {
  out.clear();
  if (!index.computes()) [[likely]] {
    index.key.encode_entry(row, primary_key, out);
    return true;
  }
  if (!keys_.of(index).evaluate(row, keys_.registers, *keys_.context, &key_values_)) return false;
  index.key.encode_entry_of_values(key_values_, primary_key, out);
  return true;
}

// Of a row that is there, in entry_. While an index is being built a row may be one that it cannot
// have: then it has no entry, and whether that fails the build is not the writer's concern.
bool TableWriter::encode_old_entry(const IndexDescriptor& index, std::span<const Datum> row,
                                   std::string_view primary_key) {
  if (index.valid) [[likely]]
    return encode_entry(index, row, primary_key, entry_);
  try {
    return encode_entry(index, row, primary_key, entry_);
  } catch (const SqlError& error) {
    if (!rests_on_values(error)) throw;
    return false;
  }
}

Transaction& TableWriter::transaction() const { return *context_.transaction; }

void TableWriter::check(TransactionStatus status) {
  if (status != TransactionStatus::ok) [[unlikely]]
    raise_transaction_status(status);
}

// Before a row with its entries is added; key_ and row_ hold it. There will be three copies: in the
// tree, in the write set, in the log.
void TableWriter::admit_insert() {
  size_t bytes = key_.size() + row_.size();
  size_t entry = std::min(bytes, max_key_bytes) + each_record;
  require_memory(3 * bytes + each_record + secondary_.size() * 3 * entry);
  cover_commit();
}

// What fits into the row's place goes on with the reserve.
void TableWriter::admit_update(const RowRef& old) {
  MemoryPurpose purpose =
      old.record->fits(row_.size()) ? MemoryPurpose::upkeep : MemoryPurpose::growth;
  require_memory(3 * row_.size() + each_record, purpose);
  cover_commit();
}

void TableWriter::cover_commit() {
  if (context_.memory_promise != nullptr)
    context_.memory_promise->cover(transaction().commit_bytes());
}

void TableWriter::encode_primary_key(std::span<const Datum> row) {
  key_.clear();
  if (!table_.primary_key.is_hidden_row_id()) {
    table_.primary_key.encode_columns(row, key_);
    return;
  }
  unsigned worker = transaction().worker().index();
  key_.append_be64(table_.relation->next_row_id(worker));
}

void TableWriter::insert_primary(std::span<const Datum> row) {
  TransactionStatus status = transaction().insert(*table_.relation, key_.view(), row_.view());
  if (status == TransactionStatus::ok) return;
  const IndexDescriptor* primary = table_.primary_index();
  if (status == TransactionStatus::duplicate_key && primary != nullptr)
    raise_duplicate(*primary, row);
  raise_transaction_status(status);
}

void TableWriter::encode(std::span<const Datum> row) {
  encode_primary_key(row);
  row_.clear();
  table_.layout.encode(row, row_);
}

void TableWriter::insert(std::span<const Datum> row) {
  encode(row);
  admit_insert();
  insert_primary(row);
  for (const IndexDescriptor* index : secondary_) insert_entry(*index, row, key_.view());
  if (watch_ != nullptr) watch_->inserted(row, key_.view(), /*may_change=*/false);
}

// The primary row (null: of a table without a key) or one entry of it.
TransactionStatus TableWriter::try_insert(const IndexDescriptor* index, std::span<const Datum> row,
                                          bool answers) {
  if (index == nullptr || index->is_primary_tree())
    return transaction().insert(*table_.relation, key_.view(), row_.view(), answers);
  if (!encode_entry(*index, row, key_.view(), new_entry_)) return TransactionStatus::ok;
  return transaction().insert(*index->relation, new_entry_.view(),
                              index->key.payload_of(key_.view()), answers);
}

// Primary row first, as every INSERT does, so that all take their locks in one order. The index
// whose key is taken, then nothing has changed; null: none is.
const IndexDescriptor* TableWriter::insert_all(std::span<const Datum> row, bool answers,
                                               const Transaction::Mark& mark) {
  const IndexDescriptor* index = table_.primary_index();
  TransactionStatus status = try_insert(index, row, answers);
  for (size_t i = 0; status == TransactionStatus::ok && i < secondary_.size(); ++i) {
    index = secondary_[i];
    status = try_insert(index, row, answers);
  }
  if (status == TransactionStatus::ok) return nullptr;
  if (status != TransactionStatus::duplicate_key) raise_transaction_status(status);
  if (unique_secondary_) take_back(mark);
  return index;
}

// What was tried under the mark. Under SERIALIZABLE its locks stay, for its reads do.
void TableWriter::take_back(const Transaction::Mark& mark) {
  transaction().rollback_to(mark);
  if (transaction().mode() == TransactionMode::interactive &&
      transaction().isolation() == Isolation::read_committed)
    transaction().release_locks_since(mark);
}

const IndexDescriptor* TableWriter::insert_unless_conflict(
    std::span<const Datum> row, std::span<const IndexDescriptor* const> arbiters, bool updates) {
  encode(row);
  admit_insert();
  Transaction::Mark mark;
  if (unique_secondary_) {
    // Who meets a row has nothing to take back then, no lock of another key either.
    if (const IndexDescriptor* met = find_arbiter(arbiters, row, updates)) return met;
    mark = transaction().mark();
  }
  const IndexDescriptor* met = insert_all(row, !updates, mark);
  bool is_arbiter = std::find(arbiters.begin(), arbiters.end(), met) != arbiters.end();
  if (met != nullptr && !is_arbiter) {
    // Where an arbiter has a row as well, that decides.
    const IndexDescriptor* arbiter = find_arbiter(arbiters, row, updates);
    if (arbiter == nullptr && updates) met = insert_all(row, /*answers=*/true, mark);
    if (arbiter == nullptr && met != nullptr) raise_duplicate(*met, row);
    if (arbiter != nullptr) met = arbiter;
  }
  if (unique_secondary_) transaction().release(mark);
  if (watch_ != nullptr && met == nullptr) watch_->inserted(row, key_.view(), updates);
  return met;
}

// Its key for the row, in new_entry_. False: there is a null in it, or the index does not have the
// row, so that no other row has the same.
bool TableWriter::encode_unique(const IndexDescriptor& index, std::span<const Datum> row) {
  new_entry_.clear();
  if (index.computes()) {
    return keys_.of(index).evaluate(row, keys_.registers, *keys_.context, &key_values_) &&
           !index.key.appends_primary_key(index.key.encode_values(key_values_, new_entry_));
  }
  return !index.key.appends_primary_key(index.key.encode_columns(row, new_entry_));
}

// The first arbiter that has a row with the key of this one.
const IndexDescriptor* TableWriter::find_arbiter(std::span<const IndexDescriptor* const> arbiters,
                                                 std::span<const Datum> row, bool updates) {
  for (const IndexDescriptor* arbiter : arbiters) {
    if (!encode_unique(*arbiter, row)) continue;
    Relation& tree = arbiter->is_primary_tree() ? *table_.relation : *arbiter->relation;
    TransactionStatus status = transaction().find_duplicate(tree, new_entry_.view(), !updates);
    if (status == TransactionStatus::duplicate_key) return arbiter;
    check(status);
  }
  return nullptr;
}

// The row before the entry that leads to it, as all who change both lock them; then the entry,
// which nobody else can change any more, once again.
bool TableWriter::find_conflicting(const IndexDescriptor& index, std::span<const Datum> row,
                                   RowBuffer& buffer, RowRef* found) {
  encode_unique(index, row);
  RowRef entry;
  std::string_view primary_key = new_entry_.view();
  if (!index.is_primary_tree()) {
    TransactionStatus status = transaction().get(*index.relation, new_entry_.view(), entry_buffer_,
                                                 &entry, ReadPurpose::peek);
    if (status == TransactionStatus::not_found) return false;
    check(status);
    entry_.clear();
    entry_.append(entry.row);
    primary_key = entry_.view();
  }
  TransactionStatus status =

      transaction().get(*table_.relation, primary_key, buffer, found, ReadPurpose::conflicting,
                        {LockMode::no_key_update});
  if (status == TransactionStatus::ok && !index.is_primary_tree()) {
    status = transaction().get(*index.relation, new_entry_.view(), entry_buffer_, &entry);
    if (status == TransactionStatus::ok && entry.row != primary_key)
      status = TransactionStatus::not_found;
  }
  if (status == TransactionStatus::not_found) return false;
  if (status == TransactionStatus::self_modified) {
    throw SqlError(sqlstate::cardinality_violation,
                   "ON CONFLICT DO UPDATE command cannot affect row a second time")
        .hint(
            "Ensure that no rows proposed for insertion within the same command have duplicate "
            "constrained values.");
  }
  check(status);
  return true;
}

void TableWriter::load(std::span<const Datum> row) {
  if (!may_load_) return insert(row);
  encode(row);
  admit_insert();
  check(transaction().load(*table_.relation, key_.view(), row_.view()));
  for (const IndexDescriptor* index : secondary_) {
    if (!encode_entry(*index, row, key_.view(), new_entry_)) continue;
    check(transaction().load(*index->relation, new_entry_.view(),
                             index->key.payload_of(key_.view())));
  }
  if (watch_ != nullptr) watch_->inserted(row, key_.view(), /*may_change=*/false);
}

void TableWriter::finish_load() { check(transaction().finish_load()); }

void TableWriter::insert_entry(const IndexDescriptor& index, std::span<const Datum> row,
                               std::string_view primary_key) {
  if (!encode_entry(index, row, primary_key, new_entry_)) return;
  TransactionStatus status =
      transaction().insert(*index.relation, new_entry_.view(), index.key.payload_of(primary_key));
  if (status == TransactionStatus::ok) return;
  if (status == TransactionStatus::duplicate_key && index.unique) raise_duplicate(index, row);
  raise_transaction_status(status);
}

// Whether the index, which is being built, has the row's entry (its key is in entry_) already.
// Whoever has locked the row need not register that it has none: as long as he has the lock nobody
// adds it (Transaction::share_reads).
bool TableWriter::has_entry(const IndexDescriptor& index, std::string_view primary_key) {
  bool has_lock = transaction().mode() == TransactionMode::interactive;
  if (has_lock) Transaction::read_behind_locks();
  RowRef found;
  TransactionStatus status =
      transaction().get(*index.relation, entry_.view(), entry_buffer_, &found,
                        has_lock ? ReadPurpose::peek : ReadPurpose::plain);
  if (status == TransactionStatus::not_found) return false;
  check(status);
  return index.key.primary_key_of(found.key(), found.row) ==
         primary_key;  // of a unique index it may be another row's
}

void TableWriter::remove_entry(const IndexDescriptor& index, std::span<const Datum> row,
                               std::string_view primary_key) {
  if (!encode_old_entry(index, row, primary_key)) return;
  if (!index.valid && !has_entry(index, primary_key)) return;
  RowRef found;
  TransactionStatus status =
      transaction().get(*index.relation, entry_.view(), entry_buffer_, &found);
  if (status == TransactionStatus::not_found) {
    // The row was there without its entry. Most likely the reads do not fit together; if they do,
    // running again would not help.
    check(transaction().validate());
    throw SqlError(sqlstate::index_corrupted,
                   concat("index \"", index.name, "\" lacks the entry of a row of table \"",
                          table_.name, "\""))
        .table(table_.schema_name, table_.name);
  }
  check(status);
  check(transaction().remove(found));
}

bool TableWriter::update(const RowUpdate& update) {
  bool moves = false;
  if (!update_row(update, &moves)) return false;
  if (watch_ != nullptr) {
    std::string_view key = moves ? key_.view() : update.old.key();
    bool is_own = update.old.tid == Tid() || table_.relation->is_private();
    watch_->updated(update.old_row, update.new_row, key, moves, is_own);
  }
  return true;
}

bool TableWriter::update_row(const RowUpdate& update, bool* moves) {
  row_.clear();
  table_.layout.encode(update.new_row, row_);
  admit_update(update.old);
  if (update.changes_primary_key) {
    encode_primary_key(update.new_row);
    *moves = key_.view() != update.old.key();
    if (*moves) return move(update);
  }
  TransactionStatus status = update_encoded(update);
  if (status == TransactionStatus::self_modified) return false;
  check(status);
  update_entries(update);
  return true;
}

// To what is in row_.
TransactionStatus TableWriter::update_encoded(const RowUpdate& update) {
  const RowPatches* patches = update.patches;
  bool splits = patches != nullptr && transaction().mode() == TransactionMode::one_shot &&
                patches->split(update.old.row, row_.view(), &patches_);
  if (!splits) {
    LockMode lock = changes_unique_key(update) ? LockMode::update : LockMode::no_key_update;
    return transaction().update(update.old, row_.view(), lock);
  }
  PGSILO_DCHECK(update.indexes.empty());  // it locks as a change of no key does
  TransactionStatus status = transaction().narrow_read(update.old, patches->used());
  return status == TransactionStatus::ok
             ? transaction().update_partial(update.old, row_.view(), patches_)
             : status;
}

void TableWriter::update_entries(const RowUpdate& update) {
  std::string_view primary_key = update.old.key();
  for (const IndexDescriptor* index : update.indexes) {
    if (index->is_primary_tree()) continue;
    bool had = encode_old_entry(*index, update.old_row, primary_key);
    bool has = encode_entry(*index, update.new_row, primary_key, new_entry_);
    if (had == has && (!has || entry_.view() == new_entry_.view())) continue;
    require_memory(3 * (new_entry_.size() + primary_key.size()) + each_record);
    remove_entry(*index, update.old_row, primary_key);
    insert_entry(*index, update.new_row, primary_key);
  }
}

// One that a foreign key could refer to.
bool TableWriter::changes_unique_key(const RowUpdate& update) {
  for (const IndexDescriptor* index : update.indexes) {
    if (!index->unique || index->is_primary_tree() || index->computes()) continue;
    entry_.clear();
    new_entry_.clear();
    index->key.encode_columns(update.old_row, entry_);
    index->key.encode_columns(update.new_row, new_entry_);
    if (entry_.view() != new_entry_.view()) return true;
  }
  return false;
}

// The row gets another primary key: it is a new record with new entries. key_ and row_ hold the new
// row.
bool TableWriter::move(const RowUpdate& update) {
  admit_insert();
  if (!remove_row(update.old, update.old_row)) return false;
  insert_primary(update.new_row);
  for (const IndexDescriptor* index : secondary_) insert_entry(*index, update.new_row, key_.view());
  return true;
}

bool TableWriter::remove(const RowRef& old, std::span<const Datum> old_row) {
  if (!remove_row(old, old_row)) return false;
  if (watch_ != nullptr) watch_->removed(old_row);
  return true;
}

bool TableWriter::remove_row(const RowRef& old, std::span<const Datum> old_row) {
  require_memory((1 + secondary_.size()) * each_record, MemoryPurpose::upkeep);
  cover_commit();
  TransactionStatus status = transaction().remove(old);
  if (status == TransactionStatus::self_modified) return false;
  check(status);
  for (const IndexDescriptor* index : secondary_) remove_entry(*index, old_row, old.key());
  return true;
}

}  // namespace pgsilo
