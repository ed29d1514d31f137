#include "base/slab_shard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"

namespace pgsilo {
namespace {

constexpr SizeClass rows = SizeClass::of(136);

class SlabShardTest : public ::testing::Test {
 protected:
  // `count` objects, each filled with a byte of its own.
  std::vector<void*> take(SizeClass size_class, size_t count) {
    std::vector<void*> objects;
    while (objects.size() < count) {
      FreeList list;
      shard_->take(size_class, static_cast<uint32_t>(std::min<size_t>(32, count - objects.size())),
                   list);
      if (list.count == 0) {
        EXPECT_TRUE(shard_->grow(size_class, true));
      }
      while (list.count > 0) objects.push_back(list.pop());
    }
    for (size_t i = 0; i < count; ++i)
      std::memset(objects[i], static_cast<int>(i % 251), size_class.bytes());
    return objects;
  }

  void give(SizeClass size_class, const std::vector<void*>& objects) {
    for (size_t i = 0; i < objects.size();) {
      FreeList list;
      for (; list.count < 32 && i < objects.size(); ++i) list.push(objects[i]);
      shard_->give(size_class, list);
    }
  }

  std::unique_ptr<SlabShard> shard_ = std::make_unique<SlabShard>();
};

size_t resident_pages(const std::set<uintptr_t>& chunks) {
  size_t resident = 0;
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> there(SlabShard::chunk_bytes / page);
  for (uintptr_t chunk : chunks) {
    EXPECT_EQ(mincore(reinterpret_cast<void*>(chunk), SlabShard::chunk_bytes, there.data()), 0);
    resident +=
        static_cast<size_t>(std::ranges::count_if(there, [](auto bits) { return bits & 1; }));
  }
  return resident;
}

// The kernel makes no huge page of it by itself (VmFlags "nh"): with one, all of it is there again.
bool stays_purged(uintptr_t chunk) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      is_here = begin <= chunk && chunk < end;
    if (is_here && line.starts_with("VmFlags:")) return line.find(" nh") != std::string::npos;
  }
  return false;
}

std::set<uintptr_t> chunks_of(const std::vector<void*>& objects) {
  std::set<uintptr_t> chunks;
  for (void* object : objects)
    chunks.insert(reinterpret_cast<uintptr_t>(object) & ~(SlabShard::chunk_bytes - 1));
  return chunks;
}

TEST_F(SlabShardTest, ObjectsOfAllClassesAreApart) {
  std::vector<std::vector<void*>> objects;
  for (unsigned i = 0; i < SizeClass::count; ++i) objects.push_back(take(SizeClass(i), 700));
  for (unsigned i = 0; i < SizeClass::count; ++i) {
    SizeClass size_class(i);
    for (size_t k = 0; k < objects[i].size(); ++k) {
      auto* bytes = static_cast<unsigned char*>(objects[i][k]);
      ASSERT_TRUE(std::all_of(bytes, bytes + size_class.bytes(),
                              [&](unsigned char byte) { return byte == k % 251; }));
      ASSERT_EQ(SlabShard::size_class_of(bytes), size_class);
      ASSERT_EQ(&SlabShard::of(bytes), shard_.get());
      ASSERT_EQ(reinterpret_cast<uintptr_t>(bytes) % 8, 0U);
      if (size_class.bytes() % 64 == 0) {
        ASSERT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0U);
      }
    }
  }
  for (unsigned i = 0; i < SizeClass::count; ++i) give(SizeClass(i), objects[i]);
  EXPECT_EQ(shard_->usage().chunks, 0U);
}

TEST_F(SlabShardTest, LiesCloseTogether) {
  std::vector<void*> objects = take(rows, 1'000'000);
  SlabUsage usage = shard_->usage();
  EXPECT_LT(usage.chunks - usage.free, 1'000'000 * rows.bytes() * 101 / 100);
  EXPECT_LT(usage.free, SlabShard::chunk_bytes);
  EXPECT_TRUE(std::ranges::is_sorted(std::span(objects).first(400)));
  give(rows, objects);
  EXPECT_EQ(shard_->usage().chunks, 0U);
  EXPECT_EQ(shard_->usage().free, 0U);
}

