// Rows that are older than a snapshot, a session that changes them and one that reads the snapshot.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "storage/transaction/snapshot.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {

class SnapshotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* key : {"a", "b", "c"}) writer.store(relation, key, std::string("old ") + key);
    engine.make_durable();
  }
  void open(testing::TestSession& session) {
    ASSERT_EQ(session.transaction.begin_snapshot(), TransactionStatus::ok);
    session.statement();
  }
  void open() { open(reader); }
  // Everything that may be taken away is.
  void clean_up() {
    for (int i = 0; i < 3; ++i) {
      engine.make_durable();
      while (writer.worker.housekeep() || reader.worker.housekeep()) {
      }
    }
  }
  size_t records() {
    IndexTree::Shape shape;
    EXPECT_EQ(relation.tree().check(&shape), "");
    return shape.records;
  }

  testing::TestEngine engine;
  testing::TestSession writer{engine};
  testing::TestSession reader{engine};
  Relation& relation = engine.create_relation();
  OldVersions& kept = engine.snapshots.versions();
};

}  // namespace pgsilo
