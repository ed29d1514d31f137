// A snapshot begins when the commits before it have left; what was kept for it goes when it is
// closed.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/storage/transaction/snapshot_fixture.h"

namespace pgsilo {
namespace {

using enum TransactionStatus;

class SnapshotLifeTest : public SnapshotTest {};

TEST_F(SnapshotLifeTest, WaitsForACommitThatIsUnderWay) {
  CommitSlot& slot = writer.worker.slot();
  slot.enter();
  std::atomic<bool> opened = false;
  std::thread waiting([&] {
    EXPECT_EQ(reader.transaction.begin_snapshot(), ok);
    opened = true;
    EXPECT_EQ(reader.commit(), ok);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(opened);
  slot.leave();
  waiting.join();
  EXPECT_TRUE(opened);
}

TEST_F(SnapshotLifeTest, TheWaitCanBeCancelled) {
  std::atomic<bool> cancelled = true;
  reader.settings.cancelled = &cancelled;
  writer.worker.slot().enter();
  EXPECT_EQ(reader.transaction.begin_snapshot(), TransactionStatus::cancelled);
  writer.worker.slot().leave();
  EXPECT_FALSE(reader.transaction.is_open());
  EXPECT_EQ(engine.snapshots.open_count(), 0u);
}

// A commit that saw the boundary before it was closed adds its version when the sweep has been
// ordered.
TEST_F(SnapshotLifeTest, TheSweepWaitsForCommitsThatAreUnderWay) {
  open();
  Epoch boundary = reader.transaction.snapshot()->boundary();
  writer.worker.slot().enter();
  EXPECT_EQ(reader.commit(), ok);
  while (reader.worker.housekeep()) {
  }
  OldVersion* late = kept.create(relation.tree().get("b").record, 0, 0);
  late->tid = Tid(boundary, 0);
  late->replaced_in = next(boundary);
  kept.add(late);
  writer.worker.slot().leave();
  clean_up();
  EXPECT_EQ(kept.count(), 0u);
}

TEST_F(SnapshotLifeTest, ASweepLeavesWhatALaterSnapshotMayNeed) {
  Record* record = relation.tree().get("b").record;
  OldVersion* version = kept.create(record, 0, 0);
  version->tid = Tid(Epoch(10), 0);
  version->replaced_in = Epoch(20);
  kept.add(version);
  auto sweep = [&](uint64_t until, std::vector<Epoch> boundaries) {
    for (size_t i = 0; i < OldVersions::shard_count; ++i)
      kept.sweep(i, Epoch(until), boundaries, 0);
    return kept.count();
  };
  EXPECT_EQ(sweep(19, {}), 1u);
  EXPECT_EQ(sweep(20, {Epoch(9), Epoch(10)}), 1u);
  EXPECT_EQ(sweep(20, {Epoch(9), Epoch(19)}), 1u);
  EXPECT_EQ(kept.find(record, Epoch(19)), version);
  EXPECT_EQ(kept.find(record, Epoch(9)), nullptr);
  EXPECT_EQ(kept.find(record, Epoch(20)), nullptr);
  EXPECT_EQ(sweep(20, {Epoch(9), Epoch(20)}), 0u);
}

TEST_F(SnapshotLifeTest, ThousandsOfVersionsAreFoundAndFreed) {
  constexpr int rows = 20000;
  writer.begin();
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(writer.insert(relation, "k" + std::to_string(i), std::to_string(i)), ok);
  ASSERT_EQ(writer.commit(), ok);
  open();
  writer.begin();
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(writer.put(relation, "k" + std::to_string(i), "changed"), ok);
  ASSERT_EQ(writer.commit(), ok);
  EXPECT_EQ(kept.count(), static_cast<size_t>(rows));
  for (int i = 0; i < rows; ++i)
    ASSERT_EQ(reader.read(relation, "k" + std::to_string(i)), std::to_string(i));
  EXPECT_EQ(reader.commit(), ok);
  clean_up();
  EXPECT_EQ(kept.count(), 0u);
  EXPECT_EQ(kept.bytes(), 0u);
}

}  // namespace
}  // namespace pgsilo
