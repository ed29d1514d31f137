// Who is told of a deadlock, against a naive look at the graph, and what a look costs. One thread
// plays all sessions: who parks lets the next one act, so waits nest on its stack.
#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/parker.h"
#include "base/random.h"
#include "storage/transaction/lock_list.h"
#include "storage/transaction/record_lock.h"
#include "tests/stress/sanitized.h"

namespace pgsilo {
namespace {

using enum TransactionStatus;

// Of a session that looks for a deadlock when it has waited for a microsecond.
class NestingParker final : public Parker {
 public:
  explicit NestingParker(std::function<void(bool looks_again)> meanwhile)
      : meanwhile_(std::move(meanwhile)) {}
  void park(int64_t deadline_us) override {
    constexpr int enough = 32;
    bool looks_again = deadline_us != no_deadline;
    if (looks_again && parks_++ < enough) {
      while (monotonic_us() < deadline_us) {
      }
    } else if (!unparked_) {
      meanwhile_(looks_again);
    }
    unparked_ = false;
  }
  void give_way() override { ++ways_given; }
  void unpark() override { unparked_ = true; }
  bool unparked() const { return unparked_; }
  void begin() { parks_ = 0; }

  int ways_given = 0;

 private:
  std::function<void(bool)> meanwhile_;
  int parks_ = 0;
  bool unparked_ = false;
};

struct Session {
  Session(LockTable& table, std::function<void(Session&, bool)> meanwhile)
      : table(table),
        owner(table.take_owner()),
        parker([this, meanwhile = std::move(meanwhile)](bool again) { meanwhile(*this, again); }) {
    settings.parker = &parker;
    settings.deadlock_timeout_us = 1;
  }
  ~Session() { table.return_owner(owner); }
  TransactionStatus lock(LockTag tag, LockMode mode) {
    waits = true;
    parker.begin();
    TransactionStatus status = table.acquire(owner, tag, mode, WaitPolicy::wait, settings);
    waits = false;
    return status;
  }

  LockTable& table;
  LockOwner& owner;
  NestingParker parker;
  WaitSettings settings;
  bool waits = false;
};

// ---- random graphs ----

class NaiveGraph {
 public:
  NaiveGraph(LockTable& table, bool waiters_too) : entries_(table.list()) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const LockEntry& wait = entries_[i];
      if (wait.granted) continue;
      for (size_t k = 0; k < i; ++k) {
        if ((waiters_too || entries_[k].granted) && stands_in_the_way(entries_[k], wait))
          add(wait.owner, entries_[k].owner);
      }
    }
  }
  void add_wait(const LockOwner* owner, LockTag tag, LockMode mode) {
    LockEntry wait{.owner = owner, .tag = tag, .mode = mode};
    for (const LockEntry& entry : entries_) {
      if (entry.granted && stands_in_the_way(entry, wait)) add(owner, entry.owner);
    }
  }
  bool has_cycle(const LockOwner* start) const {
    std::vector<const LockOwner*> reached = {start};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const auto& [from, to] : edges_) {
        if (from != reached[i]) continue;
        if (to == start) return true;
        if (std::find(reached.begin(), reached.end(), to) == reached.end()) reached.push_back(to);
      }
    }
    return false;
  }

 private:
  void add(const LockOwner* from, const LockOwner* to) {
    if (from != to) edges_.emplace_back(from, to);
  }
  std::vector<LockEntry> entries_;
  std::vector<std::pair<const LockOwner*, const LockOwner*>> edges_;
};

class RandomWaits {
 public:
  explicit RandomWaits(uint64_t seed) : random_(seed) {
    size_t count = 3 + random_.below(12);
    lock_count_ = 1 + random_.below(6);
    left_ = static_cast<int>(4 * count);
    for (size_t i = 0; i < count; ++i) {
      sessions_.push_back(std::make_unique<Session>(
          table_, [this](Session& session, bool looks_again) { meanwhile(session, looks_again); }));
      sessions_.back()->settings.cancelled = &over_;
    }
  }
  void run() {
    while (left_ > 0) act();
    over_ = true;
    for (auto& session : sessions_) table_.release_locks(session->owner);
    EXPECT_TRUE(table_.list().empty());
  }
  int deadlocks = 0, waits = 0, unclear = 0;

