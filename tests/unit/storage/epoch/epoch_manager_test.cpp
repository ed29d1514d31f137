#include "storage/epoch/epoch_manager.h"

#include <gtest/gtest.h>

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

TEST(DurableEpoch, PublishesAndCovers) {
  DurableEpoch durable(Epoch(3));
  EXPECT_TRUE(durable.covers(Epoch(3)));
  EXPECT_FALSE(durable.covers(Epoch(4)));
  durable.publish(Epoch(9));
  EXPECT_EQ(durable.get(), Epoch(9));
}

}  // namespace
}  // namespace pgsilo
