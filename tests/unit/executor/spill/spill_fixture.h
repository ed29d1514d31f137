// Temporary files on a simulated disk, for one statement that runs on a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/file_simulated.h"
#include "base/thread_parker.h"
#include "executor/spill/row_tape.h"
#include "executor/spill/temporary_files.h"
#include "sql/sql_error.h"

namespace pgsilo::testing {

struct SpillFixture : ::testing::Test {
  SpillFixture() {
    static_cast<void>(
        disk.create_directory("temporary"));  // the simulated disk makes files anywhere
    storage.start(2);
  }

  std::vector<std::string> names() {
    std::vector<std::string> found;
    static_cast<void>(disk.list("temporary", &found));
    return found;
  }
  // What `run` throws.
  template <typename Run>
  static std::string state_of(Run&& run) {
    try {
      run();
    } catch (const SqlError& error) {
      return std::string(error.state().text());
    }
    return "none";
  }

  static constexpr size_t most_files = 3;
  SimulatedFileSystem disk{1};
  TemporaryStorage storage{disk, "temporary", most_files};
  TemporaryFiles::Counters counters;
  ThreadParker parker;
  std::atomic<bool> cancelled{false};
  TemporaryFiles files{storage, counters, &parker, &cancelled, nullptr};
  TapeColumns layout{false, true};
};

}  // namespace pgsilo::testing
