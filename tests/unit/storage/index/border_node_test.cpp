#include <gtest/gtest.h>

#include "storage/index/node.h"

namespace pgsilo {
namespace {

EntryTarget target_of(int number) {
  return EntryTarget::from_bits(static_cast<uintptr_t>(number + 1) * 64);
}

TEST(BorderNodeTest, FindsEveryEntryInWhateverSlotItLies) {
  BorderNode node(/*root=*/true, 0, UINT64_MAX);
  node.version().lock();
  node.version().begin_change();
  for (int i = 0; i < BorderNode::width; ++i) {
    // Halves that others have as well: only whole slices are equal.
    KeySlice slice = uint64_t{static_cast<unsigned>(i % 4)} << 32 | static_cast<unsigned>(i / 4);
    EXPECT_EQ(node.find(slice, 8), -1);
    node.insert_entry(i, slice, 8, target_of(i));
    for (int j = 0; j <= i; ++j) {
      slice = uint64_t{static_cast<unsigned>(j % 4)} << 32 | static_cast<unsigned>(j / 4);
      int slot = node.find(slice, 8);
      ASSERT_GE(slot, 0) << j;
      EXPECT_EQ(node.target(slot), target_of(j));
      EXPECT_EQ(node.find(slice, 7), -1);
    }
  }
  node.version().end_change();
}

TEST(BorderNodeTest, TellsEqualSlicesApartByTheirLength) {
  BorderNode node(/*root=*/true, 0, UINT64_MAX);
  for (int length = 0; length <= 8; ++length)
    node.insert_entry(length, 0, static_cast<LengthClass>(length), target_of(length));
  for (int length = 0; length <= 8; ++length)
    EXPECT_EQ(node.target(node.find(0, static_cast<LengthClass>(length))), target_of(length));
  EXPECT_EQ(node.find(0, longer), -1);
}

// The word behind the slices is none.
TEST(BorderNodeTest, FindsNoSliceInThePointerBehindThem) {
  BorderNode left(/*root=*/false, 0, 99), node(/*root=*/false, 100, UINT64_MAX);
  node.set_previous(&left);
  EXPECT_EQ(node.find(reinterpret_cast<uintptr_t>(&left), 8), -1);
}

}  // namespace
}  // namespace pgsilo
