#include "tests/crash/logged_database.h"

#include <algorithm>

#include "base/check.h"
#include "catalog/catalog_loader.h"
#include "catalog/catalog_view.h"
#include "executor/constraint/index_keys.h"
#include "executor/ddl/expression_upgrade.h"
#include "tests/index_agreement.h"

namespace pgsilo {
namespace {

// Of what is cancelled and waits for nobody but its like.
constexpr int turns_to_end = 1'000'000;

bool is_named(RelationId relation, const std::vector<RelationId>& live) {
  return is_system_relation(relation) || std::binary_search(live.begin(), live.end(), relation);
}

}  // namespace

LoggedDatabase::~LoggedDatabase() {
  engine_.disconnect_log();
  for (const auto& fiber : fibers_) fiber->cancel();
  auto runs = [](const auto& fiber) { return !fiber->finished(); };
  for (int turn = 0; std::any_of(fibers_.begin(), fibers_.end(), runs); ++turn) {
    PGSILO_CHECK(turn < turns_to_end);
    for (size_t i = 0; i < fibers_.size(); ++i) resume(i);
    engine_.epochs().advance();
  }
}

bool LoggedDatabase::start() {
  catalog_.create_system_relations();
  auto live = [this] {
    ReclaimerHandle handle(engine_.reclaimer());
    return catalog_.live_relations(handle);
  };
  if (!engine_.recover(live)) return false;
  note_unfinished();
  if (!engine_.begin()) return false;
  catalog_.use_index_evaluators(make_index_evaluator);
  bool written = catalog_.open(engine_.worker(0), engine_.waits());
  written |= store_expression_texts(catalog_, engine_.worker(0), engine_.waits(), {});
  if (written) engine_.wal().wait_durable(0, engine_.epochs().current());
  for (unsigned i = 0; i < engine_.wal().workers(); ++i) {
    sessions_.push_back(
        std::make_unique<testing::SqlSession>(engine_.parts(), catalog_, engine_.sink(i)));
    // Outside of a fiber, who waits for the log writes it.
    sessions_.back()->settings.parker = engine_.waits().parker;
  }
  return true;
}

void LoggedDatabase::note_unfinished() {
  ReclaimerHandle handle(engine_.reclaimer());
  CatalogLoader loader(catalog_.system_tables(), engine_.relations(), handle);
  if (loader.is_empty()) return;
  std::shared_ptr<const CatalogSnapshot> found = loader.load(1);
  for (const auto& [oid, table] : found->tables()) {
    for (const auto& index : table->indexes) unfinished_ += index->valid ? 0 : 1;
  }
}

std::string LoggedDatabase::disagreement() {
  for (const auto& session : sessions_) {
    while (session->worker.housekeep()) {
    }
  }
  if (engine_.relations().dropped_count() != 0) return "dropped trees keep their memory";
  ReclaimerHandle handle(engine_.reclaimer());
  Pin pin(handle);
  std::vector<RelationId> live = catalog_.live_relations(handle);
  for (Relation* relation : engine_.relations().list()) {
    if (!is_named(relation->id(), live))
      return "nobody knows relation " + std::to_string(relation->id().value());
  }
  std::shared_ptr<const CatalogSnapshot> catalog = catalog_.snapshot();
  for (const auto& [oid, table] : catalog->tables()) {
    std::string fault = check_table(*table);
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string LoggedDatabase::check_table(const TableDescriptor& table) {
  std::string fault = table.relation->tree().check();
  if (!fault.empty()) return table.name + ": " + fault;
  for (const auto& index : table.indexes) {
    if (!index->valid) return index->name + " is not valid";
    if (index->is_primary_tree()) continue;
    fault = index->relation->tree().check();
    if (!fault.empty()) return index->name + ": " + fault;
    CatalogView view(catalog_);
    IndexEntries entries(table, *index, catalog_.index_evaluator(view, table, *index));
    fault = index_disagreement(table, *index, entries);
    if (!fault.empty()) return index->name + ": " + fault;
  }
  return "";
}

void LoggedDatabase::spawn(size_t session, SessionFiber::Body body) {
  PGSILO_CHECK(session == fibers_.size());
  fibers_.push_back(std::make_unique<SessionFiber>(stacks_, *sessions_[session], std::move(body)));
}

}  // namespace pgsilo
