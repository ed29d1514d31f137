#include "executor/ddl/index_build.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <new>

#include "base/clock.h"
#include "base/parker.h"
#include "executor/transaction_status.h"
#include "executor/worker/retry_policy.h"
#include "sql/memory_error.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"
#include "storage/transaction/transaction_scan.h"

namespace pgsilo {

namespace {

// Rows of one transaction. More make it fail more often, fewer cost more; at a microsecond or two
// for each row it is about a slice of its worker.
constexpr size_t most_rows = 256;
// How long a build that has failed waits for whoever is changing the table's definition.
constexpr int64_t discard_patience_us = 5000000;

// How a build that has failed waits: whatever ended it does not end this.
WaitSettings discard_waits(WaitSettings waits) {
  static constexpr std::atomic<bool> never{false};
  waits.cancelled = &never;
  waits.lock_timeout_us = discard_patience_us;
  return waits;
}

// Throws nothing once it has committed.
TransactionStatus commit_changes(CatalogView& view, Transaction& transaction, Parker& parker) {
  TransactionStatus status = view.before_commit(transaction);
  if (status == TransactionStatus::ok) status = transaction.commit();
  if (status == TransactionStatus::ok) view.committed(transaction, parker);
  return status;
}

class IndexBuild {
 public:
  IndexBuild(DdlRun& run, Oid table)
      : run_(run),
        context_(run.state().session),
        transaction_(run.state().transaction()),
        table_oid_(table),
        retry_(static_cast<uint64_t>(monotonic_ns()), LastResort::none),
        discard_waits_(discard_waits(transaction_.waits())),
        discard_transaction_(transaction_.worker(), discard_waits_),
        discard_view_(run.catalog().catalog()) {}

  void run(const IndexDefinition& definition, bool if_not_exists);

 private:
  TransactionStatus commit();
  template <typename Step>
  TransactionStatus run_step(Step step);
  void settle(TransactionStatus failure);
  template <typename Step>
  bool attempt(Step step);
  const IndexDescriptor& index_of(const TableDescriptor*& table);
  void fill();
  TransactionStatus add_entries();
  struct Entry {
    std::string_view key;
    std::string_view primary_key;
    std::string_view row;  // of a unique index, for an error
  };
  TransactionStatus gather(TransactionScan& scan, const TableDescriptor& table,
                           const IndexDescriptor& index, size_t most);
  TransactionStatus add_gathered(const TableDescriptor& table, const IndexDescriptor& index);
  TransactionStatus add_entry(const TableDescriptor& table, const IndexDescriptor& index,
                              const Entry& entry);
  void finish();
  void discard();
  bool try_discard();
  TransactionStatus run_discard();
  void resume_statement();

