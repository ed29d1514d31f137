#include "storage/index/scan_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {
namespace {

class ScanTest : public TreeTest {
 protected:
  // Keys of every shape: short ones, ones that end at slice boundaries, shared prefixes of several
  // slices.
  void fill() {
    for (int i = 0; i < 60; ++i) {
      keys_.push_back(big_endian(i * 5, 1));
      keys_.push_back("prefix--" + big_endian(i * 4, 1));
      keys_.push_back("prefix--and more" + big_endian(i * 3, 2));
      keys_.push_back("prefix--and more" + std::string(i, '\0'));
      keys_.push_back("q" + std::string(i, 'z'));
    }
    keys_.push_back("");
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    for (const std::string& key : keys_) ASSERT_TRUE(user_.insert(key));
  }

  std::vector<std::string> expected(const KeyRange& range, ScanDirection direction) const {
    std::vector<std::string> result;
    for (const std::string& key : keys_) {
      if (range.lower.kind == KeyBound::Kind::inclusive && key < range.lower.key) continue;
      if (range.lower.kind == KeyBound::Kind::exclusive && key <= range.lower.key) continue;
      if (range.upper.kind == KeyBound::Kind::inclusive && key > range.upper.key) continue;
      if (range.upper.kind == KeyBound::Kind::exclusive && key >= range.upper.key) continue;
      result.push_back(key);
    }
    if (direction == ScanDirection::backward) std::reverse(result.begin(), result.end());
    return result;
  }

  std::vector<std::string> keys_;
};

TEST_F(ScanTest, EveryKindOfBoundInBothDirections) {
  fill();
  std::vector<std::string> bounds = {"",
                                     std::string(1, '\0'),
                                     "p",
                                     "prefix-",
                                     "prefix--",
                                     "prefix--a",
                                     "prefix--and more",
                                     "prefix--and morf",
                                     "q",
                                     "qzzzzzzzz",
                                     "qzzzzzzzzzzzz",
                                     "r",
                                     std::string(20, '\xff')};
  for (size_t i = 0; i < keys_.size(); i += 29) bounds.push_back(keys_[i]);
  using Kind = KeyBound::Kind;
  for (const std::string& low : bounds) {
    for (const std::string& high : bounds) {
      for (Kind low_kind : {Kind::unbounded, Kind::inclusive, Kind::exclusive}) {
        for (Kind high_kind : {Kind::unbounded, Kind::inclusive, Kind::exclusive}) {
          KeyRange range{{low_kind, low}, {high_kind, high}};
          for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
            ASSERT_EQ(user_.scan(range, direction), expected(range, direction))
                << low << " to " << high;
          }
        }
      }
    }
  }
}

TEST_F(ScanTest, NodesOfTheWholeRangeAreReportedAndNoMoreThanNeeded) {
  for (uint64_t i = 0; i < 1500; ++i) ASSERT_TRUE(user_.insert(big_endian(i)));
  std::string low = big_endian(300), high = big_endian(599);
  for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
    CollectingObserver set;
    EXPECT_EQ(
        user_.scan({KeyBound::inclusive(low), KeyBound::inclusive(high)}, direction, &set).size(),
        300u);
    EXPECT_TRUE(set.valid());
    EXPECT_GE(set.nodes.size(), 20u);
    EXPECT_LE(set.nodes.size(), 22u);
  }
}

// I6: whatever key is inserted in a range that was scanned, some reported node notices. One that
// is removed is nobody's phantom.
TEST_F(ScanTest, EveryPhantomIsNoticed) {
  for (uint64_t i = 0; i < 400; ++i) ASSERT_TRUE(user_.insert(big_endian(i * 10)));
  ASSERT_TRUE(user_.insert(big_endian(2000) + "layer a"));
  ASSERT_TRUE(user_.insert(big_endian(2000) + "layer b"));
  std::string low = big_endian(1000), high = big_endian(3000);
  KeyRange range{KeyBound::inclusive(low), KeyBound::exclusive(high)};
  std::vector<std::string> phantoms = {low,
                                       big_endian(1001),
                                       big_endian(1999),
                                       big_endian(2000) + "layer",
                                       big_endian(2000) + "layer aa",
                                       big_endian(2000) + "z",
                                       big_endian(2990) + "x",
                                       big_endian(2999)};
  for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
    for (const std::string& phantom : phantoms) {
      CollectingObserver set;
      user_.scan(range, direction, &set);
      bool was_there = user_.contains(phantom);
      ASSERT_TRUE(set.valid());
      ASSERT_TRUE(was_there ? user_.remove(phantom) : user_.insert(phantom));
      EXPECT_EQ(set.valid(), was_there);
      CollectingObserver again;
      user_.scan(range, direction, &again);
      ASSERT_TRUE(was_there ? user_.insert(phantom) : user_.remove(phantom));
      EXPECT_EQ(again.valid(), !was_there);
    }
  }
}

