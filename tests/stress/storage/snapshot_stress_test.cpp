// Snapshots against writers: each is a prefix of the serial order, it has all that was committed
// before it was asked for, and nothing is left when it is closed.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/storage/engine_clock.h"

namespace pgsilo {
namespace {

using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int snapshots = sanitized ? 500 : 4000;  // of each thread that looks

template <typename Body>
void run(TestSession& session, Body body) {
  for (;;) {
    session.worker.housekeep();
    session.begin();
    TransactionStatus status = body();
    if (status == ok) status = session.commit();
    if (status == ok) return;
    ASSERT_TRUE(is_conflict(status)) << name_of(status);
    session.transaction.abort();
  }
}

// Writer w commits the numbers 1, 2, 3 ... in row w, each beside the numbers of the others that it
// has seen: a snapshot with the one has the others.
class Causality {
 public:
  static constexpr int writers = 3;
  using Numbers = std::array<int, writers>;

  explicit Causality(TestEngine& engine) : rows_(engine.create_relation()) {
    TestSession session(engine);
    for (int i = 0; i < writers; ++i) session.store(rows_, key(i), text({}, 0));
  }

  void write(TestSession& session, int self, int number, Random& random) {
    run(session, [&] {
      Numbers seen{};
      // Not all each time, so that some commits depend on nothing and may be in any order.
      for (int i = 0; i < writers; ++i) {
        if (i == self || random.one_in(2)) continue;
        TransactionStatus status = session.get(rows_, key(i));
        if (status != ok) return status;
        seen[static_cast<size_t>(i)] = parse(session.row.row)[static_cast<size_t>(i)];
      }
      seen[static_cast<size_t>(self)] = number;
      // Sometimes the row grows, sometimes it goes and comes back.
      std::string row = text(seen, random.one_in(10) ? random.below(400) : 0);
      if (!random.one_in(5)) return session.put(rows_, key(self), row);
      TransactionStatus status = session.erase(rows_, key(self));
      return status == ok ? session.insert(rows_, key(self), row) : status;
    });
    committed_[static_cast<size_t>(self)].store(number, std::memory_order_release);
  }

  void look(TestSession& session, int times) {
    Numbers before = committed();
    ASSERT_EQ(session.transaction.begin_snapshot(), ok);
    session.statement();
    std::string first = session.scan(rows_);
    for (int i = 0; i < times; ++i) {
      std::this_thread::yield();
      session.worker.housekeep();
      ASSERT_EQ(session.scan(rows_), first);
    }
    std::array<Numbers, writers> rows;
    Numbers own;
    for (size_t i = 0; i < writers; ++i) {
      ASSERT_EQ(session.get(rows_, key(static_cast<int>(i))), ok);
      rows[i] = parse(session.row.row);
      own[i] = rows[i][i];
      ASSERT_GE(own[i], before[i]) << "what was committed is missing";
    }
    for (const Numbers& row : rows) {
      for (size_t i = 0; i < writers; ++i) ASSERT_LE(row[i], own[i]) << "an effect without cause";
    }
    ASSERT_EQ(session.commit(), ok);
  }

 private:
  static std::string key(int writer) { return "writer " + std::to_string(writer); }
  static std::string text(const Numbers& numbers, size_t padding) {
    std::string text;
    for (int number : numbers) text += std::to_string(number) + " ";
    return text + std::string(padding, 'x');
  }
  static Numbers parse(std::string_view row) {
    Numbers numbers{};
    EXPECT_EQ(
        std::sscanf(std::string(row).c_str(), "%d %d %d", &numbers[0], &numbers[1], &numbers[2]),
        writers);
    return numbers;
  }
  Numbers committed() const {
    Numbers numbers{};
    for (size_t i = 0; i < writers; ++i) numbers[i] = committed_[i].load(std::memory_order_acquire);
    return numbers;
  }

