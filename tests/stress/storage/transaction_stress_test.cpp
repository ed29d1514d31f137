// Invariants that only predicate reads protect, and hot records, under concurrency.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "storage/transaction/lock_list.h"
#include "tests/stress/sanitized.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int rounds = sanitized ? 1000 : 4000;
constexpr int threads = 4;

template <typename Body>
TransactionStatus run(TestSession& session, TransactionMode mode, Body body) {
  for (;;) {
    session.worker.housekeep();
    session.begin(mode);
    TransactionStatus status = body();
    if (status == ok) status = session.commit();
    if (status == ok || !is_conflict(status)) return status;
    if (status == must_wait) {
      EXPECT_EQ(session.transaction.wait_for_intent(), ok);
    } else {
      session.transaction.abort();
    }
  }
}

template <typename Body>
void in_threads(TestEngine& engine, Body body) {
  std::vector<std::thread> running;
  for (int id = 0; id < threads; ++id) {
    running.emplace_back([&engine, &body, id] {
      TestSession session(engine);
      session.settings.deadlock_timeout_us = 500;
      Random random(static_cast<uint64_t>(id) + 1);
      for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round)
        body(session, random, id, round);
    });
  }
  for (std::thread& thread : running) thread.join();
}

// Everybody inserts the number after the newest one. That a key is taken is believed only if the
// scan that found it free is believed no longer.
TEST(TransactionStress, ADuplicateContradictsWhoHasSeenTheKeyFree) {
  TestEngine engine;
  Relation& rows = engine.create_relation();
  constexpr int inserts = 16;  // per round: they are quick, and what went wrong was rare
  auto insert_next = [&](TestSession& session, Random& random) {
    TransactionMode mode =
        random.one_in(3) ? TransactionMode::interactive : TransactionMode::one_shot;
    TransactionStatus status = run(session, mode, [&] {
      TransactionScan scan(session.transaction, rows, {}, ScanDirection::backward, session.buffer);
      RowRef newest;
      TransactionStatus step = scan.next(&newest);
      if (step != ok && step != not_found) return step;
      int number = step == ok ? std::stoi(std::string(newest.key())) + 1 : 1000000;
      step = session.insert(rows, std::to_string(number), "");
      if (step != duplicate_key) return step;
      EXPECT_NE(session.transaction.validate(), ok) << number;
      return conflict_unique;
    });
    EXPECT_EQ(status, ok);
  };
  in_threads(engine, [&](TestSession& session, Random& random, int, int) {
    for (int i = 0; i < inserts; ++i) insert_next(session, random);
  });
  TestSession session(engine);
  session.begin();
  TransactionScan scan(session.transaction, rows, {}, ScanDirection::backward, session.buffer);
  RowRef newest;
  ASSERT_EQ(scan.next(&newest), ok);
  EXPECT_EQ(newest.key(), std::to_string(1000000 + threads * rounds * inserts - 1));
}

// Rows "group:x"; a transaction adds one only if its scan counts fewer than three, or deletes one.
// Write skew by scan: without node validation a group grows past three.
TEST(TransactionStress, GroupsNeverGrowPastTheirQuota) {
  TestEngine engine;
  Relation& rows = engine.create_relation();
  constexpr size_t quota = 3;
  std::atomic<bool> stop = false;
  std::thread clock([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      engine.make_durable();
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  });
  in_threads(engine, [&](TestSession& session, Random& random, int id, int round) {
    std::string group = std::to_string(random.below(3)) + ":", end = group + "~";
    std::string own = group + std::to_string(random.next() % 1000) + "-" + std::to_string(id) +
                      "-" + std::to_string(round);
    TransactionMode mode =
        random.one_in(3) ? TransactionMode::interactive : TransactionMode::one_shot;
    TransactionStatus status = run(session, mode, [&] {
      TransactionScan scan(session.transaction, rows,
                           {KeyBound::inclusive(group), KeyBound::inclusive(end)},
                           ScanDirection::forward, session.buffer);
      size_t count = 0;
      RowRef row, last;
      TransactionStatus step;
      while ((step = scan.next(&row)) == ok) {
        ++count;
        last = row;
      }
      if (step != not_found) return step;
      if (count < quota) return session.insert(rows, own, "x");
      TransactionStatus valid = session.transaction.validate();
      if (valid != ok) return valid;
      EXPECT_EQ(count, quota);
      return session.transaction.remove(last);
    });
    EXPECT_EQ(status, ok) << name_of(status);
  });
  stop = true;
  clock.join();
  EXPECT_EQ(rows.tree().check(), "");
}

// max + 1 by a backward scan: numbers have no gaps and no duplicates.
TEST(TransactionStress, NumbersTakenByMaxPlusOneAreDense) {
  TestEngine engine;
  Relation& rows = engine.create_relation();
  TestSession(engine).store(rows, std::to_string(1000000), "0");
  constexpr int each = rounds / 10;
  in_threads(engine, [&](TestSession& session, Random&, int, int round) {
    if (round >= each) return;
    TransactionStatus status = run(session, TransactionMode::one_shot, [&] {
      TransactionScan scan(session.transaction, rows, {}, ScanDirection::backward, session.buffer);
      RowRef row;
      TransactionStatus step = scan.next(&row);
      if (step != ok) return step;
      step = session.insert(rows, std::to_string(std::stoi(std::string(row.key())) + 1), "x");
      if (step != duplicate_key) return step;
      step = session.transaction.validate();  // an error is reported only if it was true
      return step == ok ? duplicate_key : step;
    });
    EXPECT_EQ(status, ok) << name_of(status);
  });
  TestSession session(engine);
  session.begin();
  TransactionScan scan(session.transaction, rows, {}, ScanDirection::forward, session.buffer);
  RowRef row;
  int expected = 1000000;
  while (scan.next(&row) == ok) EXPECT_EQ(row.key(), std::to_string(expected++));
  EXPECT_EQ(expected, 1000000 + 1 + threads * each);
}

