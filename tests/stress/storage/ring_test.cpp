// The ring (FoundationDB's Cycle): rows 0..n-1 hold the key of the next one; together they are one
// cycle of length n. Each transaction rotates three neighbours, which any non-serializable
// execution breaks. One-shots and interactive transactions, deletes and inserts, scans, secondary
// entries, unhooking and snapshots run together.
#include <gtest/gtest.h>

#include <atomic>
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

constexpr int rounds = sanitized ? 1500 : 6000;
constexpr int threads = 4;

std::string key_of(uint64_t number) { return std::to_string(1000 + number); }

// Runs `body` (a transaction up to commit) until it commits. `body` returns the first status that
// is not ok. Who fails again and again takes the relations for itself (docs/commit_protocol.md).
template <typename Body>
void run(TestSession& session, TransactionMode mode, const std::vector<Relation*>& relations,
         Body body) {
  constexpr int patience = 10;
  for (int failures = 0;; ++failures) {
    session.begin(mode);
    TransactionStatus status = ok;
    for (Relation* relation : relations) {
      if (status != ok) break;
      status = failures < patience ? session.transaction.share_relation(*relation)
                                   : session.transaction.lock_relation_exclusively(*relation);
    }
    if (status == ok) status = body();
    if (status == ok) status = session.commit();
    if (status == ok) return;
    ASSERT_TRUE(is_conflict(status)) << name_of(status);
    if (status == must_wait) {
      ASSERT_EQ(session.transaction.wait_for_intent(), ok);
    } else {
      session.transaction.abort();
    }
    session.worker.housekeep();
  }
}

// A table with an index on the successor, kept in step by every transaction: entry "successor:key"
// with payload "key".
class Ring {
 public:
  Ring(TestEngine& engine, uint64_t size)
      : size_(size), rows_(engine.create_relation()), index_(engine.create_relation()) {
    TestSession session(engine);
    session.begin();
    for (uint64_t i = 0; i < size; ++i) {
      EXPECT_EQ(session.insert(rows_, key_of(i), key_of((i + 1) % size)), ok);
      EXPECT_EQ(session.insert(index_, key_of((i + 1) % size) + ":" + key_of(i), key_of(i)), ok);
    }
    EXPECT_EQ(session.commit(), ok);
  }

  std::vector<Relation*> relations() const { return {&rows_, &index_}; }

  // a -> b -> c -> d becomes a -> c -> b -> d. `recreate`: row b is deleted and inserted again.
  TransactionStatus rotate(TestSession& session, uint64_t start, bool recreate) {
    std::string a = key_of(start), b, c, d;
    TransactionStatus status = start % 2 == 0 ? predecessor(session, a, &a) : ok;
    if (status == ok) status = follow(session, a, &b);
    if (status == ok) status = follow(session, b, &c);
    if (status == ok) status = follow(session, c, &d);
    if (status == ok) status = session.transaction.end_statement();
    session.statement();
    if (status == ok) status = redirect(session, a, b, c, false);
    if (status == ok) status = redirect(session, b, c, d, recreate);
    if (status == ok) status = redirect(session, c, d, b, false);
    return status == not_found || status == duplicate_key ? doubted(session, status) : status;
  }

  // Scans all rows and, if they were true together, follows them around.
  TransactionStatus audit(TestSession& session, ScanDirection direction = ScanDirection::forward) {
    std::vector<std::string> next(size_);
    size_t seen = 0;
    TransactionScan scan(session.transaction, rows_, {}, direction, session.buffer);
    RowRef row;
    TransactionStatus status = ok;
    while ((status = scan.next(&row)) == ok) {
      next[std::stoul(std::string(row.key())) - 1000] = row.row;
      ++seen;
    }
    if (status != not_found) return status;
    status = session.transaction.validate();
    if (status != ok) return status;
    EXPECT_EQ(seen, size_);
    uint64_t at = 0;
    for (uint64_t step = 1; step <= size_; ++step) {
      if (next[at].empty()) {
        ADD_FAILURE() << "a hole at " << at;
        return ok;
      }
      at = std::stoul(next[at]) - 1000;
      EXPECT_TRUE(at != 0 || step == size_) << "cycle of length " << step;
      if (::testing::Test::HasFailure()) return ok;
    }
    return ok;
  }

  // I9: every row has exactly its entry, and every entry leads to its row. Nobody else runs.
  void check(TestSession& session) {
    EXPECT_EQ(rows_.tree().check(), "");
    EXPECT_EQ(index_.tree().check(), "");
    session.begin();
    EXPECT_EQ(audit(session), ok);
    check_entries(session);
    EXPECT_EQ(rows_.row_count(), static_cast<int64_t>(size_));
    EXPECT_EQ(session.commit(), ok);
  }

  // A moment of the past: whole, and the same however often it is read.
  void audit_snapshot(TestSession& session, int times) {
    ASSERT_EQ(session.transaction.begin_snapshot(), ok);
    session.statement();
    std::string first;
    for (int i = 0; i < times && !::testing::Test::HasFailure(); ++i) {
      ASSERT_EQ(audit(session, i % 2 == 0 ? ScanDirection::backward : ScanDirection::forward), ok);
      check_entries(session);
      std::string content = session.scan(rows_);
      if (i == 0) first = content;
      ASSERT_EQ(content, first);
      session.worker.housekeep();
      std::this_thread::yield();
    }
    ASSERT_EQ(session.commit(), ok);
  }

