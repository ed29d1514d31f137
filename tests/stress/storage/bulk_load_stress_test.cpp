// Transactions that load private relations while the other threads help them, break off, or meet a
// row that is there already: as on a server whose workers all load. What was committed is whole, in
// order and once; what was not has left nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int rounds = sanitized ? 60 : 600;
constexpr int owners = 2, helpers = 2;
constexpr int slice = static_cast<int>(RowStreamer::slice_rows);

class HelperThreads final : public WorkSharing {
 public:
  void offer(std::shared_ptr<SharedWork> work) override {
    std::lock_guard lock(mutex_);
    offers_.push_back(std::move(work));
  }
  void start(TestEngine& engine) {
    for (int i = 0; i < helpers; ++i) threads_.emplace_back([this, &engine] { run(engine); });
  }
  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  size_t pieces() const { return pieces_; }

 private:
  void run(TestEngine& engine) {
    TestSession session(engine);
    while (!stop_) {
      session.worker.housekeep();
      std::shared_ptr<SharedWork> work = take();
      while (work != nullptr && work->help(session.worker, session.settings)) ++pieces_;
      std::this_thread::yield();
    }
  }
  std::shared_ptr<SharedWork> take() {
    std::lock_guard lock(mutex_);
    if (offers_.empty()) return nullptr;
    std::shared_ptr<SharedWork> work = std::move(offers_.front());
    offers_.pop_front();
    return work;
  }

  std::mutex mutex_;
  std::deque<std::shared_ptr<SharedWork>> offers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<size_t> pieces_{0};
};

std::string key_of(int i) { return std::to_string(1000000 + i); }

// Loads `count` rows and the entries of an index; `twice`: the key of this row comes again later.
TransactionStatus load(TestSession& session, Relation& rows, Relation& entries, int count,
                       int twice) {
  for (int i = 0; i < count; ++i) {
    std::string key = key_of(i);
    TransactionStatus status = session.transaction.load(rows, key, "row " + key);
    if (status == ok) status = session.transaction.load(entries, "entry " + key, key);
    if (status == ok && i == count / 2 && twice >= 0)
      status = session.transaction.load(rows, key_of(twice), "again");
    if (status != ok) return status;
  }
  return ok;
}

void check_rows(TestSession& session, Relation& rows, Relation& entries, int count) {
  int next = 0;
  TransactionScan scan(session.transaction, rows, {}, ScanDirection::forward, session.buffer);
  RowRef row;
  for (; scan.next(&row) == ok; ++next) {
    ASSERT_EQ(row.key(), key_of(next));
    ASSERT_EQ(row.row, "row " + key_of(next));
  }
  EXPECT_EQ(next, count);
  EXPECT_EQ(rows.row_count(), count);
  EXPECT_EQ(entries.row_count(), count);
  EXPECT_EQ(rows.tree().check(), "");
  EXPECT_EQ(entries.tree().check(), "");
}

void run_owner(TestEngine& engine, uint64_t seed) {
  TestSession session(engine);
  Random random(seed);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    session.worker.housekeep();
    session.begin(TransactionMode::interactive);
    Relation& rows = *session.transaction.create_relation({});
    Relation& entries = *session.transaction.create_relation({});
    int count = static_cast<int>(random.below(8 * slice)) + 2;
    bool twice = random.one_in(4), breaks_off = random.one_in(4);
    int again = twice ? static_cast<int>(random.below(static_cast<uint64_t>(count) / 2)) : -1;
    TransactionStatus status = load(session, rows, entries, count, again);
    if (breaks_off) {
      session.transaction.abort();
      continue;
    }
    if (status == ok) status = session.transaction.finish_load();
    ASSERT_EQ(status, twice ? duplicate_key : ok);
    if (twice) {
      EXPECT_EQ(session.transaction.rejected_row().key, key_of(again));
      EXPECT_EQ(session.transaction.rejected_row().row, "again");
      session.transaction.abort();
      continue;
    }
    EXPECT_EQ(session.scan(rows), "");  // the statement that loaded them
    session.statement();
    check_rows(session, rows, entries, count);
    ASSERT_EQ(session.transaction.drop_relation(rows), ok);
    ASSERT_EQ(session.transaction.drop_relation(entries), ok);
    ASSERT_EQ(session.commit(), ok);
  }
}

TEST(BulkLoadStress, LoadsAreWholeOrGone) {
  HelperThreads sharing;
  TestEngine engine(&sharing);
  sharing.start(engine);
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= owners; ++seed)
    threads.emplace_back([&engine, seed] { run_owner(engine, seed); });
  for (std::thread& thread : threads) thread.join();
  sharing.stop();
  EXPECT_GT(sharing.pieces(), 0u);
}

}  // namespace
}  // namespace pgsilo
