#include "wal/recovery/recovery_meter.h"

namespace pgsilo {

void RecoveryMeter::report(bool now) {
  int64_t time_us = clock_.now_us();
  if (listener_ == nullptr || (!now && time_us - reported_us_ < interval_us)) return;
  reported_us_ = time_us;
  RecoveryProgress progress{.bytes_done = done(), .bytes_total = total_};
  double seconds = static_cast<double>(time_us - started_us_) / 1e6;
  if (seconds > 0) progress.bytes_per_second = static_cast<double>(progress.bytes_done) / seconds;
  if (progress.bytes_per_second > 0 && total_ > progress.bytes_done) {
    progress.seconds_left =
        static_cast<double>(total_ - progress.bytes_done) / progress.bytes_per_second;
  }
  listener_->on_progress(progress);
}

}  // namespace pgsilo
