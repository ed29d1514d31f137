// Under a sanitizer all of it is malloc's, and these say only that it can be used, but where
// PGSILO_OWN_SMALL_MEMORY is set (ctest small_memory).
#include "base/small_memory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/sanitizers.h"

namespace pgsilo {
namespace {

#if defined(PGSILO_ASAN) || defined(PGSILO_TSAN)
const bool is_own = std::getenv("PGSILO_OWN_SMALL_MEMORY") != nullptr;
#else
constexpr bool is_own = true;
#endif

constexpr size_t row_bytes = 136;

size_t used() {
  SlabUsage usage = small_memory_usage();
  return usage.chunks - usage.free;
}

std::vector<void*> allocate(size_t count) {
  std::vector<void*> objects;
  for (size_t i = 0; i < count; ++i) {
    objects.push_back(allocate_small(row_bytes));
    std::memset(objects.back(), 1, row_bytes);
  }
  return objects;
}

void free_all(const std::vector<void*>& objects) {
  for (void* object : objects) free_small(object, row_bytes);
}

TEST(SmallMemory, AnySizeComesAndGoes) {
  std::vector<std::pair<void*, size_t>> objects;
  for (size_t bytes = 1; bytes < 6'000; bytes += 7) {
    void* memory = allocate_small(bytes);
    std::memset(memory, 1, bytes);
    objects.emplace_back(memory, bytes);
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    auto [memory, bytes] = objects[i];
    if (i % 2 == 0) {
      free_small(memory, bytes);
    } else {
      small_memory_deleter(bytes)(memory);
    }
  }
}

TEST(SmallMemory, IsCounted) {
  if (!is_own) GTEST_SKIP();
  size_t before = used();
  std::vector<void*> objects = allocate(100'000);
  EXPECT_NEAR(static_cast<double>(used() - before), 13.6e6, 0.3e6);
  free_all(objects);
  EXPECT_LT(used(), before + 20'000);
  give_back_small_memory();
  EXPECT_LE(used(), before);
}

TEST(SmallMemory, AnotherThreadMayFreeIt) {
  give_back_small_memory();
  size_t before = used();
  std::vector<void*> objects = allocate(10'000);
  std::thread([&] { free_all(objects); }).join();
  give_back_small_memory();
  EXPECT_LE(used(), before);
}

// As rows that were recovered by threads that are gone.
TEST(SmallMemory, WhatThreadsLeaveIsUsedByOthers) {
  if (!is_own) GTEST_SKIP();
  give_back_small_memory();
  std::vector<void*> objects;
  std::thread first([&] {
    std::thread second([&] { objects = allocate(100'000); });
    second.join();
  });
  first.join();
  std::vector<void*> given, kept;
  for (size_t i = 0; i < objects.size(); ++i) (i % 2 == 0 ? given : kept).push_back(objects[i]);
  free_all(given);
  give_back_small_memory();
  size_t chunks = small_memory_usage().chunks;
  std::vector<void*> again = allocate(given.size() / 2);
  EXPECT_EQ(small_memory_usage().chunks, chunks);
  free_all(again);
  free_all(kept);
  give_back_small_memory();
}

// As the thread that recovers with others, and then waits for the end.
TEST(SmallMemory, WhoLeavesLeavesItsRoom) {
  if (!is_own) GTEST_SKIP();
  std::vector<void*> kept, again;
  std::thread([&] {
    std::vector<void*> given;
    for (void* object : allocate(100'000))
      (given.size() < kept.size() ? given : kept).push_back(object);
    free_all(given);
    leave_small_memory();
    size_t chunks = small_memory_usage().chunks;
    std::thread([&] { again = allocate(40'000); }).join();
    EXPECT_EQ(small_memory_usage().chunks, chunks);
    free_all(allocate(3));
  }).join();
  free_all(kept);
  free_all(again);
  give_back_small_memory();
}

// A thread's destructors may free rows when what it kept at hand is gone already.
TEST(SmallMemory, MayBeFreedWhileAThreadEnds) {
  give_back_small_memory();
  size_t before = used();
  struct FreesLate {
    ~FreesLate() {
      free_all(objects);
      free_all(allocate(3));
    }
    std::vector<void*> objects;
  };
  std::thread([] {
    thread_local FreesLate late;
    late.objects = allocate(1'000);
  }).join();
  EXPECT_LE(used(), before);
}

}  // namespace
}  // namespace pgsilo
