// Index builds at the storage interface (docs/index_build.md): rows that have no entries yet get
// them while one-shots and interactive transactions change the rows, none of whom meets a conflict
// of its own making. At the end every row has its entry, and there is no other (I9).
#include <gtest/gtest.h>

#include <atomic>
#include <string>
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

constexpr int keys = 120;
constexpr size_t batch = 16;

class IndexBuildStress : public ::testing::Test {
 protected:
  static std::string row_key(uint64_t key) { return "r" + std::to_string(1000 + key); }
  static std::string entry_of(std::string_view row, std::string_view key) {
    return std::string(row) + "/" + std::string(key);
  }

  // What TableWriter does with an index that is being built.
  TransactionStatus remove_entry(TestSession& session, const std::string& entry) {
    bool has_lock = session.transaction.mode() == TransactionMode::interactive;
    RowRef found;
    if (has_lock) {
      Transaction::read_behind_locks();
      TransactionStatus status =
          session.transaction.get(*entries, entry, session.buffer, &found, ReadPurpose::peek);
      if (status != ok) return status == not_found ? ok : status;
    }
    TransactionStatus status = session.transaction.get(*entries, entry, session.buffer, &found);
    if (status == not_found) return ok;
    return status == ok ? session.transaction.remove(found) : status;
  }
  // The row gets a value, another one, or none.
  TransactionStatus change(TestSession& session, const std::string& key, const std::string& row) {
    RowRef old;
    TransactionStatus status =
        session.transaction.get(*rows, key, session.buffer, &old, ReadPurpose::for_update);
    if (status == not_found) {
      status = session.insert(*rows, key, row);
      return status == ok ? session.insert(*entries, entry_of(row, key), key) : status;
    }
    if (status != ok) return status;
    std::string entry = entry_of(old.row, key);
    bool goes = row == "0", moves = goes || entry != entry_of(row, key);
    status = goes ? session.transaction.remove(old)
                  : session.transaction.update(old, row, LockMode::no_key_update);
    if (status == ok && moves) status = remove_entry(session, entry);
    if (status == ok && moves && !goes) status = session.insert(*entries, entry_of(row, key), key);
    return status;
  }
  void write(TestSession& session, Random& random) {
    bool interactive = random.one_in(2);
    session.transaction.begin(
        interactive ? TransactionMode::interactive : TransactionMode::one_shot,
        Isolation::read_committed);
    TransactionStatus status = ok;
    // One key each: there are no deadlocks.
    std::string key = row_key(random.below(keys));
    for (uint64_t left = interactive ? 1 + random.below(3) : 1; left > 0 && status == ok; --left) {
      session.statement();
      status = change(session, key, std::to_string(random.below(5)));
      if (status == ok) status = session.transaction.end_statement();
      if (interactive) std::this_thread::yield();
    }
    if (status == ok && random.one_in(5)) status = duplicate_key;  // gives up
    if (status == ok) status = session.commit();
    if (status == must_wait) {
      EXPECT_EQ(session.transaction.wait_for_intent(), ok);
      session.begin();
    }
    if (status == ok && interactive) ++committed;
    if (session.transaction.is_open()) session.transaction.abort();
  }

  // A batch behind `position`, which it moves; false: there was none.
  bool build(TestSession& session, std::string& position) {
    for (;;) {
      session.begin();
      TransactionStatus status = session.transaction.share_reads(*rows);
      std::string last = position;
      {
        Arena memory;
        RowBuffer buffer(memory);
        TransactionScan scan(session.transaction, *rows, {KeyBound::exclusive(position), {}},
                             ScanDirection::forward, buffer, ReadPurpose::rows);
        RowRef row;
        for (size_t i = 0; i < batch && status == ok; ++i) {
          status = scan.next(&row);
          if (status != ok) break;
          status = session.insert(*entries, entry_of(row.row, row.key()), row.key());
          if (status == duplicate_key) status = ok;
          last = row.key();
        }
      }
      if (status == not_found) status = ok;
      if (status == ok) status = session.commit();
      if (status == must_wait) {
        EXPECT_EQ(session.transaction.wait_for_intent(), ok);
        continue;
      }
      if (session.transaction.is_open()) session.transaction.abort();
      if (status != ok) continue;
      bool moved = last != position;
      position = last;
      return moved;
    }
  }

  void expect_agreement(TestSession& session) {
    session.begin();
    size_t count = 0;
    {
      TransactionScan scan(session.transaction, *rows, {}, ScanDirection::forward, session.buffer);
      Arena memory;
      RowBuffer buffer(memory);
      RowRef row, entry;
      for (; scan.next(&row) == ok; ++count) {
        EXPECT_EQ(session.transaction.get(*entries, entry_of(row.row, row.key()), buffer, &entry),
                  ok)
            << row.key();
      }
    }
    TransactionScan scan(session.transaction, *entries, {}, ScanDirection::forward, session.buffer);
    RowRef entry;
    while (scan.next(&entry) == ok) --count;
    EXPECT_EQ(count, 0u);
    session.transaction.abort();
  }

  TestEngine engine;
  Relation* rows = nullptr;
  Relation* entries = nullptr;
  std::atomic<int> committed = 0;
};

TEST_F(IndexBuildStress, EveryRowHasItsEntryAndThereIsNoOther) {
  const int rounds = sanitized ? 30 : 200;
  TestSession main(engine);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    rows = &engine.create_relation();
    entries = &engine.create_relation();
    for (uint64_t key = 0; key < keys; ++key) main.store(*rows, row_key(key), "1");
    std::atomic<bool> building = true;
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        TestSession session(engine);
        Random random(static_cast<uint64_t>(round) * 3 + i + 1);
        while (building) write(session, random);
      });
    }
    std::string position = "r";
    while (build(main, position)) std::this_thread::yield();
    building = false;
    for (std::thread& thread : threads) thread.join();
    expect_agreement(main);
  }
  EXPECT_GT(committed, 0);
}

}  // namespace
}  // namespace pgsilo
