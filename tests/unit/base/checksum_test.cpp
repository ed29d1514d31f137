#include "base/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace pgsilo {
namespace {

// Part of the disk formats: these values may never change.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(checksum64("", 0), 0x2d06800538d394c2u);
  EXPECT_EQ(checksum64("abc", 3), 0x78af5f94892f3950u);
}

TEST(Checksum, IsTheSameOnEveryProcessor) {
  std::string bytes;
  for (size_t length = 0; length < 9000; length += 1 + length / 40) {
    while (bytes.size() < length) bytes += static_cast<char>(bytes.size() * 37 >> 3);
    uint64_t expected = checksum64_portable(bytes.data(), length, length);
    ASSERT_EQ(checksum64(bytes.data(), length, length), expected) << length;
  }
}

TEST(Checksum, DependsOnEveryBitAndTheSeed) {
  std::string bytes(300, 'x');
  uint64_t before = checksum64(bytes.data(), bytes.size());
  EXPECT_NE(before, checksum64(bytes.data(), bytes.size(), 1));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_NE(before, checksum64(changed.data(), changed.size())) << bit;
  }
}

}  // namespace
}  // namespace pgsilo
