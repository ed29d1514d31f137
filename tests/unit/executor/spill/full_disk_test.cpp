// Who finds the disk full waits parked, for files alone that had gone before, and may be cancelled.
#include <chrono>
#include <future>

#include "tests/unit/executor/spill/gated_fixture.h"

namespace pgsilo {
namespace {

using testing::GatedFiles;
using testing::GatedFixture;

struct FullDiskTest : GatedFixture {
  std::string make_file() {
    return state_of([&] { SpillFile file(files, budget); });
  }
  // A file is retired, and its removal waits.
  void hold_removal() {
    disk_gates.hold(Call::remove);
    retire_file();
    EXPECT_TRUE(disk_gates.await_held(Call::remove));
    parker.parks = 0;
  }
};

TEST_F(FullDiskTest, AFileIsMadeOnceSpaceCameBack) {
  hold_removal();
  disk_gates.fail(Call::create, GatedFiles::no_space, 1);
  std::thread later([&] {
    usleep(50'000);
    disk_gates.let_go(Call::remove);
  });
  EXPECT_EQ(make_file(), "none");
  EXPECT_GE(parker.parks, 1);
  later.join();
  expect_all_gone();
}

TEST_F(FullDiskTest, TheWaitForAFileIsCancelled) {
  hold_removal();
  disk_gates.fail(Call::create, GatedFiles::no_space);
  std::thread later([&] {
    usleep(50'000);
    cancel();
  });
  EXPECT_EQ(make_file(), "57014");
  EXPECT_EQ(disk_gates.held(Call::remove), 1);
  later.join();
  expect_all_gone();
}

TEST_F(FullDiskTest, NobodyWaitsForFilesThatGoLater) {
  auto second = std::make_unique<SpillFile>(files, budget);
  write(*second, 50);
  second->settle();
  hold_removal();
  disk_gates.fail(Call::create, GatedFiles::no_space);
  std::future<std::string> asked = std::async(std::launch::async, [&] { return make_file(); });
  usleep(50'000);
  second.reset();
  disk_gates.let_go(Call::remove, 1);
  EXPECT_EQ(asked.get(), "53100");
  EXPECT_TRUE(disk_gates.await_held(Call::remove));
  expect_all_gone();
}

TEST_F(FullDiskTest, WithNothingToWaitForItIsTold) {
  disk_gates.fail(Call::create, GatedFiles::no_space);
  EXPECT_EQ(make_file(), "53100");
  disk_gates.fail(Call::create, {}, 0);
  EXPECT_EQ(make_file(), "none");
  expect_all_gone();
}

// Removes in pieces, with rests of seconds.
struct RestingFiles final : ForwardingFileSystem {
  using ForwardingFileSystem::ForwardingFileSystem;
  FileResult remove_in_pieces(const std::string& path, RemovalPace& pace) override {
    for (int i = 0; i < 5; ++i) {
      ++pieces;
      pace.rest(std::chrono::seconds(5));
      usleep(50'000);  // others have time to try
    }
    return remove(path);
  }
  std::atomic<int> pieces{0};
};

// Two pieces are not enough, the third one is.
TEST_F(FullDiskTest, WhoWaitsHurriesTheRemoverAndTriesBehindEachPiece) {
  RestingFiles resting(disk_gates);
  TemporaryStorage resting_storage(resting, "temporary", most_files);
  resting_storage.start(1);
  TemporaryFiles own(resting_storage, counters, &parker, nullptr, nullptr);
  {
    SpillFile retired(own, budget);
  }
  while (resting.pieces == 0) usleep(1000);
  disk_gates.fail(Call::create, GatedFiles::no_space, 2);
  auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(state_of([&] { SpillFile file(own, budget); }), "none");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(4));
  EXPECT_LE(resting.pieces, 4);
}

// With one thread for all transfers.
struct OneThreadTest : FullDiskTest {
  OneThreadTest() { one.start(1); }
  TemporaryStorage one{disk_gates, "temporary", most_files};
  TemporaryFiles own{one, counters, &parker, &cancelled, nullptr};
};

TEST_F(OneThreadTest, OthersTransfersGoOnBesideAWaitForSpace) {
  ThreadParker second_parker;
  TemporaryFiles second(one, counters, &second_parker, nullptr, nullptr);
  SpillFile other(second, budget);
  Tape tape = write(other, 50);
  other.settle();
  disk_gates.hold(Call::remove);
  {
    SpillFile retired(own, budget);
  }
  ASSERT_TRUE(disk_gates.await_held(Call::remove));
  SpillFile full(own, budget);
  disk_gates.fail(Call::write, GatedFiles::no_space, 1);
  std::future<std::string> writing = std::async(std::launch::async, [&] {
    return state_of([&] {
      write(full, 5);
      full.settle();
    });
  });
  usleep(50'000);
  TapeReader reader(other, layout);
  reader.start(tape, true);
  while (reader.next() != nullptr) {
  }
  EXPECT_EQ(disk_gates.held(Call::remove), 1);
  disk_gates.let_go(Call::remove);
  EXPECT_EQ(writing.get(), "none");
}

}  // namespace
}  // namespace pgsilo
