#include "base/chunk_source.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/sanitizers.h"

namespace pgsilo {
namespace {

class ChunkSourceTest : public ::testing::Test {
 protected:
  std::vector<void*> take(size_t count) {
    std::vector<void*> chunks;
    for (size_t i = 0; i < count; ++i) {
      chunks.push_back(source_.take());
      std::memset(chunks.back(), 1, ChunkSource::chunk_bytes);
    }
    return chunks;
  }
  void give(const std::vector<void*>& chunks, bool is_whole = true) {
    for (void* chunk : chunks) source_.give(chunk, is_whole);
  }

  ChunkSource source_;
};

bool is_resident(void* chunk) {
  unsigned char there = 0;
  EXPECT_EQ(mincore(chunk, static_cast<size_t>(sysconf(_SC_PAGESIZE)), &there), 0);
  return (there & 1) != 0;
}

TEST_F(ChunkSourceTest, ChunksAreAlignedAndApart) {
  std::vector<void*> chunks = take(3 * ChunkSource::chunks_of_mapping);
  std::set<void*> different(chunks.begin(), chunks.end());
  EXPECT_EQ(different.size(), chunks.size());
  for (void* chunk : chunks)
    ASSERT_EQ(reinterpret_cast<uintptr_t>(chunk) % ChunkSource::chunk_bytes, 0U);
  EXPECT_EQ(source_.in_use(), chunks.size());
  give(chunks);
  EXPECT_EQ(source_.in_use(), 0U);
}

TEST_F(ChunkSourceTest, AFewKeepTheirPages) {
  std::vector<void*> chunks = take(100);
  give({chunks.begin(), chunks.begin() + 50});
  EXPECT_EQ(source_.kept(), ChunkSource::least_kept + 50 / 8);
  give({chunks.begin() + 50, chunks.end()});
  EXPECT_EQ(source_.kept(), ChunkSource::least_kept);
  EXPECT_EQ(std::ranges::count_if(chunks, is_resident), static_cast<long>(source_.kept()));
  // They are the first to be used again, and after them the others.
  size_t kept = source_.kept();
  std::vector<void*> again;
  for (size_t i = 0; i < kept; ++i) {
    again.push_back(source_.take());
    EXPECT_TRUE(is_resident(again.back()));
  }
  EXPECT_EQ(source_.kept(), 0U);
  while (again.size() < chunks.size()) again.push_back(source_.take());
  EXPECT_EQ(std::set(again.begin(), again.end()), std::set(chunks.begin(), chunks.end()));
  give(again);
}

TEST_F(ChunkSourceTest, OneWithHolesKeepsNone) {
  std::vector<void*> chunks = take(2);
  give(chunks, false);
  EXPECT_EQ(source_.kept(), 0U);
  EXPECT_FALSE(is_resident(chunks[0]));
}

TEST_F(ChunkSourceTest, ThreadsTakeAndGive) {
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([this, t] {
      for (int round = 0; round < 20; ++round) {
        std::vector<void*> chunks;
        for (int i = 0; i < 40; ++i) {
          chunks.push_back(source_.take());
          std::memset(chunks.back(), t, 8);
        }
        for (void* chunk : chunks) {
          ASSERT_EQ(*static_cast<char*>(chunk), t);
          source_.give(chunk, round % 2 == 0);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source_.in_use(), 0U);
}

#if !defined(PGSILO_ASAN) && !defined(PGSILO_TSAN)  // they have taken more addresses than any limit
TEST_F(ChunkSourceTest, HasNoneWhereThereAreNoAddresses) {
  std::vector<void*> chunks = take(ChunkSource::chunks_of_mapping);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  void* refused = source_.take();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(refused, nullptr);
  chunks.push_back(source_.take());
  EXPECT_NE(chunks.back(), nullptr);
  give(chunks);
}
#endif

}  // namespace
}  // namespace pgsilo
