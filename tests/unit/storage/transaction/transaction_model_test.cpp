// Random transactions, one after another, replayed on maps: what every statement sees, every
// status, and what commit, abort and marks leave behind.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/unit/storage/transaction/test_engine.h"

namespace pgsilo {
namespace {

using testing::RecordingSink;
using testing::TestEngine;
using testing::TestSession;
using enum TransactionStatus;

using Rows = std::map<std::string, std::string>;

// Keys that share slices, are prefixes of each other, and differ in length.
std::string random_key(Random& random) {
  static const char* const stems[] = {"", "a", "b", "common prefix of several slices/",
                                      "common prefix of several slicez"};
  return stems[random.below(5)] + std::to_string(random.below(12));
}

std::string random_row(Random& random) {
  return std::string(random.below(random.one_in(10) ? 2000 : 40),
                     static_cast<char>('a' + random.below(26)));
}

class Model : public ::testing::TestWithParam<uint64_t> {
 protected:
  void run_transaction();
  void run_statement();
  void change(const std::string& key);
  void compare_scan();
  void finish();

  static std::string text_of(const Rows& rows, const std::string& from, const std::string& to,
                             bool backward);

  TestEngine engine;
  RecordingSink sink;
  TestSession session{engine, sink};
  Relation& relation = engine.create_relation();
  Random random{GetParam()};
  Rows committed;
  Rows visible;                        // what the running statement sees
  Rows latest;                         // with its own writes
  std::map<std::string, int> touched;  // statement number of the last write in this transaction
  int statement = 0;
  struct Saved {
    Transaction::Mark mark;
    Rows latest;
    std::map<std::string, int> touched;
  };
  std::vector<Saved> marks;
  Rows replayed;  // from the redo
  size_t replayed_entries = 0;
};

std::string Model::text_of(const Rows& rows, const std::string& from, const std::string& to,
                           bool backward) {
  std::vector<std::string> parts;
  for (const auto& [key, row] : rows) {
    if (key >= from && key <= to) parts.push_back(key + "=" + row);
  }
  if (backward) std::reverse(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

void Model::compare_scan() {
  std::string from = random_key(random), to = random.one_in(2) ? from + "zzz" : "zzz";
  bool backward = random.one_in(2);
  EXPECT_EQ(session.scan(relation, {KeyBound::inclusive(from), KeyBound::inclusive(to)},
                         backward ? ScanDirection::backward : ScanDirection::forward),
            text_of(visible, from, to, backward));
}

void Model::change(const std::string& key) {
  if (random.one_in(2)) {
    std::string row = random_row(random);
    bool free = latest.find(key) == latest.end();
    ASSERT_EQ(session.insert(relation, key, row), free ? ok : duplicate_key) << key;
    if (!free) return;
    latest[key] = row;
    touched[key] = statement;
    return;
  }
  TransactionStatus found = session.get(relation, key, ReadPurpose::for_update);
  ASSERT_EQ(found, visible.find(key) == visible.end() ? not_found : ok) << key;
  if (found == not_found) return;
  auto written = touched.find(key);
  bool mine = written != touched.end() && written->second == statement;
  bool removes = random.one_in(2);
  std::string row = random_row(random);
  TransactionStatus status = removes ? session.transaction.remove(session.row)
                                     : session.transaction.update(session.row, row);
  ASSERT_EQ(status, mine ? self_modified : ok) << key;
  if (mine) return;
  touched[key] = statement;
  if (removes) {
    latest.erase(key);
  } else {
    latest[key] = row;
  }
}

void Model::run_statement() {
  session.statement();
  ++statement;
  visible = latest;
  for (uint64_t operations = random.below(8); operations != 0; --operations) {
    std::string key = random_key(random);
    switch (random.below(4)) {
      case 0: {
        auto expected = visible.find(key);
        EXPECT_EQ(session.read(relation, key),
                  expected == visible.end() ? "<not_found>" : expected->second);
        break;
      }
      case 1:
        compare_scan();
        break;
      default:
        change(key);
    }
    if (HasFatalFailure()) return;
  }
  ASSERT_EQ(session.transaction.end_statement(), ok);
}

void Model::run_transaction() {
  session.transaction.begin(random.one_in(2) ? TransactionMode::interactive
                                             : TransactionMode::one_shot);
  latest = committed;
  touched.clear();
  marks.clear();
  for (uint64_t statements = 1 + random.below(6); statements != 0; --statements) {
    if (random.one_in(3)) marks.push_back({session.transaction.mark(), latest, touched});
    run_statement();
    if (HasFatalFailure()) return;
    if (marks.empty() || !random.one_in(3)) continue;
    size_t which = random.below(marks.size());
    if (random.one_in(2)) {
      session.transaction.rollback_to(marks[which].mark);
      latest = marks[which].latest;
      touched = marks[which].touched;
      marks.resize(which + 1);
    } else {
      session.transaction.release(marks[which].mark);
      marks.resize(which);
    }
  }
  finish();
}

void Model::finish() {
  if (random.one_in(4)) {
    session.transaction.abort();
  } else {
    ASSERT_EQ(session.commit(), ok);
    committed = latest;
  }
  for (; replayed_entries < sink.log.size(); ++replayed_entries) {
    for (const std::string& entry : sink.log[replayed_entries].entries) {
      size_t colon = entry.find(':'), equals = entry.find('=');
      if (equals == std::string::npos) {
        replayed.erase(
            entry.substr(colon + 1, entry.size() - colon - 1 - std::string(" deleted").size()));
      } else {
        replayed[entry.substr(colon + 1, equals - colon - 1)] = entry.substr(equals + 1);
      }
    }
  }
  ASSERT_EQ(replayed, committed);
  if (random.one_in(3)) engine.make_durable();
  session.worker.housekeep();
}

TEST_P(Model, Agrees) {
  for (int i = 0; i < 400 && !HasFatalFailure() && !HasFailure(); ++i) run_transaction();
  EXPECT_EQ(session.peek(relation), text_of(committed, "", "zzzz", false));
  EXPECT_EQ(relation.row_count(), static_cast<int64_t>(committed.size()));
  engine.make_durable();
  while (session.worker.housekeep()) {
  }
  IndexTree::Shape shape;
  EXPECT_EQ(relation.tree().check(&shape), "");
  EXPECT_EQ(shape.records, committed.size());  // I7: no placeholder, no deleted record is left
  EXPECT_TRUE(sink.within_reservation);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Model, ::testing::Range<uint64_t>(1, 21));

}  // namespace
}  // namespace pgsilo
