#include "bench/engine_run.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "base/check.h"
#include "base/huge_pages.h"

namespace pgsilo {

namespace {

void pin_to_cpu(unsigned worker) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(worker % std::max(1u, std::thread::hardware_concurrency()), &cpus);
  pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

// Runs work(i) for each i on a thread of its own, pinned to a CPU.
template <typename Work>
std::vector<std::thread> start_pinned(unsigned threads, Work work) {
  std::vector<std::thread> started;
  started.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    started.emplace_back([=] {
      pin_to_cpu(i);
      work(i);
    });
  }
  return started;
}

uint64_t sum(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

// For the last line of the report.
std::string text_of(const LogWork& log) {
  return " log_mb=" + std::to_string(static_cast<double>(log.bytes) / 1e6) +
         " saved_mb=" + std::to_string(static_cast<double>(log.bytes_saved) / 1e6) +
         " syncs=" + std::to_string(log.syncs) +
         " buffer_waits=" + std::to_string(log.buffer_waits) +
         " checkpoints=" + std::to_string(log.checkpoints) +
         " checkpoint_seconds=" + std::to_string(log.last_checkpoint_seconds) +
         " checkpoint_mb=" + std::to_string(static_cast<double>(log.last_checkpoint_bytes) / 1e6);
}

}  // namespace

EngineRunOptions::EngineRunOptions(Arguments& arguments)
    : threads(static_cast<unsigned>(std::max<uint64_t>(1, arguments.number("--threads", 1)))),
      seconds(arguments.number("--seconds", 10)),
      transactions(arguments.number("--transactions", 0)),
      seed(arguments.number("--seed", 1)),
      log(arguments),
      clients(arguments.number("--clients", 2048)),
      series(arguments.text("--series", "")),
      kill_in_checkpoint(arguments.number("--kill-in-checkpoint", 0)) {
  if (arguments.choice("--huge-pages", {"on", "off"}) == 1) refuse_huge_pages();
  if (clients == 0) clients = UINT64_MAX / 4;
  const char* missing = nullptr;
  if (transactions != 0 && (!series.empty() || kill_in_checkpoint != 0)) {
    missing = "--series and --kill-in-checkpoint go with --seconds, not with --transactions";
  } else if (kill_in_checkpoint != 0 && !log.logged()) {
    missing = "--kill-in-checkpoint needs --log";
  }
  if (missing == nullptr) return;
  std::fprintf(stderr, "%s\n", missing);
  std::exit(2);
}

bool refuse_to_load(const EngineRunOptions& options) {
  std::fprintf(stderr, "\"%s\" holds a database already\n", options.log.directory.c_str());
  return false;
}

EngineRun::EngineRun(EngineDatabase& database, EngineWorkload& workload,
                     const EngineRunOptions& options)
    : database_(database), workload_(workload), options_(options) {
  if (!options.series.empty()) series_.emplace(options.threads, options.seconds);
  for (unsigned i = 0; i < options.threads; ++i)
    workers_.push_back(std::make_unique<EngineWorker>(database, i));
}

EngineRun::~EngineRun() = default;

void EngineRun::load() {
  int64_t started = monotonic_us();
  std::vector<std::thread> threads = start_pinned(options_.threads, [this](unsigned i) {
    workload_.load(workers_[i]->transaction, i, options_.threads);
  });
  for (std::thread& thread : threads) thread.join();
  if (Wal* wal = database_.wal()) wal->wait_durable(0, database_.parts().epochs.current());
  std::printf("%s: loaded in %.1f s\n", std::string(workload_.name()).c_str(),
              static_cast<double>(monotonic_us() - started) / 1e6);
}

WorkerCounts EngineRun::run() {
  std::atomic<bool> stop{false};
  std::vector<std::unique_ptr<MeasuredWorker>> measured;
  std::vector<std::unique_ptr<EngineClient>> clients;
  for (unsigned i = 0; i < options_.threads; ++i) {
    WorkerSeries* series = series_ ? &series_->worker(i) : nullptr;
    measured.push_back(std::make_unique<MeasuredWorker>(*workers_[i], workload_.types().size(),
                                                        options_, stop, series));
    clients.push_back(workload_.client(i));
  }
  RunWatch watch(database_, options_, series_ ? &*series_ : nullptr);
  if (options_.kill_in_checkpoint != 0) {
    watch.make_checkpoint();
    database_.die_in_checkpoint(options_.kill_in_checkpoint);
  }
  watch.begin();
  int64_t started = monotonic_us();
  if (options_.transactions == 0) database_.start_clock();
  std::vector<std::thread> threads = start_pinned(
      options_.threads, [&](unsigned i) { measured[i]->run_transactions(*clients[i]); });
  if (options_.transactions == 0) {
    watch.wait();
    stop.store(true, std::memory_order_relaxed);
  }
  for (std::thread& thread : threads) thread.join();
  double seconds = static_cast<double>(monotonic_us() - started) / 1e6;
  database_.stop_clock();

  WorkerCounts total(workload_.types().size());
  for (const auto& worker : measured) total.add(worker->counts());
  report(total, seconds, watch.log_work());
  return total;
}

void EngineRun::report(const WorkerCounts& counts, double seconds, const LogWork& log) const {
  std::string name(workload_.name());
  uint64_t answered = sum(counts.committed) + sum(counts.rolled_back);
  double rate = static_cast<double>(answered) / seconds;
  double cpu_seconds = static_cast<double>(counts.cpu_ns) / 1e9;
  double p50 = counts.latency.percentile_us(0.5), p99 = counts.latency.percentile_us(0.99),
         p999 = counts.latency.percentile_us(0.999);
  bool logged = database_.wal() != nullptr;
  std::printf("%s: %u workers, %s, %.2f s: %.0f transactions/s, %.0f per CPU second of a worker\n",
              name.c_str(), options_.threads, logged ? "with the log" : "in memory", seconds, rate,
              static_cast<double>(answered) / cpu_seconds);
  std::printf("latency%s: p50 %.1f, p99 %.1f, p999 %.1f us\n", logged ? " until durable" : "", p50,
              p99, p999);
  double bytes_each = static_cast<double>(log.bytes) / static_cast<double>(answered);
  if (logged) std::printf("log: %.0f bytes for each transaction\n", bytes_each);
  std::string line =
      "result benchmark=" + name + " workers=" + std::to_string(options_.threads) +
      " logged=" + (logged ? "1" : "0") + " seconds=" + std::to_string(seconds) +
      " transactions=" + std::to_string(answered) + " per_second=" + std::to_string(rate) +
      " cpu_seconds=" + std::to_string(cpu_seconds) + " p50_us=" + std::to_string(p50) +
      " p99_us=" + std::to_string(p99) + " p999_us=" + std::to_string(p999) +
      " log_bytes=" + std::to_string(bytes_each);
  if (logged) line += text_of(log);
  if (series_) line += write_series();
  for (size_t i = 0; i < counts.committed.size(); ++i) {
    std::string type(workload_.types()[i]);
    std::printf("  %-14s %10llu committed %8llu rolled back\n", type.c_str(),
                static_cast<unsigned long long>(counts.committed[i]),
                static_cast<unsigned long long>(counts.rolled_back[i]));
    line += " " + type + "=" + std::to_string(counts.committed[i]);
  }
  std::printf("aborts, run again:");
  for (size_t i = 0; i < transaction_status_count; ++i) {
    if (counts.aborts[i] == 0) continue;
    std::string reason(name_of(static_cast<TransactionStatus>(i)));
    std::printf(" %s %llu", reason.c_str(), static_cast<unsigned long long>(counts.aborts[i]));
    line += " " + reason + "=" + std::to_string(counts.aborts[i]);
  }
  std::printf("\n%s\n", line.c_str());
}

// Writes the file; what it says of the whole run, for the last line of the report.
std::string EngineRun::write_series() const {
  if (!series_->write(options_.series)) {
    std::fprintf(stderr, "could not write \"%s\"\n", options_.series.c_str());
    std::exit(1);
  }
  SeriesInterval total = series_->total();
  double all_ms = static_cast<double>(series_->longest_pause_ns()) / 1e6;
  double worker_ms = static_cast<double>(series_->longest_pause_of_a_worker_ns()) / 1e6;
  double p50_ms = total.percentile_us(0.5) / 1000, p99_ms = total.percentile_us(0.99) / 1000;
  double longest_ms = static_cast<double>(total.longest_ns) / 1e6;
  std::printf(
      "answers that waited: p50 %.2f, p99 %.2f, longest %.2f ms; longest pause between them "
      "%.1f ms, of one worker %.1f ms\n",
      p50_ms, p99_ms, longest_ms, all_ms, worker_ms);
  return " waited=" + std::to_string(total.waited) + " waited_p50_ms=" + std::to_string(p50_ms) +
         " waited_p99_ms=" + std::to_string(p99_ms) +
         " waited_max_ms=" + std::to_string(longest_ms) + " pause_ms=" + std::to_string(all_ms) +
         " worker_pause_ms=" + std::to_string(worker_ms);
}

}  // namespace pgsilo
