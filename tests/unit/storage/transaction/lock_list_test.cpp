// All locks and waits as monitoring sees them.
#include "storage/transaction/lock_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class LockListTest : public ::testing::Test {
 protected:
  void SetUp() override {
    main.store(relation, "a", "0");
    main.store(relation, "b", "0");
  }
  // What the session holds or waits for: "share" and "gate" of the relation, or "record", with "?"
  // behind a wait.
  std::string list(const TestSession& session) {
    std::vector<std::string> words;
    for (const LockEntry& entry : engine.locks.list()) {
      if (entry.owner != &session.transaction.lock_owner()) continue;
      bool on_record = entry.tag.is_record();
      EXPECT_EQ(entry.granted, entry.waiting_since_us == 0);
      EXPECT_EQ(entry.relation, relation.id());
      words.push_back((on_record                                  ? "record"
                       : entry.mode == LockMode::access_exclusive ? "gate"
                                                                  : "share") +
                      std::string(entry.granted ? "" : "?"));
    }
    std::sort(words.begin(), words.end());
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
  }
  // Of `session`'s wait: how many entries stand in its way.
  size_t in_the_way(const TestSession& session) {
    std::vector<LockEntry> entries = engine.locks.list();
    size_t count = 0;
    for (const LockEntry& wait : entries) {
      if (wait.granted || wait.owner != &session.transaction.lock_owner()) continue;
      for (const LockEntry& other : entries) {
        if (&other == &wait) break;
        count += other.owner != wait.owner && stands_in_the_way(other, wait);
      }
    }
    return count;
  }
  void await(const TestSession& session, const std::string& wanted) {
    while (list(session) != wanted) std::this_thread::yield();
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  TestSession third{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(LockListTest, RecordsWithTheirQueue) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  EXPECT_EQ(list(main), "");  // they lie in the records: nobody else wants one
  std::thread second([&] {
    other.begin(TransactionMode::interactive);
    EXPECT_EQ(other.put(relation, "a", "2"), ok);
    EXPECT_EQ(list(other), "record");
    other.transaction.abort();
  });
  await(other, "record?");
  EXPECT_EQ(list(main), "record");
  EXPECT_EQ(in_the_way(other), 1u);
  std::thread last([&] {
    third.begin(TransactionMode::interactive);
    EXPECT_EQ(third.put(relation, "a", "3"), ok);
    third.transaction.abort();
  });
  await(third, "record?");
  EXPECT_EQ(in_the_way(third), 2u);
  EXPECT_EQ(in_the_way(other), 1u);
  main.transaction.abort();
  second.join();
  last.join();
  EXPECT_TRUE(engine.locks.list().empty());
}

TEST_F(LockListTest, SharesAndGates) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(main.transaction.share_relation(relation), ok);
  EXPECT_EQ(list(main), "share");
  std::atomic<bool> go_on = false;
  std::thread ddl([&] {
    other.begin();
    ASSERT_EQ(other.transaction.lock_relation_exclusively(relation), ok);
    EXPECT_EQ(list(other), "gate");
    while (!go_on) std::this_thread::yield();
    ASSERT_EQ(other.commit(), ok);
  });
  await(other, "gate?");
  EXPECT_EQ(in_the_way(other), 1u);
  ASSERT_EQ(main.commit(), ok);
  await(other, "gate");
  std::thread reader([&] {
    third.begin(TransactionMode::interactive);
    EXPECT_EQ(third.transaction.share_relation(relation), ok);
    EXPECT_EQ(third.commit(), ok);
  });
  await(third, "share?");
  EXPECT_EQ(in_the_way(third), 1u);
  go_on = true;
  ddl.join();
  reader.join();
  EXPECT_TRUE(engine.locks.list().empty());
}

TEST_F(LockListTest, ManyOfOneOwner) {
  constexpr int count = 3000;
  LockOwner& owner = engine.locks.take_owner();
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(engine.locks.acquire(owner, LockTag::advisory(i), LockMode::exclusive,
                                   WaitPolicy::no_wait, {}),
              ok);
  }
  EXPECT_EQ(engine.locks.list().size(), size_t{count});
  engine.locks.release_locks(owner);
  engine.locks.return_owner(owner);
}

}  // namespace
}  // namespace pgsilo
