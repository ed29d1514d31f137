// Data directories of the formats before: opened, gone on with, and never mistaken by what wrote
// them.
#include <gtest/gtest.h>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/file_simulated.h"
#include "tests/crash/logged_engine.h"
#include "wal/layout/checked_bytes.h"
#include "wal/layout/control_file.h"
#include "wal/layout/log_directory.h"
#include "wal/layout/log_format.h"
#include "wal/log/segment_reader.h"

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

  // The same records in blocks as they were then: shorter headers and trailers, no first block of
  // an incarnation. Version 1 had a byte of zero where compression is now; version 2 had one where
  // the flags are; version 3 knew one flag.
  static std::string old_block(const BlockView& block, const Uuid& log, int version,
                               uint64_t offset) {
    const BlockHeader& header = block.header;
    EXPECT_TRUE(version > 1 || header.compression == BlockCompression::none);
    std::string bytes(log_format::fixed_header_bytes, '\0');
    store_le32(&bytes[8], log_format::block_magic);
    bytes[12] = static_cast<char>(version);
    int flags = (header.system ? 1 : 0) | (header.system_before ? 2 : 0);
    bytes[13] = static_cast<char>(version < 3 ? 0 : version < 4 ? flags & 1 : flags);
    bytes[14] = static_cast<char>(header.kind);
    bytes[15] = static_cast<char>(header.compression);
    const uint64_t numbers[] = {header.incarnation, block.segment, offset, header.number - 1};
    for (size_t i = 0; i < 4; ++i) store_le64(&bytes[16 + 8 * i], numbers[i]);
    store_le32(&bytes[48], static_cast<uint32_t>(block.stored.size()));
    store_le64(&bytes[56], header.recorded_durable.value());
    store_le64(&bytes[64], header.largest_epoch.value());
    store_le64(&bytes[72], header.piece_offset);
    store_le64(&bytes[80], header.piece_total);
    store_le64(&bytes[88], short_identity(log));
    bytes += block.stored;
    if (block.trailer) {
      std::string trailer(16 + 8 * block.trailer->last_data.size(), '\0');
      store_le32(&bytes[52], static_cast<uint32_t>(trailer.size()));
      store_le64(trailer.data(), block.trailer->complete.value());
      store_le64(&trailer[8], block.trailer->last_data.size());
      for (size_t i = 0; i < block.trailer->last_data.size(); ++i)
        store_le64(&trailer[16 + 8 * i], block.trailer->last_data[i].value());
      bytes += trailer;
    }
    store_le64(bytes.data(), checksum64(bytes.data() + 8, bytes.size() - 8));
    bytes.resize(log_format::round_up(bytes.size()));
    return bytes;
  }

  int make_old(int version) {
    int blocks = 0;
    LogDirectory directory(disk_, "/data/wal");
    std::string why;
    EXPECT_TRUE(directory.read_identity(&why)) << why;
    std::vector<uint64_t> numbers;
    EXPECT_TRUE(directory.list_segments(&numbers).ok());
    for (uint64_t number : numbers) {
      std::string path = directory.segment_path(number);
      SegmentReader reader(disk_, path, number, directory.log());
      EXPECT_TRUE(reader.open().ok());
      std::string old;
      uint64_t at = 0;
      while (std::optional<BlockView> block = reader.next(at, reader.bytes())) {
        at = block->offset + block->bytes;
        if (block->header.kind == BlockKind::begin) continue;
        old += old_block(*block, directory.log(), version, old.size());
        ++blocks;
      }
      old.resize(reader.bytes());
      disk_.corrupt(path, 0, old);
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

TEST_F(OlderFormat, ItsBlocksDoNotTellOfCopies) {
  ASSERT_NO_FATAL_FAILURE(write(false, 0));
  ASSERT_NO_FATAL_FAILURE(write(true, 12));
  EXPECT_GT(make_old(4), 20);
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
