// What pgsilo-dump-log prints, of logs that are put together here, block by block.
#include "wal/tool/log_dump.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file_simulated.h"
#include "wal/log/block_payload.h"
#include "wal/tool/number_range.h"
#include "wal/tool/printable.h"

namespace pgsilo {
namespace {

constexpr char segment_path[] = "/log/0000000000000001.segment";

std::string record(Tid tid, const std::vector<RedoEntry>& entries) {
  size_t bytes = log_format::record_header_bytes;
  for (const RedoEntry& entry : entries) bytes += entry_bytes(entry);
  std::string encoded(bytes, '\0');
  encode_record(encoded.data(), tid, entries);
  return encoded;
}

RedoEntry row(uint32_t relation, std::string_view key, std::string_view row) {
  return {.relation = RelationId(relation), .tombstone = false, .key = key, .row = row};
}

RedoEntry tombstone(uint32_t relation, std::string_view key) {
  return {.relation = RelationId(relation), .tombstone = true, .key = key, .row = {}};
}

class LogDumpTest : public ::testing::Test {
 protected:
  LogDumpTest() {
    EXPECT_TRUE(disk_.create_directory("/log").ok());
    begin_segment(1);
  }

  void begin_segment(uint64_t number) {
    segment_ = number;
    bytes_.clear();
  }

  // Block after block.
  void add_block(std::string_view payload, BlockHeader header = {}) {
    header.incarnation = 1;
    header.number = blocks_++;
    header.recorded_durable = Epoch(blocks_);
    header.largest_epoch = Epoch(blocks_ + 1);
    BatchTrailer trailer{.complete = Epoch(blocks_ + 1), .last_data = {Epoch(blocks_ + 1)}};
    std::string block(log_format::max_block_bytes(1 << 20), '\0');
    std::memcpy(block.data() + log_format::block_header_bytes, payload.data(), payload.size());
    BlockPlace place{.log = log_, .segment = segment_, .offset = bytes_.size()};
    block.resize(seal_block(block.data(), place, header, payload.size(), &trailer));
    bytes_ += block;
  }

  void add_piece(std::string_view record, size_t offset, size_t bytes) {
    add_block(record.substr(offset, bytes), {.kind = BlockKind::piece,
                                             .recorded_durable = {},
                                             .largest_epoch = {},
                                             .piece_offset = offset,
                                             .piece_total = record.size()});
  }

  std::string path() const { return "/log/" + segment_name(segment_); }

  // The segment with room behind its blocks.
  void write_segment() {
    std::unique_ptr<File> file;
    ASSERT_TRUE(disk_.open(path(), {.write = true, .create = true}, &file).ok());
    bytes_.resize(bytes_.size() + 2 * log_format::block_unit);
    ASSERT_TRUE(file->write_at(bytes_.data(), bytes_.size(), 0).ok());
    ASSERT_TRUE(file->sync_data().ok());
  }

  void write_three_records() {
    add_block(record(Tid(Epoch(5), 0), {row(7, "one", "a\x01\xff"), row(8, "two", "\"\\")}));
    add_block(record(Tid(Epoch(6), 1), {tombstone(7, "one")}) +
              record(Tid(Epoch(6), 2), {row(7, "three", "")}));
    write_segment();
  }

  std::string dump(DumpOptions options = {}, uint64_t segments = 1) {
    char* text = nullptr;
    size_t bytes = 0;
    std::FILE* out = open_memstream(&text, &bytes);
    LogDump dump(disk_, options, out);
    dump.begin_log("wal", log_);
    for (uint64_t number = 1; number <= segments && !dump.limit_reached(); ++number) {
      EXPECT_TRUE(dump.dump_segment("/log/" + segment_name(number), number).ok());
    }
    dump.finish();
    damaged_places_ = dump.damaged_places();
    std::fclose(out);
    std::string printed(text, bytes);
    std::free(text);
    return printed;
  }

