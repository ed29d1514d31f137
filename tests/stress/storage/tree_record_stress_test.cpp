// I1 and I4: readers of a record that is overwritten all the time, in place and by moving, get rows
// that one version held whole, under TIDs that never decrease.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "storage/record/record_allocator.h"

namespace pgsilo {
namespace {

// Version `number`: every byte tells the number, and the length does too. Lengths grow, so that
// rows move now and then.
std::string row_of(uint32_t number) {
  return std::string(8 + number / 100 + number % 97, static_cast<char>('a' + number % 26));
}

TEST(TreeRecordStress, ReadersGetWholeRowsInOrder) {
  constexpr uint32_t versions = 60000;
  constexpr int readers = 3;
  Reclaimer reclaimer;
  MemoryAccount account;
  RecordAllocator records(account);
  ReclaimerHandle owner(reclaimer);
  Record* record = records.create_filled("key", "aaaaaaaa", Tid(Epoch(1), 0), owner);
  std::atomic<bool> stop{false};

  auto read = [&] {
    ReclaimerHandle handle(reclaimer);
    Arena arena;
    Tid last;
    while (!stop.load(std::memory_order_relaxed)) {
      Pin pin(handle);
      arena.reset();
      RowBuffer buffer(arena);
      TidWord seen = record->stable_read(buffer);
      ASSERT_FALSE(seen.is_locked());
      ASSERT_LE(last, seen.tid());
      last = seen.tid();
      uint32_t number = seen.tid().sequence();
      if (seen.is_absent()) {
        ASSERT_EQ(number % 50, 49u);
        ASSERT_TRUE(buffer.bytes().empty());
      } else {
        ASSERT_EQ(buffer.bytes(), number == 0 ? "aaaaaaaa" : row_of(number));
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(readers);
  for (int i = 0; i < readers; ++i) threads.emplace_back(read);

  // Two writers take turns by the lock bit; an intent is raised and dropped all the while.
  std::atomic<uint32_t> next{1};
  auto write = [&] {
    ReclaimerHandle handle(reclaimer);
    for (;;) {
      ExternalPayload* spare =
          records.create_payload(row_of(next.load(std::memory_order_relaxed)).size() + 100, handle);
      TidWord seen;
      if (!record->tid_word().try_lock(LockPurpose::update, seen)) {
        records.destroy(spare, handle);
        std::this_thread::yield();
        continue;
      }
      uint32_t number = next.load(std::memory_order_relaxed);
      if (number < versions) next.store(number + 1, std::memory_order_relaxed);
      ExternalPayload* unused = spare;
      if (number == versions) {
        record->tid_word().unlock();
      } else if (number % 50 == 49) {
        record->install_absent(Tid(Epoch(1), number));
      } else {
        unused = record->install(row_of(number), Tid(Epoch(1), number), spare, number % 3 == 0);
      }
      if (unused == spare) {
        records.destroy(spare, handle);
      } else if (unused != nullptr) {
        records.retire(unused, handle);
      }
      handle.reclaim();
      if (number == versions) return;
    }
  };
  std::thread writers[] = {std::thread(write), std::thread(write)};
  std::thread intents([&] {
    for (int i = 0; i < 20000; ++i) {
      ASSERT_FALSE(record->tid_word().raise_intent().has_intent());
      ASSERT_TRUE(record->tid_word().drop_intent().has_intent());
    }
  });
  for (std::thread& writer : writers) writer.join();
  intents.join();
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  records.destroy(record, owner);
  EXPECT_EQ(account.bytes(), 0u);
}

}  // namespace
}  // namespace pgsilo
