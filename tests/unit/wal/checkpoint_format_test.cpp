#include "wal/layout/checkpoint_format.h"

#include <gtest/gtest.h>

#include "tests/unit/wal/old_checkpoint.h"
#include "wal/checkpoint/checkpoint_pace.h"
#include "wal/layout/checked_bytes.h"

namespace pgsilo {
namespace {

constexpr CheckpointFileIdentity identity{
    .database = {1, 2}, .checkpoint = 3, .file = 4, .incarnation = {5, 6}};

struct Sealed {
  std::string bytes;
  CheckpointBlock block;
};

Sealed seal(const CheckpointBlockBuilder& builder, uint64_t offset = 8192,
            Compressor* compressor = nullptr) {
  Sealed sealed;
  sealed.bytes.assign(builder.sealed_bytes(), '?');
  sealed.block = builder.seal(sealed.bytes.data(), identity, offset, compressor);
  sealed.bytes.resize(sealed.block.bytes);
  EXPECT_EQ(sealed.block.bytes % checkpoint_format::block_unit, 0u);
  return sealed;
}

CheckpointBlockBuilder three_rows() {
  CheckpointBlockBuilder builder;
  builder.begin(RelationId(7), newest_encoding);
  builder.add(Tid(Epoch(5), 1), "", "first");
  builder.add(Tid(Epoch(5), 2), "key", "");
  builder.add(Tid(Epoch(6), 1), "keys", std::string(300'000, 'r'));
  return builder;
}

TEST(CheckpointFormat, ABlockComesBack) {
  CheckpointBlockBuilder builder = three_rows();
  EXPECT_TRUE(builder.full());
  Sealed sealed = seal(builder);
  EXPECT_EQ(sealed.block.records, 3u);
  EXPECT_EQ(sealed.block.first_key, "");
  EXPECT_EQ(sealed.block.last_key, "keys");
  EXPECT_EQ(sealed.block.smallest, Tid(Epoch(5), 1));
  EXPECT_EQ(sealed.block.largest, Tid(Epoch(6), 1));
  CheckpointBlockReader reader;
  ASSERT_TRUE(reader.open(sealed.bytes, identity, sealed.block));
  CheckpointEntry entry;
  ASSERT_TRUE(reader.next(&entry));
  EXPECT_EQ(entry.key, "");
  EXPECT_EQ(entry.row, "first");
  ASSERT_TRUE(reader.next(&entry));
  EXPECT_EQ(entry.tid, Tid(Epoch(5), 2));
  EXPECT_EQ(entry.row, "");
  ASSERT_TRUE(reader.next(&entry));
  EXPECT_EQ(entry.key, "keys");
  EXPECT_EQ(entry.row.size(), 300'000u);
  EXPECT_FALSE(reader.next(&entry));
  EXPECT_FALSE(reader.damaged());
}

TEST(CheckpointFormat, ABlockIsCompressedWhereThatMakesItShorter) {
  Compressor compressor;
  Sealed packed = seal(three_rows(), 8192, &compressor);
  EXPECT_EQ(packed.bytes.size(), checkpoint_format::block_unit);
  CheckpointBlockReader reader;
  ASSERT_TRUE(reader.open(packed.bytes, identity, packed.block));
  CheckpointEntry entry;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader.next(&entry));
  EXPECT_EQ(entry.row, std::string(300'000, 'r'));
  EXPECT_FALSE(reader.next(&entry));
  EXPECT_FALSE(reader.damaged());
  for (size_t at = 0; at < 1000; at += 7) {
    std::string flipped = packed.bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    EXPECT_FALSE(reader.open(flipped, identity, packed.block)) << at;
  }
  // One unit cannot become shorter.
  CheckpointBlockBuilder one;
  one.begin(RelationId(7), newest_encoding);
  one.add(Tid(Epoch(5), 1), "key", std::string(1000, 'r'));
  EXPECT_EQ(seal(one, 0, &compressor).bytes.size(), seal(one, 0).bytes.size());
}

TEST(CheckpointFormat, ABlockCountsOnlyWhereItBelongs) {
  Sealed sealed = seal(three_rows());
  CheckpointBlockReader reader;
  CheckpointFileIdentity other = identity;
  other.database.low = 9;
  EXPECT_FALSE(reader.open(sealed.bytes, other, sealed.block));
  other = identity;
  other.checkpoint = 9;
  EXPECT_FALSE(reader.open(sealed.bytes, other, sealed.block));
  other = identity;
  other.file = 9;
  EXPECT_FALSE(reader.open(sealed.bytes, other, sealed.block));
  EXPECT_FALSE(is_block_of_a_copy(sealed.bytes, other));
  other = identity;
  other.incarnation.low = 9;
  EXPECT_FALSE(reader.open(sealed.bytes, other, sealed.block));
  EXPECT_TRUE(is_block_of_a_copy(sealed.bytes, other));
  EXPECT_FALSE(is_block_of_a_copy(sealed.bytes, identity));
  CheckpointBlock elsewhere = sealed.block;
  elsewhere.offset = 0;
  EXPECT_FALSE(reader.open(sealed.bytes, identity, elsewhere));
  elsewhere = sealed.block;
  ++elsewhere.encoding.rows;
  EXPECT_FALSE(reader.open(sealed.bytes, identity, elsewhere));
  elsewhere = sealed.block;
  elsewhere.relation = RelationId(8);
  EXPECT_FALSE(reader.open(sealed.bytes, identity, elsewhere));
  EXPECT_TRUE(reader.open(sealed.bytes, identity, sealed.block));
}

TEST(CheckpointFormat, EveryFlippedBitOfABlockIsNoticed) {
  CheckpointBlockBuilder builder;
  builder.begin(RelationId(7), newest_encoding);
  builder.add(Tid(Epoch(5), 1), "key", "row");
  Sealed sealed = seal(builder);
  size_t content =
      checkpoint_format::block_header_bytes + checkpoint_format::entry_header_bytes + 6;
  CheckpointBlockReader reader;
  for (size_t bit = 0; bit < 8 * content; ++bit) {
    std::string flipped = sealed.bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(reader.open(flipped, identity, sealed.block)) << bit;
  }
  EXPECT_FALSE(reader.open(sealed.bytes.substr(0, 100), identity, sealed.block));
  EXPECT_FALSE(reader.open("", identity, sealed.block));
}

TEST(CheckpointFormat, AFooterComesBackToItsOwnFileOnly) {
  CheckpointFooter footer;
  footer.blocks.push_back(seal(three_rows()).block);
  footer.blocks.push_back(seal(three_rows(), 1 << 20).block);
  footer.blocks.back().first_key = std::string("a\0b", 3);
  footer.blocks.back().encoding = {.keys = 7, .rows = 9};
  footer.row_ids.push_back({RelationId(3), 4711});
  std::string bytes = encode_footer(footer, identity);
  std::optional<CheckpointFooter> read = decode_footer(bytes, identity);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->blocks.size(), 2u);
  EXPECT_EQ(read->blocks[1].first_key, std::string("a\0b", 3));
  EXPECT_EQ(read->blocks[1].offset, 1u << 20);
  EXPECT_EQ(read->blocks[1].last_key, "keys");
  EXPECT_EQ(read->blocks[1].smallest, Tid(Epoch(5), 1));
  EXPECT_EQ(read->blocks[1].largest, Tid(Epoch(6), 1));
  EXPECT_EQ(read->blocks[1].encoding, (RelationEncoding{.keys = 7, .rows = 9}));
  ASSERT_EQ(read->row_ids.size(), 1u);
  EXPECT_EQ(read->row_ids[0].floor, 4711u);
  CheckpointFileIdentity other = identity;
  other.file = 5;
  EXPECT_FALSE(decode_footer(bytes, other).has_value());
  other = identity;
  other.incarnation = {5, 7};
  EXPECT_FALSE(decode_footer(bytes, other).has_value());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    EXPECT_FALSE(decode_footer(flipped, identity).has_value()) << at;
    EXPECT_FALSE(decode_footer(bytes.substr(0, at), identity).has_value()) << at;
  }
}

// As version 1 wrote it: shorter headers, and a footer of fewer fields.
TEST(CheckpointFormat, FilesOfVersion1AreRead) {
  Sealed sealed = seal(three_rows());
  OldCheckpointFile old = in_version_1({{sealed.block}, {{RelationId(3), 4711}}}, identity,
                                       std::string(8192, '\0') + sealed.bytes);
  CheckpointFileIdentity without = identity;
  without.incarnation = {};
  std::optional<CheckpointFooter> footer = decode_footer(old.footer, without);
  ASSERT_TRUE(footer.has_value());
  ASSERT_EQ(footer->blocks.size(), 1u);
  EXPECT_EQ(footer->blocks[0].encoding, first_encoding);
  EXPECT_EQ(footer->blocks[0].last_key, "");
  EXPECT_EQ(footer->row_ids[0].floor, 4711u);
  CheckpointBlockReader reader;
  ASSERT_TRUE(reader.open(std::string_view(old.content).substr(8192), without, footer->blocks[0]));
  CheckpointEntry entry;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader.next(&entry));
  EXPECT_EQ(entry.key, "keys");
  EXPECT_FALSE(reader.next(&entry));
  EXPECT_FALSE(reader.damaged());
  // They are not what a manifest of today names.
  EXPECT_FALSE(decode_footer(old.footer, identity).has_value());
}

// A footer of tomorrow may tell more of a block.
TEST(CheckpointFormat, FieldsThatLaterVersionsAddAreSkipped) {
  CheckedWriter writer(checkpoint_format::footer_magic, checkpoint_format::version);
  writer.sized([&] {
    writer.uuid(identity.database);
    writer.u64(identity.checkpoint);
    writer.u32(identity.file);
    writer.uuid(identity.incarnation);
    writer.u64(99);
  });
  writer.u64(1);
  writer.sized([&] {
    for (uint32_t value : {7, 1}) writer.u32(value);
    for (uint64_t value : {0, 4096, 11}) writer.u64(value);
    writer.text("first");
    writer.text("last");
    for (uint64_t value : {32, 64}) writer.u64(value);
    writer.u32(1 | 1 << 16);
    writer.text("a bloom filter");
  });
  writer.u64(0);
  std::optional<CheckpointFooter> footer = decode_footer(writer.finish(), identity);
  ASSERT_TRUE(footer.has_value());
  EXPECT_EQ(footer->blocks.at(0).last_key, "last");
  EXPECT_EQ(footer->blocks.at(0).encoding, first_encoding);
}

TEST(CheckpointFormat, NamesTellTheDatabaseAndTheCheckpoint) {
  EXPECT_EQ(identity.name(), "0000000000000003-0000000000000003-0004.checkpoint");
  EXPECT_TRUE(is_checkpoint_file_name(identity.name(), identity.database));
  EXPECT_FALSE(is_checkpoint_file_name(identity.name(), {5, 5}));
  EXPECT_FALSE(is_checkpoint_file_name("checkpoint.lock", identity.database));
}

TEST(CheckpointPace, IsEvenOverTimeAndFollowsTheLog) {
  CheckpointSchedule schedule{.timeout_us = 1000, .max_log_bytes = 1900, .completion_target = 0.9};
  EXPECT_EQ(schedule.trigger_log_bytes(), 1000u);
  CheckpointPace pace(schedule, 5000);
  // By time: half of it is due at 45 % of the time.
  EXPECT_TRUE(pace.should_rest(5440, 0, 50, 100));
  EXPECT_FALSE(pace.should_rest(5460, 0, 50, 100));
  // By the log's volume.
  EXPECT_TRUE(pace.should_rest(5000, 440, 50, 100));
  EXPECT_FALSE(pace.should_rest(5000, 460, 50, 100));
  // What is behind its plan, or has none, does not rest.
  EXPECT_FALSE(pace.should_rest(5000, 0, 100, 100));
  EXPECT_FALSE(pace.should_rest(5000, 0, 0, 0));
  schedule.completion_target = 0;
  EXPECT_FALSE(CheckpointPace(schedule, 5000).should_rest(5000, 0, 99, 100));
}

}  // namespace
}  // namespace pgsilo
