// What recovery refuses of several logs: directories that are missing, swapped or of others.
#include <gtest/gtest.h>

#include "tests/crash/damage_bed.h"
#include "wal/layout/log_format.h"

namespace pgsilo {
namespace {

TEST_F(Damage, AMissingLogDirectoryIsRefused) {
  commit(options(2), 6);
  verified_like_start_ = false;
  EXPECT_EQ(restart(options(1)), -1);
  EXPECT_NE(why_.find("wal1"), std::string::npos) << why_;
  EXPECT_NE(why_.find("is missing"), std::string::npos) << why_;
  // It needs no setting to find a log.
  EXPECT_EQ(verified_.verdict, Verdict::sound) << verified_.why;
  verified_like_start_ = true;
  EXPECT_EQ(restart(options(2)), 6) << why_;
}

TEST_F(Damage, AnEmptiedLogDirectoryIsRefused) {
  commit(options(2), 6);
  disk_.restart();
  std::vector<std::string> names;
  ASSERT_TRUE(disk_.list("/data/wal1", &names).ok());
  for (const std::string& name : names) ASSERT_TRUE(disk_.remove("/data/wal1/" + name).ok());
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find("is missing"), std::string::npos) << why_;
}

TEST_F(Damage, ALogDirectoryWithoutSegmentsIsRefused) {
  commit(options(2), 6);
  disk_.restart();
  std::vector<std::string> names;
  ASSERT_TRUE(disk_.list("/data/wal1", &names).ok());
  for (const std::string& name : names) {
    if (!parse_segment_name(name)) continue;
    ASSERT_TRUE(disk_.remove("/data/wal1/" + name).ok());
  }
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find("holds no segments"), std::string::npos) << why_;
}

TEST_F(Damage, LogDirectoriesAreKnownByTheirIdentityNotTheirPlace) {
  commit(options(2), 6);
  WalOptions swapped = options(2);
  std::swap(swapped.log_directories[0], swapped.log_directories[1]);
  EXPECT_EQ(restart(swapped), 6) << why_;
  EXPECT_EQ(restart(options(2)), 6) << why_;
}

TEST_F(Damage, SwappedSegmentsAreNoticed) {
  commit(options(2), 8);
  std::string one = disk_.content(log_path(0));
  std::string other = disk_.content(log_path(1));
  disk_.corrupt(log_path(0), 0, other);
  disk_.corrupt(log_path(1), 0, one);
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find("holds blocks of another log"), std::string::npos) << why_;
}

TEST_F(Damage, AForeignLogDirectoryIsRefused) {
  commit(options(1), 3);
  disk_.restart();
  {
    LoggedEngine other(disk_, "/other", options(1));
    ASSERT_TRUE(other.start());
    disk_.cut_power();
  }
  WalOptions mixed = options(1);
  mixed.log_directories.push_back("/other/wal0");
  EXPECT_EQ(restart(mixed), -1);
  EXPECT_NE(why_.find("belongs to another database"), std::string::npos) << why_;
}

TEST_F(Damage, TheSameDirectoryTwiceIsRefused) {
  WalOptions twice = options(1);
  twice.log_directories.push_back("wal0");
  verified_like_start_ = false;  // there is no directory yet
  EXPECT_EQ(restart(twice), -1);
  EXPECT_NE(why_.find("are the same"), std::string::npos) << why_;
}

TEST_F(Damage, ADirectoryMayJoin) {
  commit(options(1), 3);
  EXPECT_EQ(restart(options(2)), 3) << why_;
  disk_.restart();
  commit(options(2), 8);
  EXPECT_EQ(restart(options(2)), 8) << why_;
}

TEST_F(Damage, ALostTailOfOneLogIsNoticedByTheOther) {
  commit(options(2), 9);  // batches alternate; log 1's last is recorded by log 0's last
  std::string path = log_path(1);
  for (uint64_t block = 3; block < 5; ++block) {
    disk_.corrupt(path, block * log_format::block_unit, std::string(log_format::block_unit, '\0'));
  }
  EXPECT_EQ(restart(options(2)), -1);
  EXPECT_NE(why_.find(path), std::string::npos) << why_;
  EXPECT_EQ(why_.find(log_path(0)), std::string::npos) << why_;
}

TEST_F(Damage, ASecondServerIsRefused) {
  LoggedEngine first(disk_, "/data", options());
  ASSERT_TRUE(first.start());
  LoggedEngine second(disk_, "/data", options());
  EXPECT_FALSE(second.start());
  EXPECT_NE(second.why().find("in use by another server"), std::string::npos) << second.why();
  LoggedEngine elsewhere(disk_, "/elsewhere", [&] {
    WalOptions wal = options();
    wal.log_directories = {"/data/wal0"};
    return wal;
  }());
  EXPECT_FALSE(elsewhere.start());
  EXPECT_NE(elsewhere.why().find("in use by another server"), std::string::npos) << elsewhere.why();
}

}  // namespace
}  // namespace pgsilo
