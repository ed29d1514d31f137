// The queue of one lock against a plain list of who waits, and with very many.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <vector>

#include "storage/transaction/lock_shard.h"

namespace pgsilo {
namespace {

using Waiter = LockQueue::Waiter;

class LockQueueTest : public ::testing::Test {
 protected:
  struct Session {
    LockOwner owner;
    LockHolder holder;
    Waiter waiter;
  };

  Session& session() { return sessions_.emplace_back(); }
  void hold(Session& session, LockMode mode) {
    queue_.add_holder(&session.holder, &session.owner, mode);
  }
  Waiter* wait(Session& session, LockMode mode) {
    session.waiter = {&session.owner, mode, nullptr, &session.holder};
    queue_.append(&session.waiter);
    return &session.waiter;
  }
  std::vector<const Waiter*> waiting() const {
    std::vector<const Waiter*> found;
    for (const Waiter* at = queue_.waiting; at != nullptr; at = at->next) found.push_back(at);
    return found;
  }
  // What is kept of the whole is what one finds who looks at each.
  void expect_whole() const {
    LockModes modes;
    const Waiter* last = nullptr;
    for (const Waiter* at : waiting()) {
      modes |= at->mode;
      ASSERT_EQ(at->up_to, modes);
      if (last != nullptr) {
        ASSERT_EQ(at->previous, last);
        ASSERT_LT(last->place, at->place);
      }
      last = at;
    }
    ASSERT_EQ(queue_.awaited(), modes);
    if (last != nullptr) {
      ASSERT_EQ(queue_.waiting->previous, last);
    }
  }

  LockQueue queue_;
  std::deque<Session> sessions_;
};

TEST_F(LockQueueTest, WhoHoldsTheLockStandsBeforeThoseWhoDoNot) {
  Session &first = session(), &second = session(), &third = session(), &fourth = session();
  hold(first, LockMode::key_share);
  hold(second, LockMode::key_share);
  Waiter* stranger = wait(third, LockMode::update);
  Waiter* one = wait(first, LockMode::update);
  Waiter* other = wait(second, LockMode::for_share);
  Waiter* last = wait(fourth, LockMode::key_share);
  EXPECT_EQ(waiting(), (std::vector<const Waiter*>{one, other, stranger, last}));
  expect_whole();
}

// Whoever comes, is given up, or is granted the lock, in any order.
TEST_F(LockQueueTest, KnowsWhatIsAwaited) {
  std::mt19937 random(1);
  constexpr LockMode modes[] = {LockMode::key_share, LockMode::for_share, LockMode::no_key_update,
                                LockMode::update};
  hold(session(), LockMode::update);
  std::vector<Waiter*> there;
  for (int step = 0; step < 5000; ++step) {
    if (there.size() < 2 || random() % 2 == 0) {
      there.push_back(wait(session(), modes[random() % 4]));
    } else {
      size_t at = random() % there.size();
      queue_.remove(there[at]);
      there.erase(there.begin() + static_cast<ptrdiff_t>(at));
    }
    expect_whole();
    if (HasFatalFailure()) return;
  }
}

// In the order of their coming, each as soon as nothing held or awaited before it conflicts.
TEST_F(LockQueueTest, GrantsToAllWhoseTurnItIs) {
  Session& holder = session();
  hold(holder, LockMode::no_key_update);
  Waiter* writer = wait(session(), LockMode::no_key_update);
  Waiter* sharer = wait(session(), LockMode::for_share);
  Waiter* referrer = wait(session(), LockMode::key_share);
  queue_.grant_waiters();
  EXPECT_EQ(waiting(), (std::vector<const Waiter*>{writer, sharer}));
  EXPECT_TRUE(referrer->granted);
  queue_.remove_holder(&holder.owner);
  queue_.grant_waiters();
  EXPECT_EQ(waiting(), std::vector<const Waiter*>{sharer});
  queue_.remove_holder(writer->owner);
  queue_.grant_waiters();
  EXPECT_TRUE(waiting().empty());
  EXPECT_EQ(queue_.awaited(), LockModes());
}

// Each of a million: what grew with those who wait would take hours.
TEST_F(LockQueueTest, CostsTheSameHoweverManyWait) {
  constexpr int waiters = 1000000;
  const auto begin = std::chrono::steady_clock::now();
  LockOwner stranger;
  hold(session(), LockMode::no_key_update);
  for (int i = 0; i < waiters; ++i) wait(session(), LockMode::no_key_update);
  for (Session& each : sessions_) {
    EXPECT_TRUE(queue_.blocks(&stranger, LockMode::no_key_update));
    queue_.remove_holder(&each.owner);
    queue_.grant_waiters();
  }
  EXPECT_TRUE(waiting().empty());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

}  // namespace
}  // namespace pgsilo
