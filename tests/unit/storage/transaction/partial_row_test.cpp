// Reads of some bytes of a row, and changes of some (docs/hot_records.md).
#include <gtest/gtest.h>

#include <chrono>
#include <climits>
#include <cstring>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::RecordingSink;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

struct Row {
  int64_t count = 0;
  char name[8] = {'n'};
  int32_t small = 0;
  int16_t smallest = 0;
  int16_t unused = 0;
};
constexpr RowRange count_range{offsetof(Row, count), sizeof(Row::count)};
constexpr RowRange name_range{offsetof(Row, name), sizeof(Row::name)};
constexpr RowRange small_range{offsetof(Row, small), sizeof(Row::small)};
constexpr RowRange smallest_range{offsetof(Row, smallest), sizeof(Row::smallest)};

std::string_view bytes_of(const Row& row) {
  return {reinterpret_cast<const char*>(&row), sizeof row};
}
Row row_of(std::string_view bytes) {
  Row row;
  if (bytes.size() == sizeof row) std::memcpy(&row, bytes.data(), sizeof row);
  return row;
}

class PartialRowTest : public ::testing::Test {
 protected:
  void SetUp() override { store(Row()); }
  void store(const Row& row) { other.store(relation, "k", bytes_of(row)); }
  Row stored() {
    other.begin();
    EXPECT_EQ(other.get(relation, "k"), ok);
    Row row = row_of(other.row.row);
    other.transaction.abort();
    return row;
  }
  TransactionStatus read(TestSession& session, std::span<const RowRange> used) {
    TransactionStatus status = session.get(relation, "k");
    return status == ok ? session.transaction.narrow_read(session.row, used) : status;
  }
  TransactionStatus change(TestSession& session, const RowPatch& patch) {
    char row[sizeof(Row)];
    std::memcpy(row, session.row.row.data(), sizeof row);
    EXPECT_TRUE(apply_patches({&patch, 1}, row));
    return session.transaction.update_partial(session.row, {row, sizeof row}, {&patch, 1});
  }
  // Reads nothing of the row but that it is there.
  TransactionStatus add(TestSession& session, int64_t summand, RowRange range = count_range) {
    TransactionStatus status = read(session, {});
    return status == ok ? change(session, RowPatch::add(range, summand)) : status;
  }
  void add_and_commit(TestSession& session, int64_t summand) {
    session.begin();
    EXPECT_EQ(add(session, summand), ok);
    EXPECT_EQ(session.commit(), ok);
  }
  void rename(const char* name) {
    Row row = stored();
    std::strncpy(row.name, name, sizeof row.name);
    store(row);
  }

