#include "wal/log/group_commit.h"

#include <gtest/gtest.h>

#include "tests/unit/wal/log_test_kit.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

class Told final : public DurableListener {
 public:
  bool on_durable(Epoch durable) override {
    ++times;
    last = durable;
    return false;
  }
  int times = 0;
  Epoch last;
};

TEST(GroupCommit, AStepMakesWhatIsWaitedForDurable) {
  LogParts parts(1, 1);
  Told told;
  parts.commit->set_listener(0, &told);
  Epoch epoch = parts.append(0);
  EXPECT_FALSE(parts.loggers[0]->try_step());  // nobody waits
  EXPECT_TRUE(parts.commit->request(0, epoch));
  EXPECT_TRUE(parts.loggers[0]->try_step());
  EXPECT_GE(parts.durable.get(), epoch);
  EXPECT_EQ(told.times, 1);
  EXPECT_GE(told.last, epoch);
  EXPECT_FALSE(parts.commit->request(0, epoch));  // durable already
  EXPECT_EQ(told.times, 1);
}

TEST(GroupCommit, OneSyncForABatch) {
  LogParts parts(3, 1);
  Epoch last;
  for (int i = 0; i < 100; ++i) last = parts.append(static_cast<unsigned>(i % 3));
  EXPECT_TRUE(parts.step(0, last));
  EXPECT_EQ(parts.loggers[0]->counters().batches.value(), 1);
  EXPECT_EQ(parts.loggers[0]->counters().bytes.value(), int64_t{log_format::block_unit});
}

TEST(GroupCommit, CountsWhatItWrites) {
  LogParts parts(2, 1);
  parts.append(0, 100);
  Epoch last = parts.append(1, 200);
  EXPECT_TRUE(parts.step(0, last));
  EXPECT_TRUE(parts.step(0, parts.append(0, 100)));
  LogStatus status = parts.loggers[0]->status();
  EXPECT_EQ(status.directory, "/log/0");
  EXPECT_EQ(status.records, 3u);
  EXPECT_EQ(status.record_bytes, 400 + 3 * record_bytes(1, 1));
  EXPECT_EQ(status.writes, 2u);
  EXPECT_EQ(status.syncs, 2u);
  EXPECT_EQ(status.bytes_written, 2 * log_format::block_unit);
  EXPECT_EQ(status.buffer_waits, 0u);
  EXPECT_EQ(status.space, "ample");
  EXPECT_GT(status.max_sync_us, 0);
  EXPECT_LE(status.mean_sync_us, status.max_sync_us);
  EXPECT_LE(status.median_sync_us, status.p99_sync_us);
  EXPECT_LE(status.p99_sync_us, status.max_sync_us);
}

TEST(GroupCommit, TellsAgainWhoAskedForMore) {
  LogParts parts(1, 1);
  Told told;
  parts.commit->set_listener(0, &told);
  Epoch first = parts.append(0);
  parts.commit->request(0, first);
  parts.loggers[0]->try_step();
  Epoch second = parts.append(0);
  parts.commit->request(0, second);
  parts.epochs.advance();
  Epoch third = parts.append(0);
  parts.commit->request(0, third);
  // Somebody is inside commit in `third`: only `second` can be settled.
  parts.slots[0]->enter();
  parts.loggers[0]->try_step();
  EXPECT_GE(parts.durable.get(), second);
  EXPECT_LT(parts.durable.get(), third);
  EXPECT_EQ(told.times, 2);
  parts.slots[0]->leave();
  parts.loggers[0]->try_step();
  EXPECT_GE(parts.durable.get(), third);
  EXPECT_EQ(told.times, 3);
}

TEST(GroupCommit, AnEpochSomebodyIsCommittingInIsNotDurable) {
  LogParts parts(2, 1);
  parts.slots[1]->enter();
  Epoch epoch = parts.append(0);
  EXPECT_FALSE(parts.step(0, epoch));
  EXPECT_LT(parts.durable.get(), epoch);
  parts.slots[1]->leave();
  EXPECT_TRUE(parts.step(0, epoch));
  EXPECT_GE(parts.durable.get(), epoch);
}

