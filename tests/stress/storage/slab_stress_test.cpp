// Threads take objects from a shard, write them, and give back each other's, in waves that empty
// chunks and half-empty them, so that slabs are taken while others are purged and chunks released.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/slab_shard.h"
#include "tests/stress/sanitized.h"

namespace pgsilo {
namespace {

constexpr unsigned threads = 4;
constexpr std::array<size_t, 3> sizes{136, 1024, 2048};

struct Object {
  void* memory;
  SizeClass size_class;
  uint64_t mark;

  // Its first and its last word: another's, and pages that are gone, show at either.
  void write() const {
    std::memcpy(memory, &mark, sizeof mark);
    std::memcpy(last_word(), &mark, sizeof mark);
  }
  bool is_whole() const {
    return std::memcmp(memory, &mark, sizeof mark) == 0 &&
           std::memcmp(last_word(), &mark, sizeof mark) == 0;
  }
  char* last_word() const { return static_cast<char*>(memory) + size_class.bytes() - sizeof mark; }
};

class Exchange {
 public:
  void add(std::vector<Object> objects) {
    std::lock_guard guard(mutex_);
    for (Object& object : objects) objects_.push_back(object);
  }
  // Some, at random.
  std::vector<Object> take(Random& random, size_t count) {
    std::lock_guard guard(mutex_);
    std::vector<Object> taken;
    while (taken.size() < count && !objects_.empty()) {
      std::swap(objects_[random.below(objects_.size())], objects_.back());
      taken.push_back(objects_.back());
      objects_.pop_back();
    }
    return taken;
  }

 private:
  std::mutex mutex_;
  std::vector<Object> objects_;
};

void allocate(SlabShard& shard, Exchange& exchange, Random& random, size_t count) {
  std::vector<Object> objects;
  SizeClass size_class = SizeClass::of(sizes[random.below(sizes.size())]);
  while (objects.size() < count) {
    FreeList list;
    shard.take(size_class, 32, list);
    if (list.count == 0) {
      ASSERT_TRUE(shard.grow(size_class, true));
    }
    while (list.count > 0) {
      Object object{list.pop(), size_class, random.below(UINT64_MAX)};
      object.write();
      objects.push_back(object);
    }
  }
  exchange.add(std::move(objects));
}

void give(SlabShard& shard, const std::vector<Object>& objects) {
  for (const Object& object : objects) {
    ASSERT_TRUE(object.is_whole());
    FreeList list;
    list.push(object.memory);
    shard.give(object.size_class, list);
  }
}

TEST(SlabStress, ManyTakeAndGive) {
  auto shard = std::make_unique<SlabShard>();
  Exchange exchange;
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      Random random(t);
      for (int wave = 0; wave < (sanitized ? 50 : 500); ++wave) {
        for (int i = 0; i < 20; ++i) allocate(*shard, exchange, random, 200);
        // Most, or all that there is.
        give(*shard, exchange.take(random, random.one_in(3) ? SIZE_MAX : 3'900));
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  Random random(99);
  give(*shard, exchange.take(random, SIZE_MAX));
  SlabUsage usage = shard->usage();
  EXPECT_EQ(usage.chunks, 0U);
  EXPECT_EQ(usage.free, 0U);
  EXPECT_EQ(usage.purged, 0U);
}

}  // namespace
}  // namespace pgsilo
