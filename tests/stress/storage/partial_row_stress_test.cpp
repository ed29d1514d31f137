// A hot row: each thread adds to one of its counters and notes so in a row of its own, or sets its
// name, or looks whether the name is what it was. Nothing that was added is lost, whoever writes
// what of the row, and what one transaction reads of several rows fits together.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int threads = 4;

// Of every hot row the name is the same.
struct Hot {
  int64_t counts[threads] = {};
  int64_t total = 0;
  int64_t name = 0;
};
constexpr RowRange count_of(int thread) {
  return {static_cast<uint32_t>(offsetof(Hot, counts) + sizeof(int64_t) * thread), 8};
}
constexpr RowRange total_range{offsetof(Hot, total), 8};
constexpr RowRange name_range{offsetof(Hot, name), 8};

class PartialRowStress : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* key : keys) loader.store(relation, key, bytes_of(Hot()));
  }
  static std::string_view bytes_of(const Hot& row) {
    return {reinterpret_cast<const char*>(&row), sizeof row};
  }
  static Hot hot(const TestSession& session) {
    Hot row;
    std::memcpy(&row, session.row.row.data(), sizeof row);
    return row;
  }
  TransactionStatus read(TestSession& session, const char* key, std::span<const RowRange> used) {
    TransactionStatus status = session.get(relation, key);
    return status == ok ? session.transaction.narrow_read(session.row, used) : status;
  }
  static TransactionStatus change(TestSession& session, std::span<const RowPatch> patches) {
    Hot row = hot(session);
    std::span<char> bytes(reinterpret_cast<char*>(&row), sizeof row);
    if (!apply_patches(patches, bytes)) std::abort();
    return session.transaction.update_partial(session.row, bytes_of(row), patches);
  }
  // Takes from one row what it adds to the other.
  TransactionStatus move(TestSession& session, int thread) {
    for (int i = 0; i < 2; ++i) {
      TransactionStatus status = read(session, keys[i], {});
      int64_t summand = i == 0 ? 1 : -1;
      const RowPatch patches[] = {RowPatch::add(count_of(thread), 1),
                                  RowPatch::add(total_range, summand)};
      if (status == ok) status = change(session, patches);
      if (status != ok) return status;
    }
    return ok;
  }
  TransactionStatus rename(TestSession& session, int64_t name) {
    for (const char* key : keys) {
      TransactionStatus status = read(session, key, {});
      const char* value = reinterpret_cast<const char*>(&name);
      const RowPatch patch = RowPatch::set(name_range, value);
      if (status == ok) status = change(session, {&patch, 1});
      if (status != ok) return status;
    }
    return ok;
  }
  // The sum of both rows' totals, and both names, of one moment.
  TransactionStatus look(TestSession& session) {
    constexpr RowRange used[] = {total_range, name_range};
    Hot rows[2];
    for (int i = 0; i < 2; ++i) {
      TransactionStatus status = read(session, keys[i], used);
      if (status != ok) return status;
      rows[i] = hot(session);
    }
    TransactionStatus status = session.commit();
    if (status == ok) {
      EXPECT_EQ(rows[0].name, rows[1].name);
      EXPECT_EQ(rows[0].total + rows[1].total, 0);
    }
    return status;
  }
  static constexpr const char* keys[] = {"a", "b"};
  TestEngine engine;
  TestSession loader{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(PartialRowStress, NothingIsLostAndAllFitsTogether) {
  const int rounds = sanitized ? 2000 : 40000;
  std::atomic<int64_t> moved[threads] = {};
  std::vector<std::thread> crowd;
  for (int thread = 0; thread < threads; ++thread) {
    crowd.emplace_back([&, thread] {
      TestSession session(engine);
      for (int round = 0; round < rounds; ++round) {
        session.begin();
        int kind = (round + thread) % 4;
        TransactionStatus status = kind == 0   ? rename(session, round)
                                   : kind == 1 ? look(session)
                                               : move(session, thread);
        if (status == ok && kind != 1) status = session.commit();
        if (status != ok) session.transaction.abort();
        if (kind > 1 && status == ok) ++moved[thread];
        session.arena.reset();
        session.buffer = RowBuffer(session.arena);
        session.worker.housekeep();
      }
    });
  }
  for (std::thread& each : crowd) each.join();
  int64_t sum = 0;
  for (const auto& each : moved) sum += each;
  for (int i = 0; i < 2; ++i) {
    loader.begin();
    ASSERT_EQ(loader.get(relation, keys[i]), ok);
    Hot row = hot(loader);
    for (int thread = 0; thread < threads; ++thread) EXPECT_EQ(row.counts[thread], moved[thread]);
    EXPECT_EQ(row.total, i == 0 ? sum : -sum);
    EXPECT_EQ(loader.commit(), ok);
  }
  EXPECT_GT(sum, rounds);
}

}  // namespace
}  // namespace pgsilo
