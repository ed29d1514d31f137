// Definitions inside transactions: what they see of each other, abort, conflicts.
#include "tests/unit/catalog/data_definition_fixture.h"
#include "tests/unit/catalog/failing_memory.h"

namespace pgsilo::testing {
namespace {

using DefinitionTransactionTest = DataDefinitionTest;

TEST_F(DefinitionTransactionTest, TransactionsSeeTheirOwnChanges) {
  session_.begin(TransactionMode::interactive);
  DataDefinition definition(session_.view, session_.transaction, types_);
  ASSERT_EQ(definition.create_table(accounts(), false), TransactionStatus::ok);
  uint64_t local = session_.view.version();
  EXPECT_NE(local, engine_.catalog.version());
  EXPECT_EQ(engine_.catalog.snapshot()->find_table(system_oid::schema_public, "accounts"), nullptr);
  session_.view.refresh();
  EXPECT_EQ(session_.view.version(), local);
  ASSERT_NE(session_.view.find_table({}, "accounts"), nullptr);
  Transaction::Mark storage_mark = session_.transaction.mark();
  CatalogView::Mark mark = session_.view.mark();
  Oid made = session_.view.find_table({}, "accounts")->oid;
  ASSERT_EQ(definition.create_index(made, index({"balance"}, "i"), false), TransactionStatus::ok);
  ASSERT_EQ(definition.drop_column(made, "name", false), TransactionStatus::ok);
  EXPECT_EQ(session_.view.find_table(made)->find_column("name"), nullptr);
  session_.transaction.rollback_to(storage_mark);
  session_.view.rollback_to(mark);
  EXPECT_NE(session_.view.find_table(made)->find_column("name"), nullptr);
  EXPECT_EQ(session_.view.find_index({}, "i"), nullptr);
  ASSERT_EQ(definition.add_key(made, key({"balance"})), TransactionStatus::ok);
  ASSERT_EQ(session_.commit(), TransactionStatus::ok);
  EXPECT_EQ(table().indexes.size(), 3u);
  expect_rows_agree();
}

// A definition that failed half-way has named trees to drop, and changed nothing else yet.
TEST_F(DefinitionTransactionTest, RollbackToAMarkKeepsTheTreesOfAFailedDefinition) {
  create_accounts();
  RelationId tree = table().relation->id();
  session_.begin(TransactionMode::interactive);
  CatalogView::Mark mark = session_.view.mark();
  session_.view.drop_relation_at_commit(tree);
  session_.view.rollback_to(mark);
  ASSERT_EQ(session_.commit(), TransactionStatus::ok);
  EXPECT_NE(engine_.relations.find(tree), nullptr);
}

TEST_F(DefinitionTransactionTest, AbortLeavesNothing) {
  std::string before = describe(*engine_.catalog.snapshot());
  session_.begin();
  DataDefinition definition(session_.view, session_.transaction, types_);
  ASSERT_EQ(definition.create_table(accounts(), false), TransactionStatus::ok);
  session_.abort();
  EXPECT_EQ(session_.view.find_table({}, "accounts"), nullptr);
  EXPECT_EQ(describe(*engine_.catalog.snapshot()), before);
  expect_rows_agree();
  create_accounts();
}

TEST_F(DefinitionTransactionTest, ConcurrentDefinitionsOfOneNameConflict) {
  CatalogSession other(engine_);
  session_.begin();
  other.begin();
  DataDefinition mine(session_.view, session_.transaction, types_);
  DataDefinition theirs(other.view, other.transaction, types_);
  ASSERT_EQ(mine.create_table(accounts(), false), TransactionStatus::ok);
  TransactionStatus status = theirs.create_table(accounts(), false);
  ASSERT_EQ(session_.commit(), TransactionStatus::ok);
  if (status == TransactionStatus::ok) {
    status = other.commit();
  } else {
    other.abort();
  }
  EXPECT_TRUE(is_conflict(status)) << name_of(status);
  other.begin();
  EXPECT_NE(other.view.find_table({}, "accounts"), nullptr);
  other.abort();
}

TEST_F(DefinitionTransactionTest, UnrelatedDefinitionsDoNotConflict) {
  create_accounts();
  CatalogSession other(engine_);
  session_.begin();
  other.begin();
  DataDefinition mine(session_.view, session_.transaction, types_);
  DataDefinition theirs(other.view, other.transaction, types_);
  TableDefinition second = accounts();
  second.name = "second";
  ASSERT_EQ(mine.create_table(second, false), TransactionStatus::ok);
  ASSERT_EQ(theirs.set_options(other.view.find_table({}, "accounts")->oid, {}),
            TransactionStatus::ok);
  EXPECT_EQ(session_.commit(), TransactionStatus::ok);
  EXPECT_EQ(other.commit(), TransactionStatus::ok);
  session_.view.refresh();
  EXPECT_TRUE(table().options.empty());
  EXPECT_EQ(table("second").columns.size(), 3u);
  expect_rows_agree();
}

TEST_F(DefinitionTransactionTest, WritersThatRestOnTheOldDescriptorConflict) {
  create_accounts();
  CatalogSession writer(engine_);
  writer.begin();
  const TableDescriptor& old = *writer.view.find_table({}, "accounts");
  ASSERT_EQ(writer.transaction.use_descriptor(old.record.record, old.record.tid),
            TransactionStatus::ok);
  ASSERT_EQ(writer.insert(*old.relation, "k", "row"), TransactionStatus::ok);
  define([&](DataDefinition& d) { return d.create_index(oid(), index({"balance"}), false); });
  EXPECT_EQ(writer.commit(), TransactionStatus::conflict_record);
}

// Whichever allocation fails behind the commit, the changes are published once and whole.
TEST_F(DefinitionTransactionTest, WithoutMemoryWhatIsCommittedIsPublishedOnce) {
  class Patience final : public Parker {
   public:
    void park(int64_t) override { ++parked; }
    void unpark() override {}
    int parked = 0;
  };
  const std::vector<DataDefinition::ObjectName> accounts_only = {{"", "accounts"}};
  bool has_failed = true;
  size_t successes = 0;
  for (; has_failed; ++successes) {
    create_accounts();
    std::vector<RelationId> trees = {table().relation->id()};
    for (const auto& index : table().indexes) {
      if (!index->primary) trees.push_back(index->relation->id());
    }
    session_.begin();
    DataDefinition definition(session_.view, session_.transaction, types_);
    ASSERT_EQ(definition.drop_tables(accounts_only, false), TransactionStatus::ok);
    ASSERT_EQ(session_.view.before_commit(session_.transaction), TransactionStatus::ok);
    ASSERT_EQ(session_.transaction.commit(), TransactionStatus::ok);
    uint64_t version = engine_.catalog.version();
    Patience patience;
    {
      FailingMemory memory(successes);
      session_.view.committed(session_.transaction, patience);
      has_failed = memory.has_failed();
    }
    EXPECT_EQ(patience.parked, has_failed ? 1 : 0) << successes;
    EXPECT_EQ(engine_.catalog.version(), version + 1) << successes;
    EXPECT_FALSE(engine_.catalog.is_changing()) << successes;
    for (RelationId tree : trees) EXPECT_EQ(engine_.relations.find(tree), nullptr) << successes;
    expect_rows_agree();
  }
  EXPECT_GT(successes, 5u);  // of them some behind the publishing
}

}  // namespace
}  // namespace pgsilo::testing
