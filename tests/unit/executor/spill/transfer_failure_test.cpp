// What comes between a statement and its temporary file: errors and cancels while blocks are on
// their way, files that are not what was written. Nothing is left behind.
#include <functional>
#include <thread>

#include "tests/unit/executor/spill/gated_fixture.h"

namespace pgsilo {
namespace {

using testing::GatedFiles;
using testing::GatedFixture;

struct TransferFailureTest : GatedFixture {
  // Rows that could be read.
  int read(SpillFile& file, const Tape& tape) {
    TapeReader reader(file, layout);
    reader.start(tape, true);
    int rows = 0;
    while (reader.next() != nullptr) last_rows = ++rows;
    return rows;
  }
  void expect_read(const std::string& state, bool some_rows) {
    {
      SpillFile file(files, budget);
      Tape tape = write(file, 100);
      file.settle();
      prepare();
      EXPECT_EQ(state_of([&] { read(file, tape); }), state);
    }
    EXPECT_EQ(last_rows > 0, some_rows);
    EXPECT_EQ(counters.files.value(), 1);
    EXPECT_GT(counters.bytes.value(), 70000);
    expect_all_gone();
  }
  std::function<void()> prepare;
  std::thread later;
  int last_rows = 0;
};

TEST_F(TransferFailureTest, AFileThatWasCutOff) {
  prepare = [this] { disk_gates.end_files_at(20000); };
  expect_read("XX001", true);
}

TEST_F(TransferFailureTest, AFileThatWasEmptied) {
  prepare = [this] { disk_gates.end_files_at(0); };
  expect_read("XX001", false);
}

TEST_F(TransferFailureTest, ABlockThatWasExchanged) {
  prepare = [this] {
    std::string path = "temporary/" + names()[0];
    disk.corrupt(path, 8192, disk.content(path).substr(0, 8192));
  };
  expect_read("XX001", true);
}

// A write that the disk has lost: what the block held before is whole.
TEST_F(TransferFailureTest, ABlockOfAnEarlierTape) {
  {
    SpillFile file(files, budget);
    Tape earlier = write(file, 100);
    file.settle();
    std::string path = "temporary/" + names()[0];
    std::string before = disk.content(path);
    TapeReader reader(file, layout);
    reader.start(earlier, false);
    while (reader.next() != nullptr) {
    }
    Tape later = write(file, 100);
    file.settle();
    size_t block = file.block_bytes();
    disk.corrupt(path, later.first_block * block, before.substr(later.first_block * block, block));
    EXPECT_EQ(state_of([&] { read(file, later); }), "XX001");
  }
  expect_all_gone();
}

TEST_F(TransferFailureTest, AReadAheadThatFails) {
  prepare = [this] { disk_gates.fail(Call::read, GatedFiles::failed, 1, 1); };
  expect_read("58030", true);
}

TEST_F(TransferFailureTest, AnErrorWhileAReadAheadIsUnderWay) {
  prepare = [this] { disk_gates.hold(Call::read, 1); };
  {
    SpillFile file(files, budget);
    Tape tape = write(file, 100);
    file.settle();
    prepare();
    TapeReader reader(file, layout);
    reader.start(tape, true);
    EXPECT_NE(reader.next(), nullptr);
    EXPECT_TRUE(disk_gates.await_held(Call::read));
    // The statement fails for another reason: its file goes, and the read goes on.
  }
  EXPECT_EQ(disk_gates.held(Call::read), 1);
  EXPECT_EQ(names().size(), 1u);
  expect_all_gone();
}

TEST_F(TransferFailureTest, ACancelWhileAReadIsUnderWay) {
  prepare = [this] {
    disk_gates.hold(Call::read, 1);
    later = std::thread([this] {
      EXPECT_TRUE(disk_gates.await_held(Call::read));
      usleep(20'000);
      cancel();
    });
  };
  expect_read("57014", true);
  later.join();
}

TEST_F(TransferFailureTest, ACancelWhileAWriteIsUnderWay) {
  disk_gates.hold(Call::write);
  later = std::thread([this] {
    EXPECT_TRUE(disk_gates.await_held(Call::write));
    usleep(20'000);
    cancel();
  });
  EXPECT_EQ(state_of([&] {
              SpillFile file(files, budget);
              write(file, 1000);
            }),
            "57014");
  EXPECT_GE(disk_gates.held(Call::write), 1);
  later.join();
  expect_all_gone();
}

TEST_F(TransferFailureTest, ACancelWhileAFileIsMade) {
  disk_gates.hold(Call::create);
  later = std::thread([this] {
    EXPECT_TRUE(disk_gates.await_held(Call::create));
    usleep(20'000);
    cancel();
  });
  EXPECT_EQ(state_of([&] { SpillFile file(files, budget); }), "57014");
  EXPECT_EQ(disk_gates.held(Call::create), 1);
  later.join();
  expect_all_gone();
  EXPECT_EQ(counters.files.value(), 0);
}

}  // namespace
}  // namespace pgsilo
