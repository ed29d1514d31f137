#include "storage/transaction/pointer_filter.h"

#include <gtest/gtest.h>

#include <vector>

namespace pgsilo {
namespace {

// Of addresses as records have them: neighbours of one size.
const void* address(size_t index, size_t bytes) {
  return reinterpret_cast<const void*>(uintptr_t{0x7f4200000000} + index * bytes);
}

TEST(PointerFilterTest, HoldsWhatWasAdded) {
  PointerFilter filter;
  for (size_t i = 0; i < 1000; ++i) {
    filter.add(address(7 * i, 48));
    for (size_t j = 0; j <= i; ++j) ASSERT_TRUE(filter.may_hold(address(7 * j, 48)));
  }
  filter.clear();
  for (size_t i = 0; i < 1000; ++i) ASSERT_FALSE(filter.may_hold(address(7 * i, 48)));
}

TEST(PointerFilterTest, HoldsLittleElse) {
  constexpr size_t records = 10000;
  for (size_t bytes : {size_t{16}, size_t{48}, size_t{64}, size_t{112}, size_t{4096}}) {
    for (size_t distance : {size_t{1}, size_t{10}, size_t{300}}) {
      PointerFilter filter;
      constexpr size_t added = 30;
      for (size_t i = 0; i < added; ++i) filter.add(address(i * distance, bytes));
      size_t held = 0;
      for (size_t i = 0; i < records; ++i) held += filter.may_hold(address(i, bytes));
      EXPECT_LT(held, records / 5) << bytes << ' ' << distance;
    }
  }
}

}  // namespace
}  // namespace pgsilo
