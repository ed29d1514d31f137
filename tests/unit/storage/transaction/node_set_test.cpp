// Node sets whose nodes are removed: what their heirs get counts, but for what is one's own.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {
namespace {

class NodeSetTest : public TreeTest {
 protected:
  void SetUp() override { register_and_remove(); }
  // The node that would hold key(50) is registered, and removed.
  void register_and_remove() {
    for (int i = 0; i < 100; ++i) user_.insert(key(i));
    ASSERT_TRUE(user_.remove(key(50)));
    IndexTree::Found absent = tree_.get(key(50));
    set_ = CollectingObserver();
    set_.observe(absent.node);
    for (int i = 20; i < 80; ++i) user_.remove(key(i));
    ASSERT_NE(tree_.get(key(50)).node.node, absent.node.node);
    ASSERT_TRUE(set_.valid());
  }
  static std::string key(int i) { return big_endian(static_cast<uint64_t>(i) * 100); }
  void insert_own(const std::string& key) {
    NodeChanges changes;
    ASSERT_TRUE(user_.insert(key, &changes));
    set_.apply(changes);
  }
  void insert_many(int first, int last) {
    for (int i = first; i < last; ++i) {
      insert_own(key(i));
      ASSERT_TRUE(set_.valid()) << i;
    }
  }

  CollectingObserver set_;
};

TEST_F(NodeSetTest, OwnInsertsIntoAnHeirLeaveItValid) { insert_many(20, 80); }

TEST_F(NodeSetTest, AnotherInsertIntoAnHeirDoesNot) {
  ASSERT_TRUE(user_.insert(key(50)));
  EXPECT_FALSE(set_.valid());
}

TEST_F(NodeSetTest, NorDoesOneBesideOnesOwn) {
  insert_many(51, 55);
  ASSERT_TRUE(user_.insert(key(50)));
  EXPECT_FALSE(set_.valid());
  insert_own(key(49));
  EXPECT_FALSE(set_.valid()) << "what came before a run is not the run's";
}

TEST_F(NodeSetTest, NorDoesOneIntoWhatHasSplitOffAnHeir) {
  insert_many(20, 50);
  insert_many(51, 80);
  ASSERT_TRUE(user_.insert(key(50)));
  EXPECT_FALSE(set_.valid());
}

// The insert that splits it is the last of one's own.
TEST_F(NodeSetTest, NorDoesOneIntoWhatHasJustSplitOffAnHeir) {
  for (int last = 21; last < 50; ++last) {
    insert_many(20, last);
    ASSERT_TRUE(user_.insert(key(50)));
    EXPECT_FALSE(set_.valid()) << last;
    register_and_remove();
  }
}

TEST_F(NodeSetTest, AndOnesOwnBehindItMendsNothing) {
  insert_many(20, 50);
  insert_many(51, 80);
  ASSERT_TRUE(user_.insert(key(50)));
  for (int i = 20; i < 80; ++i) {
    insert_own(key(i) + "x");
    ASSERT_FALSE(set_.valid()) << i;
  }
}

TEST_F(NodeSetTest, NorDoesOneIntoALayerUnderAnHeir) {
  insert_own(key(50) + "a");
  insert_own(key(50) + "b");
  ASSERT_TRUE(set_.valid());
  ASSERT_TRUE(user_.insert(key(50) + "c"));
  EXPECT_FALSE(set_.valid());
}

// The heir goes as well, with what the transaction has put into it, and its heir gets more.
TEST_F(NodeSetTest, HeirsHaveHeirs) {
  insert_many(20, 80);
  for (int i = 1; i < 100; ++i) {
    user_.remove(key(i));
    ASSERT_TRUE(set_.valid()) << i;
  }
  insert_many(20, 80);
  user_.remove(key(50));
  ASSERT_TRUE(set_.valid());
  ASSERT_TRUE(user_.insert(key(50)));
  EXPECT_FALSE(set_.valid());
}

// Many nodes, and not one key that comes.
class LargeNodeSetTest : public TreeTest {
 protected:
  static std::string key(int i) { return big_endian(static_cast<uint64_t>(i)); }
  void fill() {
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(user_.insert(key(i)));
  }
  void scan_from(int first) {
    user_.scan({KeyBound::inclusive(key(first)), KeyBound::none()}, ScanDirection::forward, &set_);
    ASSERT_GT(set_.nodes.size(), static_cast<size_t>(keys - first) / 20);
  }
  void remove_ascending(int first, int last) {
    for (int i = first; i < last; ++i) ASSERT_TRUE(user_.remove(key(i)));
  }
  void remove_descending(int first, int last) {
    for (int i = last - 1; i >= first; --i) ASSERT_TRUE(user_.remove(key(i)));
  }
  // In time that does not grow with the square of the nodes.
  void expect_valid() {
    auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(set_.valid());
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
    ASSERT_TRUE(user_.insert(key(keys - 1)));
    EXPECT_FALSE(set_.valid());
  }

  static constexpr int keys = 300000;
  CollectingObserver set_;
};

// One node is the heir of all.
TEST_F(LargeNodeSetTest, FromTheFirstToTheLast) {
  fill();
  scan_from(0);
  remove_ascending(0, keys);
  expect_valid();
}

// They make one chain, which no validation may follow from each of them: 3 ms instead of 4 s.
TEST_F(LargeNodeSetTest, FromTheLastToTheFirst) {
  fill();
  scan_from(0);
  remove_descending(0, keys);
  expect_valid();
}

// Those that are registered have one heir, from which a chain of others goes on.
TEST_F(LargeNodeSetTest, FromTheMiddleToBothEnds) {
  fill();
  scan_from(keys / 2);
  remove_ascending(keys / 2, keys);
  remove_descending(0, keys / 2);
  expect_valid();
}

// Those that are registered enter one chain of others, each at a link behind which there are more.
TEST_F(LargeNodeSetTest, InSteps) {
  constexpr int step = 300;
  fill();
  for (int i = keys - step; i > 0; i -= step)
    user_.scan({KeyBound::inclusive(key(i)), KeyBound::inclusive(key(i))}, ScanDirection::forward,
               &set_);
  for (int i = step; i < keys; i += step) remove_ascending(i - step / 3, i + step / 3);
  for (int i = keys; i > 0; i -= step) remove_descending(i - 2 * step / 3, i - step / 3);
  remove_descending(0, step / 3);
  remove_descending(keys - step / 3, keys);
  expect_valid();
}

TEST_F(NodeSetTest, ClearForgetsRuns) {
  insert_many(20, 80);
  set_.nodes.clear();
  EXPECT_TRUE(set_.nodes.empty());
  EXPECT_TRUE(set_.nodes.validates(0, 0, 0));
}

}  // namespace
}  // namespace pgsilo
