// I10: whatever random transactions over a few keys were told has one serial order that keeps real
// time (tests/history). A table with an index by attribute, one-shots and interactive transactions,
// reads by key, ranges in both directions, index lookups, existence reads, duplicates, deletes and
// their unhooking, rollbacks, snapshots. PGSILO_HISTORIES=n: n histories of each kind.
#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/history/history_checker.h"
#include "tests/stress/sanitized.h"
#include "tests/stress/storage/engine_clock.h"

namespace pgsilo {
namespace {

using history::any_attribute;
using history::History;
using history::HistoryChecker;
using history::Key;
using history::Recorder;
using history::Verdict;
using history::Version;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

constexpr int rounds = sanitized ? 1500 : 4000;
constexpr int threads = 4;
constexpr int attributes = 3;

struct Shape {
  int keys;
  std::string prefix;  // of every key
};

// Rows "version attribute filler" and entries "attribute:key" that lead to them.
class Table {
 public:
  Table(TestEngine& engine, Shape shape)
      : shape_(std::move(shape)),
        rows_(engine.create_relation()),
        index_(engine.create_relation()) {}

  int keys() const { return shape_.keys; }
  Relation& rows() const { return rows_; }
  Relation& index() const { return index_; }
  std::string name(Key key) const { return shape_.prefix + std::to_string(1000 + key); }
  Key key_of(std::string_view name) const {
    return std::stoi(std::string(name.substr(shape_.prefix.size()))) - 1000;
  }
  static std::string entry(int attribute, std::string_view name) {
    return std::to_string(attribute) + ":" + std::string(name);
  }
  struct Row {
    Version version = history::no_version;
    int attribute = 0;
  };
  static Row parse(std::string_view text) {
    Row row;
    const char* end = text.data() + text.size();
    const char* at = std::from_chars(text.data(), end, row.version).ptr;
    std::from_chars(at + 1, end, row.attribute);
    return row;
  }
  static std::string format(Row row, size_t filler_bytes) {
    return std::to_string(row.version) + " " + std::to_string(row.attribute) + " " +
           std::string(filler_bytes, '.');
  }

 private:
  const Shape shape_;
  Relation& rows_;
  Relation& index_;
};

// One thread's session: random transactions, and notes of what they were told.
class Client {
 public:
  Client(TestEngine& engine, const Table& table, int thread, uint64_t seed)
      : table_(table), session_(engine), recorder_(thread), random_(seed) {
    session_.settings.deadlock_timeout_us = 500;
  }

  void transaction(TransactionMode mode) {
    recorder_.begin();
    session_.begin(mode);
    TransactionStatus status = statements(mode);
    if (status == ok && random_.one_in(10)) {
      // Before a one-shot reports an error it validates; an interactive one did so already.
      if (session_.transaction.validate() == ok) recorder_.acknowledge();
      session_.transaction.abort();
      recorder_.abort();
    } else {
      if (status == ok) status = session_.commit();
      finish(status);
    }
    session_.worker.housekeep();
  }

  // Only reads, at a snapshot: from the begin on or (a one-shot) from the middle.
  void look_back() {
    recorder_.begin();
    bool is_past = random_.one_in(2);
    if (is_past) {
      EXPECT_EQ(session_.transaction.begin_snapshot(), ok);
    } else {
      session_.begin();
    }
    TransactionStatus status = ok;
    for (uint64_t left = 2 + random_.below(4); left > 0 && status == ok; --left) {
      session_.statement();
      status = reading_statement();
      EXPECT_TRUE(status == ok || !is_past) << name_of(status);
      if (!is_past && status == ok && random_.one_in(2)) {
        status = session_.transaction.become_snapshot();
        is_past = status == ok;
      }
      if (random_.one_in(3)) std::this_thread::yield();
      session_.worker.housekeep();
    }
    finish(status == ok ? session_.commit() : status);
  }

  void read_everything() {
    recorder_.begin();
    session_.begin();
    EXPECT_EQ(scan(0, table_.keys() - 1, ScanDirection::forward, INT_MAX), ok);
    finish(session_.commit());
  }

  // I9. Nobody else runs.
  void check_index() {
    session_.begin();
    size_t entries = 0, rows = 0;
    RowBuffer row_buffer(session_.arena);
    RowRef entry, row;
    TransactionScan index(session_.transaction, table_.index(), {}, ScanDirection::forward,
                          session_.buffer);
    for (; index.next(&entry) == ok; ++entries) {
      ASSERT_EQ(session_.transaction.get_via_entry(table_.rows(), entry, row_buffer, &row), ok);
      EXPECT_EQ(Table::entry(Table::parse(row.row).attribute, row.key()), entry.key());
    }
    TransactionScan all(session_.transaction, table_.rows(), {}, ScanDirection::forward,
                        session_.buffer);
    while (all.next(&row) == ok) ++rows;
    EXPECT_EQ(entries, rows);
    EXPECT_EQ(session_.commit(), ok);
  }

  const Recorder& recorder() const { return recorder_; }

