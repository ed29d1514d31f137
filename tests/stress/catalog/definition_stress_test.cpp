// Definitions and changes of rows in several threads at once; the catalog's rows, descriptors and
// trees must agree at the end.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/byte_buffer.h"
#include "catalog/catalog_loader.h"
#include "catalog/data_definition.h"
#include "sql/sql_error.h"
#include "tests/unit/catalog/catalog_fixture.h"
#include "tests/unit/catalog/describe.h"

namespace pgsilo::testing {
namespace {

TableDefinition two_columns(std::string name) {
  TableDefinition table;
  table.name = std::move(name);
  ColumnDefinition id;
  id.name = "id";
  id.type = type_oid::int4;
  ColumnDefinition value = id;
  value.name = "value";
  table.columns = {id, value};
  IndexDefinition key;
  key.columns.push_back({"id"});
  key.primary = key.unique = key.is_constraint = true;
  table.keys = {key};
  return table;
}

// Runs `operation` until it commits; false if it meets an error of the user's.
template <typename Operation>
bool run(CatalogSession& session, Operation operation) {
  while (true) {
    session.begin();
    TransactionStatus status;
    try {
      status = operation();
      if (status == TransactionStatus::ok) status = session.commit();
    } catch (const SqlError&) {
      status = session.transaction.validate();
      session.abort();
      if (status == TransactionStatus::ok) return false;
      continue;
    }
    if (status == TransactionStatus::ok) return true;
    if (status == TransactionStatus::must_wait) {
      session.view.forget_local();
      EXPECT_EQ(session.transaction.wait_for_intent(), TransactionStatus::ok);
      continue;
    }
    EXPECT_TRUE(is_conflict(status)) << name_of(status);
    session.abort();
  }
}

class DefinitionStress : public ::testing::Test {
 protected:
  void expect_agreement() {
    CatalogLoader loader(engine_.catalog.system_tables(), engine_.relations,
                         first_.worker.reclaimer());
    EXPECT_EQ(describe(*loader.load(1)), describe(*engine_.catalog.snapshot()));
    std::vector<RelationId> live = engine_.catalog.live_relations(first_.worker.reclaimer());
    std::vector<RelationId> existing;
    for (Relation* relation : engine_.relations.list()) {
      if (!is_system_relation(relation->id())) existing.push_back(relation->id());
    }
    EXPECT_EQ(live, existing);
  }

  CatalogEngine engine_;
  CatalogSession first_{engine_};
};

TEST_F(DefinitionStress, CreateAndDropSameNames) {
  constexpr int threads = 4;
  constexpr int rounds = 60;
  std::atomic<int> created{0};
  std::atomic<int> dropped{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      CatalogSession session(engine_);
      TypeContext types;
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < rounds; ++i) {
        std::string name = "t" + std::to_string(random() % 3);
        bool create = random() % 2 == 0;
        bool done = run(session, [&] {
          DataDefinition definition(session.view, session.transaction, types);
          if (create) return definition.create_table(two_columns(name), false);
          DataDefinition::ObjectName names[] = {{{}, name}};
          return definition.drop_tables(names, false);
        });
        if (done) ++(create ? created : dropped);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  size_t left = 0;
  for (const char* name : {"t0", "t1", "t2"}) {
    left += engine_.catalog.snapshot()->find_table(system_oid::schema_public, name) != nullptr;
  }
  EXPECT_EQ(static_cast<size_t>(created - dropped), left);
  expect_agreement();
}

// Writers keep a secondary index in step by the descriptor they rest on, while another thread
// creates and drops indexes and truncates.
TEST_F(DefinitionStress, WritersFollowDescriptors) {
  TypeContext types;
  ASSERT_TRUE(run(first_, [&] {
    return DataDefinition(first_.view, first_.transaction, types)
        .create_table(two_columns("t"), false);
  }));
  constexpr int writers = 3;
  std::atomic<bool> stop{false};
  std::atomic<int> next_id{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < writers; ++t) {
    threads.emplace_back([&] {
      CatalogSession session(engine_);
      while (!stop.load(std::memory_order_relaxed)) {
        int id = next_id.fetch_add(1);
        run(session, [&] {
          const TableDescriptor& table = *session.view.find_table({}, "t");
          TransactionStatus status =
              session.transaction.use_descriptor(table.record.record, table.record.tid);
          Datum values[] = {Datum::of_int(id), Datum::of_int(id % 10)};
          ByteBuffer row;
          ByteBuffer key;
          table.layout.encode(values, row);
          table.primary_key.encode_primary(table.layout, row.view(), key);
          if (status == TransactionStatus::ok)
            status = session.insert(*table.relation, key.view(), row.view());
          for (const auto& index : table.indexes) {
            if (index->primary || status != TransactionStatus::ok) continue;
            ByteBuffer entry;
            index->key.encode_entry(values, key.view(), entry);
            status =
                session.insert(*index->relation, entry.view(), index->key.payload_of(key.view()));
          }
          return status;
        });
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    run(first_, [&] {
      Oid table = first_.view.find_table({}, "t")->oid;
      DataDefinition definition(first_.view, first_.transaction, types);
      IndexDefinition index;
      index.name = "i" + std::to_string(i % 2);
      index.columns.push_back({"value"});
      if (i % 10 == 9) return definition.truncate({&table, 1});
      if (first_.view.find_index({}, index.name) == nullptr)
        return definition.create_index(table, index, false);
      DataDefinition::ObjectName names[] = {{{}, index.name}};
      return definition.drop_indexes(names, false);
    });
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  first_.view.refresh();
  const TableDescriptor& table = *first_.view.find_table({}, "t");
  for (const auto& index : table.indexes) {
    EXPECT_EQ(index->relation->row_count(), table.relation->row_count()) << index->name;
  }
  expect_agreement();
}

TEST_F(DefinitionStress, OidsAreGivenOnce) {
  constexpr int threads = 4;
  constexpr int each = 20000;
  std::vector<std::vector<Oid>> given(threads);
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      CatalogSession session(engine_);
      for (int i = 0; i < each; ++i)
        given[static_cast<size_t>(t)].push_back(
            engine_.catalog.allocate_oid(session.worker, WaitSettings{}));
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::vector<Oid> all;
  for (const std::vector<Oid>& some : given) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
}  // namespace pgsilo::testing
