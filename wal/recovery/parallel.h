// Runs a numbered list of jobs on several threads, the caller's included, which also runs `between`
// after each of its own. With one thread nothing is started: simulated disks stay on the caller's
// thread. Threads that cannot be had are done without. What a job, a making of a worker or
// `between` throws first, on whatever thread, ends the run: no job is begun any more, and the
// caller has it.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace pgsilo {

// `make_worker()` is called once on each thread; what it returns is called with each job's number.
// Jobs are begun in order.
template <typename MakeWorker, typename Between>
void run_jobs(size_t jobs, unsigned threads, MakeWorker make_worker, Between between) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&](auto after_each) {
    try {
      auto worker = make_worker();
      for (size_t job = next.fetch_add(1, std::memory_order_relaxed); job < jobs;
           job = next.fetch_add(1, std::memory_order_relaxed)) {
        worker(job);
        after_each();
      }
    } catch (...) {
      next.store(jobs, std::memory_order_relaxed);
      std::lock_guard lock(mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (unsigned i = 1; i < threads && i < jobs; ++i) {
      others.emplace_back([&] { work([] {}); });
    }
  } catch (const std::exception&) {  // no memory or no thread
  }
  work(between);
  for (std::thread& other : others) other.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace pgsilo
