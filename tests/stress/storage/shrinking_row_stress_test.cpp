// Rows that grow and shrink by orders of magnitude, each writer's at once with the others': readers
// get whole ones, and what they took is given back.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int threads = 3;
constexpr size_t sizes[] = {20, 12000, 5000, 400};
constexpr const char* keys[] = {"a", "b"};

std::string row_of(int number) {
  return std::string(sizes[number % std::size(sizes)], static_cast<char>('a' + number % 26));
}

TransactionStatus change(TestSession& session, Relation& relation, int number) {
  session.begin();
  for (const char* key : keys) {
    TransactionStatus status = session.get(relation, key, ReadPurpose::for_update);
    if (status == ok) {
      EXPECT_EQ(session.row.row.find_first_not_of(session.row.row.front()), std::string::npos);
      status = session.transaction.update(session.row, row_of(number));
    }
    if (status != ok) return status;
  }
  return session.commit();
}

TEST(ShrinkingRowStress, AreWholeAndGiveTheirRoomBack) {
  const int rounds = sanitized ? 3000 : 60000;
  TestEngine engine;
  TestSession owner(engine);
  Relation& relation = engine.create_relation();
  for (const char* key : keys) owner.store(relation, key, row_of(0));
  const size_t small = relation.memory_bytes();
  std::atomic<int> changed{0};
  std::vector<std::thread> crowd;
  for (int thread = 0; thread < threads; ++thread) {
    crowd.emplace_back([&, thread] {
      TestSession session(engine);
      for (int round = 0; round < rounds; ++round) {
        if (change(session, relation, round * threads + thread) == ok) {
          ++changed;
        } else {
          session.transaction.abort();
        }
        session.arena.reset();
        session.buffer = RowBuffer(session.arena);
        session.worker.housekeep();
      }
    });
  }
  for (std::thread& each : crowd) each.join();
  EXPECT_GT(changed, rounds / 10);
  ASSERT_EQ(change(owner, relation, 1), ok);
  EXPECT_GT(relation.memory_bytes(), small + 2 * 12000);
  ASSERT_EQ(change(owner, relation, 0), ok);
  EXPECT_EQ(relation.memory_bytes(), small);
}

}  // namespace
}  // namespace pgsilo
