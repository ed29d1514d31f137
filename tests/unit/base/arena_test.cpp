#include "base/arena.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace pgsilo {
namespace {

TEST(ArenaTest, KeepsABlockForReuse) {
  Arena arena;
  void* first = arena.allocate(100);
  size_t reserved = arena.bytes_reserved();
  arena.reset();
  EXPECT_EQ(arena.bytes_reserved(), reserved);
  EXPECT_EQ(arena.allocate(100), first);
}

TEST(ArenaTest, KeepsNothingLongFromManyBlocks) {
  Arena arena;
  for (int i = 0; i < 100'000; ++i) arena.allocate(100);
  EXPECT_GE(arena.bytes_reserved(), 10'000'000u);
  arena.reset();
  EXPECT_EQ(arena.bytes_reserved(), limits::kept_arena_bytes);
  // Nor is the next one as long as those before.
  arena.allocate(limits::kept_arena_bytes);
  EXPECT_LE(arena.bytes_reserved(), 3 * limits::kept_arena_bytes);
}

TEST(ArenaTest, DoesNotKeepALongValue) {
  Arena arena;
  arena.allocate(100'000'000);
  arena.reset();
  EXPECT_EQ(arena.bytes_reserved(), 0u);
  arena.copy_string("here again");
  EXPECT_LE(arena.bytes_reserved(), 2 * limits::kept_arena_bytes);
  arena.allocate(100'000'000);
  arena.reset();
  EXPECT_LE(arena.bytes_reserved(), limits::kept_arena_bytes);
}

}  // namespace
}  // namespace pgsilo
