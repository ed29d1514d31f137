#include "wal/layout/log_format.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "storage/relation/system_relations.h"
#include "wal/log/log_begin.h"

namespace pgsilo {
namespace {

const BlockPlace place{.log = {1, 2}, .segment = 3, .offset = 8192};

std::string record(Tid tid, const std::vector<RedoEntry>& entries) {
  size_t bytes = log_format::record_header_bytes;
  for (const RedoEntry& entry : entries) bytes += entry_bytes(entry);
  std::string encoded(bytes, '\0');
  EXPECT_EQ(encode_record(encoded.data(), tid, entries), bytes);
  return encoded;
}

std::string sealed_block(std::string_view payload, const BatchTrailer* trailer) {
  std::string block(log_format::max_block_bytes(1 << 20), '\xee');
  std::memcpy(block.data() + log_format::block_header_bytes, payload.data(), payload.size());
  BlockHeader header;
  header.incarnation = 5;
  header.number = 6;
  header.recorded_durable = Epoch(7);
  header.largest_epoch = Epoch(8);
  block.resize(seal_block(block.data(), place, header, payload.size(), trailer));
  return block;
}

TEST(LogFormat, BlockComesBackWhole) {
  BatchTrailer trailer{.complete = Epoch(9), .last_data = {Epoch(4), Epoch(9)}};
  std::string block = sealed_block("payload", &trailer);
  EXPECT_EQ(block.size(), log_format::block_unit);
  std::optional<BlockView> view = open_block(block, place);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->header.kind, BlockKind::records);
  EXPECT_EQ(view->header.incarnation, 5u);
  EXPECT_EQ(view->header.number, 6u);
  EXPECT_EQ(view->header.recorded_durable, Epoch(7));
  EXPECT_EQ(view->header.largest_epoch, Epoch(8));
  EXPECT_EQ(view->stored, "payload");
  ASSERT_TRUE(view->trailer.has_value());
  EXPECT_EQ(view->trailer->complete, Epoch(9));
  EXPECT_EQ(view->trailer->last_data, trailer.last_data);
  EXPECT_EQ(view->bytes, block.size());
}

// What a clock before 1970 had become without a sign is the time of no batch.
TEST(LogFormat, ATimeThatCannotBeIsNotKnown) {
  for (uint64_t unix_us :
       {uint64_t{1}, uint64_t{1} << 62, static_cast<uint64_t>(-1000), UINT64_MAX}) {
    BatchTrailer trailer{.complete = Epoch(9), .last_data = {Epoch(9)}, .unix_time_us = unix_us};
    std::optional<BlockView> view = open_block(sealed_block("payload", &trailer), place);
    ASSERT_TRUE(view && view->trailer);
    EXPECT_EQ(view->trailer->unix_time_us, unix_us > INT64_MAX ? 0 : unix_us);
  }
}

TEST(LogFormat, BlockWithoutTrailer) {
  std::string block = sealed_block(std::string(5000, 'p'), nullptr);
  EXPECT_EQ(block.size(), 2 * log_format::block_unit);
  std::optional<BlockView> view = open_block(block, place);
  ASSERT_TRUE(view.has_value());
  EXPECT_FALSE(view->trailer.has_value());
  EXPECT_EQ(view->stored, std::string(5000, 'p'));
}

TEST(LogFormat, BlockCountsOnlyWhereItBelongs) {
  std::string block = sealed_block("payload", nullptr);
  BlockPlace other = place;
  other.segment = 4;
  EXPECT_FALSE(open_block(block, other).has_value());
  other = place;
  other.offset = 0;
  EXPECT_FALSE(open_block(block, other).has_value());
  other = place;
  EXPECT_FALSE(is_foreign_block(block, other.log));
  other = place;
  other.log = {1, 3};
  EXPECT_FALSE(open_block(block, other).has_value());
  EXPECT_TRUE(is_foreign_block(block, other.log));
}

TEST(LogFormat, EveryDamagedByteIsNoticed) {
  BatchTrailer trailer{.complete = Epoch(9), .last_data = {Epoch(4)}};
  std::string block = sealed_block("payload", &trailer);
  size_t content = log_format::block_header_bytes + 7 + log_format::trailer_bytes(1);
  for (size_t at = 0; at < content; ++at) {
    std::string damaged = block;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(open_block(damaged, place).has_value()) << at;
  }
  for (size_t bytes : {size_t{0}, size_t{100}, log_format::block_unit - 1}) {
    EXPECT_FALSE(open_block(std::string_view(block).substr(0, bytes), place).has_value());
  }
}

// With what comes behind the fields of the header, or of the trailer, in a version to come.
std::string extended_block(size_t header_bytes, std::string_view trailer_items) {
  BatchTrailer trailer{.complete = Epoch(9), .last_data = {Epoch(4)}, .unix_time_us = 77};
  std::string block = sealed_block("payload", &trailer);
  size_t content = log_format::block_header_bytes + 7 + log_format::trailer_bytes(1);
  block.resize(content);
  block.insert(log_format::block_header_bytes, header_bytes, '?');
  block += trailer_items;
  store_le16(&block[104], static_cast<uint16_t>(log_format::block_header_bytes + header_bytes));
  store_le32(&block[52],
             static_cast<uint32_t>(log_format::trailer_bytes(1) + trailer_items.size()));
  store_le64(block.data(), checksum64(&block[8], block.size() - 8));
  block.resize(log_format::round_up(block.size()));
  return block;
}

std::string item(uint16_t tag, std::string_view content) {
  std::string bytes(log_format::item_header_bytes, '\0');
  begin_item(bytes.data(), tag, content.size());
  return bytes + std::string(content);
}

TEST(LogFormat, WhatALaterVersionAddsIsGoneOver) {
  std::string block = extended_block(24, item(4711, "more"));
  std::optional<BlockView> view = open_block(block, place);
  ASSERT_TRUE(view && view->trailer);
  EXPECT_EQ(view->stored, "payload");
  EXPECT_EQ(view->trailer->complete, Epoch(9));
  EXPECT_EQ(view->trailer->last_data, std::vector<Epoch>{Epoch(4)});
  EXPECT_EQ(view->trailer->unix_time_us, 77u);
}

TEST(LogFormat, AnUnknownItemThatIsRequiredMakesItNoBlock) {
  EXPECT_FALSE(open_block(extended_block(0, item(required_item | 4711, "more")), place));
  EXPECT_FALSE(open_block(extended_block(0, item(4711, "more").substr(0, 6)), place));
}

TEST(LogFormat, ABeginBlockTellsWhereItsLogComesFrom) {
  LogBegin begin{.database = {1, 2},
                 .incarnation = {3, 4},
                 .parent = {.incarnation = {5, 6}, .durable = Epoch(7)},
                 .first_epoch = Epoch(8),
                 .unix_time_us = 9,
                 .segment_bytes = 10,
                 .logs = 3,
                 .index = 2,
                 .compressed = true,
                 .writer = "pgsilo"};
  std::string payload = encode_log_begin(begin);
  std::optional<LogBegin> read = decode_log_begin(payload + item(4711, "more"));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->incarnation, begin.incarnation);
  EXPECT_EQ(read->parent.incarnation, begin.parent.incarnation);
  EXPECT_EQ(read->parent.durable, Epoch(7));
  EXPECT_EQ(read->index, 2u);
  EXPECT_TRUE(read->compressed);
  EXPECT_EQ(read->writer, "pgsilo");
  EXPECT_FALSE(decode_log_begin(payload + item(required_item | 4711, "more")));
  EXPECT_FALSE(decode_log_begin(payload.substr(0, payload.size() - 1)));
}

