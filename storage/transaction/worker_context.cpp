#include "storage/transaction/worker_context.h"

#include <algorithm>
#include <new>

#include "storage/relation/relation_directory.h"

namespace pgsilo {

namespace {
constexpr size_t unhooks_per_call = 64;
constexpr size_t dropped_records_per_call = 256;
}  // namespace

WorkerContext::WorkerContext(const EngineParts& parts, RedoSink& sink, Tid last_tid)
    : parts_(parts),
      sink_(sink),
      reclaimer_(parts.reclaimer),
      slot_(parts.epochs),
      last_tid_(last_tid) {}

void WorkerContext::drop_relation(RelationId id) {
  Epoch now = parts_.epochs.current();
  if (parts_.snapshots.oldest() >= now) {
    parts_.relations.drop(id, reclaimer_);
  } else {
    dropped_.push_back({id, now});
  }
}

bool WorkerContext::drop_unseen() {
  size_t before = dropped_.size();
  Epoch oldest = parts_.snapshots.oldest();
  while (!dropped_.empty() && dropped_.front().epoch <= oldest) {
    parts_.relations.drop(dropped_.front().id, reclaimer_);
    dropped_.erase(dropped_.begin());
  }
  return dropped_.size() != before;
}

bool WorkerContext::unhook_settled() {
  Epoch settled = std::min(parts_.durable.get(), parts_.snapshots.oldest());
  if (!unhooks_.ready(settled)) return false;
  Pin pin(reclaimer_);
  return unhooks_.run(parts_.relations, settled, reclaimer_, unhooks_per_call) != 0;
}

bool WorkerContext::housekeep() {
  bool worked = false;
  try {
    if (!unhooks_.empty()) worked |= unhook_settled();
    if (!dropped_.empty()) worked |= drop_unseen();
    worked |= parts_.snapshots.sweep(index());
    worked |= reclaimer_.reclaim() != 0 || reclaimer_.hurries();
    worked |= parts_.relations.reclaim_dropped(dropped_records_per_call, reclaimer_);
  } catch (const std::bad_alloc&) {
    // Nothing is lost: what could not be done now is done by a later call, and freeing goes on
    // meanwhile.
    worked |= reclaimer_.reclaim() != 0;
  }
  return worked;
}

}  // namespace pgsilo
