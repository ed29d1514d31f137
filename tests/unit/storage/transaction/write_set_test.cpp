// Write sets beside what transactions see of them (transaction_test.cpp).
#include "storage/transaction/write_set.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

// I3: whatever the order of writing, and also when records are written twice.
TEST(WriteSetTest, TheLockOrderIsThatOfAddresses) {
  TestEngine engine;
  TestSession session(engine);
  Relation& relation = engine.create_relation();
  std::vector<Record*> records;
  for (int i = 0; i < 10000; ++i) {
    std::string key = std::to_string(i);
    session.store(relation, key, "0");
    session.begin();
    ASSERT_EQ(session.get(relation, key), ok);
    records.push_back(session.row.record);
    ASSERT_EQ(session.commit(), ok);
  }
  Random random(1);
  for (size_t count : {size_t{1}, size_t{2}, size_t{5}, size_t{300}, records.size()}) {
    WriteSet writes;
    std::set<Record*> written;
    for (size_t i = 0; i < 2 * count; ++i) {
      Record* record = records[random.below(count)];
      writes.add(writes.find(record), record, relation, /*base_absent=*/false, "1",
                 /*tombstone=*/false, /*command=*/1, LockMode::update);
      written.insert(record);
    }
    std::vector<Record*> order;
    for (uint32_t index : writes.in_lock_order(nullptr)) order.push_back(writes[index].record);
    EXPECT_EQ(order, std::vector<Record*>(written.begin(), written.end()));
  }
}

}  // namespace
}  // namespace pgsilo