  Relation& rows_;
  std::array<std::atomic<int>, writers> committed_{};
};

// `write(session, id, random)` again and again in each of some threads, until others have called
// `look(session, random)` often enough.
template <typename Write, typename Look>
void write_while_looking(TestEngine& engine, Write write, Look look) {
  testing::EngineClock clock(engine);
  std::atomic<bool> stop = false;
  std::vector<std::thread> writing, looking;
  for (int id = 0; id < Causality::writers; ++id) {
    writing.emplace_back([&, id] {
      TestSession session(engine);
      Random random(static_cast<uint64_t>(id) + 1);
      while (!stop.load(std::memory_order_relaxed) && !::testing::Test::HasFailure())
        write(session, id, random);
    });
  }
  for (int id = 0; id < 2; ++id) {
    looking.emplace_back([&, id] {
      TestSession session(engine);
      Random random(static_cast<uint64_t>(id) + 100);
      for (int n = 0; n < snapshots && !::testing::Test::HasFailure(); ++n) look(session, random);
    });
  }
  for (std::thread& thread : looking) thread.join();
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& thread : writing) thread.join();
}

void expect_nothing_kept(TestEngine& engine) {
  TestSession session(engine);
  engine.make_durable();
  while (session.worker.housekeep()) {
  }
  EXPECT_EQ(engine.snapshots.versions().count(), 0u);
  EXPECT_EQ(engine.snapshots.versions().bytes(), 0u);
}

TEST(SnapshotStress, SnapshotsArePrefixes) {
  TestEngine engine;
  Causality causality(engine);
  std::array<int, Causality::writers> numbers{};  // each its writer's
  write_while_looking(
      engine,
      [&](TestSession& session, int id, Random& random) {
        causality.write(session, id, ++numbers[static_cast<size_t>(id)], random);
      },
      [&](TestSession& session, Random& random) {
        causality.look(session, random.one_in(20) ? 20 : 1);
      });
  expect_nothing_kept(engine);
}

// Accounts "10" to "39": money moves from one to another, an account that is empty is no row.
class Bank {
 public:
  static constexpr int64_t total = 1000;

  explicit Bank(TestEngine& engine) : accounts_(engine.create_relation()) {
    TestSession(engine).store(accounts_, "20", std::to_string(total));
  }

  void transfer(TestSession& session, Random& random) {
    std::string start = name_of_account(random), to = name_of_account(random);
    uint64_t share = random.below(3);
    run(session, [&] {
      TransactionScan scan(session.transaction, accounts_, {KeyBound::inclusive(start), {}},
                           random.one_in(2) ? ScanDirection::forward : ScanDirection::backward,
                           session.buffer);
      RowRef row;
      TransactionStatus status = scan.next(&row);
      if (status != ok || row.key() == to) return status == not_found ? ok : status;
      std::string from(row.key());
      int64_t has = std::stoll(std::string(row.row));
      int64_t amount = share == 0 ? has : has / 2;
      if (amount == 0) return ok;
      status = session.get(accounts_, to);
      if (status != ok && status != not_found) return status;
      int64_t gets = amount;
      if (status == ok) gets += std::stoll(std::string(session.row.row));
      status = status == ok ? session.put(accounts_, to, std::to_string(gets))
                            : session.insert(accounts_, to, std::to_string(gets));
      if (status == ok) {
        status = amount == has ? session.erase(accounts_, from)
                               : session.put(accounts_, from, std::to_string(has - amount));
      }
      // What was read need not have been one moment.
      return status == duplicate_key || status == not_found ? conflict_record : status;
    });
  }

  void audit(TestSession& session) {
    ASSERT_EQ(session.transaction.begin_snapshot(), ok);
    session.statement();
    for (ScanDirection direction : {ScanDirection::forward, ScanDirection::backward}) {
      TransactionScan scan(session.transaction, accounts_, {}, direction, session.buffer);
      int64_t sum = 0;
      RowRef row;
      while (scan.next(&row) == ok) sum += std::stoll(std::string(row.row));
      ASSERT_EQ(sum, total);
    }
    ASSERT_EQ(session.commit(), ok);
    session.worker.housekeep();
  }

  void check() { EXPECT_EQ(accounts_.tree().check(), ""); }

 private:
  static std::string name_of_account(Random& random) {
    return std::to_string(10 + random.below(30));
  }

  Relation& accounts_;
};

TEST(SnapshotStress, TransfersKeepTheirSum) {
  TestEngine engine;
  Bank bank(engine);
  write_while_looking(
      engine, [&](TestSession& session, int, Random& random) { bank.transfer(session, random); },
      [&](TestSession& session, Random&) {
        for (int i = 0; i < 5; ++i) bank.audit(session);
      });
  expect_nothing_kept(engine);
  bank.check();
}

}  // namespace
}  // namespace pgsilo
