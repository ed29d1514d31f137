// Entries of secondary indexes remember the record they lead to (Record::link_of).
#include <gtest/gtest.h>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class EntryLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    session.begin();
    ASSERT_EQ(session.insert(relation, "pk1", "row 1"), ok);
    ASSERT_EQ(session.insert(relation, "pk2", "row 2"), ok);
    ASSERT_EQ(session.insert(index, "colour", "pk1"), ok);
    ASSERT_EQ(session.commit(), ok);
  }
  // The row that "colour" leads to in `primary`, or the status; sets `link` to what the entry
  // remembers.
  std::string follow(Relation& primary) {
    session.begin();
    RowBuffer entry_buffer(session.arena);
    RowRef entry;
    TransactionStatus status = session.transaction.get(index, "colour", entry_buffer, &entry);
    if (status == ok)
      status = session.transaction.get_via_entry(primary, entry, session.buffer, &session.row);
    link = entry.record == nullptr ? nullptr : entry.record->link_of(entry.tid);
    std::string row = status == ok ? std::string(session.row.row) : std::string(name_of(status));
    EXPECT_EQ(session.commit(), ok);
    return row;
  }
  Record* record(std::string_view key) { return relation.tree().get(key).record; }

  TestEngine engine;
  TestSession session{engine};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
  Relation& index = engine.create_relation();
  Record* link = nullptr;
};

TEST_F(EntryLinkTest, RemembersTheRecordItLeadsTo) {
  EXPECT_EQ(follow(relation), "row 1");
  EXPECT_EQ(link, record("pk1"));
  other.store(relation, "pk1", "a new version, longer than the old one was: the payload moves");
  EXPECT_EQ(follow(relation), "a new version, longer than the old one was: the payload moves");
  EXPECT_EQ(link, record("pk1"));
}

TEST_F(EntryLinkTest, ForgetsItWhenItChanges) {
  EXPECT_EQ(follow(relation), "row 1");
  other.store(index, "colour", "pk2");
  Record* entry = index.tree().get("colour").record;
  EXPECT_EQ(entry->link_of(entry->tid_word().load().tid()), nullptr);
  EXPECT_EQ(follow(relation), "row 2");
  EXPECT_EQ(link, record("pk2"));
  other.store(index, "colour",
              std::string(500, 'k'));  // an external payload leaves no room for a link
  EXPECT_EQ(follow(relation), "not_found");
  EXPECT_EQ(entry->link_of(entry->tid_word().load().tid()), nullptr);
  other.store(index, "colour", "pk1");  // in the entry itself, which has room again
  EXPECT_EQ(follow(relation), "row 1");
  EXPECT_EQ(link, record("pk1"));
}

TEST_F(EntryLinkTest, ALinkOfALaterVersionIsNotFollowed) {
  other.begin();
  RowBuffer entry_buffer(other.arena);
  RowRef entry;
  ASSERT_EQ(other.transaction.get(index, "colour", entry_buffer, &entry), ok);
  session.store(index, "colour", "pk2");
  EXPECT_EQ(follow(relation), "row 2");
  ASSERT_EQ(other.transaction.get_via_entry(relation, entry, other.buffer, &other.row), ok);
  EXPECT_EQ(other.row.row, "row 1");
  EXPECT_EQ(other.commit(), conflict_record);
}

TEST_F(EntryLinkTest, NoLinkOutlivesItsRow) {
  EXPECT_EQ(follow(relation), "row 1");
  other.begin();
  ASSERT_EQ(other.erase(relation, "pk1"), ok);
  ASSERT_EQ(other.erase(index, "colour"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_EQ(follow(relation), "not_found");
  engine.make_durable();
  for (int i = 0; i < 3; ++i) other.worker.housekeep();
  EXPECT_EQ(record("pk1"), nullptr);
  other.begin();
  ASSERT_EQ(other.insert(relation, "pk1", "reborn"), ok);
  ASSERT_EQ(other.insert(index, "colour", "pk1"), ok);
  ASSERT_EQ(other.commit(), ok);
  EXPECT_EQ(follow(relation), "reborn");
  EXPECT_EQ(link, record("pk1"));
}

TEST_F(EntryLinkTest, LeadsIntoARewrittenTableByKey) {
  EXPECT_EQ(follow(relation), "row 1");
  Relation& rewritten = engine.create_relation();
  other.store(rewritten, "pk1", "rewritten");
  EXPECT_EQ(follow(rewritten), "rewritten");
  EXPECT_EQ(follow(rewritten), "rewritten");
}

}  // namespace
}  // namespace pgsilo
