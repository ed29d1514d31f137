#include "bench/run_series.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace pgsilo {

namespace {
constexpr size_t most_pauses = 1'000'000;

// The moments that lie in a pause of both.
std::vector<Pause> intersect(const std::vector<Pause>& left, const std::vector<Pause>& right) {
  std::vector<Pause> both;
  for (size_t l = 0, r = 0; l < left.size() && r < right.size();) {
    Pause common{.from_ns = std::max(left[l].from_ns, right[r].from_ns),
                 .to_ns = std::min(left[l].to_ns, right[r].to_ns)};
    if (common.from_ns < common.to_ns) both.push_back(common);
    ++(left[l].to_ns < right[r].to_ns ? l : r);
  }
  return both;
}

int64_t longest(const std::vector<Pause>& pauses) {
  int64_t ns = 0;
  for (const Pause& pause : pauses) ns = std::max(ns, pause.to_ns - pause.from_ns);
  return ns;
}
}  // namespace

void SeriesInterval::add(const SeriesInterval& other) {
  committed += other.committed;
  answered += other.answered;
  waited += other.waited;
  latency.add(other.latency);
  longest_ns = std::max(longest_ns, other.longest_ns);
}

double SeriesInterval::percentile_us(double share) const {
  return std::min(latency.percentile_us(share), static_cast<double>(longest_ns) / 1000);
}

void WorkerSeries::begin(int64_t now_ns) {
  current_end_ns_ = now_ns + interval_ns;
  answered_ns_ = now_ns;
}

void WorkerSeries::note_answer(int64_t start_ns, int64_t now_ns) {
  SeriesInterval& interval = at(now_ns);
  ++interval.answered;
  ++interval.waited;
  interval.latency.add(now_ns - start_ns);
  interval.longest_ns = std::max(interval.longest_ns, now_ns - start_ns);
  if (now_ns - answered_ns_ >= shortest_pause_ns && pauses_.size() < most_pauses)
    pauses_.push_back({answered_ns_, now_ns});
  answered_ns_ = now_ns;
}

RunSeries::RunSeries(unsigned workers, uint64_t seconds)
    : workers_(workers, WorkerSeries(seconds * 10)), observed_(seconds * 10) {}

void RunSeries::begin(int64_t now_ns, uint64_t logged_bytes) {
  begun_ns_ = now_ns;
  logged_before_ = logged_bytes;
  for (WorkerSeries& worker : workers_) worker.begin(now_ns);
}

void RunSeries::observe(int64_t now_ns, uint64_t logged_bytes, bool checkpoint_runs) {
  auto index = static_cast<size_t>((now_ns - begun_ns_) / WorkerSeries::interval_ns);
  if (index >= observed_.size()) return;
  observed_[index].logged_bytes = logged_bytes;
  observed_[index].checkpoint |= checkpoint_runs;
}

bool RunSeries::write(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  std::fputs("seconds,committed,answered,waited,p50_us,p99_us,max_us,log_bytes,checkpoint\n", file);
  uint64_t logged = logged_before_;
  for (size_t i = 0; i < observed_.size(); ++i) {
    SeriesInterval sum = sum_of(i);
    uint64_t logged_before = std::exchange(logged, std::max(logged, observed_[i].logged_bytes));
    std::fprintf(
        file, "%.1f,%llu,%llu,%llu,%.1f,%.1f,%.1f,%llu,%d\n", static_cast<double>(i) / 10,
        static_cast<unsigned long long>(sum.committed),
        static_cast<unsigned long long>(sum.answered), static_cast<unsigned long long>(sum.waited),
        sum.percentile_us(0.5), sum.percentile_us(0.99), static_cast<double>(sum.longest_ns) / 1000,
        static_cast<unsigned long long>(logged - logged_before), observed_[i].checkpoint ? 1 : 0);
  }
  return std::fclose(file) == 0;
}

SeriesInterval RunSeries::sum_of(size_t index) const {
  SeriesInterval sum;
  for (const WorkerSeries& worker : workers_) sum.add(worker.intervals()[index]);
  return sum;
}

SeriesInterval RunSeries::total() const {
  SeriesInterval sum;
  for (size_t i = 0; i <= observed_.size(); ++i) sum.add(sum_of(i));
  return sum;
}

int64_t RunSeries::longest_pause_ns() const {
  std::vector<Pause> common = workers_.front().pauses();
  for (const WorkerSeries& worker : workers_) common = intersect(common, worker.pauses());
  return longest(common);
}

int64_t RunSeries::longest_pause_of_a_worker_ns() const {
  int64_t ns = 0;
  for (const WorkerSeries& worker : workers_) ns = std::max(ns, longest(worker.pauses()));
  return ns;
}

}  // namespace pgsilo
