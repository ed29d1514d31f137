// How full nodes are, by the order in which keys come.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/byte_order.h"
#include "tests/unit/storage/index/tree_fixture.h"

namespace pgsilo {
namespace {

class NodeFillTest : public TreeTest {
 protected:
  static constexpr uint64_t runs = 100, keys_of_run = 600;

  // As the numbers of each customer's orders: within one layer.
  static std::string key(uint64_t run, uint64_t number) { return big_endian(run << 32 | number); }
};

// Each run grows where another's first keys follow.
TEST_F(NodeFillTest, RunsThatAscendWithinALayer) {
  for (uint64_t number = 0; number < keys_of_run; ++number) {
    for (uint64_t run = 0; run < runs; ++run) ASSERT_TRUE(user_.insert(key(run, number)));
  }
  EXPECT_LE(shape().border_nodes, runs * (keys_of_run / 15 + 2));
  EXPECT_LE(shape().interior_nodes, shape().border_nodes / 11);
}

// As several threads that load a part each.
TEST_F(NodeFillTest, FewRunsOfManyKeys) {
  constexpr uint64_t parts = 4, keys_of_part = 20'000;
  for (uint64_t number = 0; number < keys_of_part; ++number) {
    for (uint64_t part = 0; part < parts; ++part)
      ASSERT_TRUE(user_.insert(big_endian(part * keys_of_part + number)));
  }
  EXPECT_LE(shape().border_nodes, parts * (keys_of_part / 15 + 2));
  EXPECT_LE(shape().interior_nodes, shape().border_nodes / 13);
}

// As the newest first of each user: into the gap behind a node that a load has left full.
TEST_F(NodeFillTest, KeysThatDescendBehindARun) {
  constexpr uint64_t users = 100, loaded = 30, newer = 60;
  auto newest_first = [](uint64_t user, uint64_t number) { return key(user, 1000 - number); };
  for (uint64_t user = 0; user < users; ++user) {
    for (uint64_t i = loaded; i-- > 0;) ASSERT_TRUE(user_.insert(newest_first(user, i)));
  }
  for (uint64_t i = loaded; i < loaded + newer; ++i) {
    for (uint64_t user = 0; user < users; ++user) ASSERT_TRUE(user_.insert(newest_first(user, i)));
  }
  EXPECT_LE(shape().border_nodes, users * (loaded + newer) / 7);
}

// What comes by chance is not taken for a run: halves stay two thirds full, as they always are.
TEST_F(NodeFillTest, KeysAtRandom) {
  std::mt19937_64 random(11);
  constexpr uint64_t keys = 200'000;
  for (uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(user_.insert(big_endian(random())));
  EXPECT_LE(shape().border_nodes, keys / 10);
}

// A run that ends leaves room for what comes between its keys.
TEST_F(NodeFillTest, KeysBetweenThoseOfARun) {
  std::mt19937_64 random(12);
  constexpr uint64_t keys = 30'000;
  for (uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(user_.insert(big_endian(i << 32)));
  for (uint64_t i = 0; i < 5 * keys; ++i)
    static_cast<void>(user_.insert(big_endian(random() % (keys << 32))));
  EXPECT_LE(shape().border_nodes, 6 * keys / 10);
}

}  // namespace
}  // namespace pgsilo
