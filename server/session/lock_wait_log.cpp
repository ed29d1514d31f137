#include "server/session/lock_wait_log.h"

#include <new>
#include <unordered_map>
#include <vector>

#include "catalog/catalog_view.h"
#include "catalog/descriptors.h"
#include "catalog/system_tables.h"
#include "executor/execution_context.h"
#include "server/session/session_log.h"
#include "server/session/session_registry.h"
#include "server/session/session_services.h"
#include "server/session/transaction_control.h"
#include "sql/sql_error.h"
#include "storage/transaction/lock_list.h"
#include "storage/transaction/worker_context.h"

namespace pgsilo {
namespace {

// 0: no table of this catalog has the tree (any more).
Oid table_of(const CatalogSnapshot& catalog, RelationId tree) {
  for (const auto& [oid, table] : catalog.tables()) {
    if (table->relation_id == tree && tree.value() != 0) return oid;
  }
  return invalid_oid;
}

std::string joined(const std::vector<int32_t>& processes) {
  std::string text;
  for (int32_t process : processes) text += concat(text.empty() ? "" : ", ", process);
  return text;
}

}  // namespace

// Rows have no number here as PostgreSQL's tuples have.
std::string LockWaitLog::described(LockTag tag) const {
  if (!tag.is_record() && !tag.is_relation()) {
    bool is_pair = tag.kind == LockTag::Kind::advisory_pair;
    return concat("advisory lock [", system_oid::database_postgres, ",", tag.value >> 32, ",",
                  tag.value & UINT32_MAX, ",", is_pair ? 2 : 1, "]");
  }
  RelationId tree = tag.is_record() ? tag.relation_id : tag.relation()->id();
  Oid table = table_of(transactions_.catalog().snapshot(), tree);
  std::string text = tag.is_record() ? "tuple of relation " : "relation ";
  return text + concat(table, " of database ", system_oid::database_postgres);
}

std::string LockWaitLog::queue(LockTag tag) const {
  std::unordered_map<const LockOwner*, int32_t> processes = services_.sessions.lock_owners();
  std::vector<int32_t> holders;
  std::vector<int32_t> waiting;
  for (const LockEntry& entry : services_.storage.parts().locks.list(tag)) {
    auto process = processes.find(entry.owner);
    if (process == processes.end()) continue;
    std::vector<int32_t>& list = entry.granted ? holders : waiting;
    if (list.empty() || list.back() != process->second) list.push_back(process->second);
  }
  return concat(holders.size() == 1 ? "Process" : "Processes",
                " holding the lock: ", joined(holders), ". Wait queue: ", joined(waiting), ".");
}

void LockWaitLog::observe(LockTag tag, LockMode mode, Stage stage, int64_t waited_us) noexcept {
  try {
    std::string lock = concat(name_of(mode), " on ", described(tag), " after ");
    std::string process = concat("process ", context_.backend_pid);
    switch (stage) {
      case Stage::still_waits:
        return log_.lock_wait(concat(process, " still waiting for ", lock), waited_us, queue(tag));
      case Stage::deadlocked:
        return log_.lock_wait(concat(process, " detected deadlock while waiting for ", lock),
                              waited_us, queue(tag));
      case Stage::acquired:
        return log_.lock_wait(concat(process, " acquired ", lock), waited_us, {});
    }
  } catch (const std::bad_alloc&) {
    // The wait is what matters.
  }
}

}  // namespace pgsilo