  SimulatedFileSystem disk_{1};
  Uuid log_{3, 4};
  uint64_t segment_ = 1;
  uint64_t blocks_ = 0;
  std::string bytes_;
  uint64_t damaged_places_ = 0;
};

TEST_F(LogDumpTest, PrintsALineForEachEntry) {
  write_three_records();
  EXPECT_EQ(dump(), R"(log: wal, segment: 0000000000000001, offset: 112, tid: 5.0, relation: 7, )"
                    R"(key: "one", row: "a\x01\xff"
log: wal, segment: 0000000000000001, offset: 112, tid: 5.0, relation: 8, key: "two", row: "\"\\"
log: wal, segment: 0000000000000001, offset: 4208, tid: 6.1, relation: 7, key: "one", tombstone
log: wal, segment: 0000000000000001, offset: 4237, tid: 6.2, relation: 7, key: "three", row: ""
)");
  EXPECT_EQ(damaged_places_, 0u);
}

TEST_F(LogDumpTest, PrintsBlocksOnDemand) {
  write_three_records();
  EXPECT_EQ(dump({.relation = RelationId(8), .blocks = true}),
            R"(log: wal, segment: 0000000000000001, offset: 0, block: 0, incarnation: 1, )"
            R"(bytes: 4096, payload: 47, recorded D: 1, largest epoch: 2
log: wal, segment: 0000000000000001, offset: 112, tid: 5.0, relation: 8, key: "two", row: "\"\\"
log: wal, segment: 0000000000000001, offset: 159, trailer complete: 2, last data: 2
log: wal, segment: 0000000000000001, offset: 4096, block: 1, incarnation: 1, )"
            R"(bytes: 4096, payload: 60, recorded D: 2, largest epoch: 3
log: wal, segment: 0000000000000001, offset: 4268, trailer complete: 3, last data: 3
)");
}

// Offsets go on as if the block's payload were not compressed.
TEST_F(LogDumpTest, LooksIntoCompressedBlocks) {
  std::string payload = record(Tid(Epoch(5), 0), {row(7, "long", std::string(9000, 'x'))}) +
                        record(Tid(Epoch(5), 1), {row(8, "short", "r")});
  PayloadPacker packer(log_format::max_block_bytes(1 << 20));
  std::string_view stored = packer.pack(payload, log_format::trailer_bytes(1));
  ASSERT_FALSE(stored.empty());
  BlockHeader header;
  header.compression = BlockCompression::lz4;
  add_block(stored, header);
  write_segment();
  std::string printed = dump({.relation = RelationId(8), .blocks = true});
  EXPECT_NE(
      printed.find("bytes: 4096, payload: " + std::to_string(payload.size()) +
                   ", recorded D: 1, largest epoch: 2, lz4: " + std::to_string(stored.size())),
      std::string::npos)
      << printed;
  EXPECT_NE(printed.find("offset: 9142, tid: 5.1, relation: 8, key: \"short\", row: \"r\""),
            std::string::npos)
      << printed;
}

TEST_F(LogDumpTest, NamesWhatCannotBeDecompressed) {
  BlockHeader header;
  header.compression = BlockCompression::lz4;
  add_block(std::string("\x10\0\0\0 no lz4", 11), header);
  write_segment();
  EXPECT_NE(dump().find("offset 0: a payload that cannot be decompressed"), std::string::npos);
  EXPECT_EQ(damaged_places_, 1u);
}

TEST_F(LogDumpTest, TakesOutWhatIsWanted) {
  write_three_records();
  EXPECT_EQ(dump({.first = Epoch(6), .relation = RelationId(7), .limit = 1}),
            R"(log: wal, segment: 0000000000000001, offset: 4208, tid: 6.1, relation: 7, )"
            R"(key: "one", tombstone
)");
  EXPECT_EQ(dump({.last = Epoch(4)}), "");
}

TEST_F(LogDumpTest, Counts) {
  write_three_records();
  EXPECT_EQ(dump({.statistics = true}), R"( incarnation       blocks    block bytes      records)"
                                        R"(      entries   record bytes  epochs
           1            2           8192            3            4            107  5 to 6

    relation      records      entries   tombstones          bytes
           7            3            3            1             44
           8            1            1            0             15
)");
}

TEST_F(LogDumpTest, NamesDamageAndGoesOverIt) {
  write_three_records();
  disk_.corrupt(segment_path, 108, "?");
  EXPECT_EQ(dump({.limit = 1}), R"(damaged: file "/log/0000000000000001.segment", offset 0: )"
                                R"(nothing that counts up to offset 4096
log: wal, segment: 0000000000000001, offset: 4208, tid: 6.1, relation: 7, key: "one", tombstone
)");
  EXPECT_EQ(damaged_places_, 1u);
}

TEST_F(LogDumpTest, NamesATornEnd) {
  write_three_records();
  disk_.corrupt(segment_path, 4096 + 108, "?");
  std::string printed = dump();
  EXPECT_NE(printed.find(R"(damaged: file "/log/0000000000000001.segment", offset 4096: )"
                         "a block that is not whole; nothing that counts comes after it\n"),
            std::string::npos)
      << printed;
}

// A segment that is used again still has blocks of its first use behind those of its second.
TEST_F(LogDumpTest, SaysNothingOfAnEarlierUse) {
  add_block(record(Tid(Epoch(5), 0), {row(7, "old", "row")}));
  add_block(record(Tid(Epoch(5), 1), {row(7, "old", "row")}));
  std::string old = bytes_;
  begin_segment(2);
  add_block(record(Tid(Epoch(6), 0), {row(7, "new", "row")}));
  bytes_ += old.substr(4096);
  write_segment();
  char* text = nullptr;
  size_t bytes = 0;
  std::FILE* out = open_memstream(&text, &bytes);
  LogDump dump(disk_, {}, out);
  EXPECT_TRUE(dump.dump_file(path()).ok());
  dump.finish();
  std::fclose(out);
  EXPECT_EQ(std::string(text, bytes),
            R"(log: /log, segment: 0000000000000002, offset: 112, tid: 6.0, relation: 7, )"
            R"(key: "new", row: "row"
)");
  std::free(text);
}

TEST_F(LogDumpTest, BlocksOfAnotherLogAreNamed) {
  write_three_records();
  log_ = {5, 6};
  EXPECT_EQ(dump(), R"(damaged: file "/log/0000000000000001.segment", offset 0: )"
                    "a block of another log; nothing that counts comes after it\n");
}

TEST_F(LogDumpTest, PutsLongRecordsTogetherAcrossSegments) {
  std::string whole = record(Tid(Epoch(5), 0), {row(7, "long", std::string(6000, 'x'))});
  add_block(record(Tid(Epoch(4), 0), {row(7, "short", "")}));
  add_piece(whole, 0, 4000);
  write_segment();
  begin_segment(2);
  add_piece(whole, 4000, whole.size() - 4000);
  write_segment();
  EXPECT_EQ(dump({.first = Epoch(5)}, 2),
            "log: wal, segment: 0000000000000001, offset: 4208, tid: 5.0, relation: 7, "
            "key: \"long\", row: \"" +
                std::string(6000, 'x') + "\"\n");
  EXPECT_EQ(dump({.first = Epoch(5)}, 1),
            R"(incomplete: file "/log/0000000000000001.segment", offset 4208: )"
            "a long record, the end is missing\n");
  disk_.corrupt(segment_path, 4096, "?");
  EXPECT_NE(dump({.first = Epoch(5)}, 2)
                .find(R"(incomplete: file "/log/0000000000000002.segment", offset 112: )"
                      "a long record, the beginning is missing\n"),
            std::string::npos);
}

TEST_F(LogDumpTest, RecordsThatAreNotWholeAreNamed) {
  std::string malformed = record(Tid(Epoch(5), 0), {row(7, "key", "row")});
  malformed[4] = 2;  // entries
  add_block(malformed + "rest");
  write_segment();
  EXPECT_EQ(dump(), R"(log: wal, segment: 0000000000000001, offset: 112, tid: 5.0, relation: 7, )"
                    R"(key: "key", row: "row"
damaged: file "/log/0000000000000001.segment", offset 112: a record whose entries do not fill it
damaged: file "/log/0000000000000001.segment", offset 144: a record that is longer than its block
)");
}

// --- numbers of the command line ---

TEST(NumberRangeTest, ReadsBothEnds) {
  uint64_t first = 0, last = 0;
  ASSERT_TRUE(parse_number_range("5", &first, &last));
  EXPECT_EQ(first, 5u);
  EXPECT_EQ(last, 5u);
  ASSERT_TRUE(parse_number_range("5-70", &first, &last));
  EXPECT_EQ(last, 70u);
  ASSERT_TRUE(parse_number_range("5-", &first, &last));
  EXPECT_EQ(last, UINT64_MAX);
  for (const char* wrong : {"", "-", "-5", "7-5", "x", "5x", "5-x", "18446744073709551616"})
    EXPECT_FALSE(parse_number_range(wrong, &first, &last)) << wrong;
}

}  // namespace
}  // namespace pgsilo
