#include "executor/ddl/index_build.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>

#include "base/clock.h"
#include "base/parker.h"
#include "executor/ddl/index_batch.h"
#include "executor/ddl/index_help.h"
#include "executor/transaction_status.h"
#include "executor/worker/retry_policy.h"
#include "sql/memory_error.h"
#include "sql/sql_error.h"
#include "storage/relation/relation.h"

namespace pgsilo {

namespace {

// Fewer rows are not worth waking a worker for.
constexpr int64_t rows_worth_sharing = 1024;
// At least so many make a range, about a batch; and there are enough ranges for all who work to
// come to the end together.
constexpr int64_t rows_of_range = 256;
constexpr int64_t most_ranges = 256;
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
  bool take_range();
  TransactionStatus add_entries();
  void begin_with(Relation& tree);
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
  IndexBatch batch_{transaction_};
  std::shared_ptr<IndexHelp> help_;
  std::optional<IndexRange> range_;  // with which the next batch begins
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
  // Whatever has no memory behind the commit has to discard the index.
  help_ = std::make_shared<IndexHelp>(run_.catalog().catalog(), table_oid_, index_oid_);
  require_ok_status(commit());
  std::exception_ptr failure;
  try {
    fill();
    finish();
  } catch (...) {
    failure = std::current_exception();
  }
  // Behind the handler, for these wait.
  help_->stop(*context_.parker);
  if (failure != nullptr) discard();
  newest_epoch_ = std::max(newest_epoch_, help_->newest_epoch());
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
  do {
    if (attempt([this] { return add_entries(); })) {
      batch_.advance(*range_);
    } else {
      batch_.shrink();
    }
  } while (take_range());
}

// What comes next; false: nothing does, and nobody else has something.
bool IndexBuild::take_range() {
  constexpr int64_t patience_us = 1000;
  if (range_ && !range_->finished) return true;
  if (range_) help_->ranges().give_back(std::move(*range_));
  for (;;) {
    range_ = help_->ranges().take();
    if (range_) break;
    if (help_->ranges().done()) return false;
    // Some of it may come back. Who waits can be cancelled.
    context_.parker->park(monotonic_us() + patience_us);
    attempt([] { return TransactionStatus::ok; });
  }
  WorkSharing* sharing = transaction_.worker().parts().sharing;
  if (sharing != nullptr) help_->offer(*sharing);
  return true;
}

// Others may have emptied or rewritten the table.
TransactionStatus IndexBuild::add_entries() {
  const TableDescriptor* table = nullptr;
  const IndexDescriptor& index = index_of(table);
  if (!range_ || table->relation_id != range_->tree) begin_with(*table->relation);
  CatalogView& view = run_.catalog();
  IndexEntries entries(*table, index, view.catalog().index_evaluator(view, *table, index));
  TransactionStatus status = batch_.add_entries(*table, index, entries, *range_);
  if (status == TransactionStatus::duplicate_key)
    run_.definition().raise_not_unique(*table, index, batch_.duplicate_row());
  return status;
}

void IndexBuild::begin_with(Relation& tree) {
  std::vector<std::string> cuts;
  int64_t rows = tree.row_count();
  if (transaction_.worker().parts().sharing != nullptr && rows >= rows_worth_sharing)
    cuts = tree.tree().separators(
        static_cast<size_t>(std::min(rows / rows_of_range, most_ranges) - 1));
  range_.reset();
  help_->ranges().reset(tree.id(), std::move(cuts));
  range_ = help_->ranges().take();
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
