#include "storage/index/index_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/byte_order.h"
#include "storage/limits.h"
#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {
namespace {

class IndexTreeTest : public TreeTest {
 protected:
  void insert_all(std::vector<std::string> keys) {
    for (const std::string& key : keys) ASSERT_TRUE(user_.insert(key));
    for (const std::string& key : keys) {
      ASSERT_TRUE(user_.contains(key));
      ASSERT_FALSE(user_.insert(key));
    }
    std::sort(keys.begin(), keys.end());
    ASSERT_EQ(user_.scan(), keys);
    ASSERT_EQ(shape().records, keys.size());
  }
};

TEST_F(IndexTreeTest, IsEmptyAtFirst) {
  EXPECT_FALSE(user_.contains(""));
  EXPECT_FALSE(user_.contains("anything"));
  EXPECT_TRUE(user_.scan().empty());
}

TEST_F(IndexTreeTest, InsertReturnsTheRecordThatIsThere) {
  Record* first = tree_.records().create("key", 8, user_.handle());
  Record* second = tree_.records().create("key", 8, user_.handle());
  NodeChanges changes;
  EXPECT_EQ(tree_.insert(first, user_.handle(), changes), nullptr);
  EXPECT_NE(changes.changed, nullptr);
  EXPECT_EQ(tree_.insert(second, user_.handle(), changes), first);
  EXPECT_EQ(changes.changed, nullptr);
  EXPECT_EQ(tree_.get("key").record, first);
  tree_.records().destroy(second, user_.handle());
}

TEST_F(IndexTreeTest, KeysOfAllLengthsAroundSliceBoundaries) {
  std::vector<std::string> keys;
  for (size_t bytes = 0; bytes <= 40; ++bytes)
    keys.push_back(std::string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN").substr(0, bytes));
  insert_all(keys);
  EXPECT_EQ(shape().layers, 5u);
}

// A hint that changes nothing, whatever is on the way.
TEST_F(IndexTreeTest, AnyPathMayBePrefetched) {
  std::vector<std::string> keys{"", "neither", std::string("nor\0", 4)};
  for (int i = 0; i < 2000; ++i) keys.push_back("common prefix" + std::to_string(i * 7919 % 2000));
  for (size_t inserted : {size_t{0}, size_t{1}, keys.size()}) {
    for (size_t i = 3; i < inserted; ++i) user_.insert(keys[i]);
    std::vector<IndexTree::Lookup> lookups;
    for (const std::string& key : keys) {
      lookups.push_back({&tree_, key});
      IndexTree::prefetch(
          std::span(lookups).last(std::min(lookups.size(), IndexTree::max_lookups)));
    }
  }
  IndexTree::prefetch({});
}

TEST_F(IndexTreeTest, KeysOfZeroBytesOnlyDifferInLength) {
  std::vector<std::string> keys;
  for (size_t bytes = 0; bytes <= 40; ++bytes) keys.push_back(std::string(bytes, '\0'));
  std::reverse(keys.begin(), keys.end());
  insert_all(keys);
}

TEST_F(IndexTreeTest, KeysOfLargestBytes) {
  std::vector<std::string> keys;
  for (size_t bytes = 0; bytes <= 40; ++bytes) keys.push_back(std::string(bytes, '\xff'));
  insert_all(keys);
  EXPECT_EQ(user_.scan({}, ScanDirection::backward).front(), std::string(40, '\xff'));
}

TEST_F(IndexTreeTest, ManyKeysWithOneSliceStayTogetherWhenTheirNodeSplits) {
  std::vector<std::string> keys;
  for (char first : {'a', 'b', 'c'}) {
    for (size_t zeros = 0; zeros <= 9; ++zeros)
      keys.push_back(std::string(1, first) + std::string(zeros, '\0'));
  }
  std::mt19937 random(3);
  std::shuffle(keys.begin(), keys.end(), random);
  insert_all(keys);
}

TEST_F(IndexTreeTest, LongCommonPrefixesMakeAChainOfLayers) {
  std::string prefix(200, 'p');
  insert_all({prefix + "a", prefix + "b", prefix, prefix.substr(0, 199),
              prefix + std::string("a\0b", 3), prefix + std::string("a\0", 2)});
}

TEST_F(IndexTreeTest, KeysUpToTheLimit) {
  std::string longest(max_key_bytes, 'x');
  std::string other = longest;
  other.back() = 'y';
  insert_all({longest, other, longest.substr(1)});
  EXPECT_TRUE(user_.remove(longest));
  EXPECT_TRUE(user_.remove(other));
  EXPECT_TRUE(user_.contains(longest.substr(1)));
  EXPECT_FALSE(user_.contains(longest));
}

TEST_F(IndexTreeTest, AKeyIsNotFoundByAPrefixOrAnExtension) {
  ASSERT_TRUE(user_.insert("abcdefghij"));
  EXPECT_FALSE(user_.contains("abcdefgh"));
  EXPECT_FALSE(user_.contains("abcdefghi"));
  EXPECT_FALSE(user_.contains("abcdefghijk"));
  EXPECT_FALSE(user_.contains("abcdefghiX"));
  EXPECT_TRUE(user_.contains("abcdefghij"));
}

TEST_F(IndexTreeTest, EmbeddedZeroBytesMatter) {
  insert_all({std::string("a\0b", 3), std::string("a\0c", 3), std::string("a", 1),
              std::string("a\0", 2), std::string("abcdefg\0", 8), std::string("abcdefg", 7),
              std::string("abcdefg\0\0", 9)});
}

TEST_F(IndexTreeTest, AscendingInsertsLeaveFullNodes) {
  constexpr size_t keys = 30000;
  for (uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(user_.insert(big_endian(i)));
  EXPECT_LE(shape().border_nodes, keys / 15 + 1);
  for (uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(user_.contains(big_endian(i)));
}

TEST_F(IndexTreeTest, DescendingInsertsLeaveFullNodes) {
  constexpr size_t keys = 30000;
  for (uint64_t i = keys; i > 0; --i) ASSERT_TRUE(user_.insert(big_endian(i)));
  EXPECT_LE(shape().border_nodes, keys / 15 + 2);
  for (uint64_t i = keys; i > 0; --i) ASSERT_TRUE(user_.contains(big_endian(i)));
}

TEST_F(IndexTreeTest, RandomKeysOfManyShapes) {
  std::mt19937 random(4);
  std::set<std::string> keys;
  for (int i = 0; i < 20000; ++i) {
    std::string key(random() % 28, 'k');
    for (size_t at = key.size() / 2; at < key.size(); ++at)
      key[at] = static_cast<char>(random() % 4);
    EXPECT_EQ(user_.insert(key), keys.insert(key).second);
  }
  EXPECT_EQ(user_.scan(), std::vector<std::string>(keys.begin(), keys.end()));
}

TEST_F(IndexTreeTest, TheAppenderLoadsAscendingKeys) {
  TreeAppender appender(tree_);
  NodeChanges changes;
  std::vector<std::string> keys;
  keys.reserve(20000);
  for (uint64_t i = 0; i < 20000; ++i)
    keys.push_back("12345678" + big_endian(i * 3, 4) + (i % 5 == 0 ? "tail of the key" : ""));
  for (const std::string& key : keys) {
    ASSERT_EQ(
        appender.append(tree_.records().create(key, 0, user_.handle()), user_.handle(), changes),
        nullptr);
  }
  EXPECT_EQ(user_.scan(), keys);
  EXPECT_LE(shape().border_nodes, keys.size() / 15 + 2);
}

TEST_F(IndexTreeTest, TheAppenderAcceptsAnyOrderAndReportsDuplicates) {
  TreeAppender appender(tree_);
  NodeChanges changes;
  std::mt19937 random(5);
  std::set<std::string> keys;
  for (int i = 0; i < 5000; ++i) {
    std::string key = big_endian(random() % 2000, 2) + std::string(random() % 12, 'x');
    Record* fresh = tree_.records().create(key, 0, user_.handle());
    Record* existing = appender.append(fresh, user_.handle(), changes);
    ASSERT_EQ(existing == nullptr, keys.insert(key).second);
    if (existing != nullptr) {
      ASSERT_EQ(existing->key(), key);
      tree_.records().destroy(fresh, user_.handle());
    }
  }
  EXPECT_EQ(user_.scan(), std::vector<std::string>(keys.begin(), keys.end()));
}

TEST_F(IndexTreeTest, TheAppenderSurvivesTheRemovalOfItsNode) {
  TreeAppender appender(tree_);
  NodeChanges changes;
  for (uint64_t i = 0; i < 100; ++i)
    appender.append(tree_.records().create(big_endian(i), 0, user_.handle()), user_.handle(),
                    changes);
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(user_.remove(big_endian(i)));
  for (uint64_t i = 100; i < 200; ++i)
    appender.append(tree_.records().create(big_endian(i), 0, user_.handle()), user_.handle(),
                    changes);
  EXPECT_EQ(user_.scan().size(), 100u);
}

TEST_F(IndexTreeTest, RemovingEverythingLeavesOneBorderNodeALayerAndNoLayer) {
  std::mt19937 random(6);
  std::vector<std::string> keys;
  keys.reserve(3000);
  for (uint64_t i = 0; i < 3000; ++i) keys.push_back(big_endian(i / 100, 8) + big_endian(i, 8));
  std::shuffle(keys.begin(), keys.end(), random);
  for (const std::string& key : keys) ASSERT_TRUE(user_.insert(key));
  EXPECT_EQ(shape().layers, 31u);
  std::shuffle(keys.begin(), keys.end(), random);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(user_.remove(keys[i]));
    ASSERT_FALSE(user_.contains(keys[i]));
    if (i % 100 == 0) {
      ASSERT_EQ(tree_.check(), "");
    }
  }
  IndexTree::Shape left = shape();
  EXPECT_EQ(left.records, 0u);
  EXPECT_EQ(left.layers, 1u);
  EXPECT_EQ(left.border_nodes, 1u);
  for (const std::string& key : keys) ASSERT_TRUE(user_.insert(key));
  EXPECT_EQ(user_.scan().size(), keys.size());
}

// A queue: keys are appended on the right and removed on the left for ever; the tree must not grow.
TEST_F(IndexTreeTest, AQueueDoesNotGrow) {
  for (uint64_t i = 0; i < 20000; ++i) {
    ASSERT_TRUE(user_.insert(big_endian(i)));
    if (i >= 100) {
      ASSERT_TRUE(user_.remove(big_endian(i - 100)));
    }
    user_.rest();
  }
  IndexTree::Shape shape = this->shape();
  EXPECT_EQ(shape.records, 100u);
  EXPECT_LE(shape.border_nodes, 10u);
  EXPECT_LE(shape.interior_nodes, 10u);
}

// Of nine rows in ten that go at random nothing stays but what their neighbours need.
TEST_F(IndexTreeTest, SparseNodesAreMerged) {
  constexpr uint64_t rows = 100000;
  std::vector<uint64_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(8));
  for (uint64_t number : numbers) ASSERT_TRUE(user_.insert(big_endian(number)));
  IndexTree::Shape full = shape();
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(9));
  std::vector<uint64_t> left(numbers.begin() + rows * 9 / 10, numbers.end());
  numbers.resize(rows * 9 / 10);
  user_.merges = true;
  for (uint64_t number : numbers) {
    ASSERT_TRUE(user_.remove(big_endian(number)));
    user_.rest();
  }
  IndexTree::Shape few = shape();
  EXPECT_EQ(few.records, left.size());
  EXPECT_LE(few.border_nodes, full.border_nodes / 4);
  EXPECT_LE(few.interior_nodes, full.interior_nodes / 4);
  for (uint64_t number : left) ASSERT_TRUE(user_.contains(big_endian(number)));
}

TEST_F(IndexTreeTest, RemoveRefusesARecordThatIsNotThere) {
  ASSERT_TRUE(user_.insert("key"));
  Record* stranger = tree_.records().create("key", 8, user_.handle());
  Record* unknown = tree_.records().create("other", 8, user_.handle());
  EXPECT_EQ(tree_.remove(stranger, user_.handle()), Removal::not_there);
  EXPECT_EQ(tree_.remove(unknown, user_.handle()), Removal::not_there);
  EXPECT_TRUE(user_.contains("key"));
  tree_.records().destroy(stranger, user_.handle());
  tree_.records().destroy(unknown, user_.handle());
}

TEST_F(IndexTreeTest, AccountsForItsMemory) {
  size_t empty = tree_.memory_bytes();
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(user_.insert(big_endian(i)));
  EXPECT_GT(tree_.memory_bytes(), empty + 1000 * (sizeof(Record) + 16));
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(user_.remove(big_endian(i)));
  EXPECT_LE(tree_.memory_bytes(), empty + 3 * sizeof(BorderNode));  // the leftmost path stays
  EXPECT_GT(user_.handle().pending_bytes(), 1000 * (sizeof(Record) + 16));
}

// What the parts of a tree take adds up, and agrees with what is in it.
TEST_F(IndexTreeTest, MemoryIsCountedByKind) {
  auto rows = [this] { return tree_.memory_bytes(MemoryKind::rows); };
  auto nodes = [this] { return tree_.memory_bytes(MemoryKind::nodes); };
  EXPECT_EQ(rows(), 0u);
  for (uint64_t i = 0; i < 1000; ++i) user_.insert(big_endian(i * 7919 % 1000));
  EXPECT_EQ(rows(), 1000 * (sizeof(Record) + 8 + 8));
  IndexTree::Shape all = shape();
  EXPECT_EQ(nodes(), (all.border_nodes + all.interior_nodes) * sizeof(BorderNode));
  EXPECT_EQ(tree_.memory_bytes(), rows() + nodes());
  for (uint64_t i = 0; i < 1000; i += 2) user_.remove(big_endian(i));
  user_.rest();
  EXPECT_EQ(rows(), 500 * (sizeof(Record) + 8 + 8));
  all = shape();
  EXPECT_EQ(nodes(), (all.border_nodes + all.interior_nodes) * sizeof(BorderNode));
}

// Node sets (Silo 4.6): what an absent key and an insert report.

TEST_F(IndexTreeTest, AnAbsentKeyIsGuardedByItsNode) {
  for (uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(user_.insert(big_endian(i * 2)));
  NodeRef absent = tree_.get(big_endian(101)).node;
  EXPECT_TRUE(still_validates(absent));
  ASSERT_TRUE(user_.insert(big_endian(1001)));  // far away
  EXPECT_TRUE(still_validates(absent));
  ASSERT_TRUE(user_.insert(big_endian(101)));
  EXPECT_FALSE(still_validates(absent));
}

TEST_F(IndexTreeTest, AnAbsentKeyInALayerThatComesIntoBeingIsGuarded) {
  ASSERT_TRUE(user_.insert("12345678first"));
  NodeRef absent = tree_.get("12345678second").node;
  ASSERT_TRUE(user_.insert("12345678second"));
  EXPECT_FALSE(still_validates(absent));
  NodeRef in_layer = tree_.get("12345678third").node;
  EXPECT_TRUE(still_validates(in_layer));
  ASSERT_TRUE(user_.insert("12345678third"));
  EXPECT_FALSE(still_validates(in_layer));
}

TEST_F(IndexTreeTest, RemovalsLeaveAnAbsentKeyGuarded) {
  ASSERT_TRUE(user_.insert("a"));
  ASSERT_TRUE(user_.insert("b"));
  NodeRef absent = tree_.get("c").node;
  ASSERT_TRUE(user_.remove("a"));
  EXPECT_TRUE(still_validates(absent));
  ASSERT_TRUE(user_.insert("a"));
  EXPECT_FALSE(still_validates(absent));
}

TEST_F(IndexTreeTest, TheHeirOfANodeGuardsItsKeys) {
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(user_.insert(big_endian(i)));
  NodeRef last = tree_.get(big_endian(100)).node;
  for (uint64_t i = 50; i < 100; ++i) ASSERT_TRUE(user_.remove(big_endian(i)));
  NodeRef now = tree_.get(big_endian(100)).node;
  EXPECT_NE(now.node, last.node);
  EXPECT_TRUE(still_validates(last));
  ASSERT_TRUE(user_.insert(big_endian(99)));
  EXPECT_FALSE(still_validates(last));
  EXPECT_FALSE(still_validates(now));
}

TEST_F(IndexTreeTest, TheNodeAboveGuardsTheKeysOfALayerThatWent) {
  for (const char* key : {"a", "12345678first", "12345678second"}) ASSERT_TRUE(user_.insert(key));
  NodeRef absent = tree_.get("12345678third").node;
  for (const char* key : {"12345678first", "12345678second"}) ASSERT_TRUE(user_.remove(key));
  EXPECT_NE(tree_.get("12345678third").node.node, absent.node);
  EXPECT_TRUE(still_validates(absent));
  ASSERT_TRUE(user_.insert("12345678third"));
  EXPECT_FALSE(still_validates(absent));
}

TEST_F(IndexTreeTest, OwnInsertsCanBeFixedUp) {
  for (uint64_t i = 0; i < 300; ++i) ASSERT_TRUE(user_.insert(big_endian(i * 10)));
  CollectingObserver set;
  user_.scan({}, ScanDirection::forward, &set);
  NodeChanges changes;
  for (uint64_t i = 0; i < 3000; ++i) {
    if (!user_.insert(big_endian(i), &changes)) continue;
    ASSERT_FALSE(set.valid());
    ASSERT_TRUE(set.apply(changes));
    ASSERT_TRUE(set.valid());
  }
  for (const char* key : {"layer---1", "layer---2", "layer---3", "layer---deep in the tree 1",
                          "layer---deep in the tree 2"}) {
    ASSERT_TRUE(user_.insert(key, &changes));
    ASSERT_TRUE(set.apply(changes));
    ASSERT_TRUE(set.valid());
  }
  // The set still covers everything: nothing can be inserted unnoticed.
  for (const char* key : {"layer---4", "layer---deep in the tree 0", "m"}) {
    CollectingObserver copy = set;
    ASSERT_TRUE(copy.valid());
    ASSERT_TRUE(user_.insert(key, &changes));
    ASSERT_FALSE(copy.valid());
    ASSERT_TRUE(set.apply(changes));
  }
}

// The largest number of keys between two neighbours of `separators`.
size_t largest_piece(const std::vector<std::string>& keys,
                     const std::vector<std::string>& separators) {
  std::vector<size_t> pieces(separators.size() + 1);
  for (const std::string& key : keys) {
    auto after = std::upper_bound(separators.begin(), separators.end(), key);
    ++pieces[static_cast<size_t>(after - separators.begin())];
  }
  return *std::max_element(pieces.begin(), pieces.end());
}

TEST_F(IndexTreeTest, SeparatorsCutTheTreeIntoRangesOfAboutTheSameSize) {
  EXPECT_TRUE(tree_.separators(7).empty());
  std::vector<std::string> keys;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string key(8, '\0');
    store_be64(key.data(), random());
    keys.push_back(std::move(key));
  }
  for (const std::string& key : keys) ASSERT_TRUE(user_.insert(key));
  EXPECT_TRUE(tree_.separators(0).empty());
  for (size_t wanted : {1, 7, 100}) {
    std::vector<std::string> separators = tree_.separators(wanted);
    EXPECT_EQ(separators.size(), wanted);
    EXPECT_TRUE(std::is_sorted(separators.begin(), separators.end()));
    EXPECT_LE(largest_piece(keys, separators), 4 * keys.size() / (wanted + 1));
  }
}

TEST_F(IndexTreeTest, SeparatorsOfKeysWithCommonPrefixesLieInTheirLayers) {
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; ++i) {
    std::string number = std::to_string(100000 + i);
    keys.push_back("a prefix of two slices, and more: " + number);
  }
  for (const std::string& key : keys) ASSERT_TRUE(user_.insert(key));
  std::vector<std::string> separators = tree_.separators(7);
  EXPECT_EQ(separators.size(), 7u);
  EXPECT_LE(largest_piece(keys, separators), keys.size() / 2);
}

