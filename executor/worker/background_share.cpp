#include "executor/worker/background_share.h"

#include <algorithm>

namespace pgsilo {

void BackgroundShare::turn_ended(const Turn& turn) {
  foreground_us_ = 0;
  owed_us_ = owed(std::min(turn.ended_us - turn.began_us, longest_counted_us));
  if (turn.assists) return;
  if (turn.ended_us >= contended_until_us_) look_for_contention(turn);
  bool rests = turn.others_active && turn.ended_us < contended_until_us_;
  rest_until_us_ = rests ? turn.ended_us + owed_us_ : 0;
}

void BackgroundShare::look_for_contention(const Turn& turn) {
  int64_t took_us = turn.ended_us - turn.began_us;
  looked_us_ += took_us;
  kept_us_ += std::max<int64_t>(0, took_us - turn.cpu_us);
  bool contended = kept_us_ > tolerated_us;
  if (contended) {
    contended_until_us_ = turn.ended_us + pause_us_;
    pause_us_ = std::min(2 * pause_us_, longest_pause_us);
  } else if (looked_us_ >= window_us) {
    pause_us_ = std::max(pause_us_ / 2, first_pause_us);
  }
  if (contended || looked_us_ >= window_us) looked_us_ = kept_us_ = 0;
}

}  // namespace pgsilo