TEST(LogFormat, RecordsComeBack) {
  std::string key("k\0y", 3);
  std::vector<RedoEntry> entries{
      {.relation = RelationId(7), .tombstone = false, .key = key, .row = "row"},
      {.relation = RelationId(8), .tombstone = true, .key = "", .row = ""},
      {.relation = RelationId(9), .tombstone = false, .key = "empty row", .row = ""}};
  Tid tid(Epoch(11), 12);
  std::string encoded = record(tid, entries);
  std::optional<RecordHeader> header = peek_record(encoded + "more");
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->bytes, encoded.size());
  EXPECT_EQ(header->tid, tid);
  RecordReader reader(encoded);
  EXPECT_EQ(reader.tid(), tid);
  for (const RedoEntry& expected : entries) {
    RedoEntry entry;
    ASSERT_TRUE(reader.next(&entry));
    EXPECT_EQ(entry.relation, expected.relation);
    EXPECT_EQ(entry.tombstone, expected.tombstone);
    EXPECT_EQ(entry.key, expected.key);
    EXPECT_EQ(entry.row, expected.row);
  }
  RedoEntry entry;
  EXPECT_FALSE(reader.next(&entry));
  EXPECT_FALSE(reader.damaged());
}

// Recovery looks for catalog rows in what is marked, and nowhere else.
TEST(LogFormat, RecordsAndBlocksTellWhetherTheyHoldEntriesOfSystemRelations) {
  RedoEntry system{.relation = RelationId(16383), .tombstone = true, .key = "k", .row = ""};
  RedoEntry user{.relation = first_user_relation, .tombstone = true, .key = "k", .row = ""};
  Tid tid(Epoch(1), 0);
  EXPECT_TRUE(peek_record(record(tid, {system, user}))->system);
  EXPECT_TRUE(peek_record(record(tid, {user, system}))->system);
  EXPECT_FALSE(peek_record(record(tid, {user, user}))->system);
  EXPECT_EQ(peek_record(record(tid, {user, system, user}))->entries, 3u);
  std::string marked_record = record(tid, {system});
  RecordReader reader(marked_record);
  RedoEntry entry;
  EXPECT_TRUE(reader.next(&entry));
  EXPECT_FALSE(reader.next(&entry));
  EXPECT_FALSE(reader.damaged());
  for (bool marked : {false, true}) {
    std::string block(log_format::block_unit, '\0');
    BlockHeader header;
    header.system = marked;
    seal_block(block.data(), place, header, 7, nullptr);
    EXPECT_EQ(open_block(block, place)->header.system, marked);
  }
}