TEST_F(IndexTreeTest, SeparatorsLieInAllLayers) {
  for (int layer = 0; layer < 20; ++layer) {
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(user_.insert("layer " + std::to_string(10 + layer) + std::to_string(1000 + i)));
  }
  std::set<std::string> layers;
  for (const std::string& separator : tree_.separators(200)) layers.insert(separator.substr(0, 8));
  EXPECT_EQ(layers.size(), 20u);
}

// Layers that were filled alike have their nodes' beginnings at the same keys; which keys are met
// must not depend on that.
TEST_F(IndexTreeTest, ScatteredKeysAreAnyOfTheTreesKeys) {
  EXPECT_TRUE(tree_.scattered_keys(7, 1).empty());
  std::set<std::string> keys;
  for (int layer = 0; layer < 20; ++layer) {
    for (int i = 0; i < 1000; ++i) {
      keys.insert("layer " + std::to_string(10 + layer) + std::to_string(1000 + i));
      keys.insert("plain " + std::to_string(10 * i + layer % 10));
    }
  }
  for (const std::string& key : keys) ASSERT_TRUE(user_.insert(key));
  std::vector<std::string> met = tree_.scattered_keys(1000, 1);
  EXPECT_EQ(met.size(), 1000u);
  EXPECT_EQ(met, tree_.scattered_keys(1000, 1));
  EXPECT_NE(met, tree_.scattered_keys(1000, 2));
  std::set<std::string> layers;
  std::set<std::string> in_layers;
  for (const std::string& key : met) {
    EXPECT_TRUE(keys.contains(key)) << key;
    if (!key.starts_with("layer ")) continue;
    layers.insert(key.substr(0, 8));
    in_layers.insert(key.substr(8));
  }
  EXPECT_EQ(layers.size(), 20u);
  EXPECT_GT(in_layers.size(), 250u);  // of some 500 draws of 1,000: 390 are to be expected
}

}  // namespace
}  // namespace pgsilo