TEST_F(SlabShardTest, HolesAreFilledAgain) {
  std::vector<void*> objects = take(rows, 100'000), given;
  size_t before = shard_->usage().chunks;
  Random random(7);
  std::erase_if(objects, [&](void* object) {
    bool gives = random.one_in(3);
    if (gives) given.push_back(object);
    return gives;
  });
  give(rows, given);
  EXPECT_GT(shard_->usage().free, given.size() * rows.bytes());
  std::vector<void*> again = take(rows, given.size());
  EXPECT_EQ(shard_->usage().chunks, before);
  give(rows, again);
  give(rows, objects);
}

TEST_F(SlabShardTest, EmptySlabsServeOtherClasses) {
  std::vector<void*> objects = take(rows, 10'000);
  size_t before = shard_->usage().chunks;
  void* last = objects.back();
  objects.pop_back();
  give(rows, objects);
  std::vector<void*> nodes = take(SizeClass::of(320), 1'000);
  EXPECT_LE(shard_->usage().chunks, before);
  EXPECT_EQ(chunks_of(nodes), chunks_of({last}));
  give(SizeClass::of(320), nodes);
  give(rows, {last});
}

// One row of each chunk stays, as when nearly all rows of a table are deleted.
TEST_F(SlabShardTest, ChunksThatAreNearlyEmptyGiveTheirPagesBack) {
  std::vector<void*> objects = take(rows, 20 * SlabShard::chunk_bytes / rows.bytes());
  std::set<uintptr_t> chunks = chunks_of(objects), kept_chunks;
  std::vector<void*> given, kept;
  for (void* object : objects) {
    bool is_first = kept_chunks.insert(*chunks_of({object}).begin()).second;
    (is_first ? kept : given).push_back(object);
  }
  size_t pages_before = resident_pages(chunks);
  give(rows, given);
  SlabUsage usage = shard_->usage();
  EXPECT_EQ(usage.chunks, chunks.size() * SlabShard::chunk_bytes);
  EXPECT_GT(usage.purged, usage.chunks / 2);
  EXPECT_LT(resident_pages(chunks), pages_before / 2);
  EXPECT_LE(usage.purged, usage.free);
  // All but those that are still queued.
  EXPECT_GE(std::ranges::count_if(chunks, stays_purged), std::ssize(chunks) - 4);
  // They are used again, and what stayed is untouched.
  std::vector<void*> again = take(rows, given.size());
  EXPECT_EQ(shard_->usage().purged, 0U);
  EXPECT_EQ(shard_->usage().chunks, chunks.size() * SlabShard::chunk_bytes);
  give(rows, again);
  give(rows, kept);
  EXPECT_EQ(shard_->usage().chunks, 0U);
}

// Rows deleted in the order in which they came: nothing is given back by pieces.
TEST_F(SlabShardTest, ChunksThatBecomeEmptyStayWhole) {
  std::vector<void*> objects = take(rows, 20 * SlabShard::chunk_bytes / rows.bytes());
  for (size_t i = 0; i < objects.size(); i += 32) {
    give(rows, {objects.begin() + static_cast<std::ptrdiff_t>(i),
                objects.begin() + static_cast<std::ptrdiff_t>(std::min(objects.size(), i + 32))});
    ASSERT_EQ(shard_->usage().purged, 0U);
  }
  EXPECT_EQ(shard_->usage().chunks, 0U);
}

TEST_F(SlabShardTest, SaysWhetherItHasAnything) {
  EXPECT_FALSE(shard_->has_slabs());
  EXPECT_FALSE(shard_->has_objects(rows));
  EXPECT_FALSE(shard_->grow(rows, false));
  std::vector<void*> objects = take(rows, 1);
  EXPECT_TRUE(shard_->has_slabs());
  EXPECT_TRUE(shard_->has_objects(rows));
  EXPECT_FALSE(shard_->has_objects(SizeClass::of(320)));
  give(rows, objects);
  EXPECT_FALSE(shard_->has_slabs());
  EXPECT_FALSE(shard_->has_objects(rows));
}

}  // namespace
}  // namespace pgsilo
