// Intent locks under load: mutual exclusion, deadlocks resolved, waits that time out or are
// cancelled; nothing left behind.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "storage/transaction/advisory_lock.h"
#include "storage/transaction/lock_list.h"
#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using enum TransactionStatus;

constexpr int rounds = sanitized ? 1000 : 5000;
constexpr int threads = 4;
constexpr size_t record_count = 6;

struct Guarded {
  Record* record = nullptr;
  // Written by the only holder of a lock that writes, read by those who share; ThreadSanitizer
  // looks on.
  long value = 0;

  // What a holder may do. True if it has written.
  bool use(LockMode mode) {
    if (mode == LockMode::for_share) {
      EXPECT_GE(value, 0);
    }
    if (mode < LockMode::no_key_update) return false;
    ++value;
    return true;
  }
};

LockMode any_mode(Random& random) {
  using enum LockMode;
  constexpr std::array modes = {key_share, for_share, no_key_update, update};
  return modes[random.below(modes.size())];
}

class LockStress : public ::testing::Test {
 protected:
  LockStress() {
    for (Guarded& guarded : records) guarded.record = allocator.create("key", 0, handle);
  }
  ~LockStress() override {
    for (Guarded& guarded : records) {
      EXPECT_FALSE(guarded.record->tid_word().load().has_intent());
      EXPECT_EQ(locks.waiters(LockTag::of(guarded.record)), 0u);
      allocator.destroy(guarded.record, handle);
    }
  }

  // Sessions beside each other: body(random, settings, owner), each on a thread of its own.
  template <typename Body>
  std::vector<std::thread> start_sessions(Body body) {
    std::vector<std::thread> running;
    for (int id = 0; id < threads; ++id) {
      running.emplace_back([this, body, id] {
        Random random(static_cast<uint64_t>(id) + 1);
        ThreadParker parker;
        WaitSettings settings{&parker};
        settings.deadlock_timeout_us = 200 + 100 * id;
        LockOwner& owner = locks.take_owner();
        body(random, settings, owner);
        locks.return_owner(owner);
      });
    }
    return running;
  }

  MemoryAccount account;
  RecordAllocator allocator{account};
  Reclaimer reclaimer;
  ReclaimerHandle handle{reclaimer};
  LockTable locks{4};  // few shards: records share them
  std::array<Guarded, record_count> records;
};

TEST_F(LockStress, HoldersAreAloneAndDeadlocksEnd) {
  std::atomic<long> expected = 0, deadlocks = 0;
  std::vector<std::thread> running =
      start_sessions([&](Random& random, WaitSettings& settings, LockOwner& owner) {
        for (int round = 0; round < rounds; ++round) {
          for (uint64_t wanted = 1 + random.below(3); wanted != 0; --wanted) {
            Guarded& guarded = records[random.below(record_count)];
            LockMode mode = any_mode(random);
            TransactionStatus status =
                locks.acquire(owner, guarded.record, mode, WaitPolicy::wait, settings);
            if (status == deadlock) {
              deadlocks.fetch_add(1, std::memory_order_relaxed);
              break;
            }
            ASSERT_EQ(status, ok);
            if (guarded.use(mode)) expected.fetch_add(1, std::memory_order_relaxed);
            if (random.one_in(8)) std::this_thread::yield();
          }
          locks.release_locks(owner);
        }
      });
  for (std::thread& thread : running) thread.join();
  long sum = 0;
  for (Guarded& guarded : records) sum += guarded.value;
  EXPECT_EQ(sum, expected);
  RecordProperty("deadlocks", static_cast<int>(deadlocks));
}

