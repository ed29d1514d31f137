// Data directories of the formats before: opened, gone on with, and never mistaken by what wrote
// them.
#include <gtest/gtest.h>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/layout/checked_bytes.h"
#include "wal/layout/control_file.h"
#include "wal/log/log_format.h"

namespace pgsilo {
namespace {

constexpr char control_path[] = "/data/pgsilo.control";

class OlderFormat : public ::testing::Test {
 protected:
  // Rows that the log packs into several blocks, a record in pieces among them.
  void write(bool compress, int first) {
    WalOptions options = LoggedEngine::small_options();
    options.compress = compress;
    LoggedEngine engine(disk_, "/data", options);
    ASSERT_TRUE(engine.start()) << engine.why();
    EXPECT_EQ(engine.content(), expected_) << engine.why();
    for (int i = first; i < first + 12; ++i) {
      size_t bytes = i % 12 == 5 ? 150'000 : 3000;
      std::vector<WriteOperation> operations{
          {1, "key" + std::to_string(i), std::string(bytes, 'r')},
          {1, "more" + std::to_string(i), std::string(bytes, 's')}};
      std::optional<Epoch> epoch = engine.commit(0, operations);
      ASSERT_TRUE(epoch.has_value());
      apply_writes(expected_, operations);
      engine.wal().wait_durable(0, *epoch);
      engine.wal().prepare_segments();
    }
    EXPECT_EQ(engine.wal().status().bytes_saved > 0, compress);
    disk_.cut_power();
    disk_.restart();
  }

  // Version 1 had the same header, with a byte of zero where compression is now; version 2 had one
  // where the flags are; version 3 knew one flag.
  int make_old(int version) {
    int blocks = 0;
    std::vector<std::string> names;
    EXPECT_TRUE(disk_.list("/data/wal", &names).ok());
    for (const std::string& name : names) {
      if (!parse_segment_name(name)) continue;
      std::string path = "/data/wal/" + name;
      std::string content = disk_.content(path);
      for (size_t at = 0; at < content.size(); at += log_format::block_unit) {
        char* block = content.data() + at;
        if (load_le32(block + 8) != log_format::block_magic) continue;
        EXPECT_EQ(block[12], 4);
        EXPECT_TRUE(version > 1 || block[15] == 0);
        block[12] = static_cast<char>(version);
        block[13] = static_cast<char>(version < 3 ? 0 : block[13] & 1);
        size_t bytes =
            log_format::block_header_bytes + load_le32(block + 48) + load_le32(block + 52);
        store_le64(block, checksum64(block + 8, bytes - 8));
        ++blocks;
      }
      disk_.corrupt(path, 0, content);
    }
    make_control_old(static_cast<uint32_t>(version) + 3);
    return blocks;
  }

  // Up to version 7 all fields of the control file were fixed, and incarnations had no ids.
  void make_control_old(uint32_t version) {
    ControlFile control;
    ASSERT_EQ(read_control_file(disk_, "/data", &control), ControlRead::ok);
    ASSERT_FALSE(control.checkpoint.exists());
    CheckedWriter old(load_le32(disk_.content(control_path).data() + 8), version);
    old.uuid(control.database);
    old.u64(control.last_incarnation);
    old.u32(static_cast<uint32_t>(control.incarnations.size()));
    for (const Incarnation& incarnation : control.incarnations) {
      old.u64(incarnation.number);
      old.u64(incarnation.first_epoch.value());
      old.u32(incarnation.closed ? 1 : 0);
      old.u64(incarnation.durable.value());
      old.u32(static_cast<uint32_t>(incarnation.logs.size()));
      for (const LogIdentity& log : incarnation.logs) {
        old.uuid(log.log);
        old.text(log.path);
      }
    }
    old.u64(0);  // no checkpoint
    ASSERT_TRUE(replace_file(disk_, control_path, old.finish()).ok());
  }

  SimulatedFileSystem disk_{7};
  Content expected_;
};

TEST_F(OlderFormat, IsReadAndGoneOnWithCompressed) {
  ASSERT_NO_FATAL_FAILURE(write(false, 0));
  EXPECT_GT(make_old(1), 15);
  ASSERT_NO_FATAL_FAILURE(write(true, 12));
  ASSERT_NO_FATAL_FAILURE(write(false, 24));
  ASSERT_NO_FATAL_FAILURE(write(true, 36));
}

TEST_F(OlderFormat, ItsBlocksDoNotTellWhetherTheyHoldCatalogRows) {
  ASSERT_NO_FATAL_FAILURE(write(false, 0));
  ASSERT_NO_FATAL_FAILURE(write(true, 12));
  EXPECT_GT(make_old(2), 20);
  ASSERT_NO_FATAL_FAILURE(write(false, 24));
  ASSERT_NO_FATAL_FAILURE(write(true, 36));
}

TEST_F(OlderFormat, ItsSegmentsDoNotTellOfTheOneBefore) {
  ASSERT_NO_FATAL_FAILURE(write(false, 0));
  ASSERT_NO_FATAL_FAILURE(write(true, 12));
  EXPECT_GT(make_old(3), 20);
  ASSERT_NO_FATAL_FAILURE(write(false, 24));
  ASSERT_NO_FATAL_FAILURE(write(true, 36));
}

// A server that knows version 1 only must not take compressed blocks for a torn end of the log. It
// refuses by the control file, whose version it does not know. So do those that know versions 2 and
// 3.
TEST_F(OlderFormat, ItsServersRefuseWhatMayBeCompressed) {
  for (bool compress : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(write(compress, compress ? 12 : 0));
    EXPECT_GE(load_le32(disk_.content(control_path).data() + 12), 8u);
  }
}

}  // namespace
}  // namespace pgsilo
