// CREATE INDEX in steps beside readers and writers (docs/index_build.md).
#include "storage/relation/relation_directory.h"
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

class IndexStepsTest : public DataDefinitionTest {
 protected:
  void begin_index() {
    define([&](DataDefinition& d) {
      return d.begin_index(oid(), index({"balance"}, "i"), false, &index_);
    });
  }
  bool is_valid() { return table().find_index(index_)->valid; }

  Oid index_ = invalid_oid;
};

TEST_F(IndexStepsTest, BecomesValidWithTheLastStep) {
  create_accounts();
  begin_index();
  EXPECT_FALSE(is_valid());
  Relation* tree = table().find_index(index_)->relation;
  define([&](DataDefinition& d) { return d.finish_index(oid(), index_); });
  EXPECT_TRUE(is_valid());
  EXPECT_EQ(table().find_index(index_)->relation, tree);
}

TEST_F(IndexStepsTest, OrIsDiscarded) {
  create_accounts();
  begin_index();
  RelationId tree = table().find_index(index_)->relation_id;
  define([&](DataDefinition& d) { return d.discard_index(oid(), index_); });
  EXPECT_EQ(table().find_index(index_), nullptr);
  EXPECT_EQ(engine_.relations.find(tree), nullptr);
  begin_index();  // the name is free
}

TEST_F(IndexStepsTest, CannotBeReferredToBefore) {
  create_accounts();
  define([&](DataDefinition& d) {
    return d.begin_index(oid(), index({"balance"}, "i", /*unique=*/true), false, &index_);
  });
  ForeignKeyDefinition to_itself;
  to_itself.columns = to_itself.referenced_columns = {"balance"};
  to_itself.referenced_table = oid();
  Oid constraint = invalid_oid;
  auto refer = [&](DataDefinition& d) { return d.add_foreign_key(oid(), to_itself, &constraint); };
  EXPECT_EQ(error(refer).state, sqlstate::invalid_foreign_key);
  define([&](DataDefinition& d) { return d.finish_index(oid(), index_); });
  define(refer);
}

TEST_F(IndexStepsTest, IfNotExists) {
  create_accounts();
  begin_index();
  Oid again = index_;
  define([&](DataDefinition& d) {
    return d.begin_index(oid(), index({"balance"}, "i"), true, &again);
  });
  EXPECT_EQ(again, invalid_oid);
  EXPECT_EQ(notices_, "relation \"i\" already exists, skipping\n");
}

// Each step, and an index made at once: readers that rest on the table as it was do not notice,
// writers do. Other definitions concern both.
TEST_F(IndexStepsTest, ConcernsWritersOnly) {
  create_accounts();
  auto survives = [&](bool writes, auto change) {
    std::shared_ptr<const TableDescriptor> old = *engine_.catalog.snapshot()->tables().find(oid());
    CatalogSession user(engine_);
    user.begin();
    const CatalogRecord& record = writes ? old->record : old->type_record;
    EXPECT_EQ(user.transaction.use_descriptor(record.record, record.tid), TransactionStatus::ok);
    define(change);
    bool survived = user.transaction.validate() == TransactionStatus::ok;
    user.abort();
    return survived;
  };
  auto begin = [&](DataDefinition& d) {
    return d.begin_index(oid(), index({"balance"}), false, &index_);
  };
  auto finish = [&](DataDefinition& d) { return d.finish_index(oid(), index_); };
  auto discard = [&](DataDefinition& d) { return d.discard_index(oid(), index_); };
  auto create = [&](DataDefinition& d) { return d.create_index(oid(), index({"balance"}), false); };
  auto alter = [&](DataDefinition& d) { return d.set_not_null(oid(), "balance", true); };
  for (bool writes : {false, true}) {
    EXPECT_EQ(survives(writes, begin), !writes);
    EXPECT_EQ(survives(writes, finish), !writes);
    EXPECT_EQ(survives(writes, begin), !writes);
    EXPECT_EQ(survives(writes, discard), !writes);
    EXPECT_EQ(survives(writes, create), !writes);
    EXPECT_FALSE(survives(writes, alter));
  }
}

// What a crash has left is gone when the catalog is opened.
TEST_F(IndexStepsTest, AStartDiscardsWhatIsNotValid) {
  create_accounts();
  define([&](DataDefinition& d) { return d.create_index(oid(), index({"name"}, "whole"), false); });
  begin_index();
  RelationId tree = table().find_index(index_)->relation_id;
  Catalog restarted(engine_.relations);
  restarted.create_system_relations();
  EXPECT_FALSE(restarted.open(session_.worker, WaitSettings{}));
  const TableDescriptor* found = restarted.snapshot()->find_table(oid());
  EXPECT_EQ(found->find_index(index_), nullptr);
  EXPECT_EQ(found->indexes.size(), table().indexes.size() - 1);
  EXPECT_EQ(engine_.relations.find(tree), nullptr);
  CatalogLoader loader(restarted.system_tables(), engine_.relations, session_.worker.reclaimer());
  EXPECT_EQ(describe(*loader.load(1)), describe(*restarted.snapshot()));
}

}  // namespace
}  // namespace pgsilo::testing
