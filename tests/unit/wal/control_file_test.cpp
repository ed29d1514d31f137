#include "wal/layout/control_file.h"

#include <gtest/gtest.h>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/file_simulated.h"
#include "base/product_version.h"

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
                                     .id = {7, 8},
                                     .parent = {.incarnation = {9, 10}, .durable = Epoch(9)},
                                     .segment_bytes = 1 << 20,
                                     .first_epoch = Epoch(10),
                                     .closed = true,
                                     .clean = true,
                                     .durable = Epoch(20),
                                     .logs = {{{3, 4}, "/data/wal"}, {{5, 6}, "/other"}}});
    control_.incarnations.push_back({.number = 4,
                                     .id = {11, 12},
                                     .parent = {.incarnation = {7, 8}, .durable = Epoch(20)},
                                     .segment_bytes = 1 << 20,
                                     .first_epoch = Epoch(21),
                                     .closed = false,
                                     .clean = false,
                                     .durable = Epoch(0),
                                     .logs = {{{3, 4}, "/data/wal"}}});
    control_.own_starts = {{.id = {7, 8}, .copied = true}, {.id = {11, 12}}};
  }
  // As another build might have written it.
  void set_feature_bit(size_t offset) {
    std::string content = disk_.content(path_);
    content[offset] = static_cast<char>(content[offset] ^ 0x40);
    store_le64(content.data(), checksum64(content.data() + 8, content.size() - 8));
    disk_.corrupt(path_, 0, content);
  }
  // The same file with one more item at its end, and bytes behind the fields of the first.
  void add_unknown_bytes() {
    std::string content = disk_.content(path_);
    size_t header_end = 20 + load_le32(content.data() + 16);
    content.insert(header_end, "????");
    store_le32(content.data() + 16, load_le32(content.data() + 16) + 4);
    size_t item = header_end + 4;
    size_t item_bytes = load_le32(content.data() + item + 4);
    content.insert(item + 8 + item_bytes, "????????");
    store_le32(content.data() + item + 4, static_cast<uint32_t>(item_bytes + 8));
    std::string more(11, '?');
    store_le32(more.data(), 4711);
    store_le32(more.data() + 4, 3);
    content += more;
    store_le64(content.data(), checksum64(content.data() + 8, content.size() - 8));
    ASSERT_TRUE(replace_file(disk_, path_, content).ok());
  }
  ControlRead read(ControlFile* control) { return read_control_file(disk_, "/data", control); }

  // Of the header's fields.
  static constexpr size_t at_compatible = 20;
  static constexpr size_t at_read_only_compatible = 28;
  static constexpr size_t at_incompatible = 36;
  const std::string path_ = "/data/pgsilo.control";
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
  EXPECT_EQ(first.id, (Uuid{7, 8}));
  EXPECT_EQ(first.segment_bytes, 1u << 20);
  EXPECT_EQ(read.incarnations[1].parent.incarnation, first.id);
  EXPECT_EQ(read.incarnations[1].parent.durable, Epoch(20));
  EXPECT_EQ(read.own_starts, control_.own_starts);
  EXPECT_NE(read.writer, "");
  EXPECT_FALSE(read.incarnations[1].closed || read.incarnations[1].clean);
}

// An earlier version remembered 64 starts.
TEST_F(ControlFileTest, MayHaveForgottenStarts) {
  for (auto [listed, last, may] : {std::tuple{3, 3, false},
                                   {3, 5, false},
                                   {63, 70, false},
                                   {64, 64, false},
                                   {64, 65, true},
                                   {200, 200, false},
                                   {200, 900, true}}) {
    control_.own_starts.assign(static_cast<size_t>(listed), {.id = {1, 2}});
    control_.last_incarnation = static_cast<uint64_t>(last);
    EXPECT_EQ(may_have_forgotten_starts(control_), may) << listed << " of " << last;
  }
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

TEST_F(ControlFileTest, WhatALaterVersionAddsIsGoneOver) {
  ASSERT_TRUE(write_control_file(disk_, "/data", control_).ok());
  ASSERT_NO_FATAL_FAILURE(add_unknown_bytes());
  ControlFile found;
  ASSERT_EQ(read(&found), ControlRead::ok);
  EXPECT_EQ(found.database, control_.database);
  EXPECT_EQ(found.incarnations.size(), 2u);
}

TEST_F(ControlFileTest, FeatureBitsSayWhoMayReadAndWhoMayWrite) {
  ASSERT_TRUE(write_control_file(disk_, "/data", control_).ok());
  ControlFile found;
  set_feature_bit(at_compatible);
  ASSERT_EQ(read(&found), ControlRead::ok);
  EXPECT_EQ(found.unknown.compatible, 0x40u);
  EXPECT_EQ(found.unknown.read_only_compatible, 0u);
  set_feature_bit(at_read_only_compatible);
  ASSERT_EQ(read(&found), ControlRead::ok);
  EXPECT_EQ(found.unknown.read_only_compatible, 0x40u);
  set_feature_bit(at_incompatible);
  ASSERT_EQ(read(&found), ControlRead::other_version);
  EXPECT_EQ(found.unknown.incompatible, 0x40u);
  EXPECT_EQ(found.writer, std::string(product_version));
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
