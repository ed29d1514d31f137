// Index entries, relations and descriptors as a snapshot sees them.
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/snapshot_fixture.h"

namespace pgsilo {
namespace {

using testing::TestSession;
using enum TransactionStatus;

class SnapshotRelationTest : public SnapshotTest {};

TEST_F(SnapshotRelationTest, EntriesLeadToTheRowsOfThatMoment) {
  Relation& index = engine.create_relation();
  writer.begin();
  ASSERT_EQ(writer.insert(index, "blue", "a"), ok);
  ASSERT_EQ(writer.insert(index, "green", "b"), ok);
  ASSERT_EQ(writer.commit(), ok);
  auto follow = [&](TestSession& session, std::string_view colour) {
    RowBuffer entry_buffer(session.arena);
    RowRef entry;
    TransactionStatus status = session.transaction.get(index, colour, entry_buffer, &entry);
    if (status == ok)
      status = session.transaction.get_via_entry(relation, entry, session.buffer, &session.row);
    return status == ok ? std::string(session.row.row) : std::string(name_of(status));
  };
  writer.begin();
  EXPECT_EQ(follow(writer, "blue"), "old a");  // leaves a link
  ASSERT_EQ(writer.commit(), ok);
  open();
  writer.begin();  // "green" moves from b to c, a goes
  ASSERT_EQ(writer.put(index, "green", "c"), ok);
  ASSERT_EQ(writer.erase(index, "blue"), ok);
  ASSERT_EQ(writer.erase(relation, "a"), ok);
  ASSERT_EQ(writer.commit(), ok);
  clean_up();
  EXPECT_EQ(follow(reader, "blue"), "old a");
  EXPECT_EQ(follow(reader, "green"), "old b");
  EXPECT_EQ(reader.scan(index), "blue=a green=b");
  EXPECT_EQ(reader.commit(), ok);
  writer.begin();
  EXPECT_EQ(follow(writer, "green"), "old c");
  EXPECT_EQ(follow(writer, "blue"), "not_found");
  ASSERT_EQ(writer.commit(), ok);
}

TEST_F(SnapshotRelationTest, ADroppedRelationStaysUntilItIsClosed) {
  RelationId id = relation.id();
  open();
  writer.begin();
  ASSERT_EQ(writer.transaction.drop_relation(relation), ok);
  ASSERT_EQ(writer.commit(), ok);
  clean_up();
  ASSERT_EQ(engine.relations.find(id), &relation);
  EXPECT_EQ(reader.scan(relation), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.commit(), ok);
  open();  // knows of it already
  clean_up();
  EXPECT_EQ(engine.relations.find(id), nullptr);
  EXPECT_EQ(reader.commit(), ok);
}

// What TRUNCATE and rewrites do: a new relation, filled before its commit, takes the place of the
// old one.
TEST_F(SnapshotRelationTest, ARelationThatIsReplacedIsReadAsItWas) {
  Relation& catalog = engine.create_relation();
  writer.store(catalog, "table", std::to_string(relation.id().value()));
  auto table = [&](TestSession& session) -> Relation& {
    std::string id = session.read(catalog, "table");
    return *engine.relations.find(RelationId(static_cast<uint32_t>(std::stoul(id))));
  };
  engine.epochs.advance();
  writer.begin();
  Relation& fresh = *writer.transaction.create_relation({});
  ASSERT_EQ(writer.insert(fresh, "z", "loaded before the snapshot"), ok);
  writer.statement();  // streams the row: its epoch is not after the boundary
  open();
  ASSERT_EQ(writer.transaction.drop_relation(relation), ok);
  ASSERT_EQ(writer.put(catalog, "table", std::to_string(fresh.id().value())), ok);
  ASSERT_EQ(writer.commit(), ok);
  clean_up();
  EXPECT_EQ(reader.scan(table(reader)), "a=old a b=old b c=old c");
  EXPECT_EQ(reader.commit(), ok);
  open();
  EXPECT_EQ(reader.scan(table(reader)), "z=loaded before the snapshot");
}

TEST_F(SnapshotRelationTest, NothingIsKeptOfRelationsThatItCannotKnow) {
  writer.begin();
  Relation& fresh = *writer.transaction.create_relation({});
  ASSERT_EQ(writer.insert(fresh, "z", "1"), ok);
  writer.statement();
  open();
  ASSERT_EQ(writer.put(fresh, "z", "2"), ok);
  ASSERT_EQ(writer.put(relation, "a", "new a"), ok);
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(kept.count(), 1u);
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(writer.peek(fresh), "z=2");
}

TEST_F(SnapshotRelationTest, DescriptorsAreThoseOfThatMoment) {
  writer.begin();
  ASSERT_EQ(writer.get(relation, "a"), ok);
  Tid before = writer.row.tid;
  const Record* record = writer.row.record;
  ASSERT_EQ(writer.commit(), ok);
  open();
  EXPECT_EQ(reader.transaction.use_descriptor(record, before), ok);
  writer.store(relation, "a", "changed");
  Tid after = record->tid_word().load().tid();
  EXPECT_EQ(reader.transaction.use_descriptor(record, before), ok);
  EXPECT_EQ(reader.transaction.use_descriptor(record, after), conflict_record);
}

TEST_F(SnapshotRelationTest, DdlNeitherWaitsForItNorHoldsItUp) {
  open();
  ASSERT_EQ(reader.transaction.share_relation(relation), ok);
  writer.begin(TransactionMode::interactive);
  ASSERT_EQ(writer.transaction.lock_relation_exclusively(relation), ok);
  ASSERT_EQ(reader.transaction.share_relation(relation), ok);
  EXPECT_EQ(reader.read(relation, "a"), "old a");
  EXPECT_EQ(writer.commit(), ok);
}

}  // namespace
}  // namespace pgsilo
