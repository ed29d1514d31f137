#include "tests/scaling/memory_names.h"

#include <map>

namespace pgsilo::scaling {

namespace {

struct Named {
  std::string name;
  size_t bytes;
};
std::map<uintptr_t, Named> named;

struct Rule {
  std::string_view place;  // empty: any
  std::string_view code;
  std::string_view name;
};

// The first that fits. What is in no rule has a name of its own, which no table has. Without a
// name: what lies beside it is chance.
constexpr Rule rules[] = {
    {"storage/epoch/epoch_manager.cpp", "", "commit slots"},
    {"storage/epoch/reclaimer.cpp", "", "pins"},
    {"E", "", "E"},
    {"completed epoch", "", "completed epoch"},
    {"D", "", "D"},
    {"G", "", "G of the reclaimer"},
    {"reclaimer", "", "who advances G"},
    {"snapshot registry", "", "snapshots"},
    {"storage/transaction/snapshot_registry.cpp", "", "snapshots"},
    {"storage/record/record_allocator.cpp", "", "records"},
    {"storage/index/node_memory.h", "", "nodes"},
    {"", "storage/record/memory_account.h", "memory account"},
    {"", "storage/relation/relation.h", "row count, row ids"},
    {"", "storage/relation/relation.cpp", "row count, row ids"},
    {"storage/relation/relation_directory.cpp", "storage/index/*", "root"},
    {"storage/transaction/record_lock.cpp", "", "lock table"},
    {"storage/transaction/spare_list.h", "", "lock table"},
    {"sequence", "", "sequence"},
    {"wal/log/log_buffer.h", "", "log ring"},
    {"worker's log", "wal/log/log_buffer.h", "log ring"},
    {"worker's log", "", "worker's log"},
    {"state of the log's space", "", "state of the log's space"},
    {"group commit", "", "group commit"},
    {"logger", "", "logger"},
    {"wal/log/waiting_workers.h", "", "waiting cells"},
    {"wal/log/waiting_workers.cpp", "", "waiting cells"},
};

bool fits(std::string_view pattern, std::string_view text) {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern.empty() || pattern == text;
}

}  // namespace

void name_memory(std::string_view name, const void* at, size_t bytes) {
  named[reinterpret_cast<uintptr_t>(at)] = {std::string(name), bytes};
}

void forget_memory_names() { named.clear(); }

std::string_view memory_name(uintptr_t address) {
  auto behind = named.upper_bound(address);
  if (behind == named.begin()) return "";
  --behind;
  return address < behind->first + behind->second.bytes ? behind->second.name : std::string_view();
}

std::string line_name(std::string_view place, std::string_view code) {
  for (const Rule& rule : rules) {
    if (fits(rule.place, place) && fits(rule.code, code)) return std::string(rule.name);
  }
  return std::string(place.empty() ? "static data" : place) + ", used by " + std::string(code);
}

}  // namespace pgsilo::scaling
