// The catalog as a snapshot sees it.
#include "tests/unit/catalog/data_definition_fixture.h"

namespace pgsilo::testing {
namespace {

class PastCatalogTest : public DataDefinitionTest {
 protected:
  void SetUp() override {
    create_accounts();
    reader_.emplace(engine_);
    version_ = engine_.catalog.version();
    ASSERT_EQ(reader_->transaction.begin_snapshot(), TransactionStatus::ok);
  }
  const TableDescriptor* accounts_seen() { return reader_->view.find_table({}, "accounts"); }
  void begin_drop() {
    session_.begin();
    DataDefinition definition(session_.view, session_.transaction, types_);
    DataDefinition::ObjectName name{{}, "accounts"};
    ASSERT_EQ(definition.drop_tables({&name, 1}, false), TransactionStatus::ok);
    ASSERT_EQ(session_.view.before_commit(session_.transaction), TransactionStatus::ok);
  }

  std::optional<CatalogSession> reader_;
  uint64_t version_ = 0;
};

TEST_F(PastCatalogTest, StaysAsItWas) {
  ASSERT_TRUE(reader_->view.hold(version_));
  begin_drop();
  ASSERT_EQ(session_.commit(), TransactionStatus::ok);
  reader_->view.refresh();
  const TableDescriptor* seen = accounts_seen();
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(reader_->transaction.use_descriptor(seen->record.record, seen->record.tid),
            TransactionStatus::ok);
  EXPECT_EQ(engine_.relations.find(seen->relation_id), seen->relation);
  reader_->transaction.abort();
  reader_->view.release();
  reader_->view.refresh();
  EXPECT_EQ(accounts_seen(), nullptr);
}

TEST_F(PastCatalogTest, IsNotKnownWhileAChangeIsBeingCommitted) {
  begin_drop();
  EXPECT_FALSE(reader_->view.hold(version_));
  ASSERT_EQ(session_.transaction.commit(), TransactionStatus::ok);
  EXPECT_FALSE(reader_->view.hold(version_));
  session_.view.committed(session_.transaction);
  EXPECT_FALSE(reader_->view.hold(version_));  // it may be of either side of the boundary
  EXPECT_TRUE(reader_->view.hold(engine_.catalog.version()));
}

TEST_F(PastCatalogTest, IsKnownWhenTheChangeHasFailed) {
  begin_drop();
  session_.abort();
  EXPECT_TRUE(reader_->view.hold(version_));
  EXPECT_NE(accounts_seen(), nullptr);
}

}  // namespace
}  // namespace pgsilo::testing
