#include "wal/log/waiting_workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tests/unit/catalog/failing_memory.h"
#include "tests/unit/wal/log_test_kit.h"
#include "wal/wal.h"

namespace pgsilo {
namespace {

// Workers of whom each sleeps or is in the midst of something, and runs when the test says so.
class Crowd {
 public:
  explicit Crowd(unsigned workers, bool asleep = true) : waiting(durable, workers) {
    for (unsigned i = 0; i < workers; ++i) {
      members.push_back(std::make_unique<Member>());
      members.back()->asleep = asleep;
      waiting.set_listener(i, members.back().get());
    }
  }
  void publish(uint64_t epoch) {
    durable.publish(Epoch(epoch));
    waiting.tell_all();
  }
  // Those who were woken so far come round, once; how many.
  unsigned run_woken() {
    std::vector<unsigned> woken;
    for (unsigned i = 0; i < members.size(); ++i) {
      if (members[i]->woken) woken.push_back(i);
    }
    for (unsigned worker : woken) {
      members[worker]->woken = false;
      waiting.pass_on(worker);
    }
    return static_cast<unsigned>(woken.size());
  }
  long told(int times) const {
    return std::ranges::count_if(members, [&](const auto& each) { return each->told == times; });
  }

  struct Member final : DurableListener {
    bool on_durable(Epoch) override {
      ++told;
      bool slept = std::exchange(asleep, false);
      woken |= slept;
      return slept;
    }
    int told = 0;
    bool asleep = true;
    bool woken = false;
  };
  DurableEpoch durable;
  WaitingWorkers waiting;
  std::vector<std::unique_ptr<Member>> members;
};

// Who ends a sync wakes ten of 64 itself; nobody's way to the last one is long.
TEST(WaitingWorkers, ThoseWhoAreWokenWakeOthers) {
  Crowd crowd(64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_TRUE(crowd.waiting.wait(i, Epoch(1)));
  crowd.publish(1);
  EXPECT_LE(crowd.told(1), 15);
  unsigned most = 0;
  int rounds = 0;
  while (unsigned woken = crowd.run_woken()) {
    most = std::max(most, woken);
    ++rounds;
  }
  EXPECT_EQ(crowd.told(1), 64);
  EXPECT_GE(most, 12u);
  EXPECT_LE(rounds, 5);
}

TEST(WaitingWorkers, AFewAreWokenAtOnce) {
  Crowd crowd(8);
  for (unsigned i = 0; i < 8; ++i) EXPECT_TRUE(crowd.waiting.wait(i, Epoch(1)));
  crowd.publish(1);
  EXPECT_EQ(crowd.told(1), 8);
}

TEST(WaitingWorkers, WhoIsBusyGetsNobodyToWake) {
  Crowd crowd(64, false);
  for (unsigned i = 0; i < 64; ++i) EXPECT_TRUE(crowd.waiting.wait(i, Epoch(1)));
  crowd.publish(1);
  EXPECT_EQ(crowd.told(1), 64);
  for (unsigned i = 0; i < 64; ++i) crowd.waiting.pass_on(i);
  EXPECT_EQ(crowd.told(1), 64);
}

TEST(WaitingWorkers, OnlyThoseAreToldWhoWait) {
  Crowd crowd(64);
  for (unsigned i = 0; i < 64; i += 2) EXPECT_TRUE(crowd.waiting.wait(i, Epoch(1 + i % 4)));
  crowd.publish(1);
  while (crowd.run_woken() != 0) {
  }
  EXPECT_EQ(crowd.told(1), 16);
  EXPECT_EQ(crowd.told(0), 48);
  for (auto& member : crowd.members) member->asleep = true;
  crowd.publish(3);
  while (crowd.run_woken() != 0) {
  }
  EXPECT_EQ(crowd.told(1), 32);
}

// The one who was woken for an epoch has not come round when the next one is durable: those that
// were left to it are told of the newer one as well.
TEST(WaitingWorkers, AShareThatLiesThereIsNotLost) {
  Crowd crowd(64);
  for (unsigned i = 0; i < 64; ++i) EXPECT_TRUE(crowd.waiting.wait(i, Epoch(1)));
  crowd.publish(1);
  for (unsigned i = 0; i < 64; ++i) {
    if (crowd.members[i]->told == 1) {
      EXPECT_TRUE(crowd.waiting.wait(i, Epoch(2)));
    }
  }
  crowd.publish(2);
  while (crowd.run_woken() != 0) {
  }
  EXPECT_EQ(crowd.told(0), 0);
  for (unsigned i = 0; i < 64; ++i) EXPECT_FALSE(crowd.waiting.wait(i, Epoch(2)));
}

TEST(WaitingWorkers, AStepThatTellsThemAllocatesNothing) {
  LogParts parts(4, 2);
  uint64_t epoch = 0;
  BatchTrailer trailer;
  std::vector<Epoch> last;
  // Logger 1 lags behind, so that trailers of logger 0 are remembered.
  auto step = [&] {
    ++epoch;
    trailer.complete = Epoch(epoch);
    parts.commit->find_last_data(Epoch(epoch), &last);
    trailer.last_data.assign(2, Epoch(epoch));
    parts.commit->batch_synced(0, trailer);
    if (epoch % 10 == 0) parts.commit->batch_synced(1, trailer);
  };
  for (int i = 0; i < 20; ++i) step();
  bool allocated = false;
  {
    testing::FailingMemory none(0, testing::FailingMemory::Fails::for_good);
    for (int i = 0; i < 100; ++i) step();
    allocated = none.has_failed();
  }
  EXPECT_FALSE(allocated);
  EXPECT_EQ(parts.durable.get(), Epoch(120));
}

}  // namespace
}  // namespace pgsilo
