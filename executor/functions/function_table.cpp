#include <algorithm>
#include <vector>

#include "executor/functions/function.h"

namespace pgsilo {
namespace {

template <typename Entry>
std::vector<Entry> joined(std::initializer_list<std::span<const Entry>> families) {
  std::vector<Entry> all;
  for (std::span<const Entry> family : families)
    all.insert(all.end(), family.begin(), family.end());
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.oid < b.oid; });
  return all;
}

template <typename Entry>
const Entry* find_entry(const std::vector<Entry>& entries, Oid oid) {
  auto found = std::lower_bound(entries.begin(), entries.end(), oid,
                                [](const Entry& entry, Oid wanted) { return entry.oid < wanted; });
  return found == entries.end() || found->oid != oid ? nullptr : &*found;
}

}  // namespace

ScalarFunction find_function(Oid procedure) {
  using namespace functions;
  static const std::vector<FunctionEntry> entries = joined<FunctionEntry>(
      {comparison(),    integer(),      floating_point(), numeric(),         conversion(),
       text(),          pattern(),      regexp(),         date_time(),       time_zone(),
       text_format(),   date_format(),  date_reading(),   number_format(),   session(),
       monitoring(),    sizes(),        sequence(),       definition_text(), catalog_objects(),
       view(),          comment(),      array(),          array_parts(),     array_search(),
       advisory_lock(), log_position(), enumeration()});
  const FunctionEntry* entry = find_entry(entries, procedure);
  return entry == nullptr ? nullptr : entry->function;
}

const AggregateFunction* find_aggregate(Oid procedure) {
  using namespace functions;
  static const std::vector<AggregateFunction> entries =
      joined<AggregateFunction>({aggregates(), array_aggregates(), statistics_aggregates()});
  return find_entry(entries, procedure);
}

}  // namespace pgsilo
