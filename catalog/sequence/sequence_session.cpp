#include "catalog/sequence/sequence_session.h"

#include <utility>

#include "base/check.h"
#include "catalog/catalog_view.h"
#include "sql/sql_error.h"
#include "storage/record/record.h"

namespace pgsilo {

Transaction& SequenceSession::scribe(Transaction& user) {
  if (scribe_ == nullptr) scribe_ = std::make_unique<Transaction>(user.worker(), user.waits());
  return *scribe_;
}

SequenceSession SequenceSession::leave() noexcept {
  SequenceSession left;
  left.used_.swap(used_);
  left.last_used_ = std::exchange(last_used_, invalid_oid);
  left.leavings_ = leavings_ + 1;
  return left;
}

// The transaction shares the sequence, waiting for whoever alters it, and then rests on its
// descriptor: a one-shot, which holds no share, comes to nothing if the sequence is altered after
// all. The view's descriptor may be older than the wait.
TransactionStatus SequenceSession::use(Transaction& user, const CatalogView& catalog,
                                       const TableDescriptor& found, Used** used) {
  Used& entry = used_[found.oid];
  *used = &entry;
  if (entry.transaction == user.number() && entry.leavings == leavings_ &&
      entry.found == found.sequence)
    return TransactionStatus::ok;
  std::shared_ptr<const TableDescriptor> newest;
  const TableDescriptor* sequence = &found;
  for (;;) {
    TransactionStatus status = user.share_relation(*sequence->relation);
    if (status != TransactionStatus::ok) return status;
    const CatalogRecord& row = sequence->record;
    if (row.record == nullptr) break;  // this transaction's own
    if (row.record->tid_word().load().tid() == row.tid) {
      status = user.use_descriptor(row.record, row.tid);
      if (status != TransactionStatus::ok) return status;
      break;
    }
    newest = catalog.newest_committed(found.oid);
    // Dropped, or altered by a commit that has not been published yet.
    if (newest == nullptr || newest.get() == sequence) return TransactionStatus::conflict_record;
    sequence = newest.get();
  }
  if (entry.sequence != sequence->sequence) {
    if (entry.sequence == nullptr || entry.sequence->state != sequence->sequence->state)
      entry.cached = entry.last;
    entry.sequence = sequence->sequence;
  }
  entry.leavings = leavings_;
  entry.transaction = user.number();
  entry.found = found.sequence;
  return TransactionStatus::ok;
}

TransactionStatus SequenceSession::next(Transaction& user, const CatalogView& catalog,
                                        const TableDescriptor& sequence, int64_t* value) {
  Used* used;
  TransactionStatus status = use(user, catalog, sequence, &used);
  if (status != TransactionStatus::ok) return status;
  const SequenceDefinition& definition = used->sequence->definition;
  SequenceState& state = *used->sequence->state;
  if (used->is_defined && used->cached != used->last && used->generation == state.generation()) {
    used->last += definition.increment;
  } else {
    SequenceGrant grant;
    status = state.take(user, scribe(user), definition, &grant);
    if (status == TransactionStatus::not_found) throw_sequence_end(definition, sequence.name);
    if (status != TransactionStatus::ok) return status;
    used->last = grant.first;
    used->cached = grant.last;
    used->epoch = grant.epoch;
    used->generation = grant.generation;
    used->is_defined = true;
  }
  user.rest_on(used->epoch);
  last_used_ = sequence.oid;
  *value = used->last;
  return TransactionStatus::ok;
}

TransactionStatus SequenceSession::set(Transaction& user, const CatalogView& catalog,
                                       const TableDescriptor& sequence, int64_t value,
                                       bool is_called) {
  Used* used;
  TransactionStatus status = use(user, catalog, sequence, &used);
  if (status != TransactionStatus::ok) return status;
  const SequenceDefinition& definition = used->sequence->definition;
  if (value < definition.min_value || value > definition.max_value) {
    throw SqlError(
        sqlstate::numeric_value_out_of_range,
        concat("setval: value ", value, " is out of bounds for sequence \"", sequence.name, "\" (",
               definition.min_value, "..", definition.max_value, ")"));
  }
  Epoch epoch;
  status = used->sequence->state->set(user, scribe(user), {value, 0, is_called}, &epoch);
  if (status != TransactionStatus::ok) return status;
  user.rest_on(epoch);
  if (is_called) {
    used->last = value;
    used->epoch = epoch;
    used->is_defined = true;
  }
  used->cached = used->last;
  return TransactionStatus::ok;
}

bool SequenceSession::current(Transaction& user, const TableDescriptor& sequence, int64_t* value) {
  auto found = used_.find(sequence.oid);
  if (found == used_.end() || !found->second.is_defined) return false;
  user.rest_on(found->second.epoch);
  *value = found->second.last;
  return true;
}

bool SequenceSession::last(Transaction& user, const CatalogView& catalog, int64_t* value) {
  const TableDescriptor* sequence = catalog.find_table(last_used_);
  return sequence != nullptr && current(user, *sequence, value);
}

}  // namespace pgsilo
