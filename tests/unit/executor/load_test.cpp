#include "executor/worker/load.h"

#include <gtest/gtest.h>

#include "executor/worker/balance_rule.h"

namespace pgsilo {
namespace {

using load::window_us;

TEST(Load, AHalfGoesWithEachWindow) {
  WorkerLoad worker;
  SessionLoad session;
  for (int64_t window = 1; window <= 20; ++window) {
    worker.begin_window(window * window_us);
    worker.add(session, window_us);  // always runnable
  }
  worker.begin_window(21 * window_us);
  EXPECT_NEAR(worker.permille(21 * window_us), 1000, 2);
  EXPECT_NEAR(session.permille(21), 1000, 2);
  // What it does in this window is told in the next one; until then it is what it was.
  EXPECT_NEAR(worker.permille(22 * window_us), 1000, 2);
  EXPECT_NEAR(worker.permille(24 * window_us), 250, 2);
  EXPECT_EQ(worker.permille(100 * window_us), 0);
  EXPECT_NEAR(session.permille(23), 250, 2);
}

TEST(Load, HowManyAreRunnable) {
  WorkerLoad worker;
  SessionLoad sessions[4];
  for (int64_t window = 1; window <= 20; ++window) {
    worker.begin_window(window * window_us);
    for (SessionLoad& session : sessions) worker.add(session, window_us);
  }
  worker.begin_window(21 * window_us);
  EXPECT_NEAR(worker.permille(21 * window_us), 4000, 8);
}

TEST(Load, ASessionTakesItsPartAlong) {
  WorkerLoad from, to;
  SessionLoad session, other;
  from.begin_window(window_us);
  from.add(session, window_us / 2);
  from.add(other, window_us / 4);
  from.begin_window(2 * window_us);
  ASSERT_EQ(from.permille(2 * window_us), 375);
  from.leave(session, 2 * window_us);
  to.join(session, 2 * window_us);
  EXPECT_EQ(from.permille(2 * window_us), 125);
  EXPECT_EQ(to.permille(2 * window_us), 250);
}

TEST(Load, WhoHasMovedRestsAndWhoMovesOftenRestsLonger) {
  SessionLoad session;
  EXPECT_FALSE(session.rests(5));
  session.moved(5);
  EXPECT_TRUE(session.rests(14));
  EXPECT_FALSE(session.rests(15));
  session.moved(15);
  EXPECT_TRUE(session.rests(34));
  EXPECT_FALSE(session.rests(35));
  for (int i = 0; i < 20; ++i) session.moved(session.rests_until);
  EXPECT_EQ(session.rest, SessionLoad::longest_rest);
  session.moved(session.rests_until + 10 * SessionLoad::longest_rest);
  EXPECT_EQ(session.rest, SessionLoad::first_rest);
}

TEST(BalanceRule, OneThatAlwaysHasWorkIsWorthNothingWhereItWouldChangeSidesOnly) {
  EXPECT_TRUE(balance_rule::is_uneven(1000, 0));
  EXPECT_EQ(balance_rule::gain(1000, 0, 1000), 0);
  EXPECT_EQ(balance_rule::gain(2000, 1000, 1000), 0);
  EXPECT_EQ(balance_rule::gain(2000, 0, 1000), 1000);
  EXPECT_EQ(balance_rule::gain(3000, 1000, 1000), 1000);
  // Behind it others wait who may go.
  EXPECT_EQ(balance_rule::gain(1300, 0, 300), 300);
}

// What moves comes back only if that is worth it as well: never.
TEST(BalanceRule, NoMoveIsUndone) {
  for (int mine = 0; mine <= 6000; mine += 50) {
    for (int other = 0; other <= 6000; other += 50) {
      for (int session = 0; session <= mine; session += 50) {
        int gain = balance_rule::gain(mine, other, session);
        if (gain == 0) continue;
        EXPECT_LE(std::max(mine - session, other + session), mine - gain);
        EXPECT_EQ(balance_rule::gain(other + session, mine - session, session), 0)
            << mine << " " << other << " " << session;
      }
    }
  }
}

TEST(BalanceRule, NoiseMovesNobody) {
  EXPECT_FALSE(balance_rule::is_uneven(450, 0));    // nobody waits there
  EXPECT_FALSE(balance_rule::is_uneven(900, 700));  // about equal
  EXPECT_FALSE(balance_rule::is_uneven(8000, 6500));
  EXPECT_EQ(balance_rule::gain(1000, 0, 90), 0);
}

}  // namespace
}  // namespace pgsilo
