// The two clocks under real threads: epochs that are complete stay complete and publish what was
// done in them, and memory is freed only behind everybody's back. Run under ThreadSanitizer and
// AddressSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "storage/epoch/epoch_manager.h"
#include "storage/epoch/reclaimer.h"

namespace pgsilo {
namespace {

// What a worker did in epoch e before it left is seen by whoever sees e complete.
TEST(EpochStress, CompletionPublishesTheWorkOfTheCommit) {
  EpochManager epochs(Epoch(1));
  constexpr int commits = 2000;
  std::vector<int> handed_over(commits,
                               0);  // plain memory: TSan objects unless completion orders it
  std::vector<std::atomic<uint64_t>> epoch_of(commits);
  std::thread worker([&] {
    CommitSlot slot(epochs);
    for (int i = 0; i < commits; ++i) {
      slot.enter();
      handed_over[i] = 1;
      epoch_of[i].store(slot.serialization_epoch().value(), std::memory_order_relaxed);
      slot.leave();
    }
  });
  Epoch before = epochs.completed();
  for (int checked = 0; checked < commits;) {
    epochs.advance();
    Epoch complete = epochs.completed();
    ASSERT_GE(complete, before);
    ASSERT_LT(complete, epochs.current());
    before = complete;
    for (; checked < commits; ++checked) {
      uint64_t epoch = epoch_of[checked].load(std::memory_order_relaxed);
      if (epoch == 0 || epoch > complete.value()) break;
      ASSERT_EQ(handed_over[checked], 1);
    }
  }
  worker.join();
}

// No commit reads an epoch that somebody has already seen complete.
TEST(EpochStress, NoCommitEntersACompleteEpoch) {
  EpochManager epochs(Epoch(1));
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> published{0};
  std::thread advancer([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      epochs.advance();
      published.store(epochs.completed().value(), std::memory_order_seq_cst);
    }
  });
  CommitSlot slot(epochs);
  for (int i = 0; i < 50000; ++i) {
    uint64_t complete = published.load(std::memory_order_seq_cst);
    slot.enter();
    Epoch mine = slot.serialization_epoch();
    ASSERT_GT(mine.value(), complete);
    ASSERT_LT(epochs.completed(), mine);  // not while we are inside
    slot.leave();
  }
  stop.store(true, std::memory_order_relaxed);
  advancer.join();
}

// Readers follow a shared pointer whose target a writer keeps replacing. AddressSanitizer sees a
// use after free, ThreadSanitizer a free that is not ordered after the reads.
TEST(EpochStress, ReadersNeverMeetFreedMemory) {
  struct Object {
    uint64_t a;
    uint64_t b;
  };
  Reclaimer reclaimer;
  std::atomic<Object*> shared{new Object{1, ~uint64_t{1}}};
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  readers.reserve(2);
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      ReclaimerHandle handle(reclaimer);
      while (!stop.load(std::memory_order_relaxed)) {
        Pin pin(handle);
        Object* object = shared.load(std::memory_order_acquire);
        for (int again = 0; again < 3; ++again) ASSERT_EQ(object->a, ~object->b);
      }
    });
  }
  {
    ReclaimerHandle handle(reclaimer);
    size_t freed = 0;
    for (uint64_t i = 2; i < 20000; ++i) {
      Object* old = shared.exchange(new Object{i, ~i}, std::memory_order_acq_rel);
      handle.retire(old, [](void* object) { delete static_cast<Object*>(object); }, sizeof(Object));
      freed += handle.reclaim();
      if (i % 64 == 0) std::this_thread::yield();
    }
    EXPECT_GT(freed, 0u);
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& reader : readers) reader.join();
  delete shared.load();
}

// All threads replace what all read, under pins of which some last long; between their turns each
// sleeps, or ends for good, whatever waits. In the end everything is freed once.
TEST(EpochStress, WhatAnybodyLeavesIsFreedByTheOthers) {
  constexpr int threads = 4;
  constexpr int rounds = 2000;
  struct Object {
    uint64_t a;
    uint64_t b;
  };
  static std::atomic<int64_t> alive;
  alive.store(0);
  auto make = [](uint64_t i) {
    alive.fetch_add(1, std::memory_order_relaxed);
    return new Object{i, ~i};
  };
  auto free = [](void* object) {
    alive.fetch_sub(1, std::memory_order_relaxed);
    delete static_cast<Object*>(object);
  };
  Reclaimer reclaimer;
  std::atomic<Object*> shared{make(0)};
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      std::optional<ReclaimerHandle> handle(std::in_place, reclaimer);
      for (int round = 0; round < rounds; ++round) {
        {
          Pin pin(*handle);
          Object* seen = shared.load(std::memory_order_acquire);
          Object* fresh = make(static_cast<uint64_t>(round));
          Object* old = shared.exchange(fresh, std::memory_order_acq_rel);
          handle->retire(old, free, sizeof(Object));
          if (round % 64 == thread) std::this_thread::yield();
          ASSERT_EQ(seen->a, ~seen->b);
          ASSERT_EQ(old->a, ~old->b);
        }
        handle->reclaim(8);
        if (round % 16 == 0) {
          while (handle->hurries()) handle->reclaim(8);
          std::this_thread::yield();
        }
        if (round % 500 == 250) handle.emplace(reclaimer);
      }
      do {
        handle->reclaim(8);
      } while (handle->hurries());
    });
  }
  for (std::thread& thread : running) thread.join();
  {
    ReclaimerHandle last(reclaimer);
    do {
      last.reclaim();
    } while (last.hurries());
    EXPECT_EQ(reclaimer.pending_bytes(), 0u);
  }
  EXPECT_EQ(alive.load(), 1);
  delete shared.load();
}

}  // namespace
}  // namespace pgsilo
