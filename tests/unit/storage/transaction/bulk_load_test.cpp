// Rows loaded into private relations by a transaction's worker and one that helps it.
#include "storage/transaction/bulk_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::RecordingSink;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

// Keeps what was offered until the test has it helped with.
class HelpOnDemand final : public WorkSharing {
 public:
  void offer(std::shared_ptr<SharedWork> work) override { offers.push_back(std::move(work)); }
  std::vector<std::shared_ptr<SharedWork>> offers;
};

// A log without room until it is told.
class StuckSink final : public RedoSink {
 public:
  ReserveResult reserve(size_t, size_t, RedoPurpose) override {
    return open ? ReserveResult::ok : ReserveResult::must_wait;
  }
  void wait_for_buffer(Parker& parker, int64_t deadline_us) override {
    waits = true;
    parker.park(deadline_us);
  }
  void append(Tid, std::span<const RedoEntry>) override {}
  void append_part(Tid, std::span<const RedoEntry>) override {}
  std::atomic<bool> waits{false};
  std::atomic<bool> open{false};
};

constexpr int slice = static_cast<int>(RowStreamer::slice_rows);

class BulkLoadTest : public ::testing::Test {
 protected:
  // Keys of one length, so that their order is that of the numbers.
  static std::string key(int i) { return std::to_string(100000 + i); }
  TransactionStatus load(Relation& relation, int first, int end) {
    for (int i = first; i < end; ++i) {
      TransactionStatus status = owner.transaction.load(relation, key(i), "row");
      if (status != ok) return status;
    }
    return ok;
  }
  bool help(size_t offer = 0) {
    return sharing.offers[offer]->help(helper.worker, helper.settings);
  }
  static size_t entries(const RecordingSink& sink) {
    size_t count = 0;
    for (const RecordingSink::Appended& appended : sink.log) count += appended.entries.size();
    return count;
  }
  size_t rows_seen(TestSession& session, Relation& relation) {
    std::string text = session.scan(relation);
    return static_cast<size_t>(std::count(text.begin(), text.end(), '='));
  }
  // Makes the last TID of a session's worker the `count`th of the present epoch or a later one.
  void raise_last_tid(TestSession& session, int count) {
    for (int i = 0; i < count; ++i) session.store(elsewhere, "key", "row");
  }

  HelpOnDemand sharing;
  TestEngine engine{&sharing};
  RecordingSink owner_log, helper_log;
  TestSession owner{engine, owner_log};
  TestSession helper{engine, helper_log};
  TestSession other{engine};
  Relation& elsewhere = engine.create_relation();
};

TEST_F(BulkLoadTest, BothWorkersLoadAndOneCommits) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  ASSERT_EQ(sharing.offers.size(), 1u);
  EXPECT_TRUE(help());
  ASSERT_EQ(load(fresh, 4 * slice, 5 * slice + 7), ok);
  EXPECT_EQ(owner.transaction.finish_load(), ok);
  EXPECT_EQ(entries(helper_log), static_cast<size_t>(slice));
  EXPECT_EQ(owner.insert(elsewhere, "fresh", "relation"), ok);
  EXPECT_EQ(owner.commit(), ok);
  EXPECT_EQ(entries(owner_log), static_cast<size_t>(4 * slice + 8));
  EXPECT_TRUE(owner_log.within_reservation && helper_log.within_reservation);
  EXPECT_EQ(fresh.row_count(), 5 * slice + 7);
  other.begin();
  EXPECT_EQ(rows_seen(other, fresh), static_cast<size_t>(5 * slice + 7));
  // Every record has the TID its redo was logged with.
  EXPECT_EQ(fresh.tree().get(key(0)).record->tid_word().load().tid(), helper_log.log[0].tid);
  EXPECT_GT(owner.transaction.commit_tid(), helper_log.log[0].tid);
  EXPECT_FALSE(help());
}

TEST_F(BulkLoadTest, NobodyNeedsToCome) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 30 * slice), ok);
  EXPECT_EQ(owner.commit(), ok);
  EXPECT_EQ(fresh.row_count(), 30 * slice);
  EXPECT_FALSE(help());
}

TEST_F(BulkLoadTest, AFewRowsAreNotOffered) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 2 * slice), ok);
  EXPECT_EQ(owner.commit(), ok);
  EXPECT_EQ(fresh.row_count(), 2 * slice);
  EXPECT_TRUE(sharing.offers.empty());
}

TEST_F(BulkLoadTest, TheStatementThatLoadsDoesNotSeeTheRows) {
  raise_last_tid(owner, 10);  // the helper's next TID would be below it
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  owner.statement();
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  ASSERT_TRUE(help());
  EXPECT_EQ(owner.scan(fresh), "");
}

TEST_F(BulkLoadTest, TheNextStatementSeesTheRows) {
  raise_last_tid(helper, 10);  // its next TID is above the owner's
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  while (help()) {
  }
  owner.statement();
  EXPECT_EQ(rows_seen(owner, fresh), static_cast<size_t>(4 * slice));
  EXPECT_EQ(owner.put(fresh, key(5), "new"), ok);
  EXPECT_EQ(owner.commit(), ok);
  EXPECT_GT(owner.transaction.commit_tid(), helper_log.log.back().tid);
  other.begin();
  EXPECT_EQ(other.read(fresh, key(5)), "new");
}