TEST_F(ScanTest, AnEmptyRangeIsGuardedToo) {
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(user_.insert(big_endian(i)));
  for (uint64_t i = 300; i < 400; ++i) ASSERT_TRUE(user_.insert(big_endian(i)));
  std::string low = big_endian(150), high = big_endian(250);
  for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
    CollectingObserver set;
    EXPECT_TRUE(
        user_.scan({KeyBound::exclusive(low), KeyBound::exclusive(high)}, direction, &set).empty());
    ASSERT_TRUE(user_.insert(big_endian(200)));
    EXPECT_FALSE(set.valid());
    ASSERT_TRUE(user_.remove(big_endian(200)));
  }
}

TEST_F(ScanTest, AScanThatStopsEarlyCoversWhatItPassed) {
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(user_.insert(big_endian(i * 2)));
  CollectingObserver set;
  ScanCursor cursor(tree_, {}, ScanDirection::forward, &set);
  for (int i = 0; i < 100; ++i) ASSERT_NE(cursor.next(), nullptr);
  EXPECT_LE(set.nodes.size(), 8u);
  ASSERT_TRUE(user_.insert(big_endian(1001)));  // behind the last key seen by far
  EXPECT_TRUE(set.valid());
  ASSERT_TRUE(user_.insert(big_endian(101)));
  EXPECT_FALSE(set.valid());
}

// A cursor that rests while the tree changes under it goes on and yields every key that stayed,
// once and in order.
class RestingScanTest : public ScanTest, public ::testing::WithParamInterface<ScanDirection> {};

TEST_P(RestingScanTest, SurvivesSplitsAndRemovals) {
  bool forward = GetParam() == ScanDirection::forward;
  auto stays = [](uint64_t i) { return i % 7 == 0; };
  for (int round = 0; round < 20; ++round) {
    IndexTree tree(RelationId(2));
    TreeUser user(tree, reclaimer_);
    auto key = [&](uint64_t i) {
      return round % 2 == 0 ? big_endian(i) : "prefix--" + big_endian(i / 40, 8) + big_endian(i, 8);
    };
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(user.insert(key(i)));
    std::vector<std::string> seen;
    ScanCursor cursor(tree, {}, GetParam(), nullptr);
    for (uint64_t step = 0;; ++step) {
      Record* record = cursor.next();
      if (record == nullptr) break;
      seen.emplace_back(record->key());
      if (step == static_cast<uint64_t>(round) * 10) {
        for (uint64_t i = 0; i < 1000; ++i) {
          if (!stays(i)) {
            ASSERT_TRUE(user.remove(key(i)));
          }
        }
      }
      if (step == static_cast<uint64_t>(round) * 12) {
        for (uint64_t i = 1000; i < 1500; ++i) ASSERT_TRUE(user.insert(key(i)));
        for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(user.insert(key(i) + "x"));
      }
    }
    EXPECT_TRUE(forward ? std::is_sorted(seen.begin(), seen.end())
                        : std::is_sorted(seen.rbegin(), seen.rend()));
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
    for (uint64_t i = 0; i < 1000; ++i) {
      if (stays(i)) {
        EXPECT_EQ(std::count(seen.begin(), seen.end(), key(i)), 1) << i;
      }
    }
    EXPECT_EQ(tree.check(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, RestingScanTest,
                         ::testing::Values(ScanDirection::forward, ScanDirection::backward));

TEST_F(ScanTest, ALayerThatGoesWhileTheCursorRestsAboveItIsSkipped) {
  ASSERT_TRUE(user_.insert("a"));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(user_.insert("layered-" + big_endian(i, 4)));
  ASSERT_TRUE(user_.insert("z"));
  for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
    CollectingObserver set;
    ScanCursor cursor(tree_, {}, direction, &set);
    ASSERT_EQ(cursor.next()->key(), direction == ScanDirection::forward ? "a" : "z");
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(user_.remove("layered-" + big_endian(i, 4)));
    ASSERT_EQ(cursor.next()->key(), direction == ScanDirection::forward ? "z" : "a");
    ASSERT_EQ(cursor.next(), nullptr);
    EXPECT_TRUE(set.valid());
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(user_.insert("layered-" + big_endian(i, 4)));
    EXPECT_FALSE(set.valid());
  }
}

}  // namespace
}  // namespace pgsilo