  DdlRun& run_;
  ExecutionContext& context_;
  Transaction& transaction_;  // the statement's, used for one after the other
  const Oid table_oid_;
  Oid index_oid_ = invalid_oid;
  std::string name_;
  RetryPolicy retry_;
  Epoch newest_epoch_;
  // Where the next batch begins: behind this key of this tree.
  RelationId tree_;
  std::string position_;  // empty: at the first row
  // The batch that runs.
  size_t rows_ = most_rows;
  std::string last_key_;
  bool at_end_ = false;
  Arena memory_;
  ByteBuffer entry_;
  // They go anywhere in the index: what they need of it is fetched for some at once.
  std::array<Entry, IndexTree::max_lookups> gathered_;
  size_t gathered_count_ = 0;
  // Of discard(), made before there is anything to discard: later there may be no memory.
  const WaitSettings discard_waits_;
  Transaction discard_transaction_;
  CatalogView discard_view_;
};

TransactionStatus IndexBuild::commit() {
  TransactionStatus status = commit_changes(run_.catalog(), transaction_, *context_.parker);
  newest_epoch_ = std::max(newest_epoch_, transaction_.newest_epoch());
  return status;
}

// After a transaction that may run again; throws if it may not, or if the wait before that ends
// badly.
void IndexBuild::settle(TransactionStatus failure) {
  run_.catalog().forget_local();
  if (failure == TransactionStatus::must_wait)
    return require_ok_status(transaction_.wait_for_intent());
  transaction_.abort();
  int64_t delay_us = retry_.next_delay_us(failure);
  if (!is_conflict(failure) || retry_.is_exhausted()) raise_transaction_status(failure);
  context_.check_client();
  if (delay_us > 0) context_.parker->park(monotonic_us() + delay_us);
}

// An error is an answer: what it rests on must have been true, and the row that it is about one
// that the table's descriptor fits.
template <typename Step>
TransactionStatus IndexBuild::run_step(Step step) {
  std::exception_ptr error;
  try {
    return step();
  } catch (const SqlError&) {
    error = std::current_exception();
  }
  // Behind the handler, for a long validation gives way.
  TransactionStatus status = transaction_.validate();
  newest_epoch_ = std::max(newest_epoch_, transaction_.newest_epoch());
  if (status == TransactionStatus::ok) std::rethrow_exception(error);
  return status;
}

// A transaction of its own. False: it has to run again.
template <typename Step>
bool IndexBuild::attempt(Step step) {
  transaction_.begin(TransactionMode::one_shot);
  context_.check_budget();
  run_.catalog().refresh();
  TransactionStatus status = run_step(step);
  if (status == TransactionStatus::ok) status = commit();
  if (status == TransactionStatus::ok) {
    retry_.reset();
    return true;
  }
  settle(status);
  return false;
}

// As they are now. Others may change the table, empty it, or drop the index.
const IndexDescriptor& IndexBuild::index_of(const TableDescriptor*& table) {
  table = run_.catalog().find_table(table_oid_);
  const IndexDescriptor* index = table == nullptr ? nullptr : table->find_index(index_oid_);
  if (index != nullptr) return *index;
  throw SqlError(sqlstate::object_not_in_prerequisite_state,
                 concat("index \"", name_, "\" was dropped while it was being built"));
}

void IndexBuild::run(const IndexDefinition& definition, bool if_not_exists) {
  run_.finish(run_.definition().begin_index(table_oid_, definition, if_not_exists, &index_oid_));
  if (index_oid_ == invalid_oid) return;
  const TableDescriptor* table = nullptr;
  name_ = index_of(table).name;
  require_ok_status(commit());
  std::exception_ptr failure;
  try {
    fill();
    finish();
  } catch (...) {
    failure = std::current_exception();
  }
  // Behind the handler, for this waits.
  if (failure != nullptr) discard();
  resume_statement();
  if (failure != nullptr) std::rethrow_exception(failure);
  context_.has_committed = true;
}

// The session finds its transaction open, as it left it; its answer waits for what was committed.
void IndexBuild::resume_statement() {
  transaction_.begin(TransactionMode::one_shot);
  require_ok_status(transaction_.begin_statement());
  transaction_.rest_on(newest_epoch_);
}

void IndexBuild::fill() {
  while (!at_end_) {
    if (attempt([this] { return add_entries(); })) {
      position_.swap(last_key_);
      rows_ = std::min(2 * rows_, most_rows);
    } else {
      at_end_ = false;
      rows_ = std::max<size_t>(rows_ / 2, 1);
    }
  }
}

// The entries of the next rows, each as it is when the transaction commits and nobody is about to
// change it.
TransactionStatus IndexBuild::add_entries() {
  const TableDescriptor* table = nullptr;
  const IndexDescriptor& index = index_of(table);
  if (table->relation_id != tree_) {  // the first one, or the table was emptied or rewritten
    tree_ = table->relation_id;
    position_.clear();
  }
  require_ok_status(transaction_.begin_statement());
  TransactionStatus status = transaction_.use_descriptor(table->record.record, table->record.tid);
  if (status == TransactionStatus::ok)
    status = transaction_.lock_relation(*table->relation, LockMode::row_share);
  if (status == TransactionStatus::ok) status = transaction_.share_reads(*table->relation);
  if (status != TransactionStatus::ok) return status;
  memory_.reset();
  RowBuffer buffer(memory_);
  KeyRange behind;
  if (!position_.empty()) behind.lower = KeyBound::exclusive(position_);
  TransactionScan scan(transaction_, *table->relation, behind, ScanDirection::forward, buffer,
                       ReadPurpose::rows);
  last_key_ = position_;
  for (size_t count = 0; count < rows_ && status == TransactionStatus::ok;
       count += gathered_count_) {
    status = gather(scan, *table, index, rows_ - count);
    TransactionStatus added = add_gathered(*table, index);
    if (added != TransactionStatus::ok) return added;
  }
  at_end_ = status == TransactionStatus::not_found;
  return at_end_ ? TransactionStatus::ok : status;
}

// Of the next rows.
TransactionStatus IndexBuild::gather(TransactionScan& scan, const TableDescriptor& table,
                                     const IndexDescriptor& index, size_t most) {
  RowRef row;
  most = std::min(most, gathered_.size());
  for (gathered_count_ = 0; gathered_count_ < most; ++gathered_count_) {
    TransactionStatus status = scan.next(&row);
    if (status != TransactionStatus::ok) return status;
    entry_.clear();
    index.key.encode_entry(table.layout, row.row, row.key(), entry_);
    gathered_[gathered_count_] = {memory_.copy_string(entry_.view()), row.key(),
                                  index.unique ? memory_.copy_string(row.row) : ""};
  }
  return TransactionStatus::ok;
}

TransactionStatus IndexBuild::add_gathered(const TableDescriptor& table,
                                           const IndexDescriptor& index) {
  std::array<IndexTree::Lookup, IndexTree::max_lookups> lookups;
  std::span<const Entry> entries(gathered_.data(), gathered_count_);
  for (size_t i = 0; i < entries.size(); ++i)
    lookups[i] = {&index.relation->tree(), entries[i].key};
  IndexTree::prefetch(std::span(lookups).first(entries.size()));
  for (const Entry& entry : entries) {
    TransactionStatus status = add_entry(table, index, entry);
    if (status != TransactionStatus::ok) return status;
    last_key_ = entry.primary_key;
  }
  return TransactionStatus::ok;
}

TransactionStatus IndexBuild::add_entry(const TableDescriptor& table, const IndexDescriptor& index,
                                        const Entry& entry) {
  // In the tree, in the write set, in the log; with their headers.
  require_memory(3 * (entry.key.size() + entry.primary_key.size()) + 2 * sizeof(Record) +
                 sizeof(WriteEntry));
  TransactionStatus status =
      transaction_.insert(*index.relation, entry.key, index.key.payload_of(entry.primary_key));
  if (status != TransactionStatus::duplicate_key) return status;
  // Whoever wrote the row since the index is there has made its entry as well.
  if (!index.unique) return TransactionStatus::ok;
  Arena memory;
  RowBuffer buffer(memory);
  RowRef there;
  status = transaction_.get(*index.relation, entry.key, buffer, &there, ReadPurpose::plain);
  // It has gone since, or this very batch has made it: a smaller one will tell.
  if (status == TransactionStatus::not_found) return TransactionStatus::conflict_record;
  if (status != TransactionStatus::ok || there.row == entry.primary_key) return status;
  run_.definition().raise_not_unique(table, index, entry.row);
}

void IndexBuild::finish() {
  while (!attempt([this] {
    const TableDescriptor* table = nullptr;
    index_of(table);
    return run_.definition().finish_index(table_oid_, index_oid_);
  })) {
  }
}

void IndexBuild::discard() {
  transaction_.abort();
  run_.catalog().forget_local();
  int64_t deadline_us = monotonic_us() + discard_patience_us;
  while (!try_discard()) {
    if (monotonic_us() < deadline_us) continue;
    context_.notices->notice(SqlError(Severity::warning, sqlstate::warning,
                                      concat("invalid index \"", name_, "\" could not be dropped"))
                                 .hint("Drop it by DROP INDEX."));
    return;
  }
}

// False: it has to run again.
bool IndexBuild::try_discard() {
  Transaction& transaction = discard_transaction_;
  TransactionStatus status = TransactionStatus::conflict_record;
  try {
    status = run_discard();
  } catch (const std::bad_alloc&) {
    // To whoever has to try again it is as good as a conflict.
  }
  newest_epoch_ = std::max(newest_epoch_, transaction.newest_epoch());
  if (status == TransactionStatus::ok) return true;
  discard_view_.forget_local();
  if (status == TransactionStatus::must_wait) {
    static_cast<void>(transaction.wait_for_intent());
  } else {
    transaction.abort();
    context_.parker->park(monotonic_us() + RetryPolicy::longest_delay_us);
  }
  return false;
}

TransactionStatus IndexBuild::run_discard() {
  CatalogView& view = discard_view_;
  Transaction& transaction = discard_transaction_;
  transaction.begin(TransactionMode::one_shot);
  view.refresh();
  const TableDescriptor* table = view.find_table(table_oid_);
  if (table == nullptr || table->find_index(index_oid_) == nullptr) {
    transaction.abort();
    return TransactionStatus::ok;
  }
  DataDefinition definition(view, transaction, context_.types);
  TransactionStatus status = definition.discard_index(table_oid_, index_oid_);
  return status == TransactionStatus::ok ? commit_changes(view, transaction, *context_.parker)
                                         : status;
}

}  // namespace

void build_index_beside_writers(DdlRun& run, Oid table, const IndexDefinition& definition,
                                bool if_not_exists) {
  IndexBuild(run, table).run(definition, if_not_exists);
}

}  // namespace pgsilo