TEST_F(BulkLoadTest, TheLaterOfTwoRowsIsRejected) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 2 * slice), ok);
  ASSERT_EQ(owner.transaction.load(fresh, key(17), "second"), ok);
  ASSERT_EQ(load(fresh, 2 * slice, 4 * slice), ok);
  while (help()) {
  }
  EXPECT_EQ(owner.transaction.finish_load(), duplicate_key);
  EXPECT_EQ(owner.transaction.rejected_row().key, key(17));
  EXPECT_EQ(owner.transaction.rejected_row().row, "second");
  EXPECT_EQ(load(fresh, 4 * slice, 6 * slice), duplicate_key);
  owner.transaction.abort();
  EXPECT_FALSE(help());
}

TEST_F(BulkLoadTest, ADuplicateIsFoundWithoutHelpToo) {
  engine.sharing = nullptr;
  TestSession alone{engine};
  alone.begin();
  Relation& fresh = *alone.transaction.create_relation({});
  EXPECT_EQ(alone.transaction.load(fresh, "a", "1"), ok);
  EXPECT_EQ(alone.transaction.load(fresh, "a", "2"), duplicate_key);
  EXPECT_EQ(alone.transaction.rejected_row().row, "2");
  EXPECT_EQ(alone.transaction.finish_load(), ok);
}

TEST_F(BulkLoadTest, AHelpersFullLogEndsTheLoad) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  helper_log.answer = ReserveResult::no_space;
  ASSERT_TRUE(help());
  EXPECT_FALSE(help());
  EXPECT_EQ(owner.commit(), no_log_space);
  EXPECT_EQ(fresh.row_count(), 0);
}

TEST_F(BulkLoadTest, AMarkUnwindsALoad) {
  owner.begin();
  Transaction::Mark mark = owner.transaction.mark();
  Relation& unwound = *owner.transaction.create_relation({});
  ASSERT_EQ(load(unwound, 0, 4 * slice), ok);
  ASSERT_TRUE(help());
  owner.transaction.rollback_to(mark);
  EXPECT_FALSE(help());
  owner.transaction.release(mark);
  Relation& kept = *owner.transaction.create_relation({});
  ASSERT_EQ(load(kept, 0, 2 * slice), ok);
  EXPECT_EQ(owner.commit(), ok);
  EXPECT_EQ(kept.row_count(), 2 * slice);
}

TEST_F(BulkLoadTest, AbortWaitsForTheBatchThatAHelperHas) {
  StuckSink stuck;
  TestSession slow{engine, stuck};
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  std::thread helping([&] { sharing.offers[0]->help(slow.worker, slow.settings); });
  while (!stuck.waits) std::this_thread::yield();
  std::atomic<bool> aborted{false};
  std::thread aborting([&] {
    owner.transaction.abort();
    aborted = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(aborted);
  stuck.open = true;
  slow.parker.unpark();
  aborting.join();
  helping.join();
}

TEST_F(BulkLoadTest, ACancelledStatementDoesNotWaitForAHelpersLog) {
  StuckSink stuck;
  TestSession slow{engine, stuck};
  std::atomic<bool> cancelled{false};
  owner.settings.cancelled = &cancelled;
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  std::thread helping([&] { sharing.offers[0]->help(slow.worker, slow.settings); });
  while (!stuck.waits) std::this_thread::yield();
  std::thread cancelling([&] {
    cancelled = true;
    owner.parker.unpark();
  });
  EXPECT_EQ(owner.transaction.finish_load(), TransactionStatus::cancelled);
  owner.transaction.abort();
  cancelling.join();
  helping.join();
}

TEST_F(BulkLoadTest, WhatNobodyCouldComeForIsOfferedAgain) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  ASSERT_EQ(load(fresh, 0, 4 * slice), ok);
  sharing.offers[0]->decline();
  ASSERT_EQ(load(fresh, 4 * slice, 5 * slice), ok);
  ASSERT_EQ(sharing.offers.size(), 2u);
  EXPECT_TRUE(help(1));
  EXPECT_EQ(owner.commit(), ok);
  EXPECT_EQ(fresh.row_count(), 5 * slice);
}

TEST_F(BulkLoadTest, WideRowsAreLoadedToo) {
  owner.begin();
  Relation& fresh = *owner.transaction.create_relation({});
  std::string wide(3 * RowStreamer::slice_bytes, 'w');
  for (int i = 0; i < 12; ++i) ASSERT_EQ(owner.transaction.load(fresh, key(i), wide), ok);
  ASSERT_FALSE(sharing.offers.empty());
  EXPECT_EQ(owner.commit(), ok);
  other.begin();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(other.read(fresh, key(i)), wide);
}

}  // namespace
}  // namespace pgsilo
