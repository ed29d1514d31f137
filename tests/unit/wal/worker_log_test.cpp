#include "wal/log/worker_log.h"

#include <gtest/gtest.h>

#include "tests/unit/wal/log_test_kit.h"

namespace pgsilo {
namespace {

// Remembers that it was woken; parking does what the test says.
class FakeParker final : public Parker {
 public:
  void park(int64_t) override {
    ++parked;
    if (while_parked != nullptr) while_parked(*this);
  }
  void unpark() override { ++unparked; }
  int parked = 0;
  int unparked = 0;
  void (*while_parked)(FakeParker&) = nullptr;
  LogParts* parts = nullptr;
};

TEST(WorkerLog, AFullBufferWaitsUntilTheLoggerTookIt) {
  LogParts parts(1, 1);
  Epoch last;
  while (parts.logs[0]->reserve(1, 10000, RedoPurpose::growth) == ReserveResult::ok)
    last = parts.append(0, 9000);
  EXPECT_EQ(parts.logs[0]->reserve(1, 10000, RedoPurpose::growth), ReserveResult::must_wait);
  FakeParker parker;
  parker.parts = &parts;
  parker.while_parked = [](FakeParker& self) { EXPECT_TRUE(self.parts->loggers[0]->try_step()); };
  parts.logs[0]->wait_for_buffer(parker, Parker::no_deadline);
  EXPECT_EQ(parker.parked, 1);
  EXPECT_EQ(parker.unparked, 1);
  EXPECT_EQ(parts.logs[0]->reserve(1, 10000, RedoPurpose::growth), ReserveResult::ok);
  EXPECT_GE(parts.durable.get(), last);
}

TEST(WorkerLog, WaitingForWhatIsThereReturnsAtOnce) {
  LogParts parts(1, 1);
  EXPECT_EQ(parts.logs[0]->reserve(1, 10, RedoPurpose::growth), ReserveResult::ok);
  FakeParker parker;
  parts.logs[0]->wait_for_buffer(parker, Parker::no_deadline);
  EXPECT_EQ(parker.parked, 0);
}

TEST(WorkerLog, LongTransactionsGoBesideTheRing) {
  LogParts parts(1, 1);
  while (parts.stores[0]->wants_segments()) ASSERT_TRUE(parts.stores[0]->prepare_one().ok());
  // Longer than a block: in pieces.
  while (parts.logs[0]->reserve(1, 200'001, RedoPurpose::growth) == ReserveResult::must_wait) {
    ASSERT_TRUE(parts.stores[0]->prepare_one().ok());
  }
  Epoch epoch = parts.append(0, 200'000);
  EXPECT_EQ(parts.logs[0]->reserve(1, 200'000, RedoPurpose::growth),
            ReserveResult::must_wait);  // one at a time
  EXPECT_EQ(parts.logs[0]->reserve(1, 100, RedoPurpose::growth), ReserveResult::ok);
  parts.append(0, 50);
  EXPECT_TRUE(parts.step(0, epoch));
  EXPECT_FALSE(parts.logs[0]->has_records());
  EXPECT_GT(parts.loggers[0]->counters().bytes.value(), 200'000);
}

TEST(WorkerLog, WhatIsExpectedFindsItsRoom) {
  LogParts parts(1, 1);
  SegmentStore& store = *parts.stores[0];
  auto supply = [&] {
    size_t before = store.ready();
    while (store.wants_segments()) EXPECT_TRUE(store.prepare_one().ok());
    return store.ready() - before;
  };
  supply();
  parts.logs[0]->expect(1, 100);  // the ring has room
  EXPECT_EQ(supply(), 0U);
  constexpr size_t much = 20 * test_segment_bytes;
  parts.logs[0]->expect(1, much);
  EXPECT_GT(supply(), 20U);
  EXPECT_EQ(parts.logs[0]->reserve(1, much, RedoPurpose::growth), ReserveResult::ok);
  parts.step(0, parts.append(0, much - 1));
}

TEST(WorkerLog, WhatIsExpectedNoMoreIsNotPrepared) {
  LogParts parts(1, 1);
  parts.keeper->run_once();
  parts.logs[0]->expect(1, 100 * test_segment_bytes);
  EXPECT_TRUE(parts.stores[0]->wants_segments());
  parts.logs[0]->expect(0, 0);
  EXPECT_FALSE(parts.stores[0]->wants_segments());
}

// Nothing was promised, and nobody is refused for it.
TEST(WorkerLog, WhatIsExpectedInVainRefusesNobody) {
  LogParts parts(1, 1);
  parts.keeper->run_once();
  parts.disk.set_capacity(20 * test_segment_bytes);
  parts.logs[0]->expect(1, 100 * test_segment_bytes);
  parts.keeper->run_once();
  EXPECT_FALSE(parts.stores[0]->wants_segments());
  parts.logs[0]->expect(1, 120 * test_segment_bytes);  // not again at once
  EXPECT_FALSE(parts.stores[0]->wants_segments());
  EXPECT_EQ(parts.logs[0]->reserve(1, 100, RedoPurpose::growth), ReserveResult::ok);
  EXPECT_EQ(parts.logs[0]->reserve(1, 100'000, RedoPurpose::growth), ReserveResult::ok);
}

TEST(WorkerLog, WithoutSpaceWritersAreToldAndLaterServedAgain) {
  LogParts parts(1, 1);
  parts.disk.set_capacity(4 * test_segment_bytes);
  int rounds = 0;
  for (; rounds < 1000 && parts.stores[0]->state() == LogSpace::ample; ++rounds) {
    parts.step(0, parts.append(0, 10000));
    parts.keeper->run_once();
  }
  ASSERT_LT(rounds, 1000);
  EXPECT_EQ(parts.logs[0]->reserve(1, 10, RedoPurpose::growth), ReserveResult::no_space);
  parts.disk.set_capacity(UINT64_MAX);
  parts.keeper->run_once();
  EXPECT_EQ(parts.logs[0]->reserve(1, 10, RedoPurpose::growth), ReserveResult::ok);
}

TEST(WorkerLog, WhatWasReservedBeforeSpaceRanOutStillFits) {
  LogParts parts(4, 1);
  parts.disk.set_capacity(parts.disk.content("/log/0/0000000000000001.segment").size() * 6);
  parts.keeper->run_once();
  // Every worker fills its ring as far as it may, whatever the store says meanwhile, then all of it
  // is written.
  Epoch last;
  for (int round = 0; round < 50; ++round) {
    for (unsigned worker = 0; worker < 4; ++worker) {
      while (parts.logs[worker]->reserve(1, 12001, RedoPurpose::growth) == ReserveResult::ok)
        last = parts.append(worker, 12000);
    }
    parts.step(0, last);
  }
  EXPECT_EQ(parts.stores[0]->state(), LogSpace::preparing);
  EXPECT_GE(parts.durable.get(), last);
}

TEST(WorkerLog, ALongTransactionWithoutSpaceIsToldOnce) {
  LogParts parts(1, 1);
  parts.keeper->run_once();
  parts.disk.set_capacity(0);
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::must_wait);
  parts.keeper->run_once();
  FakeParker parker;
  parts.logs[0]->wait_for_buffer(parker, Parker::no_deadline);  // returns at once
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::no_space);
  EXPECT_EQ(parts.logs[0]->reserve(1, 100, RedoPurpose::growth),
            ReserveResult::ok);  // small ones go on
  parts.disk.set_capacity(UINT64_MAX);
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::must_wait);
  parts.keeper->run_once();
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::ok);
}

// As one that is cancelled: the next one has not heard of any attempt.
TEST(WorkerLog, ALongTransactionThatDoesNotWaitLeavesNoRefusal) {
  LogParts parts(1, 1);
  parts.keeper->run_once();
  parts.disk.set_capacity(0);
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::must_wait);
  parts.keeper->run_once();
  parts.disk.set_capacity(UINT64_MAX);
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::must_wait);
  parts.keeper->run_once();
  EXPECT_EQ(parts.logs[0]->reserve(1, 2'000'000, RedoPurpose::growth), ReserveResult::ok);
}

// However the entries' lengths fall, their records fit into what was reserved.
TEST(WorkerLog, LongTransactionsOfManyEntriesFit) {
  const std::string text(3000, 'x');
  for (size_t longest : {size_t{1}, size_t{40}, text.size()}) {
    LogParts parts(1, 1);
    std::vector<RedoEntry> entries;
    size_t bytes = 0;
    for (size_t i = 0; bytes < 300'000; ++i) {
      std::string_view row(text.data(), i % longest);
      entries.push_back({.relation = RelationId(1), .tombstone = false, .key = "key", .row = row});
      bytes += 3 + row.size();
    }
    while (parts.logs[0]->reserve(entries.size(), bytes, RedoPurpose::growth) ==
           ReserveResult::must_wait)
      ASSERT_TRUE(parts.stores[0]->prepare_one().ok());
    parts.slots[0]->enter();
    Epoch epoch = parts.slots[0]->serialization_epoch();
    parts.logs[0]->append(Tid(epoch, 1), entries);
    parts.slots[0]->leave();
    EXPECT_TRUE(parts.step(0, epoch));
    EXPECT_FALSE(parts.logs[0]->has_records());
    EXPECT_GT(parts.loggers[0]->counters().bytes.value(), static_cast<int64_t>(bytes));
  }
}

}  // namespace
}  // namespace pgsilo