 private:
  void meanwhile(Session& session, bool looks_again) {
    ++waits;
    unclear += looks_again;
    EXPECT_FALSE(NaiveGraph(table_, false).has_cycle(&session.owner));
    EXPECT_EQ(NaiveGraph(table_, true).has_cycle(&session.owner), looks_again);
    while (left_ > 0 && !session.parker.unparked()) act();
    over_ = over_ || left_ <= 0;
  }
  // Somebody who does not wait.
  void act() {
    --left_;
    Session& session = *sessions_[random_.below(sessions_.size())];
    if (session.waits) return;
    if (random_.one_in(8)) return table_.release_locks(session.owner);
    constexpr std::array modes = {LockMode::key_share, LockMode::for_share, LockMode::no_key_update,
                                  LockMode::update, LockMode::share};
    LockTag tag = LockTag::advisory(static_cast<int64_t>(random_.below(lock_count_)));
    LockMode mode = modes[random_.below(modes.size())];
    TransactionStatus status = session.lock(tag, mode);
    if (status != deadlock) return;
    ++deadlocks;
    NaiveGraph graph(table_, false);
    graph.add_wait(&session.owner, tag, mode);
    EXPECT_TRUE(graph.has_cycle(&session.owner));
  }

  Random random_;
  LockTable table_{2};
  size_t lock_count_ = 0;
  int left_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST(DeadlockTest, TheLastWaitOfEachCycleFindsIt) {
  int deadlocks = 0, waits = 0, unclear = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(seed);
    RandomWaits waits_of_one(seed);
    waits_of_one.run();
    deadlocks += waits_of_one.deadlocks;
    waits += waits_of_one.waits;
    unclear += waits_of_one.unclear;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(deadlocks, 1000);
  EXPECT_GT(waits, 4000);
  EXPECT_GT(unclear, 0);
}

// ---- growth ----

void on_a_large_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{1} << 30);
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

int64_t cpu_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

LockTag tag(size_t number) { return LockTag::advisory(static_cast<int64_t>(number)); }
constexpr LockMode exclusive = LockMode::exclusive, share = LockMode::share;

using Step = std::function<TransactionStatus(Session&, size_t)>;

// `count` sessions take what `hold` says; then what `want` says, where each waits inside of the
// wait before. What does the last one's look cost? While all wait, `watch` may look, too.
class Crowd {
 public:
  using Watch = std::function<void(LockTable&, LockOwner& last)>;
  Crowd(size_t count, const Step& hold, const Step& want, Watch watch = {})
      : want_(want), watch_(std::move(watch)) {
    on_a_large_stack([&] {
      for (size_t i = 0; i < count; ++i) {
        sessions_.push_back(std::make_unique<Session>(table_, [this](Session&, bool) { go_on(); }));
        sessions_[i]->settings.cancelled = &over_;
        EXPECT_EQ(hold(*sessions_[i], i), ok);
      }
      go_on();
      for (auto& session : sessions_) table_.release_locks(session->owner);
    });
    for (auto& session : sessions_) ways_given_by_all += session->parker.ways_given;
    ways_given = sessions_.back()->parker.ways_given;
  }

  TransactionStatus last = ok;
  int64_t last_us = 0;  // of CPU
  int ways_given = 0, ways_given_by_all = 0;

 private:
  void go_on() {
    while (next_ != sessions_.size()) {
      size_t i = next_++;
      bool is_last = next_ == sessions_.size();
      if (is_last) last_us = -cpu_us();
      TransactionStatus status = want_(*sessions_[i], i);
      if (is_last) last = status;
    }
    if (last_us < 0) last_us += cpu_us();
    if (watch_ && !over_) watch_(table_, sessions_.back()->owner);
    over_ = true;
  }

  const Step& want_;
  const Watch watch_;
  LockTable table_;
  std::atomic<bool> over_ = false;
  size_t next_ = 0;
  std::vector<std::unique_ptr<Session>> sessions_;
};

