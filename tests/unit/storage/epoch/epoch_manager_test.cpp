#include "storage/epoch/epoch_manager.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "storage/epoch/durable_epoch.h"

namespace pgsilo {
namespace {

TEST(EpochManager, EpochsBeforeTheFirstAreComplete) {
  EpochManager epochs(Epoch(7));
  EXPECT_EQ(epochs.current(), Epoch(7));
  EXPECT_EQ(epochs.completed(), Epoch(6));
  EXPECT_EQ(epochs.advance(), Epoch(8));
  EXPECT_EQ(epochs.completed(), Epoch(7));
}

TEST(EpochManager, ACommitHoldsItsEpochBack) {
  EpochManager epochs(Epoch(1));
  CommitSlot slot(epochs);
  slot.enter();
  EXPECT_EQ(slot.serialization_epoch(), Epoch(1));
  epochs.advance();
  epochs.advance();
  EXPECT_EQ(epochs.completed(), Epoch(0));
  slot.leave();
  EXPECT_EQ(epochs.completed(), Epoch(2));
}

TEST(EpochManager, ACommitThatReadsALaterEpochThanItAnnouncedHoldsBackFromItsAnnouncement) {
  EpochManager epochs(Epoch(5));
  CommitSlot slot(epochs);
  slot.enter();
  epochs.advance();
  EXPECT_EQ(slot.serialization_epoch(), Epoch(6));
  EXPECT_EQ(epochs.completed(), Epoch(4));
  slot.leave();
  EXPECT_EQ(epochs.completed(), Epoch(5));
}

TEST(EpochManager, SlotsOutsideCommitHoldNothingBack) {
  EpochManager epochs(Epoch(1));
  CommitSlot idle(epochs);
  CommitSlot busy(epochs);
  busy.enter();
  epochs.advance();
  busy.leave();
  EXPECT_EQ(epochs.completed(), Epoch(1));
  EXPECT_FALSE(idle.inside());
}

TEST(EpochManager, SlotsComeAndGo) {
  EpochManager epochs(Epoch(1));
  for (int i = 0; i < 10; ++i) {
    CommitSlot first(epochs);
    CommitSlot second(epochs);
    second.enter();
    Epoch at = second.serialization_epoch();
    epochs.advance();
    EXPECT_LT(epochs.completed(), at);
    second.leave();
    EXPECT_EQ(epochs.completed(), at);
  }
}

// What a worker did in epoch e before it left is seen by whoever sees e complete.
TEST(EpochManager, CompletionPublishesTheWorkOfTheCommit) {
  EpochManager epochs(Epoch(1));
  constexpr int commits = 2000;
  std::vector<int> handed_over(commits,
                               0);  // plain memory: TSan objects unless completion orders it
  std::vector<std::atomic<uint64_t>> epoch_of(commits);
  std::thread worker([&] {
    CommitSlot slot(epochs);
    for (int i = 0; i < commits; ++i) {
      slot.enter();
      handed_over[i] = 1;
      epoch_of[i].store(slot.serialization_epoch().value(), std::memory_order_relaxed);
      slot.leave();
    }
  });
  Epoch before = epochs.completed();
  for (int checked = 0; checked < commits;) {
    epochs.advance();
    Epoch complete = epochs.completed();
    ASSERT_GE(complete, before);
    ASSERT_LT(complete, epochs.current());
    before = complete;
    for (; checked < commits; ++checked) {
      uint64_t epoch = epoch_of[checked].load(std::memory_order_relaxed);
      if (epoch == 0 || epoch > complete.value()) break;
      ASSERT_EQ(handed_over[checked], 1);
    }
  }
  worker.join();
}

// No commit reads an epoch that somebody has already seen complete.
TEST(EpochManager, NoCommitEntersACompleteEpoch) {
  EpochManager epochs(Epoch(1));
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> published{0};
  std::thread advancer([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      epochs.advance();
      published.store(epochs.completed().value(), std::memory_order_seq_cst);
    }
  });
  CommitSlot slot(epochs);
  for (int i = 0; i < 50000; ++i) {
    uint64_t complete = published.load(std::memory_order_seq_cst);
    slot.enter();
    Epoch mine = slot.serialization_epoch();
    ASSERT_GT(mine.value(), complete);
    ASSERT_LT(epochs.completed(), mine);  // not while we are inside
    slot.leave();
  }
  stop.store(true, std::memory_order_relaxed);
  advancer.join();
}

TEST(DurableEpoch, PublishesAndCovers) {
  DurableEpoch durable(Epoch(3));
  EXPECT_TRUE(durable.covers(Epoch(3)));
  EXPECT_FALSE(durable.covers(Epoch(4)));
  durable.publish(Epoch(9));
  EXPECT_EQ(durable.get(), Epoch(9));
}

}  // namespace
}  // namespace pgsilo
