#include "storage/transaction/pointer_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace pgsilo {
namespace {

class Pointers {
  auto at() const {
    return [this](uint32_t position) { return pointers_[position]; };
  }

 public:
  void add(const void* pointer) {
    index_.prepare(pointers_.size(), at());
    pointers_.push_back(pointer);
    index_.add(pointer, static_cast<uint32_t>(pointers_.size() - 1));
  }
  void truncate(size_t count) {
    pointers_.resize(count);
    index_.truncate(count, at());
  }
  void clear() {
    pointers_.clear();
    index_.clear();
  }
  uint32_t find(const void* pointer) const { return index_.find(pointer, pointers_.size(), at()); }

 private:
  std::vector<const void*> pointers_;
  PointerIndex index_;
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

}  // namespace
}  // namespace pgsilo