 private:
  TransactionStatus statements(TransactionMode mode) {
    TransactionStatus status = ok;
    for (uint64_t left = 1 + random_.below(4); left > 0 && status == ok; --left) {
      session_.statement();
      status = statement();
      if (status == ok) status = session_.transaction.end_statement();
      if (status == ok && mode == TransactionMode::interactive) recorder_.acknowledge();
      if (random_.one_in(3)) std::this_thread::yield();
    }
    return status;
  }

  void finish(TransactionStatus status) {
    if (status == ok) {
      recorder_.commit();
      return;
    }
    EXPECT_TRUE(is_conflict(status)) << name_of(status);
    if (status == must_wait) {
      EXPECT_EQ(session_.transaction.wait_for_intent(), ok);
    } else {
      session_.transaction.abort();
    }
    recorder_.abort();
  }

  Key any_key() { return static_cast<Key>(random_.below(static_cast<uint64_t>(table_.keys()))); }

  // ok also if there was nothing to do.
  TransactionStatus statement() {
    switch (random_.below(10)) {
      case 0:
      case 1:
        return insert(any_key());
      case 2:
      case 3:
      case 4:
        return change(any_key());
      case 5:
        return exists(any_key());
      case 6:
        return look_up();
      case 7:
        return change_in_range();
      case 8:
        return scan_some();
      default:
        return get(any_key(), ReadPurpose::plain);
    }
  }

  TransactionStatus reading_statement() {
    switch (random_.below(4)) {
      case 0:
        return exists(any_key());
      case 1:
        return look_up();
      case 2:
        return scan_some();
      default:
        return get(any_key(), ReadPurpose::plain);
    }
  }

  TransactionStatus get(Key key, ReadPurpose purpose) {
    TransactionStatus status = session_.get(table_.rows(), table_.name(key), purpose);
    if (status == ok) recorder_.read(key, Table::parse(session_.row.row).version);
    if (status == not_found) recorder_.absent(key);
    return status == not_found ? ok : status;
  }

  TransactionStatus exists(Key key) {
    TransactionStatus status =
        session_.get(table_.rows(), table_.name(key), ReadPurpose::existence);
    if (status == ok) recorder_.present(key, key);
    if (status == not_found) recorder_.absent(key);
    return status == not_found ? ok : status;
  }

  TransactionStatus insert(Key key) {
    Table::Row row = new_row();
    std::string name = table_.name(key);
    TransactionStatus status = session_.insert(table_.rows(), name, format(row));
    if (status == duplicate_key) {
      recorder_.present(key, key);
      return ok;
    }
    if (status != ok) return status;
    recorder_.absent(key);
    recorder_.write(key, row.version, row.attribute);
    return fits(session_.insert(table_.index(), Table::entry(row.attribute, name), name));
  }

  TransactionStatus change(Key key) {
    TransactionStatus status = get(key, ReadPurpose::for_update);
    if (status != ok || session_.row.record == nullptr) return status;
    return change(session_.row);
  }

  // `row`: read for update, its version noted.
  TransactionStatus change(const RowRef& row) {
    std::string name(row.key());
    Key key = table_.key_of(name);
    int before = Table::parse(row.row).attribute;
    Table::Row after = new_row();
    bool remove = random_.one_in(3);
    TransactionStatus status =
        remove ? session_.transaction.remove(row) : session_.transaction.update(row, format(after));
    if (status != ok) return status;
    if (remove) {
      recorder_.erase(key);
    } else {
      recorder_.write(key, after.version, after.attribute);
      if (after.attribute == before) return ok;
    }
    status = fits(session_.erase(table_.index(), Table::entry(before, name)));
    if (status != ok || remove) return status;
    return fits(session_.insert(table_.index(), Table::entry(after.attribute, name), name));
  }

  // Rows by attribute, by way of the index.
  TransactionStatus look_up() {
    int attribute = any_attribute_value();
    std::string lower = Table::entry(attribute, ""), upper = std::to_string(attribute) + ";";
    TransactionScan scan(session_.transaction, table_.index(),
                         {KeyBound::inclusive(lower), KeyBound::exclusive(upper)},
                         ScanDirection::forward, session_.buffer);
    std::vector<Recorder::Row> found;
    RowBuffer row_buffer(session_.arena);
    RowRef entry, row;
    TransactionStatus status;
    while ((status = scan.next(&entry)) == ok) {
      status = fits(session_.transaction.get_via_entry(table_.rows(), entry, row_buffer, &row));
      if (status != ok) return status;
      if (Table::parse(row.row).attribute != attribute) return fits(not_found);
      found.push_back({table_.key_of(row.key()), Table::parse(row.row).version});
    }
    if (status == not_found) recorder_.scanned(0, table_.keys() - 1, attribute, found);
    return status == not_found ? ok : status;
  }

  TransactionStatus scan_some() {
    Key first = any_key(), last = any_key();
    if (first > last) std::swap(first, last);
    int limit = random_.one_in(2) ? INT_MAX : 1 + static_cast<int>(random_.below(3));
    ScanDirection direction = random_.one_in(2) ? ScanDirection::forward : ScanDirection::backward;
    return scan(first, last, direction, limit);
  }