  TestEngine engine;
  RecordingSink sink;
  TestSession main{engine, sink};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(PartialRowTest, OtherBytesMayChange) {
  for (bool writes : {false, true}) {
    main.begin();
    ASSERT_EQ(read(main, {&name_range, 1}), ok);
    EXPECT_STREQ(row_of(main.row.row).name, "n");
    if (writes) {
      ASSERT_EQ(main.insert(relation, "new", "row"), ok);
    }
    engine.epochs.advance();
    add_and_commit(other, 1);
    EXPECT_EQ(main.transaction.validate(), ok);
    EXPECT_EQ(main.transaction.newest_epoch(), other.transaction.commit_tid().epoch());
    engine.epochs.advance();
    add_and_commit(other, 1);
    EXPECT_EQ(main.commit(), ok);
    if (writes) {
      EXPECT_GT(main.transaction.commit_tid(), other.transaction.commit_tid());
    }
  }
}

TEST_F(PartialRowTest, TheBytesThatAreUsedMayNot) {
  constexpr RowRange both[] = {count_range, name_range};
  enum class Event { renamed, counted, removed, shortened };
  for (Event event : {Event::renamed, Event::counted, Event::removed, Event::shortened}) {
    main.begin();
    ASSERT_EQ(read(main, both), ok);
    if (event == Event::renamed) rename("m");
    if (event == Event::counted) add_and_commit(other, 1);
    if (event == Event::removed) other.drop(relation, "k");
    if (event == Event::shortened) other.store(relation, "k", "12345678n");
    EXPECT_EQ(main.transaction.validate(), conflict_record);
    EXPECT_EQ(main.commit(), conflict_record);
    store(Row());
  }
}

TEST_F(PartialRowTest, NorThoseOfARowThatIsChanged) {
  for (bool renamed : {false, true}) {
    main.begin();
    ASSERT_EQ(read(main, {&name_range, 1}), ok);
    ASSERT_EQ(change(main, RowPatch::add(count_range, 1)), ok);
    add_and_commit(other, 1);
    if (renamed) rename("m");
    EXPECT_EQ(main.commit(), renamed ? conflict_record : ok);
  }
  EXPECT_EQ(stored().count, 3);
}

// What comes back as it was has not changed, wherever it has been.
TEST_F(PartialRowTest, TheyMayComeBack) {
  main.begin();
  ASSERT_EQ(read(main, {&name_range, 1}), ok);
  rename("m");
  rename("n");
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(PartialRowTest, SumsOfManyAreAdded) {
  main.begin();
  ASSERT_EQ(add(main, 100), ok);
  add_and_commit(other, 1);
  rename("m");
  sink.log.clear();
  ASSERT_EQ(main.commit(), ok);
  EXPECT_EQ(stored().count, 101);
  EXPECT_STREQ(stored().name, "m");
  // The log has the row as it is.
  Row row{.count = 101, .name = {'m'}};
  ASSERT_EQ(sink.log.size(), 1u);
  EXPECT_NE(sink.log[0].entries[0].find(bytes_of(row)), std::string::npos);
}

TEST_F(PartialRowTest, PatchesOfAllKinds) {
  const char name[] = "later\0\0";
  const RowPatch patches[] = {RowPatch::add(smallest_range, -5), RowPatch::add(small_range, 70000),
                              RowPatch::set(name_range, name)};
  main.begin();
  ASSERT_EQ(read(main, {}), ok);
  Row row = row_of(main.row.row);
  std::span<char> bytes(reinterpret_cast<char*>(&row), sizeof row);
  ASSERT_TRUE(apply_patches(patches, bytes));
  ASSERT_EQ(main.transaction.update_partial(main.row, bytes_of(row), patches), ok);
  add_and_commit(other, 1);
  ASSERT_EQ(main.commit(), ok);
  EXPECT_EQ(stored().count, 1);
  EXPECT_EQ(stored().small, 70000);
  EXPECT_EQ(stored().smallest, -5);
  EXPECT_STREQ(stored().name, "later");
  EXPECT_FALSE(apply_patches({{RowPatch::add(smallest_range, SHRT_MIN)}}, bytes));
  EXPECT_FALSE(apply_patches({{RowPatch::add(small_range, INT_MAX)}}, bytes));
  EXPECT_FALSE(apply_patches({{RowPatch::add({0, 3}, 1)}}, bytes));
  EXPECT_FALSE(apply_patches({{RowPatch::set({sizeof(Row) - 1, 2}, name)}}, bytes));
}

// It runs again and finds out by itself.
TEST_F(PartialRowTest, WhatCannotBeMadeOfTheNewRowConflicts) {
  enum class Event { overflow, longer, shorter, gone };
  for (Event event : {Event::overflow, Event::longer, Event::shorter, Event::gone}) {
    store(Row());
    main.begin();
    ASSERT_EQ(add(main, 1), ok);
    if (event == Event::overflow) store(Row{.count = LLONG_MAX});
    if (event == Event::longer) other.store(relation, "k", std::string(100, 'x'));
    if (event == Event::shorter) other.store(relation, "k", "x");
    if (event == Event::gone) other.drop(relation, "k");
    std::string before = other.peek(relation);
    EXPECT_EQ(main.commit(), conflict_record);
    EXPECT_EQ(other.peek(relation), before);
    if (event == Event::gone) continue;
    other.drop(relation, "k");
  }
}

// Who uses what it has made rests on the version that it was made of.
TEST_F(PartialRowTest, WhatIsUsedMayNotBeMadeAnew) {
  enum class Use { read, scan, peek, write, add };
  for (Use use : {Use::read, Use::scan, Use::peek, Use::write, Use::add}) {
    for (bool disturbed : {false, true}) {
      store(Row());
      main.begin();
      ASSERT_EQ(add(main, 10), ok);
      main.statement();
      if (use == Use::read) {
        EXPECT_EQ(row_of(main.read(relation, "k")).count, 10);
      }
      if (use == Use::scan) {
        EXPECT_EQ(main.scan(relation).size(), sizeof(Row) + 2);
      }
      if (use == Use::peek) {
        EXPECT_EQ(main.get(relation, "k", ReadPurpose::peek), ok);
      }
      if (use == Use::write) {
        EXPECT_EQ(main.put(relation, "k", bytes_of({.count = 10})), ok);
      }
      if (use == Use::add) {
        EXPECT_EQ(add(main, 0), ok);
      }
      if (disturbed) add_and_commit(other, 1);
      EXPECT_EQ(main.commit(), disturbed ? conflict_record : ok) << static_cast<int>(use);
      EXPECT_EQ(stored().count, disturbed ? 1 : 10) << static_cast<int>(use);
    }
  }
}

// Nor may the whole row be made of what was only used in part.
TEST_F(PartialRowTest, AWholeRowRestsOnAllOfIt) {
  enum class Use { update, patch_nothing, remove };
  for (Use use : {Use::update, Use::patch_nothing, Use::remove}) {
    for (size_t used : {0, 1}) {
      main.begin();
      ASSERT_EQ(read(main, {&name_range, used}), ok);
      Row row = row_of(main.row.row);
      Transaction& t = main.transaction;
      ASSERT_EQ(use == Use::update          ? t.update(main.row, bytes_of(row))
                : use == Use::patch_nothing ? t.update_partial(main.row, bytes_of(row), {})
                                            : t.remove(main.row),
                ok);
      add_and_commit(other, 1);
      EXPECT_EQ(main.commit(), conflict_record);
    }
  }
  EXPECT_EQ(stored().count, 6);
}

// In its place or outside of it, the bytes before its end are where they were.
TEST_F(PartialRowTest, TheRowMayGrow) {
  for (bool writes : {false, true}) {
    main.begin();
    ASSERT_EQ(read(main, {&name_range, 1}), ok);
    if (writes) {
      ASSERT_EQ(main.insert(relation, "new", "row"), ok);
    }
    Row row{.count = 1};
    other.store(relation, "k", std::string(bytes_of(row)) + std::string(200, 'x'));
    EXPECT_EQ(main.commit(), ok);
    other.drop(relation, "k");
    store(Row());
  }
}

// Whoever has locked it is waited for; but he may wait for what a commit has locked.
TEST_F(PartialRowTest, ALockedRow) {
  main.begin();
  ASSERT_EQ(read(main, {&name_range, 1}), ok);
  AtomicTidWord& word = main.row.record->tid_word();
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  std::thread holder([&word] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    word.unlock();
  });
  EXPECT_EQ(main.transaction.validate(), ok);
  EXPECT_FALSE(word.load().is_locked());
  holder.join();
  ASSERT_EQ(main.insert(relation, "new", "row"), ok);
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  EXPECT_EQ(main.commit(), conflict_lock);
  word.unlock();
}

TEST_F(PartialRowTest, BecomingInteractiveItRestsOnWholeRows) {
  main.begin();
  EXPECT_EQ(main.read(relation, "none"), "<not_found>");
  ASSERT_EQ(read(main, {&name_range, 1}), ok);
  add_and_commit(other, 1);
  ASSERT_EQ(main.transaction.become_interactive(), ok);
  add_and_commit(other, 1);
  // Its end asks only whether all was true at one moment, as it was when the mode changed.
  EXPECT_EQ(main.transaction.validate(), conflict_record);
  main.transaction.abort();
  main.begin();
  ASSERT_EQ(add(main, 1), ok);
  add_and_commit(other, 1);
  EXPECT_EQ(main.transaction.become_interactive(), conflict_record);
  main.transaction.abort();
}

TEST_F(PartialRowTest, InteractiveTransactionsLockTheRow) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(add(main, 1), ok);
  other.begin();
  EXPECT_EQ(add(other, 1), must_wait);
  other.transaction.abort();
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(stored().count, 1);
}

