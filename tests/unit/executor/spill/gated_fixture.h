// A session with temporary files on a gated disk. Thread safety: the test's thread is the session's
// fiber.
#pragma once

#include "tests/unit/executor/spill/gated_files.h"
#include "tests/unit/executor/spill/spill_fixture.h"

namespace pgsilo::testing {

struct GatedFixture : ::testing::Test {
  using Call = GatedFiles::Call;
  struct CountingParker final : ThreadParker {
    void park(int64_t deadline_us = no_deadline) override {
      ++parks;
      ThreadParker::park(deadline_us);
    }
    std::atomic<int> parks{0};
  };

  GatedFixture() {
    static_cast<void>(disk.create_directory("temporary"));
    storage.start(threads);
  }
  void cancel() {
    cancelled = true;
    parker.unpark();
  }
  std::vector<std::string> names() {
    std::vector<std::string> found;
    static_cast<void>(disk.list("temporary", &found));
    return found;
  }
  Tape write(SpillFile& file, int64_t count) {
    TapeWriter writer(file, layout);
    for (int64_t i = 0; i < count; ++i) {
      Datum row[] = {Datum::of_int(i), Datum::of_bytes(text)};
      writer.append(row);
    }
    return writer.finish();
  }
  // A file that has gone, but for its removal.
  void retire_file() {
    SpillFile file(files, budget);
    write(file, 50);
    file.settle();
  }
  template <typename Run>
  static std::string state_of(Run&& run) {
    return SpillFixture::state_of(run);
  }
  void expect_all_gone() {
    for (Call call : {Call::create, Call::read, Call::write, Call::remove}) disk_gates.let_go(call);
    for (int i = 0; i < 10000 && !(names().empty() && disk_gates.open_files() == 0); ++i)
      usleep(1000);
    EXPECT_TRUE(names().empty());
    EXPECT_EQ(disk_gates.open_files(), 0);
    EXPECT_EQ(files.bytes(), 0u);
  }

  static constexpr size_t most_files = 3;
  static constexpr unsigned threads = 2;
  static constexpr size_t budget = 64 << 10;
  SimulatedFileSystem disk{1};
  GatedFiles disk_gates{disk};
  TemporaryStorage storage{disk_gates, "temporary", most_files};
  TemporaryFiles::Counters counters;
  CountingParker parker;
  std::atomic<bool> cancelled{false};
  TemporaryFiles files{storage, counters, &parker, &cancelled, nullptr};
  TapeColumns layout{false, true};
  std::string text = std::string(700, 'x');
};

}  // namespace pgsilo::testing
