#include "executor/worker/background_share.h"

#include <gtest/gtest.h>

namespace pgsilo {
namespace {

constexpr int64_t turn_us = 100;

struct BackgroundShareTest : ::testing::Test {
  // A turn that was kept from the CPU for `kept_us` beside its own time.
  void turn(int64_t kept_us, bool others_active = true, bool assists = false) {
    int64_t began_us = now_us;
    now_us += turn_us + kept_us;
    share.turn_ended({began_us, now_us, turn_us, others_active, assists});
  }
  bool due_when_idle(bool assists = false) { return share.is_due(now_us, false, assists); }
  // Until contention is found.
  void meet_contention() {
    turn(BackgroundShare::tolerated_us + 1);
    ASSERT_FALSE(due_when_idle());
  }

  BackgroundShare share{10, turn_us};
  int64_t now_us = 1'000'000'000;
};

TEST_F(BackgroundShareTest, OthersHaveTheirShareFirst) {
  EXPECT_FALSE(share.is_due(now_us, true, false));
  share.add_foreground(899);
  EXPECT_FALSE(share.is_due(now_us, true, false));
  share.add_foreground(1);
  EXPECT_TRUE(share.is_due(now_us, true, false));
  turn(0);
  EXPECT_FALSE(share.is_due(now_us, true, false));
  share.add_foreground(900);
  EXPECT_TRUE(share.is_due(now_us, true, false));
}

TEST_F(BackgroundShareTest, DoesNotRestOnAFreeMachine) {
  for (int i = 0; i < 10000; ++i) {
    turn(2);  // of a hundred
    ASSERT_TRUE(due_when_idle());
  }
}

TEST_F(BackgroundShareTest, RestsWhereOthersWantTheCpu) {
  meet_contention();
  EXPECT_EQ(share.rest_until_us(), now_us + 9 * (turn_us + BackgroundShare::tolerated_us + 1));
  now_us = share.rest_until_us();
  EXPECT_TRUE(due_when_idle());
  turn(0);
  EXPECT_EQ(share.rest_until_us(), now_us + 900);
}

TEST_F(BackgroundShareTest, DoesNotMakeUpForWhatCouldNotGiveWay) {
  turn(10'000'000);
  EXPECT_EQ(share.rest_until_us(), now_us + 180'000);
  now_us = share.rest_until_us();
  EXPECT_TRUE(due_when_idle());
  share.add_foreground(179'999);
  EXPECT_FALSE(share.is_due(now_us, true, false));
  share.add_foreground(1);
  EXPECT_TRUE(share.is_due(now_us, true, false));
}

TEST_F(BackgroundShareTest, DoesNotRestWhenNobodyWouldNotice) {
  turn(BackgroundShare::tolerated_us + 1, /*others_active=*/false);
  EXPECT_TRUE(due_when_idle());
  turn(0, /*others_active=*/true);
  EXPECT_FALSE(due_when_idle());
}

TEST_F(BackgroundShareTest, WhatAssistsDoesNotRest) {
  meet_contention();
  EXPECT_TRUE(due_when_idle(/*assists=*/true));
  turn(3 * BackgroundShare::tolerated_us, true, /*assists=*/true);
  EXPECT_TRUE(due_when_idle(/*assists=*/true));
}

TEST_F(BackgroundShareTest, LooksForContentionAgain) {
  int64_t pause_us = BackgroundShare::first_pause_us;
  for (int i = 0; i < 8; ++i) {
    meet_contention();
    int64_t found_us = now_us;
    now_us = found_us + pause_us - turn_us - 1;
    turn(0);
    EXPECT_FALSE(due_when_idle()) << i;
    now_us = found_us + pause_us;
    turn(0);
    EXPECT_TRUE(due_when_idle()) << i;
    pause_us = std::min(2 * pause_us, BackgroundShare::longest_pause_us);
  }
  // Each window without it halves what the next pause would have been.
  for (; pause_us > BackgroundShare::first_pause_us; pause_us /= 2) {
    for (int64_t us = 0; us < BackgroundShare::window_us; us += turn_us) turn(0);
  }
  meet_contention();
  now_us += BackgroundShare::first_pause_us;
  turn(0);
  EXPECT_TRUE(due_when_idle());
}

}  // namespace
}  // namespace pgsilo
