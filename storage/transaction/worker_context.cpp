#include "storage/transaction/worker_context.h"

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

bool WorkerContext::housekeep() {
  bool worked = false;
  try {
    Epoch durable = parts_.durable.get();
    if (unhooks_.ready(durable)) {
      Pin pin(reclaimer_);
      worked |= unhooks_.run(parts_.relations, durable, reclaimer_, unhooks_per_call) != 0;
    }
    worked |= reclaimer_.reclaim() != 0;
    worked |= parts_.relations.reclaim_dropped(dropped_records_per_call, reclaimer_);
  } catch (const std::bad_alloc&) {
    // Nothing is lost: what could not be done now is done by a later call, and freeing goes on
    // meanwhile.
    worked |= reclaimer_.reclaim() != 0;
  }
  return worked;
}

}  // namespace pgsilo
