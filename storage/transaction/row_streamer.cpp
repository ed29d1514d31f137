#include "storage/transaction/row_streamer.h"

#include <algorithm>

#include "base/append.h"
#include "base/check.h"
#include "base/parker.h"
#include "storage/relation/relation.h"
#include "storage/transaction/record_lock.h"
#include "storage/transaction/worker_context.h"

namespace pgsilo {

TransactionStatus reserve_log(RedoSink& sink, size_t entries, size_t bytes, RedoPurpose purpose,
                              const WaitSettings& settings) {
  for (;;) {
    switch (sink.reserve(entries, bytes, purpose)) {
      case ReserveResult::ok:
        return TransactionStatus::ok;
      case ReserveResult::no_space:
        return TransactionStatus::no_log_space;
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

TreeAppender& RowStreamer::appender_of(Relation& relation) {
  for (Load& load : loads_) {
    if (load.relation == &relation) return load.appender;
  }
  return loads_.emplace_back(&relation, TreeAppender(relation.tree())).appender;
}

Record* RowStreamer::insert(WorkerContext& worker, Relation& relation, Record* fresh) {
  make_room(items_, 1);
  Record* existing = appender_of(relation).append(fresh, worker.reclaimer(), changes_);
  if (existing != nullptr) return existing;
  items_.push_back({&relation, fresh});
  if (relation.logged()) bytes_ += fresh->key().size() + fresh->quiet_row().size();
  return nullptr;
}

TransactionStatus RowStreamer::stream(WorkerContext& worker, const WaitSettings& settings,
                                      Tid floor) {
  if (items_.empty()) return TransactionStatus::ok;
  redo_.clear();
  for (const Item& item : items_) {
    if (!item.relation->logged()) continue;
    redo_.push_back({item.relation->id(), false, item.record->key(), item.record->quiet_row()});
  }
  if (!redo_.empty()) {
    TransactionStatus reserved =
        reserve_log(worker.sink(), redo_.size(), bytes_, RedoPurpose::growth, settings);
    if (reserved != TransactionStatus::ok) return reserved;
  }
  Tid tid;
  for (;;) {
    worker.slot().enter();
    Tid newest = std::max(worker.last_tid(), floor);
    if (auto chosen = Tid::following(newest, worker.slot().serialization_epoch())) {
      tid = *chosen;
      break;
    }
    worker.slot().leave();
    worker.parts().epochs.advance();
  }
  for (auto item = items_.begin(); item != items_.end();) {
    Relation* relation = item->relation;
    int64_t rows = 0;
    for (; item != items_.end() && item->relation == relation; ++item, ++rows)
      item->record->tid_word().assign_first(tid);
    relation->add_rows(worker.index(), rows);
  }
  if (!redo_.empty()) worker.sink().append(tid, redo_);
  worker.slot().leave();
  worker.set_last_tid(tid);
  items_.clear();
  bytes_ = 0;
  return TransactionStatus::ok;
}

void RowStreamer::forget(const Relation& relation) {
  std::erase_if(items_, [&relation](const Item& item) { return item.relation == &relation; });
  std::erase_if(loads_, [&relation](const Load& load) { return load.relation == &relation; });
}

void RowStreamer::clear() {
  loads_.clear();
  items_.clear();
  redo_.clear();
  bytes_ = 0;
}

}  // namespace pgsilo