TEST_F(PartialRowTest, InABlockOtherBytesMayChange) {
  for (bool writes : {false, true}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(read(main, {&name_range, 1}), ok);
    EXPECT_EQ(main.transaction.end_statement(), ok);
    engine.epochs.advance();
    add_and_commit(other, 1);
    main.statement();
    ASSERT_EQ(main.read(relation, "none"), "<not_found>");
    EXPECT_EQ(main.transaction.end_statement(), ok);
    if (writes) {
      main.statement();
      ASSERT_EQ(main.insert(relation, "new", "row"), ok);
      EXPECT_EQ(main.transaction.end_statement(), ok);
    }
    engine.epochs.advance();
    add_and_commit(other, 1);
    EXPECT_EQ(main.commit(), ok);
  }
}

TEST_F(PartialRowTest, InABlockThoseUsedMayNotChange) {
  for (bool writes : {false, true}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(read(main, {&name_range, 1}), ok);
    EXPECT_EQ(main.transaction.end_statement(), ok);
    rename(writes ? "m" : "o");
    main.statement();
    if (writes) {
      ASSERT_EQ(main.insert(relation, "new", "row"), ok);
    } else {
      main.read(relation, "k");
    }
    EXPECT_EQ(main.transaction.end_statement(), conflict_record);
    main.transaction.abort();
  }
}