TEST_F(LockStress, ImpatientWaitersLeaveNothingBehind) {
  std::array<std::atomic<bool>, threads> cancel{};
  std::array<ThreadParker, threads> parkers;
  std::atomic<int> finished = 0;
  std::vector<std::thread> running;
  for (size_t id = 0; id < threads; ++id) {
    running.emplace_back([&, id] {
      Random random(id + 1);
      WaitSettings settings{&parkers[id], &cancel[id]};
      settings.deadlock_timeout_us = 300;
      LockOwner& owner = locks.take_owner();
      for (int round = 0; round < rounds; ++round) {
        settings.lock_timeout_us = random.one_in(2) ? 50 : 0;
        WaitPolicy policy = random.one_in(4) ? WaitPolicy::no_wait : WaitPolicy::wait;
        for (int wanted = 0; wanted < 2; ++wanted) {
          Guarded& guarded = records[random.below(record_count)];
          LockMode mode = any_mode(random);
          TransactionStatus status = locks.acquire(owner, guarded.record, mode, policy, settings);
          if (status == ok) {
            guarded.use(mode);
            continue;
          }
          ASSERT_TRUE(status == deadlock || status == lock_timeout || status == cancelled ||
                      (status == lock_not_available && policy == WaitPolicy::no_wait))
              << name_of(status);
          cancel[id].store(false, std::memory_order_relaxed);
          break;
        }
        locks.release_locks(owner);
      }
      locks.return_owner(owner);
      finished.fetch_add(1, std::memory_order_relaxed);
    });
  }
  Random random(99);
  while (finished.load(std::memory_order_relaxed) != threads) {
    size_t victim = random.below(threads);
    cancel[victim].store(true, std::memory_order_release);
    parkers[victim].unpark();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  for (std::thread& thread : running) thread.join();
}

// Sessions that lock, unlock, give up and repeat: holders of an exclusive lock are alone, and when
// all have gone nothing is left.
TEST_F(LockStress, AdvisoryLocksExcludeEachOther) {
  constexpr size_t keys = 4;
  std::array<long, keys> values{};
  std::atomic<long> expected = 0;
  std::vector<std::thread> running =
      start_sessions([&](Random& random, WaitSettings& settings, LockOwner& owner) {
        AdvisoryLocks book(locks, owner);
        for (int round = 0; round < rounds; ++round) {
          bool undone = false;
          for (uint64_t wanted = 1 + random.below(3); wanted != 0; --wanted) {
            size_t key = random.below(keys);
            LockMode mode = random.one_in(2) ? LockMode::share : LockMode::exclusive;
            auto scope = random.one_in(2) ? AdvisoryLocks::Scope::session
                                          : AdvisoryLocks::Scope::transaction;
            settings.lock_timeout_us = random.one_in(4) ? 50 : 0;
            TransactionStatus status =
                book.lock(LockTag::advisory(static_cast<int64_t>(key)), mode, scope,
                          random.one_in(4) ? WaitPolicy::no_wait : WaitPolicy::wait, settings);
            if (status == deadlock) break;
            if (status != ok) continue;
            if (mode == LockMode::exclusive) {
              ++values[key];
              expected.fetch_add(1, std::memory_order_relaxed);
            } else {
              EXPECT_GE(values[key], 0);
            }
            if (random.one_in(4)) {
              book.unlock(LockTag::advisory(static_cast<int64_t>(key)), mode);
            }
            if (random.one_in(8) && book.can_undo()) {
              book.undo();
              undone = true;
            }
          }
          if (undone || random.one_in(2)) book.settle();
          book.end_transaction();
          if (random.one_in(2)) book.unlock_all();
          book.settle();
          if (random.one_in(8) || book.held_before()) book.release_all();
        }
        book.release_all();
      });
  for (std::thread& thread : running) thread.join();
  long sum = 0;
  for (long value : values) sum += value;
  EXPECT_EQ(sum, expected);
  EXPECT_TRUE(locks.list().empty());
}

// Shards grow and shrink beside those who lock, wait and look: holders are alone, nobody is lost.
TEST_F(LockStress, ShardsGrowBesideTheirUsers) {
  constexpr size_t keys = 2000;
  std::vector<long> values(keys);
  std::atomic<long> expected = 0;
  std::atomic<int> finished = 0;
  std::atomic<bool> grew = false;
  std::vector<std::thread> running =
      start_sessions([&](Random& random, WaitSettings& settings, LockOwner& owner) {
        settings.lock_timeout_us = 50;
        for (int round = 0; round < rounds / 20; ++round) {
          size_t most = size_t{1} << random.below(10);
          for (uint64_t wanted = random.below(most + 1); wanted != 0; --wanted) {
            size_t key = random.below(keys);
            LockMode mode = random.one_in(2) ? LockMode::share : LockMode::exclusive;
            WaitPolicy policy = random.one_in(8) ? WaitPolicy::wait : WaitPolicy::no_wait;
            TransactionStatus status = locks.acquire(
                owner, LockTag::advisory(static_cast<int64_t>(key)), mode, policy, settings);
            if (status == deadlock) break;
            if (status != ok) continue;
            if (mode == LockMode::exclusive) {
              ++values[key];
              expected.fetch_add(1, std::memory_order_relaxed);
            } else {
              EXPECT_GE(values[key], 0);
            }
          }
          if (locks.chains().count > 100) grew.store(true, std::memory_order_relaxed);
          locks.release_locks(owner, random.below(owner.lock_count() + 1));
          locks.release_locks(owner);
        }
        finished.fetch_add(1, std::memory_order_relaxed);
      });
  while (finished.load(std::memory_order_relaxed) != threads) {
    EXPECT_LE(locks.list().size(), threads * keys * 2);
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_TRUE(grew);
  EXPECT_EQ(locks.chains().count, 4u);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0L), expected);
  EXPECT_TRUE(locks.list().empty());
}

}  // namespace
}  // namespace pgsilo
