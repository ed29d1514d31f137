#include "storage/relation/relation_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

namespace pgsilo {
namespace {

TEST(RelationDirectory, IdsAscendAndRecoveryRaisesTheFloor) {
  RelationDirectory directory;
  EXPECT_EQ(directory.create({}, false).id(), RelationId(1));
  EXPECT_EQ(directory.create({}, false).id(), RelationId(2));
  Relation& recovered = directory.get_or_create(RelationId(70000), {});
  EXPECT_EQ(&directory.get_or_create(RelationId(70000), {}), &recovered);
  EXPECT_EQ(directory.find(RelationId(70000)), &recovered);
  EXPECT_EQ(directory.find(RelationId(69999)), nullptr);
  EXPECT_EQ(directory.create({}, false).id(), RelationId(70001));
  directory.raise_id_floor(RelationId(0x80000000u));
  directory.raise_id_floor(RelationId(5));
  EXPECT_EQ(directory.create({}, false).id(), RelationId(0x80000001u));
  EXPECT_EQ(directory.id_floor(), RelationId(0x80000001u));
  EXPECT_EQ(directory.list().size(), 5u);
  EXPECT_EQ(directory.list()[3]->id(), RelationId(70001));
}

TEST(RelationDirectory, ADroppedRelationLivesAsLongAsAPin) {
  RelationDirectory directory;
  Reclaimer reclaimer;
  ReclaimerHandle handle(reclaimer), reader(reclaimer);
  Relation& relation = directory.create({}, false);
  NodeChanges changes;
  for (int i = 0; i < 1000; ++i) {
    Record* record =
        relation.records().create_filled(std::to_string(i), "row", Tid(Epoch(1), 0), handle);
    ASSERT_EQ(relation.tree().insert(record, handle, changes), nullptr);
  }
  {
    Pin pin(reader);
    directory.drop(relation.id(), handle);
    directory.drop(relation.id(), handle);  // again: nothing
    EXPECT_EQ(directory.find(relation.id()), nullptr);
    handle.reclaim();
    EXPECT_FALSE(directory.reclaim_dropped(10, handle));
    EXPECT_EQ(reclaimer.pending_bytes(),
              relation.memory_bytes());  // that is what the pin holds back
    EXPECT_NE(relation.tree().get("999").record, nullptr);
  }
  handle.reclaim();
  EXPECT_EQ(directory.dropped_count(), 1u);
  EXPECT_TRUE(directory.reclaim_dropped(10, handle));  // in pieces
  EXPECT_TRUE(directory.reclaim_dropped(900, handle));
  EXPECT_FALSE(directory.reclaim_dropped(900, handle));
  EXPECT_EQ(directory.dropped_count(), 0u);
}

TEST(Relation, RowIdsAreUniqueAcrossWorkersAndRestarts) {
  Relation relation(RelationId(1), {}, false);
  constexpr int threads = 4, each = 5000;
  std::vector<std::vector<uint64_t>> taken(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    // Of far more workers than any machine has; the last has no cell.
    running.emplace_back([&, i] {
      for (int n = 0; n < each; ++n)
        taken[i].push_back(relation.next_row_id(static_cast<unsigned>(i) * 400));
    });
  }
  for (std::thread& thread : running) thread.join();
  std::set<uint64_t> all;
  for (const auto& ids : taken) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), static_cast<size_t>(threads * each));
  EXPECT_GT(*all.begin(), 0u);

  Relation restarted(RelationId(1), {}, false);
  restarted.raise_row_id_floor(*all.rbegin());
  restarted.raise_row_id_floor(3);
  for (unsigned worker = 0; worker < 3; ++worker)
    EXPECT_GT(restarted.next_row_id(worker), *all.rbegin());
}

TEST(Relation, CountsRowsOfAllWorkers) {
  Relation relation(RelationId(1), {}, false);
  relation.add_rows(0, 5);
  relation.add_rows(1, -2);
  EXPECT_EQ(relation.row_count(), 3);
  EXPECT_GT(relation.memory_bytes(), 0u);
}

}  // namespace
}  // namespace pgsilo