// The row that a later statement changes has others' changes of what was not used, and none of what
// was.
TEST_F(PartialRowTest, InABlockTheRowMayBeWrittenLater) {
  for (bool renamed : {false, true}) {
    main.begin(TransactionMode::interactive);
    ASSERT_EQ(read(main, {&name_range, 1}), ok);
    EXPECT_EQ(main.transaction.end_statement(), ok);
    int64_t before = stored().count;
    add_and_commit(other, 1);
    if (renamed) rename("m");
    main.statement();
    ASSERT_EQ(main.transaction.get(relation, "k", main.buffer, &main.row, ReadPurpose::for_update),
              ok);
    Row row = row_of(main.row.row);
    EXPECT_EQ(row.count, before + 1);
    ++row.count;
    ASSERT_EQ(main.transaction.update(main.row, bytes_of(row)), ok);
    EXPECT_EQ(main.transaction.end_statement(), renamed ? conflict_record : ok);
    EXPECT_EQ(main.commit(), renamed ? conflict_record : ok);
    EXPECT_EQ(stored().count, before + (renamed ? 1 : 2));
  }
}

// What the statement read before it began anew is forgotten, parts too.
TEST_F(PartialRowTest, AStatementThatRunsAgainReadsAnew) {
  main.begin(TransactionMode::interactive);
  ASSERT_EQ(read(main, {&name_range, 1}), ok);
  EXPECT_EQ(main.read(relation, "none"), "<not_found>");
  rename("m");
  ASSERT_EQ(main.transaction.end_statement(), conflict_record);
  ASSERT_EQ(main.transaction.restart_statement(), ok);
  main.statement();
  ASSERT_EQ(read(main, {&name_range, 1}), ok);
  EXPECT_STREQ(row_of(main.row.row).name, "m");
  add_and_commit(other, 1);
  EXPECT_EQ(main.transaction.end_statement(), ok);
  EXPECT_EQ(main.commit(), ok);
}

TEST_F(PartialRowTest, ThereMayBeMoreThanAreKept) {
  main.begin(TransactionMode::interactive);
  for (size_t i = 0; i <= max_partial_reads; ++i) ASSERT_EQ(read(main, {&name_range, 1}), ok);
  EXPECT_EQ(main.transaction.end_statement(), ok);
  add_and_commit(other, 1);
  main.statement();
  ASSERT_EQ(main.insert(relation, "new", "row"), ok);
  EXPECT_EQ(main.commit(), conflict_record);  // the last one is of the whole row
}

TEST_F(PartialRowTest, HowLongTheRowIsMayMatter) {
  for (bool matters : {false, true}) {
    main.begin();
    RowPart used({&name_range, 1}, matters ? sizeof(Row) : 0);
    ASSERT_EQ(main.get(relation, "k"), ok);
    ASSERT_EQ(main.transaction.narrow_read(main.row, used), ok);
    std::string longer(bytes_of(stored()));
    other.store(relation, "k", longer + "and more");
    EXPECT_EQ(main.commit(), matters ? conflict_record : ok);
    store(Row());
  }
}

TEST_F(PartialRowTest, ASavepointTakesItBack) {
  main.begin();
  Transaction::Mark mark = main.transaction.mark();
  ASSERT_EQ(add(main, 5), ok);
  main.transaction.rollback_to(mark);
  add_and_commit(other, 1);
  main.statement();
  ASSERT_EQ(add(main, 7), ok);
  add_and_commit(other, 1);
  EXPECT_EQ(main.commit(), ok);
  EXPECT_EQ(stored().count, 9);
}

TEST_F(PartialRowTest, OpenSnapshotsKeepTheirVersions) {
  TestSession reader(engine);
  ASSERT_EQ(reader.transaction.begin_snapshot(), ok);
  reader.statement();
  main.begin();
  ASSERT_EQ(add(main, 5), ok);
  add_and_commit(other, 1);
  ASSERT_EQ(main.commit(), ok);
  ASSERT_EQ(reader.get(relation, "k"), ok);
  EXPECT_EQ(row_of(reader.row.row).count, 0);
  reader.transaction.abort();
}

}  // namespace
}  // namespace pgsilo
