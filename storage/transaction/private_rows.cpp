#include "storage/transaction/private_rows.h"

#include <algorithm>

#include "base/check.h"
#include "storage/record/record.h"
#include "storage/relation/relation.h"
#include "storage/transaction/worker_context.h"

namespace pgsilo {

TransactionStatus PrivateRows::insert(WorkerContext& worker, const WaitSettings& settings,
                                      Relation& relation, std::string_view key,
                                      std::string_view row, Record** existing) {
  Record* fresh = relation.records().create_filled(key, row, Tid(), worker.reclaimer());
  try {
    *existing = streamer_.insert(worker, relation, fresh);
  } catch (...) {
    relation.records().destroy(fresh, worker.reclaimer());
    throw;
  }
  if (*existing != nullptr) {
    relation.records().destroy(fresh, worker.reclaimer());
    return TransactionStatus::ok;
  }
  return streamer_.full() ? stream(worker, settings) : TransactionStatus::ok;
}

void PrivateRows::begin_statement(CommandId command, Tid last_tid) {
  PGSILO_DCHECK(streamer_.empty());
  floors_.push_back({command, last_tid});
}

Tid PrivateRows::floor_of(CommandId command) const {
  // The statement itself, or the last one before it that began while there were private rows.
  auto after =
      std::upper_bound(floors_.begin(), floors_.end(), command,
                       [](CommandId id, const Floor& floor) { return id < floor.command; });
  return after == floors_.begin() ? Tid() : (after - 1)->last_tid;
}

void PrivateRows::clear_all() {
  streamer_.clear();
  floors_.clear();
}

}  // namespace pgsilo