// Transfers between accounts with rows that grow and shrink; every scan that validates sees the
// same total.
TEST(TransactionStress, MoneyIsNeitherMadeNorLost) {
  TestEngine engine;
  Relation& rows = engine.create_relation();
  constexpr int accounts = 20, each = 100;
  TestSession setup(engine);
  for (int i = 0; i < accounts; ++i)
    setup.store(rows, "account " + std::to_string(i), std::to_string(each));
  auto balance = [](std::string_view row) {
    return std::stol(std::string(row.substr(0, row.find(' '))));
  };
  in_threads(engine, [&](TestSession& session, Random& random, int, int) {
    std::string from = "account " + std::to_string(random.below(accounts));
    std::string to = "account " + std::to_string(random.below(accounts));
    std::string filler(random.below(300), 'f');
    TransactionMode mode =
        random.one_in(2) ? TransactionMode::interactive : TransactionMode::one_shot;
    if (random.one_in(10)) {
      long sum = 0;
      TransactionStatus status = run(session, mode, [&] {
        sum = 0;
        TransactionScan scan(session.transaction, rows, {}, ScanDirection::forward, session.buffer);
        RowRef row;
        TransactionStatus step;
        while ((step = scan.next(&row)) == ok) sum += balance(row.row);
        return step == not_found ? ok : step;
      });
      EXPECT_EQ(status, ok);
      EXPECT_EQ(sum, accounts * each);
      return;
    }
    TransactionStatus status = run(session, mode, [&] {
      for (const auto& [account, amount] : {std::pair{from, -1L}, std::pair{to, +1L}}) {
        session.statement();
        TransactionStatus step = session.get(rows, account, ReadPurpose::for_update);
        if (step != ok) return step;
        step = session.transaction.update(
            session.row, std::to_string(balance(session.row.row) + amount) + " " + filler);
        if (step != ok) return step;
        step = session.transaction.end_statement();
        if (step != ok) return step;
      }
      return ok;
    });
    EXPECT_EQ(status, ok) << name_of(status);
  });
}

// Loads into private relations, half of which abort, beside ordinary traffic on a shared relation.
TEST(TransactionStress, PrivateLoadsHoldNobodyUp) {
  TestEngine engine;
  Relation& shared = engine.create_relation();
  TestSession(engine).store(shared, "counter", "0");
  std::atomic<int> increments = 0;
  in_threads(engine, [&](TestSession& session, Random& random, int id, int round) {
    if (id == 0) {
      if (round >= rounds / 20) return;
      session.begin();
      Relation& fresh = *session.transaction.create_relation({});
      for (int i = 0; i < 300; ++i) EXPECT_EQ(session.insert(fresh, std::to_string(i), "row"), ok);
      if (random.one_in(2)) {
        session.transaction.abort();
      } else {
        EXPECT_EQ(session.transaction.drop_relation(fresh), ok);
        EXPECT_EQ(session.commit(), ok);
      }
      session.worker.housekeep();
      return;
    }
    TransactionStatus status = run(session, TransactionMode::one_shot, [&] {
      TransactionStatus step = session.get(shared, "counter");
      if (step != ok) return step;
      return session.transaction.update(
          session.row, std::to_string(std::stoi(std::string(session.row.row)) + 1));
    });
    EXPECT_EQ(status, ok);
    ++increments;
  });
  TestSession session(engine);
  session.begin();
  EXPECT_EQ(session.read(shared, "counter"), std::to_string(increments.load()));
  EXPECT_EQ(engine.relations.list().size(), 1u);
}

// DDL gates a relation while one-shots and interactive transactions write to it: what DDL counts is
// what there is.
TEST(TransactionStress, DdlSeesARelationThatStandsStill) {
  TestEngine engine;
  Relation& rows = engine.create_relation();
  in_threads(engine, [&](TestSession& session, Random& random, int id, int round) {
    if (id == 0) {
      if (round >= rounds / 20) return;
      TransactionStatus status = run(session, TransactionMode::one_shot, [&] {
        TransactionStatus step = session.transaction.lock_relation_exclusively(rows);
        if (step != ok) return step;
        size_t first = session.scan(rows).size();
        std::this_thread::yield();
        EXPECT_EQ(session.scan(rows).size(), first);
        return ok;
      });
      EXPECT_EQ(status, ok) << name_of(status);
      return;
    }
    std::string key = std::to_string(random.below(50));
    TransactionMode mode =
        random.one_in(2) ? TransactionMode::interactive : TransactionMode::one_shot;
    TransactionStatus status = run(session, mode, [&] {
      TransactionStatus step = session.transaction.share_relation(rows);
      if (step == ok) step = session.insert(rows, key, "x");
      if (step != duplicate_key) return step;
      step = session.get(rows, key, ReadPurpose::for_update);
      if (step == not_found) return session.transaction.validate();
      return step == ok ? session.transaction.remove(session.row) : step;
    });
    EXPECT_EQ(status, ok) << name_of(status);
  });
  EXPECT_FALSE(rows.gate().stops(LockMode::row_exclusive));
  EXPECT_TRUE(engine.locks.list().empty());
}

}  // namespace
}  // namespace pgsilo
