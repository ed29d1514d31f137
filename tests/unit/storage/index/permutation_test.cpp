#include "storage/index/permutation.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace pgsilo {
namespace {

void expect_same(Permutation order, const std::vector<int>& slots) {
  ASSERT_EQ(order.size(), static_cast<int>(slots.size()));
  for (size_t i = 0; i < slots.size(); ++i) ASSERT_EQ(order.slot(static_cast<int>(i)), slots[i]);
  std::set<int> all;
  for (int i = 0; i < Permutation::width; ++i) all.insert(order.slot(i));
  ASSERT_EQ(all.size(), 15u);
  ASSERT_EQ(*all.rbegin(), 14);
}

TEST(Permutation, BehavesLikeAListOfSlots) {
  std::mt19937 random(1);
  Permutation order;
  std::vector<int> slots;
  for (int step = 0; step < 100000; ++step) {
    bool insert = slots.empty() || (slots.size() < 15 && random() % 2 == 0);
    if (insert) {
      int position = static_cast<int>(random() % (slots.size() + 1));
      slots.insert(slots.begin() + position, order.free_slot());
      order = order.with_inserted(position);
    } else {
      int position = static_cast<int>(random() % slots.size());
      slots.erase(slots.begin() + position);
      order = order.with_removed(position);
    }
    expect_same(order, slots);
  }
}

TEST(Permutation, AFreedSlotIsReusedLast) {
  Permutation order = Permutation::sorted(5).with_removed(2);
  EXPECT_EQ(order.free_slot(), 5);
  EXPECT_EQ(order.slot(14), 2);
}

}  // namespace
}  // namespace pgsilo
