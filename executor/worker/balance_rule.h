// When a session leaves a worker for one of which less is asked. Loads as in
// executor/worker/load.h, in thousandths: so many fibers are runnable there.
//
// Hysteresis. A move has to be worth it: of the two, the one with more to do must be left with
// clearly less than the first has now. So where two workers differ by one session that always has
// work, none moves, and what comes and goes with noise is too little. A session that was moved
// stays for a while (SessionLoad). One session at most leaves a worker per window; and as its part
// of the load goes with it at once, nobody decides by what was before it.
//
// Thread safety: functions without state.
#pragma once

#include <algorithm>

namespace pgsilo::balance_rule {

// Below that nobody waits for others.
inline constexpr int loaded = 500;
inline constexpr int least_difference = 250;
// Of the greater load: where much is runnable, its number varies by more.
inline constexpr int difference_divisor = 4;
inline constexpr int least_gain = 100;

inline bool is_uneven(int mine, int other) {
  return mine >= loaded && mine - other >= std::max(least_difference, mine / difference_divisor);
}

// By how much the greater of the two loads falls if the session moves from `mine` to `other`; 0:
// not by enough.
inline int gain(int mine, int other, int session) {
  int difference = mine - other;
  int gain = std::min(session, difference - session);
  // A session that is worth more than half as much as it moves.
  return gain >= least_gain && 2 * gain >= session ? gain : 0;
}

}  // namespace pgsilo::balance_rule
