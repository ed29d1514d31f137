// How much is asked of a worker, and by which of its fibers: the time for which each was runnable,
// that is, ran or waited for its turn. Divided by the clock's time that is, for a worker, how many
// fibers are runnable on the average. Not the time that it was busy: a worker with two sessions
// that always have work is as busy as one with twenty, and only this tells them apart.
//
// Sums lose half of their value with each window of time. Windows are numbered by the clock, the
// same for all workers; so a fiber's sum can be taken out of one worker's and put into another's.
//
// Thread safety: WorkerLoad::permille(): any thread; the rest: the worker's. A worker publishes
// once per window, so what peers read costs it nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace pgsilo {

namespace load {
inline constexpr int64_t window_us = 100'000;
inline int64_t window_at(int64_t now_us) { return now_us / window_us; }
}  // namespace load

// Microseconds; at the beginning of a window, of a steady load: its share of one window.
class DecayingTime {
 public:
  void age_to(int64_t window) {
    if (window <= window_) return;
    us_ >>= std::min<int64_t>(window - window_, 62);
    window_ = window;
  }
  void add(int64_t us) { us_ = std::max<int64_t>(0, us_ + us); }
  int64_t us() const { return us_; }
  int64_t window() const { return window_; }

 private:
  int64_t window_ = 0;
  int64_t us_ = 0;
};

// Of a fiber. It goes with its session to another worker.
struct SessionLoad {
  static constexpr int64_t first_rest = 10;  // windows
  static constexpr int64_t longest_rest = 640;

  int permille(int64_t window) const {
    DecayingTime now = runnable;
    now.age_to(window);
    return static_cast<int>(now.us() * 1000 / load::window_us);
  }
  bool rests(int64_t window) const { return window < rests_until; }
  // It goes to another worker: stays there for a while, for twice as long if it has come lately.
  void moved(int64_t window) {
    bool lately = rests_until != 0 && window < rests_until + 3 * rest;
    rest = lately ? std::min(2 * rest, longest_rest) : first_rest;
    rests_until = window + rest;
  }
  // It was to go and could not.
  void stayed(int64_t window) { rests_until = std::max(rests_until, window + first_rest); }

  DecayingTime runnable;
  int64_t rests_until = 0;  // the first window in which it may be moved again
  int64_t rest = first_rest;
};

class WorkerLoad {
 public:
  bool is_new_window(int64_t now_us) const { return now_us >= window_end_us_; }
  // A round begins, the first of this window.
  void begin_window(int64_t now_us);
  // A fiber was runnable for so long, until now.
  void add(SessionLoad& of, int64_t us) {
    of.runnable.age_to(sum_.window());
    of.runnable.add(us);
    sum_.add(us);
  }
  int64_t window() const { return sum_.window(); }
  // A session comes from another worker, or goes to one. Others see that at once.
  void join(const SessionLoad& session, int64_t now_us) { change(session, now_us, 1); }
  void leave(const SessionLoad& session, int64_t now_us) { change(session, now_us, -1); }

  // Any thread: as last published, and less for each window since, if the worker does nothing.
  int permille(int64_t now_us) const;
  int published_permille() const;

 private:
  // 32 bits each: 13 years of windows, 4,000 runnable seconds.
  static int64_t window_of(uint64_t published) { return static_cast<int64_t>(published >> 32); }
  static int64_t us_of(uint64_t published) { return static_cast<int64_t>(published & UINT32_MAX); }
  void change(const SessionLoad& session, int64_t now_us, int sign);
  void publish();

  DecayingTime sum_;
  int64_t window_end_us_ = 0;
  std::atomic<uint64_t> published_{0};
};

}  // namespace pgsilo