TEST(GroupCommit, ReadersNeedNoWrite) {
  LogParts parts(1, 1);
  Epoch current = parts.epochs.current();
  EXPECT_TRUE(parts.step(0, current));
  EXPECT_GE(parts.durable.get(), current);
  EXPECT_EQ(parts.loggers[0]->counters().batches.value(), 0);
  EXPECT_LT(parts.commit->recorded(),
            current);  // no trailer says so: it must not go to disk either
}

TEST(GroupCommit, AnIdleLoggerHoldsNobodyBack) {
  LogParts parts(2, 2);
  Epoch epoch = parts.append(0);
  EXPECT_TRUE(parts.step(0, epoch));
  EXPECT_GE(parts.durable.get(), epoch);
  EXPECT_EQ(parts.loggers[1]->counters().batches.value(), 0);
}

TEST(GroupCommit, ABusyLoggerHoldsEverybodyBack) {
  LogParts parts(2, 2);
  Epoch other = parts.append(1);
  Epoch epoch = parts.append(0);
  ASSERT_EQ(other, epoch);
  EXPECT_TRUE(parts.step(0, epoch));
  EXPECT_LT(parts.durable.get(), epoch);
  EXPECT_TRUE(parts.step(1, epoch));
  EXPECT_GE(parts.durable.get(), epoch);
  EXPECT_GE(parts.commit->recorded(), epoch);
}

// One log's only trailer is of a later epoch, of which the other still lacks its part: that both
// hold what they have of the earlier one is written nowhere. A logger that looked before that later
// epoch began must not call the earlier one durable.
TEST(GroupCommit, WhatNoTrailerOnDiskProvesIsNotDurable) {
  LogParts parts(2, 2);
  Epoch epoch = parts.append(0);
  parts.epochs.advance();
  BatchTrailer seen{.complete = epoch, .last_data = {}};
  parts.commit->find_last_data(epoch, &seen.last_data);
  ASSERT_FALSE(parts.commit->must_write(1, seen.last_data[1]));
  Epoch later = parts.append(0);
  ASSERT_EQ(parts.append(1), later);
  parts.epochs.advance();
  parts.step(0, later);
  EXPECT_LT(parts.commit->recorded(), epoch);
  EXPECT_FALSE(parts.commit->settle_without_write(seen));
  EXPECT_LT(parts.durable.get(), epoch);
  parts.step(1, later);
  EXPECT_GE(parts.commit->recorded(), later);
  EXPECT_TRUE(parts.commit->settle_without_write(seen));
}

// However far it lagged, and whatever was forgotten meanwhile.
TEST(GroupCommit, TheTrailerOfALaggardProvesWhatItReaches) {
  LogParts parts(2, 2);
  for (uint64_t i = 1; i <= 3000; ++i) {
    Epoch epoch(i);
    parts.commit->batch_synced(0, {.complete = epoch, .last_data = {epoch, epoch}});
  }
  EXPECT_EQ(parts.commit->recorded(), Epoch(0));
  Epoch reached(2500);
  parts.commit->batch_synced(1, {.complete = reached, .last_data = {reached, reached}});
  EXPECT_EQ(parts.commit->recorded(), reached);
}

TEST(GroupCommit, EpochsTooLongAgoToRememberAreNamedTooLateNotTooEarly) {
  LogParts parts(1, 1);
  Epoch first = parts.append(0);
  Epoch last = first;
  for (int i = 0; i < 20; ++i) {
    parts.epochs.advance();
    last = parts.append(0);
  }
  EXPECT_EQ(parts.commit->last_data(0, last), last);
  EXPECT_EQ(parts.commit->last_data(0, Epoch(last.value() - 3)), Epoch(last.value() - 3));
  EXPECT_GT(parts.commit->last_data(0, first), first);
}

TEST(GroupCommit, LaterEpochsStayInTheBuffer) {
  LogParts parts(1, 1);
  Epoch first = parts.append(0);
  parts.epochs.advance();
  parts.append(0);
  CommitSlot busy(parts.epochs);
  busy.enter();  // in the second epoch
  EXPECT_TRUE(parts.step(0, first));
  EXPECT_TRUE(parts.logs[0]->has_records());
  busy.leave();
  EXPECT_TRUE(parts.step(0, Epoch(first.value() + 1)));
  EXPECT_FALSE(parts.logs[0]->has_records());
}

}  // namespace
}  // namespace pgsilo
