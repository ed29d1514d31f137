#include "wal/recovery/parallel.h"

#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "tests/unit/catalog/failing_memory.h"

namespace pgsilo {
namespace {

constexpr size_t jobs = 1000;

TEST(RunJobs, DoesEachOnce) {
  for (unsigned threads : {1, 4}) {
    std::vector<std::atomic<int>> done(jobs);
    run_jobs(jobs, threads, [&] { return [&](size_t job) { ++done[job]; }; }, [] {});
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

// As far as threads can be had.
TEST(RunJobs, GoesOnWithFewerThreads) {
  bool failed = true;
  for (size_t successes = 0; failed; ++successes) {
    std::vector<std::atomic<int>> done(jobs);
    {
      testing::FailingMemory memory(successes);
      run_jobs(jobs, 4, [&] { return [&](size_t job) { ++done[job]; }; }, [] {});
      failed = memory.has_failed();
    }
    for (const auto& times : done) ASSERT_EQ(times, 1) << successes;
  }
}

TEST(RunJobs, TellsTheCallerWhenAWorkerCannotBeMade) {
  for (int which : {1, 2, 4}) {
    std::atomic<int> made = 0;
    auto make_worker = [&] {
      if (++made == which) throw std::bad_alloc();
      while (made < which) {
      }
      return [](size_t) {};
    };
    EXPECT_THROW(run_jobs(jobs, 4, make_worker, [] {}), std::bad_alloc) << which;
  }
}

TEST(RunJobs, TellsTheCallerWhenAJobFailsAndBeginsNoMore) {
  for (unsigned threads : {1, 4}) {
    std::atomic<size_t> begun = 0;
    auto job = [&](size_t number) {
      ++begun;
      if (number == 10) throw std::bad_alloc();
    };
    // So many that it would not come to their end.
    EXPECT_THROW(run_jobs(SIZE_MAX / 2, threads, [&] { return job; }, [] {}), std::bad_alloc);
    EXPECT_GE(begun, 11u);
  }
}

}  // namespace
}  // namespace pgsilo
