#include "storage/record/tid_word.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

Tid tid(uint64_t epoch, uint32_t sequence) { return Tid(Epoch(epoch), sequence); }

TEST(Tid, KeepsItsFieldsAtTheirLimits) {
  Tid largest = tid(Tid::max_epoch, Tid::max_sequence);
  EXPECT_EQ(largest.epoch(), Epoch(Tid::max_epoch));
  EXPECT_EQ(largest.sequence(), Tid::max_sequence);
  EXPECT_EQ(Tid::from_value(largest.value()), largest);
  EXPECT_EQ(Tid().epoch(), Epoch(0));
}

TEST(Tid, OrdersByEpochThenSequence) {
  EXPECT_LT(tid(1, Tid::max_sequence), tid(2, 0));
  EXPECT_LT(tid(2, 0), tid(2, 1));
  EXPECT_LT(Tid(), tid(1, 0));
}

TEST(Tid, FollowingIsTheSmallestAboveTheFloorInTheEpoch) {
  EXPECT_EQ(Tid::following(tid(3, 9), Epoch(5)), tid(5, 0));
  EXPECT_EQ(Tid::following(tid(5, 9), Epoch(5)), tid(5, 10));
  EXPECT_EQ(Tid::following(tid(5, Tid::max_sequence), Epoch(5)), std::nullopt);
  EXPECT_EQ(Tid::following(tid(6, 0), Epoch(5)), std::nullopt);
}

TEST(AtomicTidWord, LockExcludesAndUnlockRestores) {
  AtomicTidWord word(TidWord::present(tid(4, 2)));
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  EXPECT_EQ(seen.tid(), tid(4, 2));
  EXPECT_TRUE(word.load().is_locked());
  EXPECT_TRUE(word.load().counts_as_present());
  TidWord other;
  EXPECT_FALSE(word.try_lock(LockPurpose::update, other));
  EXPECT_TRUE(other.is_locked());
  word.unlock();
  EXPECT_EQ(word.load(), TidWord::present(tid(4, 2)));
}

TEST(AtomicTidWord, ADeleterIsVisibleBeforeItsInstall) {
  AtomicTidWord word(TidWord::present(tid(4, 2)));
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::remove, seen));
  EXPECT_TRUE(word.load().is_deleting());
  EXPECT_FALSE(word.load().counts_as_present());
  word.unlock();
  EXPECT_EQ(word.load(), TidWord::present(tid(4, 2)));
  ASSERT_TRUE(word.try_lock(LockPurpose::remove, seen));
  word.install(tid(5, 0), /*absent=*/true);
  EXPECT_EQ(word.load(), TidWord::absent(tid(5, 0)));
}

TEST(AtomicTidWord, InstallPublishesAndUnlocksInOneStep) {
  AtomicTidWord word(TidWord::absent(Tid()));
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  word.install(tid(1, 1), /*absent=*/false);
  EXPECT_EQ(word.load(), TidWord::present(tid(1, 1)));
}

TEST(AtomicTidWord, AnIntentSurvivesLockInstallAndUnlock) {
  AtomicTidWord word(TidWord::present(tid(1, 1)));
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  EXPECT_FALSE(word.raise_intent().has_intent());
  word.install(tid(2, 0), /*absent=*/false);
  EXPECT_TRUE(word.load().has_intent());
  EXPECT_FALSE(word.load().is_locked());
  EXPECT_EQ(word.load().tid(), tid(2, 0));
  ASSERT_TRUE(word.try_lock(LockPurpose::remove, seen));
  EXPECT_TRUE(seen.has_intent());
  EXPECT_TRUE(word.drop_intent().has_intent());
  word.install(tid(2, 1), /*absent=*/true);
  EXPECT_EQ(word.load(), TidWord::absent(tid(2, 1)));
}

TEST(AtomicTidWord, AnObsoleteRecordIsNeverLockedAgain) {
  AtomicTidWord word(TidWord::absent(tid(3, 0)));
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  word.unlock_obsolete();
  EXPECT_TRUE(word.load().is_obsolete());
  EXPECT_FALSE(word.load().is_locked());
  EXPECT_FALSE(word.try_lock(LockPurpose::update, seen));
  EXPECT_TRUE(seen.is_obsolete());
  EXPECT_FALSE(word.load().counts_as_present());
}

}  // namespace
}  // namespace pgsilo
