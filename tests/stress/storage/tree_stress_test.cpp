// Several threads insert, remove, look up and scan in one tree. Each thread owns part of the keys,
// so it knows what must be there; some keys stay for ever and everybody must always see them; and
// tokens move in a way that every scan whose node set validates must see. Run under ThreadSanitizer
// and AddressSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {
namespace {

constexpr int threads = 4;
constexpr uint64_t key_count = 1200;

// Neighbouring numbers share nodes, layers and slices in turn.
std::string key_of(uint64_t number) {
  switch (number / 16 % 4) {
    case 0:
      return "a" + big_endian(number, 4);
    case 1:
      return "layer--1" + big_endian(number, 8);
    case 2:
      return "layer--2layer--3" + big_endian(number / 3, 2) + std::string(number % 3, '\0');
    default:
      return "z" + big_endian(number / 8, 7) + big_endian(number % 8, 2);
  }
}

bool stays_for_ever(uint64_t number) { return number % 13 == 0; }

class TreeStressTest : public ::testing::Test {
 public:
  void run_threads(void (TreeStressTest::*body)(int)) {
    std::vector<std::thread> running;
    running.reserve(threads);
    for (int i = 0; i < threads; ++i) running.emplace_back([this, body, i] { (this->*body)(i); });
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(tree_.check(), "");
  }

  void change_own_keys(int me) {
    TreeUser user(tree_, reclaimer_);
    user.merges = me % 2 == 0;
    std::mt19937_64 random(static_cast<uint64_t>(me) + 1);
    std::set<std::string> own;
    for (int step = 0; step < 60000; ++step) {
      uint64_t number = random() % key_count;
      std::string key = key_of(number);
      if (stays_for_ever(number)) {
        ASSERT_TRUE(user.contains(key));
      } else if (number % threads != static_cast<uint64_t>(me)) {
        user.contains(key);  // somebody else's: any answer
      } else if (step / 8000 % 2 == 0 ? random() % 4 != 0 : random() % 4 == 0) {
        ASSERT_EQ(user.insert(key), own.insert(key).second);
      } else {
        ASSERT_EQ(user.remove(key), own.erase(key) == 1);
      }
      if (step % 200 == 0) check_scan(user, random() % 2 == 0);
      if (step % 16 == 0) user.rest();
    }
    for (uint64_t number = static_cast<uint64_t>(me); number < key_count; number += threads) {
      if (!stays_for_ever(number)) {
        ASSERT_EQ(user.contains(key_of(number)), own.contains(key_of(number)));
      }
    }
  }

  // Ascending or descending, and nothing that stays is missing.
  void check_scan(TreeUser& user, bool forward) {
    std::vector<std::string> keys =
        user.scan({}, forward ? ScanDirection::forward : ScanDirection::backward);
    if (!forward) std::reverse(keys.begin(), keys.end());
    ASSERT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    ASSERT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
    ASSERT_TRUE(std::includes(keys.begin(), keys.end(), staying_.begin(), staying_.end()));
  }

  // Threads 0 and 1 each move a token: the next place is taken before the last one is given up, so
  // that at every moment each token is in one or two places. The others look for them: a scan that
  // validates has missed none of those that are there still.
  void move_or_find_tokens(int me) {
    TreeUser user(tree_, reclaimer_);
    std::mt19937_64 random(static_cast<uint64_t>(me) + 77);
    auto place = [](int token, uint64_t number) {
      std::string tail(1, static_cast<char>('A' + token));
      return (number % 2 == 0 ? big_endian(number, 3) : "places--" + big_endian(number, 2)) + tail;
    };
    if (me < 2) {
      std::string at = token_starts_[me];
      user.merges = true;
      for (int step = 0; step < 40000; ++step) {
        std::string next = place(me, random() % 200);
        if (next == at) continue;
        ASSERT_TRUE(user.insert(next));
        ASSERT_TRUE(user.remove(at));
        at = next;
        if (step % 16 == 0) user.rest();
      }
      movers_left_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    bool forward = me % 2 == 0;
    for (int scans = 0; movers_left_.load(std::memory_order_relaxed) > 0 || scans < 200; ++scans) {
      CollectingObserver set;
      std::vector<Record*> records;
      ScanCursor cursor(tree_, {}, forward ? ScanDirection::forward : ScanDirection::backward,
                        &set);
      while (Record* record = cursor.next()) records.push_back(record);
      std::erase_if(records, is_obsolete);
      if (set.valid()) {
        validated_.fetch_add(1, std::memory_order_relaxed);
        for (char token : {'A', 'B'}) {
          auto places = std::count_if(records.begin(), records.end(), [&](const Record* record) {
            return record->key().back() == token;
          });
          ASSERT_GE(places, 1) << "a phantom was not noticed";
          ASSERT_LE(places, 2) << "a phantom was not noticed";
        }
      }
      user.rest();
    }
  }

  // All threads insert the same ascending keys (recovery does so with different ones): each goes in
  // once.
  void insert_all(int) {
    TreeUser user(tree_, reclaimer_);
    uint64_t mine = 0;
    for (uint64_t number = 0; number < 40000; ++number)
      mine += user.insert(big_endian(number, 6) + "12345678") ? 1 : 0;
    inserted_.fetch_add(mine, std::memory_order_relaxed);
  }

  Reclaimer reclaimer_;
  IndexTree tree_{RelationId(1)};
  std::set<std::string> staying_;
  std::vector<std::string> token_starts_{"start-A", "start-B"};
  std::atomic<int> movers_left_{2};
  std::atomic<uint64_t> validated_{0};
  std::atomic<uint64_t> inserted_{0};
};

TEST_F(TreeStressTest, EveryKeyIsThereExactlyWhenItShouldBe) {
  {
    TreeUser user(tree_, reclaimer_);
    for (uint64_t number = 0; number < key_count; ++number) {
      if (!stays_for_ever(number)) continue;
      ASSERT_TRUE(user.insert(key_of(number)));
      staying_.insert(key_of(number));
    }
  }
  run_threads(&TreeStressTest::change_own_keys);
}

TEST_F(TreeStressTest, ValidatedScansSeeNoPhantoms) {
  {
    TreeUser user(tree_, reclaimer_);
    for (const std::string& start : token_starts_) ASSERT_TRUE(user.insert(start));
  }
  run_threads(&TreeStressTest::move_or_find_tokens);
  EXPECT_GT(validated_.load(), 0u);
}

TEST_F(TreeStressTest, ConcurrentInsertsOfTheSameKeysPutEachInOnce) {
  run_threads(&TreeStressTest::insert_all);
  EXPECT_EQ(inserted_.load(), 40000u);
  IndexTree::Shape shape;
  EXPECT_EQ(tree_.check(&shape), "");
  EXPECT_EQ(shape.records, 40000u);
}

}  // namespace
}  // namespace pgsilo