 private:
  void check_entries(TestSession& session) {
    size_t entries = 0;
    TransactionScan scan(session.transaction, index_, {}, ScanDirection::forward, session.buffer);
    RowBuffer row_buffer(session.arena);
    RowRef entry, row;
    while (scan.next(&entry) == ok) {
      ++entries;
      ASSERT_EQ(session.transaction.get_via_entry(rows_, entry, row_buffer, &row), ok);
      EXPECT_EQ(std::string(row.row) + ":" + std::string(row.key()), entry.key());
    }
    EXPECT_EQ(entries, size_);
  }
  // By way of the index and the link that its entry remembers.
  TransactionStatus predecessor(TestSession& session, std::string of, std::string* key) {
    std::string lower = of + ":", upper = of + ";";
    TransactionScan scan(session.transaction, index_,
                         {KeyBound::inclusive(lower), KeyBound::exclusive(upper)},
                         ScanDirection::forward, session.buffer);
    RowRef entry;
    TransactionStatus status = scan.next(&entry);
    if (status != ok) return status;
    RowBuffer row_buffer(session.arena);
    RowRef row;
    status = session.transaction.get_via_entry(rows_, entry, row_buffer, &row);
    if (status != ok) return status;
    *key = row.key();
    if (row.row == of) return ok;
    status = session.transaction.validate();
    EXPECT_NE(status, ok) << "an entry led to a row that does not have it";
    return status;
  }
  TransactionStatus follow(TestSession& session, const std::string& from, std::string* to) {
    TransactionStatus status = session.get(rows_, from);
    if (status == ok) *to = session.row.row;
    return status;
  }
  TransactionStatus redirect(TestSession& session, const std::string& from,
                             const std::string& old_to, const std::string& to, bool recreate) {
    TransactionStatus status = session.get(rows_, from, ReadPurpose::for_update);
    if (status != ok) return status;
    status = recreate ? session.transaction.remove(session.row)
                      : session.transaction.update(session.row, to);
    if (status == ok && recreate) status = session.insert(rows_, from, to);
    if (status == ok) status = session.erase(index_, old_to + ":" + from);
    if (status == ok) status = session.insert(index_, to + ":" + from, from);
    return status;
  }
  // What cannot be in any serial execution must not survive validation.
  TransactionStatus doubted(TestSession& session, TransactionStatus status) {
    TransactionStatus valid = session.transaction.validate();
    EXPECT_NE(valid, ok) << name_of(status) << " was true";
    return valid;
  }

  const uint64_t size_;
  Relation& rows_;
  Relation& index_;
};

void stress(uint64_t size, TransactionMode (*mode_of)(uint64_t round)) {
  TestEngine engine;
  Ring ring(engine, size);
  {
    testing::EngineClock clock(engine);
    std::vector<std::thread> running;
    for (int id = 0; id < threads; ++id) {
      running.emplace_back([&, id] {
        TestSession session(engine);
        session.settings.deadlock_timeout_us = 500;
        Random random(static_cast<uint64_t>(id) + 1);
        for (uint64_t round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
          uint64_t start = random.below(size);
          bool recreate = random.one_in(4);
          TransactionMode mode = mode_of(random.next());
          if (random.one_in(20)) {
            ScanDirection direction =
                random.one_in(2) ? ScanDirection::forward : ScanDirection::backward;
            run(session, mode, ring.relations(), [&] { return ring.audit(session, direction); });
          } else if (random.one_in(40)) {
            ring.audit_snapshot(session, random.one_in(4) ? 20 : 1);
          } else if (random.one_in(10)) {
            session.begin(mode);  // an abort half way
            TransactionStatus status = ring.rotate(session, start, recreate);
            EXPECT_TRUE(status == ok || is_conflict(status)) << name_of(status);
            session.transaction.abort();
          } else {
            run(session, mode, ring.relations(),
                [&] { return ring.rotate(session, start, recreate); });
          }
          session.worker.housekeep();
        }
      });
    }
    for (std::thread& thread : running) thread.join();
  }
  TestSession session(engine);
  ring.check(session);
  engine.make_durable();
  while (session.worker.housekeep()) {
  }
  EXPECT_EQ(engine.snapshots.versions().count(), 0u);
}

TEST(Ring, OneShots) {
  stress(60, [](uint64_t) { return TransactionMode::one_shot; });
}

TEST(Ring, InteractiveTransactions) {
  stress(60, [](uint64_t) { return TransactionMode::interactive; });
}

TEST(Ring, BothOnASmallRing) {
  stress(6, [](uint64_t random) {
    return random % 2 == 0 ? TransactionMode::one_shot : TransactionMode::interactive;
  });
}

TEST(Ring, BothOnALargeRing) {
  stress(500, [](uint64_t random) {
    return random % 2 == 0 ? TransactionMode::one_shot : TransactionMode::interactive;
  });
}

}  // namespace
}  // namespace pgsilo
