#include "storage/index/key_slice.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace pgsilo {
namespace {

TEST(KeySlice, LoadsEveryLengthAndNothingBehindIt) {
  for (size_t bytes = 0; bytes <= 12; ++bytes) {
    // An exact heap block, so that AddressSanitizer sees a byte read too many.
    std::unique_ptr<char[]> key(new char[bytes]);
    uint64_t expected = 0;
    for (size_t i = 0; i < bytes; ++i) key[i] = static_cast<char>(0xA1 + i * 3);
    for (size_t i = 0; i < 8; ++i)
      expected = expected << 8 | (i < bytes ? static_cast<unsigned char>(key[i]) : 0);
    EXPECT_EQ(load_slice(key.get(), bytes), expected) << bytes;
  }
}

TEST(KeyCursor, WalksTheLayers) {
  KeyCursor cursor("abcdefghABCDEFGHxyz");
  EXPECT_EQ(cursor.slice(), 0x6162636465666768u);
  EXPECT_TRUE(cursor.goes_on());
  EXPECT_EQ(cursor.rest(), "ABCDEFGHxyz");
  cursor.descend();
  EXPECT_EQ(cursor.depth(), 1u);
  EXPECT_EQ(cursor.rest(), "xyz");
  cursor.descend();
  EXPECT_EQ(cursor.slice(), 0x78797a0000000000u);
  EXPECT_EQ(cursor.length(), 3);
  EXPECT_FALSE(cursor.goes_on());
}

TEST(KeyCursor, AKeyOfEightBytesEndsInItsSlice) {
  EXPECT_EQ(KeyCursor("12345678").length(), 8);
  EXPECT_EQ(KeyCursor("").length(), 0);
  EXPECT_EQ(KeyCursor("123456789").length(), longer);
}

// (slice, length class) in the first layer where two keys differ orders them like their bytes.
TEST(KeyCursor, OrdersLikeTheBytes) {
  std::mt19937 random(2);
  auto random_key = [&] {
    std::string key(random() % 20, '\0');
    for (char& byte : key) byte = static_cast<char>("\0\1\xff"[random() % 3]);
    return key;
  };
  for (int i = 0; i < 200000; ++i) {
    std::string a = random_key(), b = random_key();
    KeyCursor left(a), right(b);
    int order = 0;
    for (;;) {
      order = compare_in_layer(left.slice(), left.length(), right.slice(), right.length());
      if (order != 0 || !left.goes_on()) break;
      left.descend();
      right.descend();
    }
    int expected = a.compare(b);
    ASSERT_EQ(order < 0, expected < 0);
    ASSERT_EQ(order > 0, expected > 0);
  }
}

}  // namespace
}  // namespace pgsilo
