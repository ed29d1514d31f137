// Relation locks of all modes under load: nobody holds what conflicts with another's, one-shots
// commit nothing beside a lock that keeps writers out, deadlocks end, nothing is left behind.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "storage/transaction/lock_list.h"
#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int rounds = sanitized ? 400 : 3000;
constexpr int threads = 4;
constexpr size_t relation_count = 2;

// Who holds a relation in which modes.
class Holders {
 public:
  void enter(LockMode mode, LockModes own) {
    counts_[static_cast<size_t>(mode)].fetch_add(1);
    for (size_t i = 1; i < counts_.size(); ++i) {
      auto other = static_cast<LockMode>(i);
      if (!conflict(mode, other)) continue;
      int mine = (own.has(other) ? 1 : 0) + (other == mode ? 1 : 0);
      EXPECT_EQ(counts_[i].load(), mine) << static_cast<int>(mode) << " beside " << i;
    }
  }
  void leave(LockModes own) {
    own.visit([&](LockMode mode) { counts_[static_cast<size_t>(mode)].fetch_sub(1); });
  }

 private:
  std::array<std::atomic<int>, 9> counts_{};
};

struct Guarded {
  Relation* relation = nullptr;
  Holders holders;
};

class RelationLockStress : public ::testing::Test {
 protected:
  void SetUp() override {
    TestSession session(engine);
    for (Guarded& each : guarded) {
      each.relation = &engine.create_relation();
      session.store(*each.relation, "a", "0");
    }
  }

  // Some locks of a transaction of its own; false: it was a deadlock's victim.
  bool lock_some(TestSession& session, Random& random) {
    session.begin(TransactionMode::interactive);
    std::array<LockModes, relation_count> own;
    bool survives = true;
    for (uint64_t wanted = 1 + random.below(3); wanted != 0 && survives; --wanted) {
      size_t at = random.below(relation_count);
      auto mode = static_cast<LockMode>(1 + random.below(8));
      WaitPolicy policy = random.one_in(4) ? WaitPolicy::no_wait : WaitPolicy::wait;
      TransactionStatus status =
          session.transaction.lock_relation(*guarded[at].relation, mode, policy);
      survives = status == ok || status == lock_not_available;
      EXPECT_TRUE(survives || status == deadlock) << name_of(status);
      if (status != ok || own[at].has(mode)) continue;
      guarded[at].holders.enter(mode, own[at]);
      own[at] |= mode;
      if (own[at].conflicts_with(LockMode::row_exclusive))
        look_twice(session, *guarded[at].relation);
    }
    for (size_t i = 0; i < relation_count; ++i) guarded[i].holders.leave(own[i]);
    session.transaction.abort();
    return survives;
  }
  // Nobody writes.
  static void look_twice(TestSession& session, Relation& relation) {
    std::string before = session.read(relation, "a");
    std::this_thread::yield();
    session.statement();
    EXPECT_EQ(session.read(relation, "a"), before);
  }
  // Adds one; waits and runs again as the server does.
  void write(TestSession& session, Relation& relation, TransactionMode mode, Random& random) {
    for (;;) {
      session.begin(mode);
      TransactionStatus status =
          session.transaction.lock_relation(relation, LockMode::row_exclusive);
      if (status == ok) status = session.get(relation, "a", ReadPurpose::for_update);
      if (status == ok) {
        int next = std::stoi(std::string(session.row.row)) + 1;
        status = session.transaction.update(session.row, std::to_string(next));
      }
      if (status == ok && random.one_in(4)) std::this_thread::yield();
      if (status == ok) status = session.commit();
      if (status == ok) break;
      ASSERT_TRUE(is_conflict(status)) << name_of(status);
      if (status == must_wait) {
        status = session.transaction.wait_for_intent();
        ASSERT_TRUE(status == ok || status == deadlock) << name_of(status);
      } else {
        session.transaction.abort();
      }
    }
    written.fetch_add(1);
  }

  TestEngine engine;
  std::array<Guarded, relation_count> guarded;
  std::atomic<int> written = 0;
};

TEST_F(RelationLockStress, ModesExcludeWhatTheyConflictWith) {
  std::vector<std::thread> running;
  for (int id = 0; id < threads; ++id) {
    running.emplace_back([&, id] {
      Random random(static_cast<uint64_t>(id) + 1);
      TestSession session(engine);
      session.settings.deadlock_timeout_us = 200 + 100 * id;
      for (int round = 0; round < rounds; ++round) {
        Relation& relation = *guarded[random.below(relation_count)].relation;
        if (random.one_in(2)) {
          lock_some(session, random);
        } else {
          write(session, relation,
                random.one_in(2) ? TransactionMode::one_shot : TransactionMode::interactive,
                random);
        }
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_TRUE(engine.locks.list().empty());
  TestSession session(engine);
  int sum = 0;
  for (Guarded& each : guarded) {
    EXPECT_FALSE(each.relation->gate().stops(LockMode::row_exclusive));
    session.begin();
    sum += std::stoi(session.read(*each.relation, "a"));
    EXPECT_EQ(session.commit(), ok);
  }
  EXPECT_EQ(sum, written);
}

}  // namespace
}  // namespace pgsilo
