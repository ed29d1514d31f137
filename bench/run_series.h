// What a run was like, moment by moment: transactions and their answers in intervals of 100 ms, and
// the pauses between answers. With a log only transactions whose answer had to wait for it count
// for latencies and pauses; what rests on durable epochs alone, as many reads do, is answered at
// once and would hide that everybody else waits. Nothing is sampled: each transaction counts.
//
// Thread safety: a WorkerSeries: its worker's thread. The rest: one thread, reading when the
// workers are done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/latency_histogram.h"

namespace pgsilo {

struct SeriesInterval {
  uint64_t committed = 0;  // or rolled back, where that is the answer
  uint64_t answered = 0;
  uint64_t waited = 0;       // of them those of which the rest tells
  LatencyHistogram latency;  // from a transaction's beginning until its answer
  int64_t longest_ns = 0;

  void add(const SeriesInterval& other);
  double percentile_us(double share) const;
};

// Between two answers, longer than WorkerSeries::shortest_pause_ns.
struct Pause {
  int64_t from_ns;
  int64_t to_ns;
};

class WorkerSeries {
 public:
  static constexpr int64_t interval_ns = 100'000'000;
  static constexpr int64_t shortest_pause_ns = 1'000'000;

  // Of so many whole intervals; what comes later goes into one more. A million pauses are noted.
  explicit WorkerSeries(size_t intervals) : intervals_(intervals + 1) {}
  void begin(int64_t now_ns);

  void note_commit(int64_t now_ns) { ++at(now_ns).committed; }
  void note_answer_at_once(int64_t now_ns) { ++at(now_ns).answered; }
  void note_answer(int64_t start_ns, int64_t now_ns);

  const std::vector<SeriesInterval>& intervals() const { return intervals_; }
  const std::vector<Pause>& pauses() const { return pauses_; }

 private:
  SeriesInterval& at(int64_t now_ns) {
    while (now_ns >= current_end_ns_ && current_ + 1 < intervals_.size()) {
      ++current_;
      current_end_ns_ += interval_ns;
    }
    return intervals_[current_];
  }

  std::vector<SeriesInterval> intervals_;
  size_t current_ = 0;
  int64_t current_end_ns_ = 0;
  int64_t answered_ns_ = 0;  // the last one
  std::vector<Pause> pauses_;
};

// All workers together, and what the log did meanwhile.
class RunSeries {
 public:
  RunSeries(unsigned workers, uint64_t seconds);
  WorkerSeries& worker(unsigned index) { return workers_[index]; }
  void begin(int64_t now_ns, uint64_t logged_bytes);
  // A look from outside, several times in an interval.
  void observe(int64_t now_ns, uint64_t logged_bytes, bool checkpoint_runs);

  // Of the whole run.
  SeriesInterval total() const;
  // CSV; false if the file cannot be written.
  bool write(const std::string& path) const;
  // During which no worker had an answer; at least WorkerSeries::shortest_pause_ns, or 0.
  int64_t longest_pause_ns() const;
  // During which some worker had none.
  int64_t longest_pause_of_a_worker_ns() const;

 private:
  struct Observed {
    uint64_t logged_bytes = 0;  // at its end, as far as was seen
    bool checkpoint = false;    // one ran at some time of it
  };
  SeriesInterval sum_of(size_t index) const;

  std::vector<WorkerSeries> workers_;
  int64_t begun_ns_ = 0;
  uint64_t logged_before_ = 0;
  std::vector<Observed> observed_;
};

}  // namespace pgsilo