TEST(LogFormat, MalformedRecordsAreNoticed) {
  std::vector<RedoEntry> entries{
      {.relation = RelationId(7), .tombstone = false, .key = "key", .row = "row"}};
  std::string encoded = record(Tid(Epoch(1), 0), entries);
  EXPECT_FALSE(peek_record(std::string_view(encoded).substr(0, encoded.size() - 1)).has_value());
  EXPECT_FALSE(peek_record("short").has_value());
  RedoEntry entry;
  std::string wrong_row = encoded;
  wrong_row[20] = 100;  // the row's length
  RecordReader reader(wrong_row);
  EXPECT_FALSE(reader.next(&entry));
  EXPECT_TRUE(reader.damaged());
  std::string fewer = encoded;
  fewer[4] = 0;  // the number of entries
  RecordReader rest(fewer);
  EXPECT_FALSE(rest.next(&entry));
  EXPECT_TRUE(rest.damaged());
}

TEST(LogFormat, SegmentNames) {
  EXPECT_EQ(segment_name(0x1f), "000000000000001f.segment");
  EXPECT_EQ(parse_segment_name(segment_name(0xfedcba9876543210)), 0xfedcba9876543210u);
  EXPECT_FALSE(parse_segment_name(unfinished_segment_name(1)).has_value());
  EXPECT_FALSE(parse_segment_name("000000000000001F.segment").has_value());
  EXPECT_FALSE(parse_segment_name("1.segment").has_value());
  EXPECT_TRUE(is_unfinished_segment_name(unfinished_segment_name(1)));
}

}  // namespace
}  // namespace pgsilo
