// How a checkpoint is spread over time: it should be done when `completion_target` of the time, or
// of the log volume, until the next one is over, so that the devices and the memory are used evenly
// (PostgreSQL's checkpoint_completion_target). Thread safety: a value; its owner.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pgsilo {

struct CheckpointSchedule {
  int64_t timeout_us = 300'000'000;            // between two
  uint64_t max_log_bytes = uint64_t{1} << 30;  // what the log should not grow beyond
  double completion_target = 0.9;

  // The log volume after which one begins: while it runs, the log may grow on.
  uint64_t trigger_log_bytes() const {
    return static_cast<uint64_t>(static_cast<double>(max_log_bytes) / (1 + completion_target));
  }
};

class CheckpointPace {
 public:
  CheckpointPace(const CheckpointSchedule& schedule, int64_t begun_us)
      : schedule_(schedule), begun_us_(begun_us) {}

  // Whether a checkpoint of which `done` of `planned` bytes are written is ahead of its time.
  bool should_rest(int64_t now_us, uint64_t log_bytes_since, uint64_t done,
                   uint64_t planned) const {
    if (done >= planned) return false;
    double by_time =
        share(static_cast<double>(now_us - begun_us_), static_cast<double>(schedule_.timeout_us));
    double by_log = share(static_cast<double>(log_bytes_since),
                          static_cast<double>(schedule_.trigger_log_bytes()));
    double progress = share(static_cast<double>(done), static_cast<double>(planned));
    return progress * schedule_.completion_target > std::max(by_time, by_log);
  }

 private:
  static double share(double part, double whole) { return whole > 0 ? part / whole : 1; }

  const CheckpointSchedule schedule_;
  const int64_t begun_us_;
};

}  // namespace pgsilo
