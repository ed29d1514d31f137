#include "storage/record/record.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "storage/limits.h"
#include "storage/record/record_allocator.h"

namespace pgsilo {
namespace {

class RecordTest : public ::testing::Test {
 protected:
  Tid tid(uint32_t sequence) { return Tid(Epoch(1), sequence); }

  void lock(Record* record) {
    TidWord seen;
    ASSERT_TRUE(record->tid_word().try_lock(LockPurpose::update, seen));
  }

  // Writes as commit does; returns whether the row had to move.
  bool write(Record* record, std::string_view row, uint32_t sequence, bool shrinks = false) {
    bool moves = !record->fits(row.size()) ||
                 (shrinks && record->wastes(row.size()) && !record->fits_inline(row.size()));
    ExternalPayload* spare = moves ? records_.create_payload(row.size(), handle_) : nullptr;
    lock(record);
    ExternalPayload* unused = record->install(row, tid(sequence), spare, shrinks);
    if (unused != nullptr) {
      EXPECT_NE(unused, spare);
      records_.retire(unused, handle_);
    }
    return moves;
  }

  std::string read(const Record* record, TidWord& seen) {
    RowBuffer buffer(arena_);
    seen = record->stable_read(buffer);
    return std::string(buffer.bytes());
  }

  Arena arena_;
  Reclaimer reclaimer_;
  ReclaimerHandle handle_{reclaimer_};
  MemoryAccount account_;
  RecordAllocator records_{account_};
};

TEST_F(RecordTest, APlaceholderIsAbsentAndCarriesItsKey) {
  Record* record = records_.create("key", 100, handle_);
  TidWord seen;
  EXPECT_EQ(read(record, seen), "");
  EXPECT_TRUE(seen.is_absent());
  EXPECT_EQ(seen.tid(), Tid());
  EXPECT_EQ(record->key(), "key");
  EXPECT_TRUE(record->fits(100));
  records_.destroy(record, handle_);
  EXPECT_EQ(account_.bytes(), 0u);
}

TEST_F(RecordTest, ReadsBackEveryLength) {
  for (size_t bytes = 0; bytes <= 300; ++bytes) {
    std::string row;
    for (size_t i = 0; i < bytes; ++i) row.push_back(static_cast<char>(i * 7 + bytes));
    Record* record = records_.create_filled("k", row, tid(1), handle_);
    TidWord seen;
    ASSERT_EQ(read(record, seen), row);
    ASSERT_EQ(seen, TidWord::present(tid(1)));
    records_.destroy(record, handle_);
  }
}

TEST_F(RecordTest, RowsOfEveryLengthAreMovedWholeAndNoFurther) {
  constexpr uint64_t untouched = 0x5555555555555555;
  for (size_t bytes = 0; bytes <= 300; ++bytes) {
    std::string row;
    for (size_t i = 0; i < bytes; ++i) row.push_back(static_cast<char>(i * 7 + bytes));
    std::array<uint64_t, 48> place, copy;
    place.fill(untouched);
    copy.fill(untouched);
    const size_t words = row_words(bytes);
    copy_racing_row_in(place.data() + 1, row.data(), bytes);
    copy_racing_row_out(copy.data() + 1, place.data() + 1, words);
    std::string padded = row + std::string(words * 8 - bytes, '\0');
    for (const auto& words_of : {place, copy}) {
      std::string there(reinterpret_cast<const char*>(words_of.data() + 1), words * 8);
      ASSERT_EQ(there, padded) << bytes;
      ASSERT_EQ(words_of[0], untouched);
      ASSERT_EQ(words_of[words + 1], untouched);
    }
  }
}

TEST_F(RecordTest, OnlyWhatIsWantedIsCopied) {
  const std::string row = std::string(40, 'h') + std::string(600, 't');
  Record* record = records_.create_filled("k", row, tid(1), handle_);
  RowBuffer buffer(arena_, /*wanted=*/40);
  std::memset(buffer.reserve(row.size()), '-', row.size());
  record->stable_read(buffer);
  EXPECT_EQ(buffer.bytes(), std::string(40, 'h') + std::string(600, '-'));
  Record* shorter = records_.create_filled("k", "abc", tid(1), handle_);
  shorter->stable_read(buffer);
  EXPECT_EQ(buffer.bytes(), "abc");
  records_.destroy(record, handle_);
  records_.destroy(shorter, handle_);
}

TEST_F(RecordTest, KeysOfEveryLengthComeBackAndDoNotDisturbTheRow) {
  for (size_t bytes : {0, 1, 7, 8, 9, 16, 17, 255, 8192}) {
    std::string key(bytes, '\0');
    if (bytes > 0) key.back() = 'x';
    Record* record = records_.create_filled(key, "the row", tid(1), handle_);
    TidWord seen;
    EXPECT_EQ(record->key(), key);
    EXPECT_EQ(read(record, seen), "the row");
    EXPECT_TRUE(record->key_ends_with(std::string_view(key).substr(bytes / 2), bytes));
    EXPECT_FALSE(record->key_ends_with(std::string_view(key).substr(bytes / 2), bytes + 1));
    records_.destroy(record, handle_);
  }
}

TEST_F(RecordTest, OverwritesInPlaceWhileTheRowFits) {
  Record* record = records_.create_filled("k", std::string(40, 'a'), tid(1), handle_);
  size_t bytes = account_.bytes();
  EXPECT_FALSE(write(record, "shorter", 2));
  EXPECT_FALSE(write(record, std::string(40, 'b'), 3));
  TidWord seen;
  EXPECT_EQ(read(record, seen), std::string(40, 'b'));
  EXPECT_EQ(seen.tid(), tid(3));
  EXPECT_EQ(account_.bytes(), bytes);
  records_.destroy(record, handle_);
}

TEST_F(RecordTest, ARowThatGrowsMovesAndItsRecordStays) {
  Record* record = records_.create_filled("k", "small", tid(1), handle_);
  std::string large(1000, 'L');
  std::string larger(5000, 'M');
  EXPECT_TRUE(write(record, large, 2));
  TidWord seen;
  EXPECT_EQ(read(record, seen), large);
  EXPECT_FALSE(write(record, "small again", 3));  // the room stays
  EXPECT_EQ(read(record, seen), "small again");
  EXPECT_TRUE(write(record, larger, 4));
  EXPECT_EQ(read(record, seen), larger);
  EXPECT_EQ(seen.tid(), tid(4));
  EXPECT_GT(handle_.pending_bytes(), 1000u);  // the first payload
  records_.destroy(record, handle_);
  EXPECT_EQ(account_.bytes(), 0u);
}

TEST_F(RecordTest, ARowThatShrinksGivesItsRoomBack) {
  Record* record = records_.create_filled("k", "small", tid(1), handle_);
  const size_t small = account_.bytes();
  EXPECT_TRUE(write(record, std::string(10000, 'L'), 2));
  const size_t large = account_.bytes();
  EXPECT_FALSE(write(record, std::string(6000, 'a'), 3, /*shrinks=*/true));  // more than half
  EXPECT_EQ(account_.bytes(), large);
  EXPECT_TRUE(write(record, std::string(3000, 'b'), 4, /*shrinks=*/true));
  EXPECT_LT(account_.bytes(), large - 6000);
  TidWord seen;
  EXPECT_EQ(read(record, seen), std::string(3000, 'b'));
  EXPECT_FALSE(write(record, "tiny", 5, /*shrinks=*/true));  // in the record again
  EXPECT_EQ(account_.bytes(), small);
  EXPECT_EQ(read(record, seen), "tiny");
  records_.destroy(record, handle_);
  EXPECT_EQ(account_.bytes(), 0u);
}

TEST_F(RecordTest, AnUnusedSpareComesBack) {
  Record* record = records_.create("k", 64, handle_);
  ExternalPayload* spare = records_.create_payload(64, handle_);
  lock(record);
  EXPECT_EQ(record->install("fits", tid(1), spare), spare);
  records_.destroy(spare, handle_);
  records_.destroy(record, handle_);
}

TEST_F(RecordTest, ALargeRowIsExternalFromTheStart) {
  std::string row(1 << 20, 'x');
  Record* record = records_.create_filled("k", row, tid(1), handle_);
  TidWord seen;
  EXPECT_EQ(read(record, seen), row);
  records_.retire(record, handle_);
  EXPECT_EQ(account_.bytes(), 0u);
  EXPECT_GT(handle_.pending_bytes(), row.size());
  EXPECT_EQ(handle_.reclaim(), 2u);
}

TEST_F(RecordTest, ALockedRecordIsNotRead) {
  Record* record = records_.create_filled("k", "row", tid(1), handle_);
  lock(record);
  RowBuffer buffer(arena_);
  TidWord seen;
  EXPECT_FALSE(record->try_read(buffer, seen));
  record->tid_word().unlock();
  EXPECT_TRUE(record->try_read(buffer, seen));
  records_.destroy(record, handle_);
}

TEST_F(RecordTest, ADeletedRowIsAbsentWithTheDeletersTid) {
  Record* record = records_.create_filled("k", "row", tid(1), handle_);
  lock(record);
  record->install_absent(tid(2));
  TidWord seen;
  EXPECT_EQ(read(record, seen), "");
  EXPECT_EQ(seen, TidWord::absent(tid(2)));
  EXPECT_FALSE(write(record, "new", 3));
  EXPECT_EQ(read(record, seen), "new");
  records_.destroy(record, handle_);
}

TEST_F(RecordTest, ATombstoneCarriesItsTid) {
  Record* record = records_.create_absent("k", tid(9), handle_);
  EXPECT_EQ(record->tid_word().load(), TidWord::absent(tid(9)));
  records_.destroy(record, handle_);
}

TEST(RowBuffer, HasNoMoreMemoryThanTheLongestRowNeeds) {
  Arena arena;
  RowBuffer buffer(arena);
  for (size_t bytes = 1 << 20; bytes < 4 << 20; bytes += 4096) buffer.reserve(bytes);
  EXPECT_LT(arena.bytes_reserved(), size_t{6} << 20);
  Arena small;
  RowBuffer short_rows(small);
  for (size_t bytes = 100; bytes < 3500; bytes += 50) short_rows.reserve(bytes);
  EXPECT_LE(small.bytes_reserved(), 4096u + 8192u);
  // What else lies in the arena stays.
  auto* other = static_cast<char*>(arena.allocate(16));
  other[0] = 'a';
  buffer.reserve(8 << 20);
  EXPECT_EQ(other[0], 'a');
}

}  // namespace
}  // namespace pgsilo
