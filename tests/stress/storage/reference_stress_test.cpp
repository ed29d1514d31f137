// Foreign keys at the storage interface: rows that refer come as one-shots, rows that are referred
// to go by interactive transactions that have looked for them in passing. No row may be left that
// refers to nothing (docs/foreign_keys.md).
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

class ReferenceStress : public ::testing::Test {
 protected:
  static constexpr int keys = 2;
  static std::string parent(int key) { return "p" + std::to_string(key); }
  static std::string child(int key) { return parent(key) + "/"; }

  // A row that refers to the parent, alone in its transaction.
  bool refer(TestSession& session, int key, int number) {
    for (;;) {
      session.begin();
      TransactionStatus status =
          session.transaction.get(parents, parent(key), session.buffer, &session.row,
                                  ReadPurpose::referenced, {LockMode::key_share});
      if (status == ok) status = session.insert(children, child(key) + std::to_string(number), "");
      if (status == ok) status = session.commit();
      if (status == ok) return true;
      if (status == must_wait) {
        EXPECT_EQ(session.transaction.wait_for_intent(), ok);
        continue;
      }
      session.transaction.abort();
      if (status == not_found || status == duplicate_key) return false;
    }
  }

  // The parent, if nothing refers to it; else all that does.
  void take_away(TestSession& session, int key) {
    for (;;) {
      session.transaction.begin(TransactionMode::interactive, Isolation::read_committed);
      session.statement();
      TransactionStatus status = session.erase(parents, parent(key));
      if (status == ok) {
        Transaction::read_behind_locks();
        status = look(session, key);
      }
      if (status == ok) status = session.transaction.end_statement();
      if (status == ok) status = session.commit();
      if (status == ok) return;
      session.transaction.abort();
      if (status == not_found) return;
    }
  }
  std::vector<std::string> referring(TestSession& session, int key, ReadPurpose purpose) {
    std::string first = child(key), last = parent(key) + "0";
    TransactionScan scan(session.transaction, children,
                         {KeyBound::inclusive(first), KeyBound::exclusive(last)},
                         ScanDirection::forward, session.buffer, purpose);
    std::vector<std::string> found;
    RowRef row;
    while (scan.next(&row) == ok) found.emplace_back(row.key());
    return found;
  }
  // ok: there is none. Else they go, and the parent stays (not_found).
  TransactionStatus look(TestSession& session, int key) {
    std::vector<std::string> found = referring(session, key, ReadPurpose::passing);
    if (found.empty()) return ok;
    session.transaction.abort();
    for (const std::string& each : found) {
      session.begin();
      end(session, session.erase(children, each));
    }
    return not_found;
  }
  // A moment at which rows refer to what is not there.
  bool has_orphans(TestSession& session, int key) {
    session.begin();
    bool orphaned = session.get(parents, parent(key)) == not_found &&
                    !referring(session, key, ReadPurpose::plain).empty();
    orphaned = orphaned && session.transaction.validate() == ok;
    session.transaction.abort();
    return orphaned;
  }
  static void end(TestSession& session, TransactionStatus status) {
    if (status == ok) status = session.commit();
    if (status != ok && session.transaction.is_open()) session.transaction.abort();
  }

  void bring_back(TestSession& session, int key) {
    session.begin();
    end(session, session.insert(parents, parent(key), ""));
  }

  TestEngine engine;
  Relation& parents = engine.create_relation();
  Relation& children = engine.create_relation();
};

TEST_F(ReferenceStress, NothingIsTakenAwayThatIsReferredTo) {
  const int rounds = sanitized ? 500 : 3000;
  std::atomic<int> referred = 0, orphaned = 0, running = 2;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      TestSession session(engine);
      for (int number = i; running > 0; number += 2)
        referred += refer(session, number / 2 % keys, number % 50) ? 1 : 0;
    });
    threads.emplace_back([&] {
      TestSession session(engine);
      for (int round = 0; round < rounds; ++round) {
        bring_back(session, round % keys);
        std::this_thread::yield();
        take_away(session, round % keys);
        orphaned += has_orphans(session, round % keys) ? 1 : 0;
      }
      --running;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(referred, 0);
  EXPECT_EQ(orphaned, 0);
}

}  // namespace
}  // namespace pgsilo
