// The index tree against a slow, obviously right model: random operations replayed on a
// std::map-like set, every answer compared, structure checked, and every open scan's node set held
// against what was changed since.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {
namespace {

using Random = std::mt19937_64;

struct KeyShape {
  const char* name;
  std::function<std::string(Random&)> make;
  uint64_t phase = 4000;     // steps in which the tree grows, and then shrinks
  uint64_t rest = 100;       // steps under one pin
  int inserts_between = 12;  // percent of the steps while it shrinks
};

const KeyShape key_shapes[] = {
    {"small numbers", [](Random& random) { return big_endian(random() % 3000, 5); }},
    {"numbers of nine bytes",
     [](Random& random) { return "\x01" + big_endian(random() % 3000, 8); }},
    {"few bytes, any length",
     [](Random& random) {
       std::string key(random() % 30, '\0');
       for (char& byte : key) byte = static_cast<char>("\0a\xff"[random() % 3]);
       return key;
     }},
    {"long shared prefixes",
     [](Random& random) {
       return std::string(8 * (random() % 4), 'p') + std::string(random() % 10, '\0') +
              big_endian(random() % 20, 1);
     }},
    {"pairs of numbers",
     [](Random& random) { return big_endian(random() % 40, 4) + big_endian(random() % 80, 8); }},
    // Whole nodes and layers come and go while a scan is open.
    {"few numbers", [](Random& random) { return big_endian(random() % 60, 4); }, 300, 1200, 1},
    {"few layers",
     [](Random& random) {
       return std::string(8 * (random() % 3), 'p') + big_endian(random() % 9, 8) + "x";
     },
     300, 1200, 1},
};

class TreeModelTest : public ::testing::TestWithParam<KeyShape> {
 protected:
  // A scan that was made, and what it may rely on.
  struct OpenScan {
    std::string low, high;
    CollectingObserver set;
    bool disturbed = false;  // a key came inside since
    bool own = false;        // fixes up its set after each insert, as if it made them
    bool contains(const std::string& key) const { return low <= key && key <= high; }
  };

  void key_came(const std::string& key, const NodeChanges& insert) {
    for (OpenScan& scan : scans_) {
      if (scan.own) {
        bool valid_before = !scan.disturbed && before_valid_[&scan - scans_.data()];
        if (scan.set.apply(insert) && valid_before) {
          ASSERT_TRUE(scan.set.valid()) << "beaten by itself";
          continue;
        }
      }
      if (scan.contains(key)) scan.disturbed = true;
      if (scan.disturbed) {
        ASSERT_FALSE(scan.set.valid()) << "phantom not noticed";
      }
    }
  }

  // What goes is no phantom, and beats nobody.
  void key_went() {
    for (size_t i = 0; i < scans_.size(); ++i) {
      ASSERT_EQ(scans_[i].set.valid(), before_valid_[i]);
    }
  }

  void remember_validity() {
    before_valid_.clear();
    for (const OpenScan& scan : scans_) before_valid_.push_back(scan.set.valid());
  }

  void insert(const std::string& key) {
    remember_validity();
    NodeChanges changes;
    bool inserted = user_.insert(key, &changes);
    ASSERT_EQ(inserted, model_.insert(key).second);
    if (inserted) key_came(key, changes);
  }

  void remove(const std::string& key) {
    remember_validity();
    bool removed = user_.remove(key);
    ASSERT_EQ(removed, model_.erase(key) == 1);
    if (removed) key_went();
  }

  // Around any key, as the background does where few are left.
  void merge(const std::string& key) {
    remember_validity();
    tree_.merge(key, user_.handle());
    key_went();
  }

  void scan(Random& random, std::string low, std::string high) {
    if (high < low) std::swap(low, high);
    KeyRange range{random_bound(random, low), random_bound(random, high)};
    auto first = range.lower.kind == KeyBound::Kind::unbounded   ? model_.begin()
                 : range.lower.kind == KeyBound::Kind::inclusive ? model_.lower_bound(low)
                                                                 : model_.upper_bound(low);
    auto last = range.upper.kind == KeyBound::Kind::unbounded   ? model_.end()
                : range.upper.kind == KeyBound::Kind::inclusive ? model_.upper_bound(high)
                                                                : model_.lower_bound(high);
    std::vector<std::string> expected;
    // Exclusive bounds may cross when both are the same key.
    if (first != model_.end() && (last == model_.end() || *first <= *last))
      expected.assign(first, last);
    OpenScan open{low, high, {}, false, random() % 2 == 0};
    ASSERT_EQ(user_.scan(range, ScanDirection::forward, &open.set), expected);
    if (range.lower.kind == KeyBound::Kind::inclusive &&
        range.upper.kind == KeyBound::Kind::inclusive) {
      if (scans_.size() < 4) {
        scans_.push_back(open);
      } else {
        scans_[random() % scans_.size()] = open;
      }
    }
    std::reverse(expected.begin(), expected.end());
    ASSERT_EQ(user_.scan(range, ScanDirection::backward), expected);
  }

  static KeyBound random_bound(Random& random, const std::string& key) {
    switch (random() % 4) {
      case 0:
        return KeyBound::none();
      case 1:
        return KeyBound::exclusive(key);
      default:
        return KeyBound::inclusive(key);
    }
  }

  void step(Random& random, int percent_inserts) {
    std::string key = GetParam().make(random);
    int choice = static_cast<int>(random() % 100);
    if (choice < percent_inserts) {
      insert(key);
    } else if (choice < 90) {
      remove(key);
      if (choice % 2 == 0) merge(key);
    } else if (choice < 96) {
      ASSERT_EQ(user_.contains(key), model_.contains(key));
    } else {
      scan(random, key, GetParam().make(random));
    }
  }

  Reclaimer reclaimer_;
  IndexTree tree_{RelationId(1)};
  TreeUser user_{tree_, reclaimer_};
  std::set<std::string> model_;
  std::vector<OpenScan> scans_;
  std::vector<bool> before_valid_;
};

TEST_P(TreeModelTest, AgreesWithTheModel) {
  // PGSILO_MODEL_STEPS makes a campaign of it.
  const char* wanted = std::getenv("PGSILO_MODEL_STEPS");
  const uint64_t steps = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 20000;
  Random random(GetParam().name[0]);
  for (uint64_t i = 0; i < steps; ++i) {
    // The tree grows, shrinks to almost nothing, and grows again.
    bool growing = i / GetParam().phase % 2 == 0;
    ASSERT_NO_FATAL_FAILURE(step(random, growing ? 70 : GetParam().inserts_between))
        << GetParam().name << ", step " << i;
    if (i % 512 == 0) {
      IndexTree::Shape shape;
      ASSERT_EQ(tree_.check(&shape), "") << GetParam().name << ", step " << i;
      ASSERT_EQ(shape.records, model_.size());
    }
    if (i % GetParam().rest == 0) {
      scans_.clear();  // a rest unpins, and their nodes may go
      user_.rest();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(KeyShapes, TreeModelTest, ::testing::ValuesIn(key_shapes));

}  // namespace
}  // namespace pgsilo
