#include "base/file_simulated.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace pgsilo {
namespace {

constexpr OpenFlags write_flags{.write = true, .create = true};

class SimulatedDisk : public ::testing::Test {
 protected:
  SimulatedDisk() {
    EXPECT_TRUE(disk_.create_directory("/d").ok());
    EXPECT_TRUE(disk_.sync_directory("/").ok());
  }
  std::unique_ptr<File> open(const std::string& path, OpenFlags flags = write_flags) {
    std::unique_ptr<File> file;
    EXPECT_TRUE(disk_.open(path, flags, &file).ok());
    return file;
  }
  void power_cycle() {
    disk_.cut_power();
    disk_.restart();
  }
  bool exists(const std::string& path) {
    std::unique_ptr<File> file;
    return disk_.open(path, {}, &file).ok();
  }

  SimulatedFileSystem disk_{7};
};

TEST_F(SimulatedDisk, KeepsWhatWasSynced) {
  auto file = open("/d/a");
  ASSERT_TRUE(file->write_at("synced", 6, 0).ok());
  ASSERT_TRUE(file->sync_data().ok());
  ASSERT_TRUE(disk_.sync_directory("/d").ok());
  power_cycle();
  EXPECT_EQ(disk_.content("/d/a"), "synced");
}

TEST_F(SimulatedDisk, LosesUnsyncedSectorsOneByOne) {
  auto file = open("/d/a");
  ASSERT_TRUE(file->allocate(64 * 512).ok());
  ASSERT_TRUE(file->sync_data().ok());
  ASSERT_TRUE(disk_.sync_directory("/d").ok());
  ASSERT_TRUE(file->write_at(std::string(64 * 512, 'x').data(), 64 * 512, 0).ok());
  power_cycle();
  std::string content = disk_.content("/d/a");
  int kept = 0;
  for (size_t sector = 0; sector < 64; ++sector) {
    char first = content[sector * 512];
    EXPECT_EQ(content.substr(sector * 512, 512), std::string(512, first));
    kept += first == 'x';
  }
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 54);
}

TEST_F(SimulatedDisk, ForgetsNamesOfUnsyncedDirectories) {
  bool lost = false, kept = false;
  for (int i = 0; i < 40; ++i) {
    std::string path = "/d/" + std::to_string(i);
    auto file = open(path);
    power_cycle();
    (exists(path) ? kept : lost) = true;
  }
  EXPECT_TRUE(lost && kept);
}

// Also those that somebody made who was killed before he came to the sync.
TEST_F(SimulatedDisk, KeepsMadeDirectories) {
  for (int i = 0; i < 20; ++i) {
    std::string top = "/made" + std::to_string(i);
    ASSERT_TRUE(disk_.create_directory(top).ok());
    std::string part;
    ASSERT_TRUE(make_directories(disk_, top + "/a/b/", &part).ok());
    power_cycle();
    for (const std::string& path : {top, top + "/a", top + "/a/b"})
      EXPECT_EQ(disk_.create_directory(path).status, FileStatus::already_exists) << path;
  }
  disk_.fail_at(disk_.steps() + 3, {FileStatus::failed, EIO});
  std::string part;
  EXPECT_FALSE(make_directories(disk_, "/x/y/z", &part).ok());
  EXPECT_EQ(part, "/x/y");
}

// Its parent belongs to somebody else: nothing there is ours to keep.
TEST_F(SimulatedDisk, FindsDirectoriesInUnreadableOnes) {
  disk_.fail_at(disk_.steps() + 1, {FileStatus::failed, EACCES});
  EXPECT_TRUE(make_directory(disk_, "/d").ok());
  disk_.fail_at(disk_.steps() + 1, {FileStatus::failed, EIO});
  EXPECT_FALSE(make_directory(disk_, "/d").ok());
  disk_.fail_at(disk_.steps() + 2, {FileStatus::failed, EACCES});
  EXPECT_FALSE(make_directory(disk_, "/new").ok());
}

TEST_F(SimulatedDisk, CutsThePowerInTheChosenStep) {
  auto file = open("/d/a");
  disk_.cut_power_at(disk_.steps() + 2);
  ASSERT_TRUE(file->write_at("x", 1, 0).ok());
  EXPECT_THROW((void)file->sync_data(), SimulatedPowerCut);
  EXPECT_THROW((void)file->write_at("y", 1, 0), SimulatedPowerCut);
  EXPECT_THROW((void)disk_.remove("/d/a"), SimulatedPowerCut);
}

TEST_F(SimulatedDisk, KillingTheProcessKeepsCachesAndFreesLocks) {
  auto file = open("/d/a");
  ASSERT_TRUE(file->try_lock().ok());
  disk_.kill_at(disk_.steps() + 1);
  EXPECT_THROW((void)file->write_at("cached", 6, 0), SimulatedPowerCut);
  disk_.restart();
  EXPECT_EQ(disk_.content("/d/a"), "cached");
  EXPECT_TRUE(open("/d/a")->try_lock().ok());
}

TEST_F(SimulatedDisk, FailsTheChosenStepOnce) {
  auto file = open("/d/a");
  disk_.fail_at(disk_.steps() + 1, {FileStatus::failed, EIO});
  EXPECT_EQ(file->write_at("x", 1, 0).status, FileStatus::failed);
  EXPECT_TRUE(file->write_at("x", 1, 0).ok());
}

TEST_F(SimulatedDisk, AFailedSyncLeavesPagesThatOnlyLookWritten) {
  bool phantom = false;
  for (int i = 0; i < 20 && !phantom; ++i) {
    auto file = open("/d/a");
    ASSERT_TRUE(file->write_at(std::string(4096, 'a' + static_cast<char>(i)).data(), 4096, 0).ok());
    disk_.fail_at(disk_.steps() + 1, {FileStatus::failed, EIO});
    EXPECT_FALSE(file->sync_data().ok());
    EXPECT_TRUE(file->sync_data().ok());  // and writes nothing
    std::string cached = disk_.content("/d/a");
    alignas(4096) char on_disk[4096];
    size_t got = 0;
    ASSERT_TRUE(open("/d/a", {.direct = true})->read_at(on_disk, 4096, 0, &got).ok());
    phantom = cached != std::string(on_disk, got);
  }
  EXPECT_TRUE(phantom);
}

TEST_F(SimulatedDisk, ShortWritesAreContinued) {
  auto file = open("/d/a");
  disk_.short_write_at(disk_.steps() + 1);
  std::string bytes(20000, 'q');
  ASSERT_TRUE(file->write_at(bytes.data(), bytes.size(), 0).ok());
  EXPECT_EQ(disk_.content("/d/a"), bytes);
}

TEST_F(SimulatedDisk, RunsFull) {
  disk_.set_capacity(10000);
  auto file = open("/d/a");
  EXPECT_EQ(file->allocate(20000).status, FileStatus::no_space);
  EXPECT_TRUE(file->allocate(9000).ok());
  EXPECT_EQ(file->write_at("xx", 2, 9999).status, FileStatus::no_space);
}

}  // namespace
}  // namespace pgsilo
