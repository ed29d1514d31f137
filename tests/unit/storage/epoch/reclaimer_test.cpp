#include "storage/epoch/reclaimer.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "tests/unit/catalog/failing_memory.h"

namespace pgsilo {
namespace {

void set_flag(void* object) { *static_cast<bool*>(object) = true; }

TEST(Reclaimer, FreesAtOnceWhenNobodyIsPinned) {
  Reclaimer reclaimer;
  ReclaimerHandle handle(reclaimer);
  bool freed = false;
  handle.retire(&freed, set_flag, 100);
  EXPECT_FALSE(freed);
  EXPECT_EQ(reclaimer.pending_bytes(), 100u);
  EXPECT_EQ(handle.reclaim(), 1u);
  EXPECT_TRUE(freed);
  EXPECT_EQ(reclaimer.pending_bytes(), 0u);
  EXPECT_EQ(handle.reclaim(), 0u);
}

TEST(Reclaimer, AnOlderPinOfAnotherThreadHoldsMemoryBack) {
  Reclaimer reclaimer;
  ReclaimerHandle writer(reclaimer);
  ReclaimerHandle reader(reclaimer);
  bool freed = false;
  std::optional<Pin> pin(std::in_place, reader);
  writer.retire(&freed, set_flag, 1);
  EXPECT_EQ(writer.reclaim(), 0u);
  EXPECT_FALSE(freed);
  EXPECT_EQ(reclaimer.oldest_pin(), pin->generation());
  pin.reset();
  EXPECT_EQ(writer.reclaim(), 1u);
  EXPECT_TRUE(freed);
}

TEST(Reclaimer, AYoungerPinHoldsNothingBack) {
  Reclaimer reclaimer;
  ReclaimerHandle writer(reclaimer);
  ReclaimerHandle reader(reclaimer);
  bool freed = false;
  std::optional<Pin> old_pin(std::in_place, reader);
  writer.retire(&freed, set_flag, 1);
  EXPECT_EQ(writer.reclaim(), 0u);  // closes the batch
  Pin young_pin(reader);
  EXPECT_GT(young_pin.generation(), old_pin->generation());
  old_pin.reset();
  EXPECT_EQ(writer.reclaim(), 1u);
  EXPECT_TRUE(freed);
}

TEST(Reclaimer, ThePinsOfOneThreadAnnounceTheOldest) {
  Reclaimer reclaimer;
  ReclaimerHandle handle(reclaimer);
  bool freed[3] = {};
  std::optional<Pin> pins[3];
  for (int i = 0; i < 3; ++i) {
    pins[i].emplace(handle);
    handle.retire(&freed[i], set_flag, 1);
    handle.reclaim();
    handle.reclaim();
  }
  EXPECT_EQ(handle.oldest_pin(), &*pins[0]);
  EXPECT_EQ(handle.oldest_pin()->next(), &*pins[1]);
  pins[1].reset();  // not the oldest: nothing goes
  handle.reclaim();
  EXPECT_FALSE(freed[0] || freed[1] || freed[2]);
  EXPECT_EQ(reclaimer.oldest_pin(), pins[0]->generation());
  pins[0].reset();
  EXPECT_EQ(reclaimer.oldest_pin(), pins[2]->generation());
  handle.reclaim();
  EXPECT_TRUE(freed[0]);
  EXPECT_FALSE(freed[2]);
  pins[2].reset();
  handle.reclaim();
  handle.reclaim();
  EXPECT_TRUE(freed[2]);
}

TEST(Reclaimer, WhatAThreadLeavesBehindIsFreedByAnother) {
  Reclaimer reclaimer;
  ReclaimerHandle reader(reclaimer);
  bool freed = false;
  std::optional<Pin> pin(std::in_place, reader);
  {
    ReclaimerHandle writer(reclaimer);
    writer.retire(&freed, set_flag, 50);
  }
  EXPECT_FALSE(freed);
  EXPECT_EQ(reclaimer.pending_bytes(), 50u);
  EXPECT_EQ(reader.reclaim(), 0u);
  pin.reset();
  EXPECT_EQ(reader.reclaim(), 1u);
  EXPECT_TRUE(freed);
  EXPECT_EQ(reclaimer.pending_bytes(), 0u);
}

// What a restart unhooks, and what others delete beside a pin, is retired one by one.
TEST(Reclaimer, RoomForManyIsMadeAFewTimes) {
  Reclaimer reclaimer;
  ReclaimerHandle handle(reclaimer);
  Pin pin(handle);
  size_t freed = 0;
  auto count = [](void* object) { ++*static_cast<size_t*>(object); };
  constexpr size_t objects = 100000;
  size_t made = 0;
  for (size_t i = 0; i < objects; ++i) {
    testing::FailingMemory memory(0);
    try {
      handle.reserve(40);
    } catch (const std::bad_alloc&) {
      ++made;
      handle.reserve(40);
    }
    handle.retire(&freed, count, 1);
  }
  EXPECT_LT(made, 40u);
}

// However many batches its lists have room for: what is left behind is freed by another.
TEST(Reclaimer, AThreadEndsWithoutMemory) {
  constexpr size_t objects_per_batch = 64;
  for (size_t batches = 0; batches < 40; ++batches) {
    Reclaimer reclaimer;
    size_t freed = 0;
    auto count = [](void* object) { ++*static_cast<size_t*>(object); };
    size_t retired = batches * objects_per_batch + 2;
    size_t pending = 0;
    {
      ReclaimerHandle reader(reclaimer);
      Pin pin(reader);
      {
        ReclaimerHandle earlier(reclaimer);
        earlier.retire(&freed, count, 1);
      }
      std::optional<ReclaimerHandle> handle(std::in_place, reclaimer);
      for (size_t i = 0; i < batches * objects_per_batch; ++i) {
        handle->retire(&freed, count, 1);
        if (i % objects_per_batch == objects_per_batch - 1) handle->reclaim();
      }
      handle->retire(&freed, count, 1);
      testing::FailingMemory memory(0, testing::FailingMemory::Fails::for_good);
      handle.reset();
      pending = reclaimer.pending_bytes();
      EXPECT_EQ(freed, 0u);
    }
    EXPECT_EQ(freed, pending) << batches;
    EXPECT_EQ(reclaimer.pending_bytes(), 0u);
    EXPECT_EQ(freed, retired);
  }
}

TEST(Reclaimer, ItsDestructorFreesWhatIsLeft) {
  bool freed = false;
  {
    Reclaimer reclaimer;
    ReclaimerHandle reader(reclaimer);
    Pin pin(reader);
    ReclaimerHandle writer(reclaimer);
    writer.retire(&freed, set_flag, 1);
  }
  EXPECT_TRUE(freed);
}

TEST(Reclaimer, HonoursTheBudget) {
  Reclaimer reclaimer;
  ReclaimerHandle handle(reclaimer);
  bool freed[10] = {};
  for (bool& flag : freed) handle.retire(&flag, set_flag, 1);
  EXPECT_EQ(handle.reclaim(4), 4u);
  EXPECT_EQ(handle.pending_bytes(), 6u);
  EXPECT_EQ(handle.reclaim(), 6u);
}

// While an old pin lasts, garbage is batched: the line that all pins read is not written for every
// object.
TEST(Reclaimer, AnOldPinDoesNotMakeTheGenerationRun) {
  Reclaimer reclaimer;
  ReclaimerHandle writer(reclaimer);
  ReclaimerHandle reader(reclaimer);
  bool freed = false;
  std::optional<Pin> pin(std::in_place, reader);
  Generation before = reclaimer.current();
  for (int i = 0; i < 640; ++i) {
    writer.retire(&freed, set_flag, 1000);
    EXPECT_EQ(writer.reclaim(), 0u);
  }
  EXPECT_LE(reclaimer.current().value(), before.value() + 12);
  pin.reset();
  reader.reclaim();  // between two requests
  while (writer.reclaim() != 0) {
  }
  EXPECT_EQ(reclaimer.pending_bytes(), 0u);
}

// The thread's loop has nothing more to do: it may sleep.
void settle(ReclaimerHandle& handle) {
  do {
    handle.reclaim();
  } while (handle.hurries());
}

// A thread that retires something and then sleeps is not needed for the rest: who ends the pin that
// is in the way frees it.
TEST(Reclaimer, WhatASleeperLeftIsFreedByWhoHeldItBack) {
  Reclaimer reclaimer;
  ReclaimerHandle sleeper(reclaimer);
  ReclaimerHandle reader(reclaimer);
  size_t freed = 0;
  auto count = [](void* object) { ++*static_cast<size_t*>(object); };
  std::optional<Pin> pin(std::in_place, reader);
  for (size_t round = 1; round <= 100; ++round) {
    sleeper.retire(&freed, count, 1);
    settle(sleeper);
  }
  EXPECT_EQ(freed, 0u);
  settle(reader);
  EXPECT_EQ(freed, 0u);
  pin.reset();
  settle(reader);
  EXPECT_EQ(freed, 100u);
  EXPECT_EQ(reclaimer.pending_bytes(), 0u);
}

// So also if another pin is still in the way when the first ends, and yet another.
TEST(Reclaimer, WhoHeldASleeperBackAsksTheNext) {
  for (int first : {0, 1, 2}) {
    Reclaimer reclaimer;
    ReclaimerHandle sleeper(reclaimer);
    ReclaimerHandle readers[3] = {ReclaimerHandle(reclaimer), ReclaimerHandle(reclaimer),
                                  ReclaimerHandle(reclaimer)};
    bool freed[3] = {};
    std::optional<Pin> pins[3];
    for (int i = 0; i < 3; ++i) {
      pins[i].emplace(readers[i]);
      sleeper.retire(&freed[i], set_flag, 1);
      settle(sleeper);
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(freed[2]);
      int ending = (first + i) % 3;
      pins[ending].reset();
      settle(readers[ending]);
    }
    EXPECT_TRUE(freed[0] && freed[1] && freed[2]) << first;
    EXPECT_EQ(reclaimer.pending_bytes(), 0u);
  }
}

// One thread of many frees what many sleepers have left, a bounded number at a time.
TEST(Reclaimer, WhoHelpsHonoursTheBudget) {
  Reclaimer reclaimer;
  ReclaimerHandle reader(reclaimer);
  size_t freed = 0;
  auto count = [](void* object) { ++*static_cast<size_t*>(object); };
  std::optional<Pin> pin(std::in_place, reader);
  std::vector<std::unique_ptr<ReclaimerHandle>> sleepers;
  for (int i = 0; i < 20; ++i) {
    sleepers.push_back(std::make_unique<ReclaimerHandle>(reclaimer));
    for (int object = 0; object < 100; ++object) sleepers.back()->retire(&freed, count, 1);
    settle(*sleepers.back());
  }
  pin.reset();
  for (int calls = 0; reader.reclaim(10) != 0 || reader.hurries(); ++calls) {
    ASSERT_LE(freed, 10u * (calls + 1));
  }
  EXPECT_EQ(freed, 2000u);
}

// 64 workers of which each retires something in each transaction: what is written and read by all
// of them is touched now and then, with and without a session that idles in a transaction.
class ReclaimerOfMany : public ::testing::TestWithParam<bool> {};

TEST_P(ReclaimerOfMany, AdvancesAtABoundedRate) {
  constexpr size_t workers = 64;
  constexpr size_t transactions = 100000;
  Reclaimer reclaimer;
  std::vector<std::unique_ptr<ReclaimerHandle>> handles;
  for (size_t i = 0; i < workers; ++i)
    handles.push_back(std::make_unique<ReclaimerHandle>(reclaimer));
  ReclaimerHandle idle(reclaimer);
  std::optional<Pin> idle_pin;
  if (GetParam()) idle_pin.emplace(idle);
  size_t freed = 0;
  auto count = [](void* object) { ++*static_cast<size_t*>(object); };
  Generation first = reclaimer.current();
  for (size_t i = 0; i < transactions; ++i) {
    ReclaimerHandle& handle = *handles[i % workers];
    {
      Pin pin(handle);
      handle.retire(&freed, count, 100);
    }
    handle.reclaim();
  }
  RecordProperty("advances", static_cast<int>(reclaimer.advances()));
  // Each reads 65 lines: a third of a line for a transaction, at most.
  EXPECT_LE(reclaimer.advances(), transactions / 200);
  // The generation is written by who advances and by nobody else.
  EXPECT_EQ(reclaimer.current().value() - first.value(), reclaimer.advances());
  idle_pin.reset();
  settle(idle);
  for (auto& handle : handles) settle(*handle);
  EXPECT_EQ(freed, transactions);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutAnIdlePin, ReclaimerOfMany, ::testing::Bool());

TEST(Reclaimer, IndexesAreDenseAndReused) {
  Reclaimer reclaimer;
  ReclaimerHandle first(reclaimer);
  EXPECT_EQ(first.index(), 0u);
  {
    ReclaimerHandle second(reclaimer);
    EXPECT_EQ(second.index(), 1u);
  }
  ReclaimerHandle third(reclaimer);
  EXPECT_EQ(third.index(), 1u);
}

}  // namespace
}  // namespace pgsilo
