// Runs a numbered list of jobs on several threads, the caller's included, which also runs `between`
// after each of its own. With one thread nothing is started: simulated disks and their exceptions
// stay on the caller's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace pgsilo {

// `make_worker()` is called once on each thread; what it returns is called with each job's number.
// Jobs are begun in order.
template <typename MakeWorker, typename Between>
void run_jobs(size_t jobs, unsigned threads, MakeWorker make_worker, Between between) {
  std::atomic<size_t> next{0};
  auto work = [&](auto after_each) {
    auto worker = make_worker();
    for (size_t job = next.fetch_add(1, std::memory_order_relaxed); job < jobs;
         job = next.fetch_add(1, std::memory_order_relaxed)) {
      worker(job);
      after_each();
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads && i < jobs; ++i) {
    others.emplace_back([&] { work([] {}); });
  }
  work(between);
  for (std::thread& other : others) other.join();
}

}  // namespace pgsilo
