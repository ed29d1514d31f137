// Long work of one transaction gives way to others, where nobody waits for it (docs/
// commit_protocol.md, Large transactions).
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "base/byte_order.h"
#include "base/sanitizers.h"
#include "storage/transaction/lock_list.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int rows = 20000;

// Runs something in the first pause, and counts them.
class BusyParker final : public Parker {
 public:
  void park(int64_t deadline_us) override { parker_.park(deadline_us); }
  void unpark() override { parker_.unpark(); }
  void give_way() override {
    if (pauses++ == 0 && in_first_pause) in_first_pause();
  }
  int pauses = 0;
  std::function<void()> in_first_pause;

 private:
  ThreadParker parker_;
};

struct LargeTransactionTest : ::testing::Test {
  LargeTransactionTest() {
    session.begin();
    for (int i = 0; i < rows; ++i) EXPECT_EQ(session.insert(relation, key(i), "0"), ok);
    EXPECT_EQ(session.commit(), ok);
    session.settings.parker = &parker;
    parker.pauses = 0;
  }
  static std::string key(int i) { return std::to_string(1'000'000 + i); }
  void read_all() {
    for (int i = 0; i < rows; ++i) ASSERT_EQ(session.get(relation, key(i)), ok);
  }
  void update_all() {
    for (int i = 0; i < rows; ++i) ASSERT_EQ(session.put(relation, key(i), "1"), ok);
  }
  // By another session while ours has given way.
  void change_in_pause(int i) {
    parker.in_first_pause = [this, i] { rival.store(relation, key(i), "2"); };
  }

  BusyParker parker;
  TestEngine engine;
  Relation& relation = engine.create_relation();
  TestSession session{engine};
  TestSession rival{engine};
};

TEST_F(LargeTransactionTest, ValidationGivesWay) {
  session.begin();
  read_all();
  EXPECT_EQ(session.transaction.validate(), ok);
  EXPECT_EQ(parker.pauses, rows / 4096);
}

TEST_F(LargeTransactionTest, TheReleaseOfItsLocksGivesWay) {
  auto lock = [this](TestSession& who, int64_t key) {
    return engine.locks.acquire(who.transaction.lock_owner(), LockTag::advisory(key),
                                LockMode::exclusive, WaitPolicy::no_wait, {});
  };
  session.begin(TransactionMode::interactive);
  rival.begin(TransactionMode::interactive);
  for (int i = 0; i < rows; ++i) ASSERT_EQ(lock(session, i), ok);
  parker.in_first_pause = [&] {
    EXPECT_EQ(lock(rival, rows - 1), ok);
    EXPECT_EQ(lock(rival, 0), lock_not_available);
  };
  EXPECT_EQ(session.commit(), ok);
  EXPECT_EQ(parker.pauses, rows / 4096);
  EXPECT_EQ(lock(rival, 0), ok);
  EXPECT_EQ(rival.commit(), ok);
  EXPECT_TRUE(engine.locks.list().empty());
}

// Of what has been looked at before the pause nothing is looked at again: it was so when the first
// record was.
TEST_F(LargeTransactionTest, WhatChangesInAPauseIsFoundIfItComesLater) {
  for (bool later : {true, false}) {
    session.begin();
    read_all();
    parker.pauses = 0;
    change_in_pause(later ? rows - 1 : 0);
    EXPECT_EQ(session.transaction.validate(), later ? conflict_record : ok);
    session.transaction.abort();
  }
}

// All reads and writes are looked at again when the records are locked.
TEST_F(LargeTransactionTest, WhatChangesWhileACommitIsPreparedIsFound) {
  session.begin();
  update_all();
  change_in_pause(0);
  EXPECT_EQ(session.commit(), conflict_record);
  EXPECT_GT(parker.pauses, rows / 4096);
  rival.begin();
  EXPECT_EQ(rival.read(relation, key(0)), "2");
  EXPECT_EQ(rival.read(relation, key(1)), "0");
}

TEST_F(LargeTransactionTest, CommitsAll) {
  session.begin();
  update_all();
  EXPECT_EQ(session.commit(), ok);
  session.begin();
  for (int i = 0; i < rows; ++i) ASSERT_EQ(session.read(relation, key(i)), "1");
}

// No number of rows is too many (once there was a limit of four million).
TEST(HugeTransactionTest, IsLimitedByMemoryOnly) {
#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN)
  GTEST_SKIP() << "it needs minutes and many gigabytes";
#endif
  constexpr uint32_t many = 4'200'000;
  TestEngine engine;
  Relation& relation = engine.create_relation();
  TestSession session(engine), other(engine);
  auto key = [](uint32_t number) {
    std::array<char, 4> bytes;
    store_be32(bytes.data(), number);
    return bytes;
  };
  session.begin();
  for (uint32_t i = 0; i < many; ++i) {
    auto bytes = key(i);
    ASSERT_EQ(session.insert(relation, {bytes.data(), bytes.size()}, ""), ok);
  }
  EXPECT_EQ(session.transaction.written_records(), many);
  ASSERT_EQ(session.commit(), ok);
  EXPECT_EQ(relation.row_count(), many);
  other.begin();
  for (uint32_t i : {0U, 4U << 20, many - 1}) {
    auto bytes = key(i);
    EXPECT_EQ(other.get(relation, {bytes.data(), bytes.size()}), ok);
  }
}

// Who runs it again looks at how much was lost.
TEST_F(LargeTransactionTest, TellsWhatItLost) {
  for (bool in_commit : {true, false}) {
    session.begin();
    update_all();
    rival.store(relation, key(0), "2");
    EXPECT_EQ(in_commit ? session.commit() : session.transaction.validate(), conflict_record);
    EXPECT_EQ(session.transaction.written_records(), rows);
    session.transaction.abort();
  }
}

}  // namespace
}  // namespace pgsilo
