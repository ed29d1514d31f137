#include "bench/engine_run.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "base/check.h"

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

}  // namespace

std::string Arguments::text(std::string_view name, std::string_view otherwise) {
  auto found = std::find(words_.begin(), words_.end(), name);
  if (found == words_.end() || found + 1 == words_.end()) return std::string(otherwise);
  std::string value = *(found + 1);
  words_.erase(found, found + 2);
  return value;
}

uint64_t Arguments::number(std::string_view name, uint64_t otherwise) {
  std::string value = text(name, "");
  if (value.empty()) return otherwise;
  uint64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size()) return number;
  std::fprintf(stderr, "%s takes a number, not \"%s\"\n", std::string(name).c_str(), value.c_str());
  std::exit(2);
}

void Arguments::finish(const char* usage) const {
  if (words_.empty()) return;
  std::fprintf(stderr, "unknown option \"%s\"\noptions:\n%s%s", words_.front().c_str(), usage,
               EngineRunOptions::usage);
  std::exit(2);
}

EngineRunOptions::EngineRunOptions(Arguments& arguments)
    : threads(static_cast<unsigned>(std::max<uint64_t>(1, arguments.number("--threads", 1)))),
      seconds(arguments.number("--seconds", 10)),
      transactions(arguments.number("--transactions", 0)),
      seed(arguments.number("--seed", 1)),
      log(arguments.text("--log", "")),
      compress_log(arguments.text("--compression", "off") != "off"),
      clients(std::max<uint64_t>(1, arguments.number("--clients", 2048))) {}

bool refuse_to_load(const EngineRunOptions& options) {
  std::fprintf(stderr, "\"%s\" holds a database already\n", options.log.c_str());
  return false;
}

EngineRun::EngineRun(EngineDatabase& database, EngineWorkload& workload,
                     const EngineRunOptions& options)
    : database_(database), workload_(workload), options_(options) {
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
    measured.push_back(
        std::make_unique<MeasuredWorker>(*workers_[i], workload_.types().size(), options_, stop));
    clients.push_back(workload_.client(i));
  }
  uint64_t logged_before = logged_bytes();
  int64_t started = monotonic_us();
  if (options_.transactions == 0) database_.start_clock();
  std::vector<std::thread> threads = start_pinned(
      options_.threads, [&](unsigned i) { measured[i]->run_transactions(*clients[i]); });
  if (options_.transactions == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(options_.seconds));
    stop.store(true, std::memory_order_relaxed);
  }
  for (std::thread& thread : threads) thread.join();
  double seconds = static_cast<double>(monotonic_us() - started) / 1e6;
  database_.stop_clock();

  WorkerCounts total(workload_.types().size());
  for (const auto& worker : measured) total.add(worker->counts());
  report(total, seconds, logged_bytes() - logged_before);
  return total;
}

uint64_t EngineRun::logged_bytes() const {
  return database_.wal() == nullptr ? 0 : database_.wal()->status().bytes_written;
}

void EngineRun::report(const WorkerCounts& counts, double seconds, uint64_t logged_bytes) const {
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
  double bytes_each = static_cast<double>(logged_bytes) / static_cast<double>(answered);
  if (logged) std::printf("log: %.0f bytes for each transaction\n", bytes_each);
  std::string line =
      "result benchmark=" + name + " workers=" + std::to_string(options_.threads) +
      " logged=" + (logged ? "1" : "0") + " seconds=" + std::to_string(seconds) +
      " transactions=" + std::to_string(answered) + " per_second=" + std::to_string(rate) +
      " cpu_seconds=" + std::to_string(cpu_seconds) + " p50_us=" + std::to_string(p50) +
      " p99_us=" + std::to_string(p99) + " p999_us=" + std::to_string(p999) +
      " log_bytes=" + std::to_string(bytes_each);
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

}  // namespace pgsilo