  // At most `limit` rows; what lies behind the last one was not looked at.
  TransactionStatus scan(Key first, Key last, ScanDirection direction, int limit) {
    std::string lower = table_.name(first), upper = table_.name(last);
    TransactionScan scan(session_.transaction, table_.rows(),
                         {KeyBound::inclusive(lower), KeyBound::inclusive(upper)}, direction,
                         session_.buffer);
    std::vector<Recorder::Row> found;
    RowRef row;
    TransactionStatus status = ok;
    while (static_cast<int>(found.size()) < limit && (status = scan.next(&row)) == ok)
      found.push_back({table_.key_of(row.key()), Table::parse(row.row).version});
    if (status == ok && direction == ScanDirection::forward) last = found.back().key;
    if (status == ok && direction == ScanDirection::backward) first = found.back().key;
    if (status == ok || status == not_found) recorder_.scanned(first, last, any_attribute, found);
    return status == not_found ? ok : status;
  }

  // UPDATE ... WHERE by a scan: the first row of a range is locked and read again.
  TransactionStatus change_in_range() {
    Key first = any_key(), last = table_.keys() - 1;
    std::string lower = table_.name(first);
    TransactionScan scan(session_.transaction, table_.rows(), {KeyBound::inclusive(lower), {}},
                         ScanDirection::forward, session_.buffer);
    RowRef row;
    TransactionStatus status = scan.next(&row);
    if (status == ok) {
      last = table_.key_of(row.key());
      status = session_.transaction.lock_row(&row, session_.buffer);
    }
    if (status == not_found) recorder_.scanned(first, last, any_attribute, {});
    if (status == not_found) return ok;
    if (status != ok && status != row_changed) return status;
    Recorder::Row found{last, Table::parse(row.row).version};
    recorder_.scanned(first, last, any_attribute, {&found, 1});
    return change(row);
  }

  // An index that does not fit its table cannot be in any serial execution: conflict, or a bug.
  TransactionStatus fits(TransactionStatus status) {
    if (status != not_found && status != duplicate_key) return status;
    status = session_.transaction.validate();
    EXPECT_NE(status, ok) << "rows and entries do not fit together";
    return status == ok ? conflict_record : status;
  }

  int any_attribute_value() { return static_cast<int>(random_.below(attributes)); }
  Table::Row new_row() { return {recorder_.new_version(), any_attribute_value()}; }
  std::string format(Table::Row row) { return Table::format(row, random_.below(60)); }

  const Table& table_;
  TestSession session_;
  Recorder recorder_;
  Random random_;
};

size_t committed_in_all = 0;

void check_history(const Shape& shape, uint64_t seed, TransactionMode (*mode_of)(uint64_t)) {
  TestEngine engine;
  Table table(engine, shape);
  std::vector<History> parts(threads + 1);
  {
    testing::EngineClock clock(engine);
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        Random modes(seed * threads + static_cast<uint64_t>(thread));
        Client client(engine, table, thread, modes.next());
        for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
          if (modes.one_in(6)) {
            client.look_back();
          } else {
            client.transaction(mode_of(modes.next()));
          }
        }
        parts[static_cast<size_t>(thread)] = client.recorder().history();
        // The rest are conflicts. Only that the test tests something.
        EXPECT_GT(client.recorder().committed(), static_cast<size_t>(rounds / 50));
      });
    }
    for (std::thread& thread : running) thread.join();
  }
  Client client(engine, table, threads, seed);
  client.read_everything();
  parts[threads] = client.recorder().history();
  History all;
  for (const History& part : parts) all.insert(all.end(), part.begin(), part.end());
  Verdict verdict = HistoryChecker(all).check();
  EXPECT_EQ(verdict.violation, "") << "seed " << seed;
  EXPECT_GT(verdict.edges, 1000u);
  EXPECT_GT(verdict.choices, 100u);
  for (const history::Transaction& transaction : all) committed_in_all += transaction.committed;
  client.check_index();
  EXPECT_EQ(table.rows().tree().check(), "");
  EXPECT_EQ(table.index().tree().check(), "");
}

void check_histories(const Shape& shape, TransactionMode (*mode_of)(uint64_t)) {
  committed_in_all = 0;
  auto [seed, end] = history::seeds_wanted();
  for (; seed < end && !::testing::Test::HasFailure(); ++seed) check_history(shape, seed, mode_of);
  std::printf("%zu transactions committed\n", committed_in_all);
}

TransactionMode either(uint64_t random) {
  return random % 2 == 0 ? TransactionMode::one_shot : TransactionMode::interactive;
}

TEST(HistoryStress, OneShots) {
  check_histories({10, "key"}, [](uint64_t) { return TransactionMode::one_shot; });
}

TEST(HistoryStress, InteractiveTransactions) {
  check_histories({10, "key"}, [](uint64_t) { return TransactionMode::interactive; });
}

TEST(HistoryStress, BothOnVeryFewKeys) { check_histories({3, "k"}, either); }

TEST(HistoryStress, BothOnSeveralNodesOfADeeperLayer) {
  check_histories({60, "a prefix of two slices"}, either);
}

}  // namespace
}  // namespace pgsilo
