#include "storage/transaction/pointer_index.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace pgsilo {
namespace {

class Pointers {
  auto at() const {
    return [this](uint32_t position) {
      ++looks_;
      return pointers_[position];
    };
  }

 public:
  void add(const void* pointer) {
    index_.prepare(pointers_.size(), at());
    pointers_.push_back(pointer);
    index_.add(pointer, static_cast<uint32_t>(pointers_.size() - 1));
  }
  void truncate(size_t count) {
    index_.truncate(pointers_.size(), count, at());
    pointers_.resize(count);
  }
  void clear() {
    pointers_.clear();
    index_.clear();
  }
  uint32_t find(const void* pointer) const { return index_.find(pointer, pointers_.size(), at()); }
  // So many times the index has asked for the pointer at a position.
  size_t looks() const { return looks_; }

 private:
  std::vector<const void*> pointers_;
  PointerIndex index_;
  mutable size_t looks_ = 0;
};

constexpr size_t most = 20000;
const std::vector<char> memory(most);

void expect_first(const Pointers& pointers, size_t count) {
  for (size_t i = 0; i < most; ++i)
    ASSERT_EQ(pointers.find(&memory[i]), i < count ? i : PointerIndex::none) << i;
}

// A small set after a large one finds what is in it and nothing of the large one, and the reverse.
TEST(PointerIndexTest, EachSetIsItsOwn) {
  Pointers pointers;
  for (size_t count : {5, 300, 12, 9, 8, 40, 2000, 33, static_cast<int>(most), 10, 100}) {
    for (size_t i = 0; i < count; ++i) pointers.add(&memory[i]);
    expect_first(pointers, count);
    pointers.clear();
  }
}

TEST(PointerIndexTest, GrowsAgainAfterItWasCut) {
  Pointers pointers;
  size_t count = 0;
  for (size_t cut : {7, 8, 9, 31, 32, 500}) {
    for (; count < 1000; ++count) pointers.add(&memory[count]);
    pointers.truncate(count = cut);
    expect_first(pointers, count);
  }
}

// Savepoints of a transaction that has written much, and what an INSERT ... ON CONFLICT takes back.
TEST(PointerIndexTest, WhatGoesCostsWhatItIs) {
  Pointers pointers;
  size_t count = 0;
  for (size_t stay : {size_t{20}, size_t{2000}, most - 10}) {
    for (; count < stay; ++count) pointers.add(&memory[count]);
    size_t before = pointers.looks();
    for (int round = 0; round < 1000; ++round) {
      for (size_t i = 0; i < 3; ++i) pointers.add(&memory[stay + i]);
      pointers.truncate(stay);
    }
    EXPECT_LE(pointers.looks() - before, 3000 + 2 * stay);  // it may have grown once
    expect_first(pointers, stay);
  }
}

// Searches lead across each other's slots, and what goes lies amid what stays.
TEST(PointerIndexTest, WhatStaysIsFoundWhateverHasGone) {
  Random random(1);
  Pointers pointers;
  size_t count = 0;
  for (int round = 0; round < 300; ++round) {
    size_t target = random.below(200);
    if (target < count) {
      pointers.truncate(target);
      count = target;
    }
    for (; count < target; ++count) pointers.add(&memory[count]);
    expect_first(pointers, count);
  }
}

}  // namespace
}  // namespace pgsilo