class DeadlockGrowthTest : public ::testing::TestWithParam<size_t> {
 protected:
  // One walk over holders and one over waiters too.
  void expect_linear(const Crowd& crowd) {
    EXPECT_LE(static_cast<size_t>(crowd.ways_given), 2 * count / 64);
    if (!sanitized) {
      EXPECT_LT(crowd.last_us, 1000 + static_cast<int64_t>(count));
    }
    RecordProperty("last_us", static_cast<int>(crowd.last_us));
  }
  const size_t count = GetParam();
};

TEST_P(DeadlockGrowthTest, WhoHoldsNothingThatIsWaitedForDoesNotLook) {
  Crowd crowd(
      count, [](Session& s, size_t i) { return s.lock(tag(i), exclusive); },
      [](Session& s, size_t i) { return i == 0 ? ok : s.lock(tag(0), exclusive); });
  EXPECT_EQ(crowd.last, cancelled);
  EXPECT_EQ(crowd.ways_given_by_all, 0);
  expect_linear(crowd);
}

// All wait for the first one's lock, but the second for the last one's.
TEST_P(DeadlockGrowthTest, AQueueIsLookedThroughOnce) {
  Crowd crowd(
      count, [](Session& s, size_t i) { return s.lock(tag(i), exclusive); },
      [&](Session& s, size_t i) {
        return i == 0 ? ok : s.lock(tag(i == 1 ? count - 1 : 0), exclusive);
      });
  EXPECT_EQ(crowd.last, cancelled);
  expect_linear(crowd);
}

// Each waits for the next one's, and the last one for the first one's.
TEST_P(DeadlockGrowthTest, ARing) {
  Crowd crowd(
      count, [](Session& s, size_t i) { return s.lock(tag(i), exclusive); },
      [&](Session& s, size_t i) { return s.lock(tag((i + 1) % count), exclusive); });
  EXPECT_EQ(crowd.last, deadlock);
  expect_linear(crowd);
}

// The last one waits for all others, who share a lock, and who all wait for the first one.
TEST_P(DeadlockGrowthTest, ManyHoldersThatWaitForOne) {
  Crowd crowd(
      count,
      [&](Session& s, size_t i) {
        TransactionStatus status = i + 1 == count ? ok : s.lock(tag(1), share);
        if (status != ok) return status;
        return i == 0 || i + 1 == count ? s.lock(tag(2 + i), exclusive) : ok;
      },
      [&](Session& s, size_t i) {
        if (i == 0) return ok;
        if (i + 2 == count) return s.lock(tag(1 + count), exclusive);
        return s.lock(tag(i + 1 == count ? 1 : 2), exclusive);
      });
  EXPECT_EQ(crowd.last, deadlock);
  expect_linear(crowd);
}

// Who asks from outside for whom the last one waits in the end.
TEST_P(DeadlockGrowthTest, FollowingAQueueTellsOfEachAFewTimes) {
  size_t told = 0, free = 0;
  std::set<LockOwner*> met;
  auto follow = [&](LockTable& table, LockOwner& last) {
    LockBlockers all_blockers(table);
    std::vector<LockOwner*> blockers, open = {&last};
    met.insert(&last);
    while (!open.empty()) {
      LockOwner* owner = open.back();
      open.pop_back();
      free += !all_blockers.find(*owner, &blockers);
      told += blockers.size();
      for (LockOwner* blocker : blockers) {
        if (met.insert(blocker).second) open.push_back(blocker);
      }
    }
  };
  Crowd crowd(
      count, [](Session& s, size_t i) { return i == 0 ? s.lock(tag(0), exclusive) : ok; },
      [](Session& s, size_t i) {
        return i == 0 ? ok : s.lock(tag(0), i % 2 == 0 ? share : exclusive);
      },
      follow);
  EXPECT_EQ(met.size(), count);
  EXPECT_EQ(free, 1u);
  EXPECT_LT(told, 3 * count);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DeadlockGrowthTest, ::testing::Values(100, 1000, 10000));

}  // namespace
}  // namespace pgsilo
