// Parking in the interleaver's world, with a clock of its own: it moves only when everybody waits,
// to the earliest deadline. So what waits for a time comes after whatever may happen without it.
// Thread safety: one real thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/parker.h"
#include "tests/model/interleaver.h"

namespace pgsilo {

class ModelParker;

// What clock_gettime() tells while it lives.
class ModelTime {
 public:
  ModelTime() { current_ = this; }
  ~ModelTime() { current_ = nullptr; }
  ModelTime(const ModelTime&) = delete;
  ModelTime& operator=(const ModelTime&) = delete;
  static ModelTime* current() { return current_; }

  int64_t now_us() const { return now_us_; }
  bool has_passed() const { return now_us_ != begin_us; }

 private:
  friend class ModelParker;
  inline void pass_if_all_wait();

  static inline ModelTime* current_ = nullptr;
  std::vector<ModelParker*> parkers_;
  static constexpr int64_t begin_us = 1000000;
  static constexpr int64_t end_us = 1000 * begin_us;
  int64_t now_us_ = begin_us;
};

// Of one of the program's threads.
class ModelParker final : public Parker {
 public:
  explicit ModelParker(ModelTime& time) : time_(time) { time.parkers_.push_back(this); }

  void park(int64_t deadline_us) override {
    deadline_us_ = deadline_us;
    parked_ = true;
    while (!token_ && time_.now_us() < deadline_us) {
      time_.pass_if_all_wait();
      if (!token_ && time_.now_us() < deadline_us) schedule_point(true);
    }
    parked_ = token_ = false;
  }
  void unpark() override { token_ = true; }
  // The thread has ended.
  void end() { ended_ = true; }

 private:
  friend class ModelTime;
  bool waits() const { return parked_ && !token_ && time_.now_us() < deadline_us_; }

  ModelTime& time_;
  int64_t deadline_us_ = 0;
  bool token_ = false;
  bool parked_ = false;
  bool ended_ = false;
};

inline void ModelTime::pass_if_all_wait() {
  int64_t earliest = Parker::no_deadline;
  for (const ModelParker* parker : parkers_) {
    if (parker->ended_) continue;
    if (!parker->waits()) return;
    earliest = std::min(earliest, parker->deadline_us_);
  }
  // Else nobody can ever go on: somebody was forgotten, and nothing could be cleaned up either.
  PGSILO_CHECK(earliest < end_us);
  now_us_ = std::max(now_us_, earliest);
}

}  // namespace pgsilo
