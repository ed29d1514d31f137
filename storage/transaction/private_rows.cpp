#include "storage/transaction/private_rows.h"

#include <algorithm>

#include "base/check.h"
#include "base/parker.h"
#include "storage/relation/relation.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/worker_context.h"

namespace pgsilo {

TransactionStatus reserve_log(RedoSink& sink, size_t entries, size_t bytes,
                              const WaitSettings& settings) {
  for (;;) {
    switch (sink.reserve(entries, bytes)) {
      case ReserveResult::ok:
        return TransactionStatus::ok;
      case ReserveResult::no_space:
        return TransactionStatus::no_log_space;
      case ReserveResult::too_large:
        return TransactionStatus::transaction_too_large;
      case ReserveResult::must_wait:
        break;
    }
    if (settings.cancelled != nullptr && settings.cancelled->load(std::memory_order_acquire)) {
      return TransactionStatus::cancelled;
    }
    PGSILO_CHECK(settings.parker != nullptr);
    sink.wait_for_buffer(*settings.parker, Parker::no_deadline);
  }
}

TreeAppender& PrivateRows::appender_of(Relation& relation, WorkerContext& worker) {
  for (Load& load : loads_) {
    if (load.relation == &relation) return load.appender;
  }
  return loads_.emplace_back(&relation, TreeAppender(relation.tree(), worker.reclaimer())).appender;
}

TransactionStatus PrivateRows::insert(WorkerContext& worker, const WaitSettings& settings,
                                      Relation& relation, std::string_view key,
                                      std::string_view row, Record** existing) {
  if (items_.size() == items_.capacity()) items_.reserve(std::max<size_t>(64, 2 * items_.size()));
  TreeAppender& appender = appender_of(relation, worker);
  Record* fresh = relation.records().create_filled(key, row, Tid(), worker.reclaimer());
  try {
    *existing = appender.append(fresh, changes_);
  } catch (...) {
    relation.records().destroy(fresh, worker.reclaimer());
    throw;
  }
  if (*existing != nullptr) {
    relation.records().destroy(fresh, worker.reclaimer());
    return TransactionStatus::ok;
  }
  items_.push_back({&relation, fresh});
  if (relation.logged()) bytes_ += key.size() + row.size();
  if (bytes_ < slice_bytes && items_.size() < slice_rows) return TransactionStatus::ok;
  return stream(worker, settings);
}

TransactionStatus PrivateRows::stream(WorkerContext& worker, const WaitSettings& settings) {
  if (items_.empty()) return TransactionStatus::ok;
  redo_.clear();
  for (const Item& item : items_) {
    if (!item.relation->logged()) continue;
    redo_.push_back({item.relation->id(), false, item.record->key(), item.record->quiet_row()});
  }
  if (!redo_.empty()) {
    TransactionStatus reserved = reserve_log(worker.sink(), redo_.size(), bytes_, settings);
    if (reserved != TransactionStatus::ok) return reserved;
  }
  Tid tid;
  for (;;) {
    worker.slot().enter();
    if (auto chosen = Tid::following(worker.last_tid(), worker.slot().serialization_epoch())) {
      tid = *chosen;
      break;
    }
    worker.slot().leave();
    worker.parts().epochs.advance();
  }
  for (const Item& item : items_) {
    TidWord seen;
    PGSILO_CHECK(item.record->tid_word().try_lock(LockPurpose::update, seen));
    item.record->tid_word().install(tid, /*absent=*/false);
    item.relation->add_rows(worker.index(), 1);
  }
  if (!redo_.empty()) worker.sink().append(tid, redo_);
  worker.slot().leave();
  worker.set_last_tid(tid);
  items_.clear();
  bytes_ = 0;
  return TransactionStatus::ok;
}

void PrivateRows::begin_statement(CommandId command, Tid last_tid) {
  PGSILO_DCHECK(items_.empty());
  floors_.push_back({command, last_tid});
}

Tid PrivateRows::floor_of(CommandId command) const {
  // The statement itself, or the last one before it that began while there were private rows.
  auto after =
      std::upper_bound(floors_.begin(), floors_.end(), command,
                       [](CommandId id, const Floor& floor) { return id < floor.command; });
  return after == floors_.begin() ? Tid() : (after - 1)->last_tid;
}

void PrivateRows::forget(const Relation& relation) {
  std::erase_if(items_, [&relation](const Item& item) { return item.relation == &relation; });
  std::erase_if(loads_, [&relation](const Load& load) { return load.relation == &relation; });
}

void PrivateRows::clear() {
  loads_.clear();
  items_.clear();
  redo_.clear();
  floors_.clear();
  bytes_ = 0;
}

}  // namespace pgsilo
