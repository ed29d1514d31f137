// CREATE, ALTER and DROP STATISTICS, and what goes with columns and tables.
#include <algorithm>

#include "catalog/definition/definition_steps.h"
#include "sql/sql_error.h"

namespace pgsilo {

namespace {

using Statistics = std::vector<std::shared_ptr<const StatisticsDescriptor>>;

Statistics::iterator find_in(Statistics& all, Oid oid) {
  return std::ranges::find(all, oid, [](const auto& each) { return each->address.oid; });
}

}  // namespace

void DefinitionSteps::create_statistics(Oid oid, const StatisticsDefinition& from) {
  const TableDescriptor& table = lock_table(oid);
  auto made = std::make_shared<StatisticsDescriptor>();
  made->address.oid = new_oid();
  made->schema = table.schema;
  made->schema_name = table.schema_name;
  made->name = from.name;
  made->table = oid;
  made->columns = from.columns;
  made->ndistinct = from.ndistinct;
  made->dependencies = from.dependencies;
  made->common = from.common;
  writer_.insert(rows_.statistics(*made));
  for (int16_t column : made->columns) {
    writer_.insert(rows_.dependency(made->address, {system_oid::pg_class, oid}, column, 'a'));
  }
  Draft draft = draft_of(table);
  draft.table->combinations.push_back(made);
  view_.put_object(std::move(made));
  finish(std::move(draft));
}

void DefinitionSteps::drop_statistics(const StatisticsDescriptor& statistics) {
  Oid oid = statistics.address.oid;
  Draft draft = draft_of(lock_table(statistics.table));
  auto found = find_in(draft.table->combinations, oid);
  if (found == draft.table->combinations.end())
    throw EngineOutcome{TransactionStatus::conflict_record};
  remove_statistics(**found);
  draft.table->combinations.erase(found);
  finish(std::move(draft));
}

void DefinitionSteps::alter_statistics(const StatisticsDescriptor& statistics,
                                       const StatisticsChange& change) {
  Oid oid = statistics.address.oid;
  Draft draft = draft_of(lock_table(statistics.table));
  auto found = find_in(draft.table->combinations, oid);
  if (found == draft.table->combinations.end())
    throw EngineOutcome{TransactionStatus::conflict_record};
  auto changed = std::make_shared<StatisticsDescriptor>(**found);
  if (!change.name.empty()) changed->name = change.name;
  if (change.target) changed->target = *change.target;
  writer_.update(rows_.statistics(*changed));
  *found = changed;
  view_.put_object(std::move(changed));
  finish(std::move(draft));
}

void DefinitionSteps::remove_statistics(const StatisticsDescriptor& statistics) {
  ObjectAddress address = statistics.address;
  remove_row(address.catalog, {address.oid});
  remove_dependencies(address);
  remove_comments(address);
  view_.remove_object(address);
}

void DefinitionSteps::remove_statistics_of(Draft& draft, int16_t column) {
  std::erase_if(draft.table->combinations, [&](const auto& each) {
    if (std::ranges::find(each->columns, column) == each->columns.end()) return false;
    remove_statistics(*each);
    return true;
  });
}

}  // namespace pgsilo
