#include "wal/log/log_buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>

#include "base/random.h"

namespace pgsilo {
namespace {

// As log records: the length in front.
std::string message(Random& random, size_t longest) {
  std::string text(16 + random.below(longest - 15), static_cast<char>('a' + random.below(26)));
  store_le32(text.data(), static_cast<uint32_t>(text.size()));
  return text;
}

TEST(LogBuffer, KeepsOrderAndBytesAroundTheEnd) {
  LogBuffer ring(4096);
  Random random(3);
  std::deque<std::string> inside;
  size_t taken = 0;
  while (taken < 20000) {
    std::string text = message(random, 1024);
    if (random.one_in(2) && ring.has_room(text.size())) {
      std::memcpy(ring.place(text.size()), text.data(), text.size());
      ring.publish(text.size());
      inside.push_back(text);
      continue;
    }
    std::string_view next = ring.peek(ring.tail());
    ASSERT_EQ(next.empty(), inside.empty());
    if (next.empty()) continue;
    ASSERT_EQ(next.substr(0, load_le32(next.data())), inside.front());
    ring.consume(inside.front().size());
    inside.pop_front();
    ++taken;
  }
}

TEST(LogBuffer, RefusesWhatDoesNotFitUntilSpaceIsGivenBack) {
  LogBuffer ring(4096);
  std::string text(1000, 'x');
  store_le32(text.data(), 1000);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(ring.has_room(text.size()));
    std::memcpy(ring.place(text.size()), text.data(), text.size());
    ring.publish(text.size());
  }
  EXPECT_FALSE(ring.has_room(text.size()));
  EXPECT_EQ(ring.bytes_waiting(), 4000u);
  static_cast<void>(ring.peek(ring.tail()));
  ring.consume(1000);
  EXPECT_FALSE(ring.has_room(1001));  // 96 bytes at the end are left out, then 1000
  EXPECT_TRUE(ring.has_room(1000));
}

TEST(LogBuffer, WhatIsReservedAndNotPublishedIsNotSeen) {
  LogBuffer ring(4096);
  ASSERT_TRUE(ring.has_room(100));
  std::memset(ring.place(100), 'x', 100);
  EXPECT_TRUE(ring.drained());
  EXPECT_TRUE(ring.peek(ring.tail()).empty());
}

}  // namespace
}  // namespace pgsilo
