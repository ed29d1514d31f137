// The series of a benchmark's run: which interval a transaction falls into, and the pauses.
#include "bench/run_series.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace pgsilo {
namespace {

constexpr int64_t ms = 1'000'000;

std::vector<std::string> lines_of(const RunSeries& series) {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("run_series_test." + std::to_string(::getpid()) + ".csv");
  EXPECT_TRUE(series.write(path.string()));
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(path);
  return lines;
}

TEST(RunSeriesTest, AnIntervalHasWhatHappenedInIt) {
  RunSeries series(2, 1);
  series.begin(1000 * ms, 5000);
  series.worker(0).note_commit(1099 * ms);
  series.worker(0).note_commit(1100 * ms);
  series.worker(0).note_answer_at_once(1100 * ms);
  series.worker(0).note_answer(1099 * ms, 1103 * ms);
  series.worker(1).note_answer(1120 * ms, 1122 * ms);
  series.observe(1040 * ms, 5500, false);
  series.observe(1160 * ms, 6000, true);
  series.observe(1190 * ms, 7000, false);
  std::vector<std::string> lines = lines_of(series);
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[1], "0.0,1,0,0,0.0,0.0,0.0,500,0");
  EXPECT_EQ(lines[2].substr(0, 9), "0.1,1,3,2");
  EXPECT_EQ(lines[2].substr(lines[2].size() - 14), ",4000.0,1500,1");
  EXPECT_EQ(lines[3], "0.2,0,0,0,0.0,0.0,0.0,0,0");
}

TEST(RunSeriesTest, WhatComesAfterTheEndIsInTheTotalAlone) {
  RunSeries series(1, 1);
  series.begin(0, 0);
  series.worker(0).note_commit(950 * ms);
  series.worker(0).note_commit(1700 * ms);
  EXPECT_EQ(lines_of(series).back().substr(0, 6), "0.9,1,");
  EXPECT_EQ(series.total().committed, 2u);
}

TEST(RunSeriesTest, APauseIsWhatAllWorkersHadAtOnce) {
  RunSeries series(2, 1);
  series.begin(0, 0);
  // Worker 0 had none in 0..10 and 10..50, worker 1 none in 0..40 and 40..45: 10..40 is common.
  for (int64_t at : {10, 50}) series.worker(0).note_answer(0, at * ms);
  for (int64_t at : {40, 45}) series.worker(1).note_answer(0, at * ms);
  EXPECT_EQ(series.longest_pause_ns(), 30 * ms);
  EXPECT_EQ(series.longest_pause_of_a_worker_ns(), 40 * ms);
}

TEST(RunSeriesTest, WhatIsAnsweredAtOnceEndsNoPause) {
  RunSeries series(1, 1);
  series.begin(0, 0);
  series.worker(0).note_answer_at_once(20 * ms);
  series.worker(0).note_answer(0, 30 * ms);
  EXPECT_EQ(series.longest_pause_ns(), 30 * ms);
}

TEST(RunSeriesTest, AWorkerThatAnswersEndsTheOthersPause) {
  RunSeries series(2, 1);
  series.begin(0, 0);
  for (int64_t at = 0; at < 20; ++at) series.worker(0).note_answer(0, at * ms / 2);
  series.worker(1).note_answer(0, 10 * ms);
  EXPECT_EQ(series.longest_pause_ns(), 0);
  EXPECT_EQ(series.longest_pause_of_a_worker_ns(), 10 * ms);
}

}  // namespace
}  // namespace pgsilo
