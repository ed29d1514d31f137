#include "base/size_class.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

TEST(SizeClass, EachSizeHasTheLeastThatHoldsIt) {
  for (size_t bytes = 1; bytes <= SizeClass::largest_bytes; ++bytes) {
    SizeClass size_class = SizeClass::of(bytes);
    ASSERT_LT(size_class.index(), SizeClass::count);
    ASSERT_GE(size_class.bytes(), bytes);
    if (size_class.index() > 0) {
      ASSERT_LT(SizeClass(size_class.index() - 1).bytes(), bytes);
    }
    ASSERT_EQ(SizeClass::of(size_class.bytes()), size_class);
  }
  EXPECT_EQ(SizeClass::of(SizeClass::largest_bytes).index(), SizeClass::count - 1);
}

TEST(SizeClass, LittleIsRoundedUp) {
  for (size_t bytes = 128; bytes <= SizeClass::largest_bytes; ++bytes)
    ASSERT_LE(SizeClass::of(bytes).bytes() - bytes, bytes / 16) << bytes;
}

}  // namespace
}  // namespace pgsilo
