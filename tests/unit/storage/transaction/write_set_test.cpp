// Write sets beside what transactions see of them (transaction_test.cpp).
#include "storage/transaction/write_set.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

// find() beside a map, with what is rolled back and written again.
TEST(WriteSetTest, FindsWhatWasWrittenAndNotRolledBack) {
  TestEngine engine;
  TestSession session(engine);
  Relation& relation = engine.create_relation();
  std::vector<Record*> records;
  for (int i = 0; i < 1000; ++i) {
    std::string key = std::to_string(i);
    session.store(relation, key, "0");
    session.begin();
    ASSERT_EQ(session.get(relation, key), ok);
    records.push_back(session.row.record);
    ASSERT_EQ(session.commit(), ok);
  }
  Random random(1);
  WriteSet writes;
  for (int round = 0; round < 300; ++round) {
    size_t count = random.below(2) == 0 ? 1 + random.below(20) : 1 + random.below(records.size());
    std::vector<std::pair<Record*, std::string>> versions;
    auto check = [&] {
      std::map<Record*, std::string> newest;
      for (auto& [record, row] : versions) newest[record] = row;
      for (Record* record : records) {
        WriteEntry* found = writes.find(record);
        auto expected = newest.find(record);
        ASSERT_EQ(found != nullptr, expected != newest.end());
        if (found == nullptr) continue;
        ASSERT_EQ(found->record, record);
        ASSERT_EQ(found->newest->bytes(), expected->second);
      }
    };
    for (int part = 0; part < 3; ++part) {
      for (size_t i = 0; i < count; ++i) {
        Record* record = records[random.below(records.size())];
        std::string row(random.below(40), static_cast<char>('a' + random.below(26)));
        writes.add(writes.find(record), record, relation, /*base_absent=*/false, row,
                   /*tombstone=*/false, /*command=*/1, LockMode::update);
        versions.emplace_back(record, row);
      }
      check();
      if (random.below(2) == 0) {
        size_t mark = random.below(4) == 0 ? 0 : random.below(versions.size() + 1);
        writes.rollback_to(static_cast<uint32_t>(mark));
        versions.resize(mark);
        check();
      }
    }
    writes.clear();
    versions.clear();
    check();
  }
}

}  // namespace
}  // namespace pgsilo
