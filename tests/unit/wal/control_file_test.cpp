#include "wal/layout/control_file.h"

#include <gtest/gtest.h>

#include "base/file_simulated.h"

namespace pgsilo {
namespace {

class ControlFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(disk_.create_directory("/data").ok());
    ASSERT_TRUE(disk_.sync_directory("/").ok());
    control_.database = {1, 2};
    control_.last_incarnation = 4;
    control_.incarnations.push_back({.number = 3,
                                     .first_epoch = Epoch(10),
                                     .closed = true,
                                     .clean = true,
                                     .durable = Epoch(20),
                                     .logs = {{{3, 4}, "/data/wal"}, {{5, 6}, "/other"}}});
    control_.incarnations.push_back({.number = 4,
                                     .first_epoch = Epoch(21),
                                     .closed = false,
                                     .clean = false,
                                     .durable = Epoch(0),
                                     .logs = {{{3, 4}, "/data/wal"}}});
  }
  SimulatedFileSystem disk_{1};
  ControlFile control_;
};

TEST_F(ControlFileTest, ComesBackWhole) {
  ASSERT_TRUE(write_control_file(disk_, "/data", control_).ok());
  disk_.cut_power();
  disk_.restart();
  ControlFile read;
  ASSERT_EQ(read_control_file(disk_, "/data", &read), ControlRead::ok);
  EXPECT_EQ(read.database, control_.database);
  EXPECT_EQ(read.last_incarnation, 4u);
  ASSERT_EQ(read.incarnations.size(), 2u);
  const Incarnation& first = read.incarnations[0];
  EXPECT_EQ(first.number, 3u);
  EXPECT_EQ(first.first_epoch, Epoch(10));
  EXPECT_TRUE(first.closed && first.clean);
  EXPECT_EQ(first.durable, Epoch(20));
  ASSERT_EQ(first.logs.size(), 2u);
  EXPECT_EQ(first.logs[1].log, (Uuid{5, 6}));
  EXPECT_EQ(first.logs[1].path, "/other");
  EXPECT_FALSE(read.incarnations[1].closed || read.incarnations[1].clean);
}

TEST_F(ControlFileTest, IsMissing) {
  ControlFile read;
  EXPECT_EQ(read_control_file(disk_, "/data", &read), ControlRead::missing);
}

TEST_F(ControlFileTest, EveryDamagedByteIsNoticed) {
  ASSERT_TRUE(write_control_file(disk_, "/data", control_).ok());
  std::string path = "/data/pgsilo.control";
  std::string content = disk_.content(path);
  for (size_t at = 0; at < content.size(); ++at) {
    disk_.corrupt(path, at, std::string(1, static_cast<char>(content[at] ^ 4)));
    ControlFile read;
    EXPECT_NE(read_control_file(disk_, "/data", &read), ControlRead::ok) << at;
    disk_.corrupt(path, at, content.substr(at, 1));
  }
}

// Whatever step the power fails in, the old content is there or the new.
TEST_F(ControlFileTest, IsReplacedAtomically) {
  ASSERT_TRUE(write_control_file(disk_, "/data", control_).ok());
  for (uint64_t step = 1; step < 20; ++step) {
    ControlFile next = control_;
    next.last_incarnation = 100 + step;
    disk_.cut_power_at(disk_.steps() + step);
    bool finished = false;
    try {
      finished = write_control_file(disk_, "/data", next).ok();
      disk_.cut_power();
    } catch (const SimulatedPowerCut&) {
    }
    disk_.restart();
    ControlFile read;
    ASSERT_EQ(read_control_file(disk_, "/data", &read), ControlRead::ok);
    bool is_new = read.last_incarnation == next.last_incarnation;
    EXPECT_TRUE(is_new || (!finished && read.last_incarnation == control_.last_incarnation));
    control_ = read;
  }
}

}  // namespace
}  // namespace pgsilo
