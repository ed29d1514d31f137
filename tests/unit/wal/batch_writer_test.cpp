#include "wal/log/batch_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file_simulated.h"
#include "wal/log/segment_reader.h"

namespace pgsilo {
namespace {

constexpr size_t segment_bytes = size_t{256} << 10;
constexpr Uuid log_id{1, 2};

std::string record(uint64_t epoch, size_t row_bytes, char fill) {
  std::string row(row_bytes, fill);
  RedoEntry entry{.relation = RelationId(1), .tombstone = false, .key = "k", .row = row};
  std::string bytes(record_bytes(1, 1 + row_bytes), '\0');
  encode_record(bytes.data(), Tid(Epoch(epoch), 1), {&entry, 1});
  return bytes;
}

class BatchWriterTest : public testing::Test {
 protected:
  BatchWriterTest()
      : store_(disk_, {.directory = "/log",
                       .segment_bytes = segment_bytes,
                       .ring_bytes = segment_bytes,
                       .workers = 1,
                       .spare_segments = 1,
                       .direct = true}) {
    EXPECT_TRUE(disk_.create_directory("/log").ok());
    EXPECT_TRUE(store_.open(1, {}).ok());
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(store_.prepare_one().ok());
  }

  void write_batch(BatchWriter& writer, const std::vector<std::string>& records) {
    writer.begin_batch(Epoch(1), Epoch(2));
    for (const std::string& bytes : records) {
      if (!writer.add(bytes)) writer.write_long(bytes);
      written_ += bytes;
    }
    writer.end_batch({.complete = Epoch(9), .last_data = {Epoch(9)}});
  }

  // What the disk holds after a power cut now: payloads one after the other; counts blocks and
  // trailers.
  std::string read_back() {
    std::string payloads;
    blocks_ = trailers_ = 0;
    PayloadReader payload_reader;
    for (uint64_t number = 1; number <= store_.position().segment; ++number) {
      std::string path = "/log/" + segment_name(number);
      SegmentReader reader(disk_, path, number, log_id);
      EXPECT_TRUE(reader.open().ok());
      uint64_t at = 0;
      while (std::optional<BlockView> block = reader.next(at, reader.bytes())) {
        EXPECT_EQ(block->offset, at);
        EXPECT_EQ(block->header.number, blocks_++);
        trailers_ += block->trailer.has_value() ? 1 : 0;
        payloads += payload_reader.read(*block).value();
        at = block->offset + block->bytes;
      }
    }
    return payloads;
  }

  SimulatedFileSystem disk_{1};
  SegmentStore store_;
  std::string written_;
  uint64_t blocks_ = 0;
  uint64_t trailers_ = 0;
};

TEST_F(BatchWriterTest, BlocksOfABatchAreWrittenAtOnce) {
  BatchWriter writer(store_, log_id, {1, 7}, false);
  std::string half = record(5, 30'000, 'a');  // two of them make a block
  write_batch(writer, {half, half, half, half, half});
  EXPECT_EQ(writer.counters().writes.value(), 1);
  write_batch(writer, {});
  EXPECT_EQ(writer.counters().writes.value(), 2);
  EXPECT_EQ(read_back(), written_);
  EXPECT_EQ(blocks_, 4u);
  EXPECT_EQ(trailers_, 2u);
}

TEST_F(BatchWriterTest, ABatchMayBeLongerThanTheBufferAndASegment) {
  BatchWriter writer(store_, log_id, {1, 7}, false);
  for (int batch = 0; batch < 3; ++batch) {
    std::vector<std::string> records;
    for (int i = 0; i < 9; ++i)
      records.push_back(
          record(5, 20'000 + 5000 * static_cast<size_t>(i), static_cast<char>('a' + i)));
    records.push_back(record(5, 150'000, 'x'));  // longer than a block
    records.push_back(record(5, 10, 'y'));
    write_batch(writer, records);
  }
  EXPECT_GT(store_.position().segment, 4u);
  EXPECT_EQ(read_back(), written_);
  EXPECT_EQ(trailers_, 3u);
}

TEST_F(BatchWriterTest, CompressedBlocksLieNextToEachOther) {
  BatchWriter writer(store_, log_id, {1, 7}, true);
  std::string half = record(5, 30'000, 'a');
  write_batch(writer, {half, half, half, half, half});
  EXPECT_EQ(writer.counters().writes.value(), 1);
  EXPECT_EQ(writer.counters().bytes.value(), 3 * 4096);
  EXPECT_EQ(read_back(), written_);
  EXPECT_EQ(blocks_, 3u);
}

}  // namespace
}  // namespace pgsilo
