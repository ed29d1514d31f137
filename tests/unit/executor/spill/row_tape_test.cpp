// Rows on tapes come back as they went; limits, full disks and damage are told.
#include "executor/spill/row_tape.h"

#include "base/file_forwarding.h"
#include "tests/unit/executor/spill/spill_fixture.h"

namespace pgsilo {
namespace {

using testing::SpillFixture;

struct RowTapeTest : SpillFixture {
  // Texts of all lengths around a block's.
  static std::string text(int64_t number) {
    return std::string(static_cast<size_t>(number * 97 % 30000),
                       static_cast<char>('a' + number % 26));
  }
  void append(TapeWriter& writer, int64_t number, const std::string& value) {
    Datum row[] = {number % 7 == 0 ? Datum() : Datum::of_int(number),
                   number % 5 == 0 ? Datum() : Datum::of_bytes(value)};
    writer.append(row);
  }
  Tape write(SpillFile& file, int64_t count) {
    TapeWriter writer(file, layout);
    for (int64_t i = 0; i < count; ++i) append(writer, i, text(i));
    return writer.finish();
  }
  static void expect_row(const Datum* row, int64_t number) {
    ASSERT_NE(row, nullptr);
    ASSERT_EQ(row[0].null, number % 7 == 0);
    ASSERT_EQ(row[1].null, number % 5 == 0);
    if (!row[0].null) {
      ASSERT_EQ(row[0].i64, number);
    }
    if (!row[1].null) {
      ASSERT_EQ(row[1].bytes(), text(number));
    }
  }
};

TEST_F(RowTapeTest, RowsComeBackAgainAndAgain) {
  SpillFile file(files, 64 << 10);
  Tape tape = write(file, 2000);
  EXPECT_EQ(tape.rows, 2000u);
  TapeReader reader(file, layout);
  for (int turn = 0; turn < 2; ++turn) {
    reader.start(tape, true);
    for (int64_t i = 0; i < 2000; ++i) expect_row(reader.next(), i);
    EXPECT_EQ(reader.next(), nullptr);
    EXPECT_EQ(reader.next(), nullptr);
  }
}

TEST_F(RowTapeTest, RowsArePassedOver) {
  SpillFile file(files, 64 << 10);
  Tape tape = write(file, 500);
  TapeReader reader(file, layout);
  reader.start(tape, true);
  reader.skip(321);
  for (int64_t i = 321; i < 500; ++i) expect_row(reader.next(), i);
  EXPECT_EQ(reader.next(), nullptr);
}

TEST_F(RowTapeTest, BlocksThatWereReadForTheLastTimeAreUsedAgain) {
  SpillFile file(files, 64 << 10);
  Tape tape = write(file, 1000);
  uint64_t bytes = files.bytes();
  TapeReader reader(file, layout);
  reader.start(tape, false);
  for (int64_t i = 0; i < 1000; ++i) expect_row(reader.next(), i);
  write(file, 1000);
  EXPECT_EQ(files.bytes(), bytes);
}

TEST_F(RowTapeTest, TapesAreWrittenSideBySide) {
  SpillFile file(files, 64 << 10);
  TapeWriter even(file, layout);
  TapeWriter odd(file, layout);
  for (int64_t i = 0; i < 1000; ++i) append(i % 2 == 0 ? even : odd, i, text(i));
  Tape tapes[] = {even.finish(), odd.finish()};
  TapeReader readers[] = {{file, layout}, {file, layout}};
  for (int i : {0, 1}) readers[i].start(tapes[i], true);
  for (int64_t i = 0; i < 1000; ++i) expect_row(readers[i % 2].next(), i);
}

TEST_F(RowTapeTest, ReadersThatAreLeftEarlyKeepNoBuffers) {
  SpillFile file(files, 64 << 10);
  Tape tape = write(file, 1000);
  TapeReader reader(file, layout);
  for (int turn = 0; turn < 5000; ++turn) {
    reader.start(tape, true);
    expect_row(reader.next(), 0);
    ASSERT_LE(file.buffers(), 6u);
  }
}

TEST_F(RowTapeTest, FilesGoWithTheirOperators) {
  {
    SpillFile file(files, 64 << 10);
    write(file, 1000);
    EXPECT_EQ(names().size(), 1u);
    EXPECT_GT(files.bytes(), 1000u);
  }
  EXPECT_EQ(files.bytes(), 0u);
  EXPECT_EQ(counters.files.value(), 1);
  EXPECT_GT(counters.bytes.value(), 1000);
  for (int i = 0; i < 10000 && !names().empty(); ++i) usleep(1000);
  EXPECT_TRUE(names().empty());
}

TEST_F(RowTapeTest, TheLimitIsKept) {
  files.set_limit(100);
  SpillFile file(files, 64 << 10);
  EXPECT_EQ(state_of([&] { write(file, 1000); }), "53400");
  EXPECT_LE(files.bytes(), 100u << 10);
}

TEST_F(RowTapeTest, AFullDiskIsTold) {
  disk.set_capacity(200 << 10);
  SpillFile file(files, 64 << 10);
  EXPECT_EQ(state_of([&] { write(file, 1000); }), "53100");
}

// What was let go of is free for who comes next, though its removal takes a while.
TEST_F(RowTapeTest, SpaceOfFilesThatHaveGoneIsWaitedFor) {
  struct SlowRemoval final : ForwardingFileSystem {
    using ForwardingFileSystem::ForwardingFileSystem;
    FileResult remove(const std::string& path) override {
      usleep(20'000);
      return ForwardingFileSystem::remove(path);
    }
  } slow(disk);
  TemporaryStorage slow_storage(slow, "temporary", 50);
  slow_storage.start(1);
  TemporaryFiles slow_files(slow_storage, counters, &parker, nullptr, nullptr);
  disk.set_capacity(700 << 10);
  for (int turn = 0; turn < 50; ++turn) {
    SpillFile file(slow_files, 64 << 10);
    ASSERT_EQ(state_of([&] {
                write(file, 20);
                file.settle();
              }),
              "none")
        << turn;
  }
}

TEST_F(RowTapeTest, DescriptorsHaveAShare) {
  std::vector<std::unique_ptr<SpillFile>> open;
  for (size_t i = 0; i < most_files; ++i)
    open.push_back(std::make_unique<SpillFile>(files, 64 << 10));
  EXPECT_EQ(state_of([&] { SpillFile one_more(files, 64 << 10); }), "53000");
  open.clear();
  EXPECT_EQ(state_of([&] { SpillFile one(files, 64 << 10); }), "none");
}

TEST_F(RowTapeTest, DamageIsTold) {
  SpillFile file(files, 64 << 10);
  Tape tape = write(file, 100);
  file.settle();
  disk.corrupt("temporary/" + names()[0], 9000, "?!");
  TapeReader reader(file, layout);
  EXPECT_EQ(state_of([&] {
              reader.start(tape, true);
              while (reader.next() != nullptr) {
              }
            }),
            "XX001");
}

TEST_F(RowTapeTest, AReadThatFailsIsTold) {
  SpillFile file(files, 64 << 10);
  Tape tape = write(file, 100);
  file.settle();
  disk.fail_read(2);
  TapeReader reader(file, layout);
  EXPECT_EQ(state_of([&] {
              reader.start(tape, true);
              while (reader.next() != nullptr) {
              }
            }),
            "58030");
}

TEST_F(RowTapeTest, StaleFilesAreRemoved) {
  {
    SpillFile file(files, 64 << 10);
  }
  for (int i = 0; i < 10000 && !names().empty(); ++i) usleep(1000);
  std::unique_ptr<File> left;
  ASSERT_TRUE(disk.open("temporary/1.5", {.write = true, .create = true}, &left).ok());
  left.reset();
  TemporaryStorage later(disk, "temporary", 1);
  later.remove_stale();
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace pgsilo
