#include "wal/recovery/record_restorer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/arena.h"
#include "base/random.h"
#include "storage/record/record.h"
#include "storage/record/row_buffer.h"
#include "storage/relation/relation_directory.h"
#include "wal/recovery/restored_relations.h"

namespace pgsilo {
namespace {

constexpr RelationId relation_id = first_user_relation;

struct Change {
  Tid tid;
  std::string key;
  std::string row;
  bool tombstone;
};

class RestorerTest : public ::testing::Test {
 protected:
  static void restore(RecordRestorer& restorer, const Change& change) {
    Pin pin(restorer.handle());
    restorer.restore(change.tid, {.relation = relation_id,
                                  .tombstone = change.tombstone,
                                  .key = change.key,
                                  .row = change.row});
  }
  // The row, or "-" if the tree does not know the key any more, or "absent".
  std::string row(const std::string& key) {
    Relation* relation = relations_.find(relation_id);
    ReclaimerHandle handle(reclaimer_);
    Pin pin(handle);
    Record* record = relation->tree().get(key).record;
    if (record == nullptr) return "-";
    Arena arena;
    RowBuffer buffer(arena);
    return record->stable_read(buffer).is_absent() ? "absent" : std::string(buffer.bytes());
  }

  const RestoredRelations all_ = RestoredRelations::of_users({});
  RelationDirectory relations_;  // outlives the reclaimer
  Reclaimer reclaimer_;
};

TEST_F(RestorerTest, TheLargestTidWinsInAnyOrder) {
  RecordRestorer restorer(all_, relations_, reclaimer_);
  restore(restorer, {Tid(Epoch(2), 0), "k", "second", false});
  restore(restorer, {Tid(Epoch(1), 9), "k", "first", false});
  EXPECT_EQ(row("k"), "second");
  restore(restorer, {Tid(Epoch(3), 0), "k", std::string(5000, 'x'), false});
  EXPECT_EQ(row("k"), std::string(5000, 'x'));
  EXPECT_EQ(relations_.find(relation_id)->row_count(), 1);
}

TEST_F(RestorerTest, ADeleteSeenBeforeAnOlderInsertWins) {
  RecordRestorer restorer(all_, relations_, reclaimer_);
  restore(restorer, {Tid(Epoch(5), 0), "k", "", true});
  EXPECT_EQ(row("k"), "absent");
  restore(restorer, {Tid(Epoch(4), 0), "k", "older", false});
  EXPECT_EQ(row("k"), "absent");
  restorer.finish();
  EXPECT_EQ(row("k"), "-");
  EXPECT_EQ(relations_.find(relation_id)->row_count(), 0);
}

TEST_F(RestorerTest, HiddenRowIdsGoOnAboveTheLargestSeenDeletedOnesIncluded) {
  RecordRestorer restorer(all_, relations_, reclaimer_);
  restore(restorer, {Tid(Epoch(1), 0), std::string("\0\0\0\0\0\1\0\0", 8), "", true});
  restorer.finish();
  EXPECT_GT(relations_.find(relation_id)->next_row_id(0), uint64_t{1} << 16);
}

// Several threads restore the versions of few keys, each in an order of its own.
TEST_F(RestorerTest, ThreadsAgree) {
  constexpr int keys = 5, versions = 400, threads = 4;
  std::vector<Change> changes;
  Random random(3);
  for (int version = 1; version <= versions; ++version) {
    for (int key = 0; key < keys; ++key) {
      bool tombstone = version == versions ? key == 0 : random.one_in(4);
      std::string row =
          tombstone ? "" : std::to_string(version) + std::string(random.below(300), 'r');
      changes.push_back(
          {Tid(Epoch(static_cast<uint64_t>(version)), 0), std::to_string(key), row, tombstone});
    }
  }
  std::vector<std::unique_ptr<RecordRestorer>> restorers;
  for (int i = 0; i < threads; ++i) {
    restorers.push_back(std::make_unique<RecordRestorer>(all_, relations_, reclaimer_));
  }
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      std::vector<Change> mine = changes;
      Random order(static_cast<uint64_t>(i));
      for (size_t at = mine.size() - 1; at > 0; --at)
        std::swap(mine[at], mine[order.below(at + 1)]);
      for (const Change& change : mine) restore(*restorers[static_cast<size_t>(i)], change);
    });
  }
  for (std::thread& thread : running) thread.join();
  {
    std::vector<std::unique_ptr<Pin>> pins;
    for (auto& restorer : restorers) pins.push_back(std::make_unique<Pin>(restorer->handle()));
    for (auto& restorer : restorers) restorer->finish();
  }
  EXPECT_EQ(row("0"), "-");
  for (size_t key = 1; key < keys; ++key) {
    EXPECT_EQ(row(std::to_string(key)), changes[changes.size() - keys + key].row);
  }
  EXPECT_EQ(relations_.find(relation_id)->row_count(), keys - 1);
}

}  // namespace
}  // namespace pgsilo
