// What commit locks it has mostly read, and the read says so (ReadSet::note_own_lock): that it
// still validates as before, and that no other read passes for it. And that a commit's TID is above
// whatever was read.
#include <gtest/gtest.h>

#include "storage/transaction/read_set.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr Tid tid(Epoch(7), 3);
constexpr Tid other_tid(Epoch(7), 4);

// The word that a holder of the lock leaves.
TidWord held(TidWord word, LockPurpose purpose) {
  AtomicTidWord record(word);
  TidWord seen;
  EXPECT_TRUE(record.try_lock(purpose, seen));
  return record.load();
}

TEST(ReadEntryTest, SaysWhatWasPutIn) {
  for (ReadKind kind :
       {ReadKind::version, ReadKind::existence, ReadKind::uniqueness, ReadKind::reference}) {
    // Whoever has it locked or wants to is no part of the version.
    TidWord word = held(TidWord::present(tid), LockPurpose::remove).with_intent();
    ReadEntry entry = ReadEntry::of(nullptr, word, kind);
    EXPECT_EQ(entry.tid(), tid);
    EXPECT_EQ(entry.kind(), kind);
    EXPECT_FALSE(entry.absent() || entry.is_guarded() || entry.is_lasting());
    EXPECT_EQ(entry.accepts_newer(), kind == ReadKind::existence || kind == ReadKind::reference);
  }
  for (ReadKind kind : {ReadKind::version, ReadKind::uniqueness}) {
    ReadSet reads;
    reads.add(nullptr, TidWord::absent(tid), kind);
    EXPECT_TRUE(reads[0].absent());
    EXPECT_EQ(reads[0].kind(), kind);
    EXPECT_FALSE(reads[0].is_guarded() || reads[0].is_lasting() || reads[0].accepts_newer());
    reads.note_lasting(0);
    if (kind == ReadKind::version) reads.guard(0);
    EXPECT_TRUE(reads[0].is_lasting());
    EXPECT_EQ(reads[0].is_guarded(), kind == ReadKind::version);
    EXPECT_EQ(reads[0].kind(), kind);
    EXPECT_EQ(reads[0].tid(), tid);
    EXPECT_FALSE(reads[0].accepts_newer());
    EXPECT_TRUE(reads[0].is_undisturbed(TidWord::absent(tid)));
  }
}

// Of a row that must only be there nothing newer will do once it has gone.
TEST(ReadEntryTest, AbsentOnesAcceptNothingNewer) {
  ReadSet reads;
  reads.add(nullptr, TidWord::present(tid), ReadKind::existence);
  reads.refresh(0, TidWord::absent(other_tid));
  EXPECT_TRUE(reads[0].absent());
  EXPECT_FALSE(reads[0].is_guarded() || reads[0].accepts_newer());
  EXPECT_EQ(reads[0].kind(), ReadKind::version);
}

TEST(ReadEntryTest, IsDisturbedByAllButIntentsAndItsOwnLock) {
  for (bool absent : {false, true}) {
    auto version = [&](Tid of) { return absent ? TidWord::absent(of) : TidWord::present(of); };
    auto opposite = absent ? TidWord::present(tid) : TidWord::absent(tid);
    TidWord updated = held(version(tid), LockPurpose::update);
    TidWord removed = held(version(tid), LockPurpose::remove);
    for (ReadKind kind : {ReadKind::version, ReadKind::uniqueness, ReadKind::existence}) {
      if (absent && kind == ReadKind::existence) continue;
      ReadSet reads;
      const Record* record = reinterpret_cast<const Record*>(&reads);
      uint32_t index = reads.add(record, version(tid).with_intent(), kind);
      for (TidWord word : {version(tid), version(tid).with_intent()})
        EXPECT_TRUE(reads[index].is_undisturbed(word));
      for (TidWord word : {version(other_tid), opposite, updated, removed, removed.with_intent()})
        EXPECT_FALSE(reads[index].is_undisturbed(word));
      reads.note_own_lock(index, nullptr);  // of another
      reads.note_own_lock(index + 1, record);
      EXPECT_FALSE(reads[index].is_undisturbed(updated));
      reads.note_own_lock(index, record);
      for (TidWord word : {updated, removed, removed.with_intent()})
        EXPECT_TRUE(reads[index].is_undisturbed(word));
      for (TidWord word : {version(tid), held(version(other_tid), LockPurpose::update),
                           held(opposite, LockPurpose::update)})
        EXPECT_FALSE(reads[index].is_undisturbed(word));
      EXPECT_EQ(reads[index].tid(), tid);
      EXPECT_EQ(reads[index].kind(), kind);
      reads.forget_own_lock(index, record);
      EXPECT_TRUE(reads[index].is_undisturbed(version(tid)));
      EXPECT_FALSE(reads[index].is_undisturbed(updated));
    }
  }
  AtomicTidWord gone(held(TidWord::absent(tid), LockPurpose::update));
  gone.unlock_obsolete();
  EXPECT_FALSE(
      ReadEntry::of(nullptr, TidWord::absent(tid), ReadKind::version).is_undisturbed(gone.load()));
}

class OwnLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* key : {"a", "b", "c"}) main.store(relation, key, "0");
  }

  TestEngine engine;
  TestSession main{engine};
  TestSession other{engine};
  Relation& relation = engine.create_relation();
};

TEST_F(OwnLockTest, WhatIsWrittenMustNotHaveChanged) {
  for (bool removes : {false, true}) {
    main.begin();
    ASSERT_EQ(removes ? main.erase(relation, "a") : main.put(relation, "a", "1"), ok);
    other.store(relation, "a", "2");
    EXPECT_EQ(main.commit(), conflict_record);
    EXPECT_EQ(other.peek(relation), "a=2 b=0 c=0");
  }
}

// Read more than once: each time the same version.
TEST_F(OwnLockTest, OtherReadsOfWhatIsWrittenCountAsWell) {
  for (bool is_changed : {false, true}) {
    main.begin();
    main.read(relation, "a");
    if (is_changed) other.store(relation, "a", "1");
    ASSERT_EQ(main.put(relation, "a", "2"), ok);
    EXPECT_EQ(main.commit(), is_changed ? conflict_record : ok);
  }
}

// The read of what the part has written is forgotten, and another has its place: that of a row
// which somebody is about to replace.
TEST_F(OwnLockTest, AReadInThePlaceOfAForgottenOneIsNotTakenForIt) {
  main.begin(TransactionMode::interactive);
  Transaction::Part part = main.transaction.begin_part();
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  ASSERT_EQ(main.transaction.end_part(part), ok);
  ASSERT_EQ(main.read(relation, "b"), "0");
  AtomicTidWord& word = main.row.record->tid_word();
  TidWord seen;
  ASSERT_TRUE(word.try_lock(LockPurpose::update, seen));
  EXPECT_EQ(main.commit(), conflict_record);
  word.unlock();
}

// All sequence numbers of the epoch are used up: the commit unlocks all, and does it once more.
TEST_F(OwnLockTest, AnAttemptThatIsRepeatedValidatesAgain) {
  main.begin();
  ASSERT_EQ(main.put(relation, "a", "1"), ok);
  ASSERT_EQ(main.insert(relation, "d", "1"), ok);
  ASSERT_EQ(main.erase(relation, "b"), ok);
  Epoch epoch = engine.epochs.current();
  main.worker.set_last_tid(Tid(epoch, Tid::max_sequence));
  EXPECT_EQ(main.commit(), ok);
  EXPECT_GT(main.transaction.commit_tid().epoch(), epoch);
  EXPECT_EQ(other.peek(relation), "a=1 c=0 d=1");
}

// Silo's rule for TIDs: whoever reads them in their order must find what was read first.
TEST_F(OwnLockTest, TheTidIsAboveWhatWasOnlyRead) {
  for (int i = 0; i < 100; ++i) other.store(relation, "a", std::to_string(i));
  main.begin();
  ASSERT_EQ(main.read(relation, "a"), "99");
  Tid read = main.row.tid;
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  ASSERT_EQ(main.commit(), ok);
  EXPECT_GT(main.transaction.commit_tid(), read);
  EXPECT_EQ(main.transaction.commit_tid().epoch(), read.epoch());
}

TEST_F(OwnLockTest, TheTidIsAboveWhatWasReadAndForgotten) {
  for (int i = 0; i < 100; ++i) other.store(relation, "a", std::to_string(i));
  main.transaction.begin(TransactionMode::interactive, Isolation::read_committed);
  main.statement();
  ASSERT_EQ(main.read(relation, "a"), "99");
  Tid read = main.row.tid;
  ASSERT_EQ(main.transaction.end_statement(), ok);
  main.statement();
  ASSERT_EQ(main.put(relation, "b", "1"), ok);
  ASSERT_EQ(main.transaction.end_statement(), ok);
  ASSERT_EQ(main.commit(), ok);
  EXPECT_GT(main.transaction.commit_tid(), read);
  EXPECT_EQ(main.transaction.commit_tid().epoch(), read.epoch());
}

}  // namespace
}  // namespace pgsilo
