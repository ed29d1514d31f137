// The checker on histories made by hand, and against the definition: all orders tried one by one.
#include "tests/history/history_checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/random.h"

namespace pgsilo::history {
namespace {

using Kind = Operation::Kind;

Operation read(Key key, Version version) { return {Kind::read, key, key, version}; }
Operation none(Key key, int attribute = any_attribute) {
  return {Kind::absent, key, key, no_version, attribute};
}
Operation some(Key first, Key last, int attribute = any_attribute) {
  return {Kind::present, first, last, no_version, attribute};
}
Operation write(Key key, Version version, int attribute = 0) {
  return {Kind::write, key, key, version, attribute};
}
Operation erase(Key key) { return {Kind::write, key, key}; }

constexpr Operation mark{Kind::mark};
constexpr Operation back{Kind::back};

// Overlaps with all others unless told otherwise.
Transaction committed(std::vector<Operation> operations, int64_t begin = 10, int64_t end = 20) {
  return {0, begin, end, true, std::move(operations), {}};
}
Transaction rolled_back(std::vector<Operation> operations, int64_t begin = 10, int64_t end = 20) {
  return {0, begin, end, false, std::move(operations), {}};
}

std::string violation(const History& history) { return HistoryChecker(history).check().violation; }
bool accepted(const History& history) { return violation(history).empty(); }

// Rows 1 and 2, versions 1 and 2, attributes 1 and 2.
Transaction setup() { return committed({none(1), none(2), write(1, 1, 1), write(2, 2, 2)}, 0, 1); }

TEST(HistoryChecker, AcceptsSerialHistories) {
  EXPECT_TRUE(accepted({}));
  EXPECT_TRUE(accepted({setup(), committed({read(1, 1), write(1, 3)}, 2, 3),
                        committed({read(1, 3), erase(1)}, 4, 5), committed({none(1)}, 6, 7),
                        committed({none(1), write(1, 4)}, 8, 9), committed({read(1, 4)}, 10, 11)}));
}

TEST(HistoryChecker, AcceptsAnyOrderOfWhatOverlaps) {
  EXPECT_TRUE(accepted({setup(), committed({read(1, 3)}), committed({read(1, 1), write(1, 3)}),
                        committed({read(1, 1)})}));
}

TEST(HistoryChecker, RejectsLostUpdates) {
  EXPECT_FALSE(accepted(
      {setup(), committed({read(1, 1), write(1, 3)}), committed({read(1, 1), write(1, 4)})}));
}

TEST(HistoryChecker, RejectsWriteSkew) {
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), read(2, 2), write(1, 3)}),
                         committed({read(1, 1), read(2, 2), write(2, 4)})}));
}

TEST(HistoryChecker, RejectsLongForks) {
  History history{setup(), committed({read(1, 1), write(1, 3)}),
                  committed({read(2, 2), write(2, 4)}), committed({read(1, 3), read(2, 2)})};
  EXPECT_TRUE(accepted(history));
  history.push_back(committed({read(1, 1), read(2, 4)}));
  EXPECT_FALSE(accepted(history));
}

TEST(HistoryChecker, RejectsPhantoms) {
  History history{setup(), committed({none(3), none(4), write(3, 3)}),
                  committed({none(3), none(4), write(4, 4)})};
  EXPECT_FALSE(accepted(history));
  // By attribute: each finds no row with 7 and makes one.
  history = {setup(), committed({read(1, 1), none(2, 7), write(1, 3, 7)}),
             committed({read(2, 2), none(1, 7), write(2, 4, 7)})};
  EXPECT_FALSE(accepted(history));
  history[2] = committed({read(2, 2), some(1, 9, 7), write(2, 4, 7)});
  EXPECT_TRUE(accepted(history));
}

TEST(HistoryChecker, RejectsStaleReads) {
  History history{setup(), committed({read(1, 1), write(1, 3)}, 10, 20),
                  committed({read(1, 1)}, 15, 25)};
  EXPECT_TRUE(accepted(history));
  history[2].begin = 21;
  EXPECT_FALSE(accepted(history));
}

TEST(HistoryChecker, RejectsStaleAbsence) {
  History history{setup(), committed({none(3), write(3, 3)}, 10, 20), committed({none(3)}, 15, 25)};
  EXPECT_TRUE(accepted(history));
  history[2].begin = 21;
  EXPECT_FALSE(accepted(history));
  history.push_back(committed({read(3, 3), erase(3)}, 21, 30));
  EXPECT_TRUE(accepted(history));
  history.push_back(committed({read(3, 3)}, 26, 30));
  EXPECT_FALSE(accepted(history));
}

TEST(HistoryChecker, RejectsAbortedReads) {
  History history{setup(), rolled_back({read(1, 1), write(1, 3), read(1, 3)})};
  EXPECT_TRUE(accepted(history));
  history.push_back(committed({read(1, 3)}));
  EXPECT_FALSE(accepted(history));
  history[1] = rolled_back({read(1, 1)});
  history[1].withdrawn = {3};
  EXPECT_FALSE(accepted(history));
}

TEST(HistoryChecker, RejectsIntermediateReads) {
  EXPECT_FALSE(accepted(
      {setup(), committed({read(1, 1), write(1, 3), write(1, 4)}), committed({read(1, 3)})}));
}

TEST(HistoryChecker, WhatIsRolledBackToASavepointWasNeverThere) {
  Transaction undoes = committed({read(1, 1), write(1, 3), mark, write(1, 4), erase(1), write(1, 5),
                                  back, read(1, 3), read(2, 2), write(2, 6), back, read(2, 2),
                                  erase(2), back, write(2, 7)});
  EXPECT_TRUE(accepted({setup(), undoes}));
  EXPECT_TRUE(accepted({setup(), undoes, committed({read(1, 3), read(2, 7)})}));
  for (Version undone : {4, 5})
    EXPECT_FALSE(accepted({setup(), undoes, committed({read(1, undone)})}));
  EXPECT_FALSE(accepted({setup(), undoes, committed({read(2, 6)})}));
  EXPECT_FALSE(accepted({setup(), undoes, committed({none(2)})}));
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), mark, write(1, 3), back, read(1, 3)})}));
  // What it had read before it went back counts.
  EXPECT_FALSE(accepted({setup(), committed({mark, read(2, 2), back, read(1, 1), write(1, 3)}),
                         committed({read(1, 1), read(2, 2), write(2, 4)})}));
}

TEST(HistoryChecker, ADoubtfulTransactionIsSettledByItsNote) {
  for (bool happened : {false, true}) {
    Recorder recorder(0);
    recorder.begin();
    recorder.absent(1);
    Version version = recorder.new_version(), note = recorder.new_version();
    recorder.write(1, version, 0);
    recorder.doubt(note);
    recorder.begin();
    recorder.read(1, version);
    recorder.commit();
    recorder.settle(happened ? std::set<Version>{note} : std::set<Version>{});
    EXPECT_EQ(accepted(recorder.history()), happened);
  }
}

TEST(HistoryChecker, RejectsReadsOfNothing) {
  EXPECT_FALSE(accepted({setup(), committed({read(1, 77)})}));
  EXPECT_FALSE(accepted({setup(), committed({read(1, 2)})}));
}

TEST(HistoryChecker, RejectsTwoAnswersForOneKey) {
  Transaction writer = committed({read(1, 1), write(1, 3)});
  EXPECT_FALSE(accepted({setup(), writer, committed({read(1, 1), read(1, 3)})}));
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), none(1)})}));
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), none(1, 1)})}));
}

TEST(HistoryChecker, RejectsOwnWritesNotSeen) {
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), write(1, 3), read(1, 1)})}));
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), write(1, 3, 7), none(1, 7)})}));
  EXPECT_TRUE(accepted({setup(), committed({read(1, 1), erase(1), none(1), write(1, 3, 7),
                                            some(1, 9, 7), none(1, 1)})}));
}

TEST(HistoryChecker, RejectsTwoRowsUnderOneKey) {
  EXPECT_FALSE(
      accepted({setup(), committed({none(3), write(3, 3)}), committed({none(3), write(3, 4)})}));
  EXPECT_TRUE(accepted({setup(), committed({none(3), write(3, 3)}),
                        committed({none(3), write(3, 4)}), committed({read(3, 4), erase(3)})}));
}

TEST(HistoryChecker, RejectsUniqueViolationsWithoutARowInTheWay) {
  EXPECT_TRUE(accepted({setup(), committed({some(1, 1)})}));
  EXPECT_FALSE(accepted({setup(), committed({some(3, 3)})}));
  EXPECT_FALSE(accepted({setup(), committed({some(1, 9, 7)})}));
  History history{setup(), committed({none(3), write(3, 3, 7)}, 10, 20),
                  committed({read(3, 3), erase(3)}, 30, 40), committed({some(1, 9, 7)}, 20, 25)};
  EXPECT_TRUE(accepted(history));
  history[3].begin = 41, history[3].end = 42;
  EXPECT_FALSE(accepted(history));
}

TEST(HistoryChecker, RejectsUpdatesThatShouldHaveMatched) {
  EXPECT_FALSE(accepted({setup(), committed({none(1)}, 5, 6)}));
  EXPECT_FALSE(accepted({setup(), committed({none(1, 1)}, 5, 6)}));
  EXPECT_TRUE(accepted({setup(), committed({none(1, 2)}, 5, 6)}));
}

TEST(HistoryChecker, WhatARolledBackTransactionWasToldWasTrue) {
  EXPECT_FALSE(accepted({setup(), committed({read(1, 1), read(2, 2), write(1, 3), write(2, 4)}),
                         rolled_back({read(1, 3), read(2, 2)})}));
}

TEST(HistoryChecker, ExplainsACycle) {
  std::string why = violation(
      {setup(), committed({read(1, 1), write(1, 3)}), committed({read(1, 1), write(1, 4)})});
  EXPECT_NE(why.find("T1 read what was overwritten by T2 (key 1)"), std::string::npos) << why;
}

// The definition. `state` holds versions and attributes.
struct Row {
  Version version;
  int attribute;
};
using State = std::map<Key, Row>;

bool agrees(const State& state, const Operation& operation) {
  auto matches = [&](const Row& row) {
    return operation.attribute == any_attribute || row.attribute == operation.attribute;
  };
  auto row = state.find(operation.key);
  if (operation.kind == Kind::read)
    return row != state.end() && row->second.version == operation.version;
  if (operation.kind == Kind::absent) return row == state.end() || !matches(row->second);
  return std::any_of(state.begin(), state.end(), [&](const auto& entry) {
    return entry.first >= operation.key && entry.first <= operation.last && matches(entry.second);
  });
}

bool perform(const Transaction& transaction, State& state) {
  State changed = state, marked;
  for (const Operation& operation : transaction.operations) {
    if (operation.kind == Kind::mark) {
      marked = changed;
    } else if (operation.kind == Kind::back) {
      changed = marked;
    } else if (operation.kind != Kind::write) {
      if (!agrees(changed, operation)) return false;
    } else if (operation.version == no_version) {
      changed.erase(operation.key);
    } else {
      changed[operation.key] = {operation.version, operation.attribute};
    }
  }
  if (transaction.committed) state = changed;
  return true;
}

bool is_serial(const History& history, const std::vector<size_t>& order) {
  State state;
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (history[order[j]].end < history[order[i]].begin) return false;
    }
    if (!perform(history[order[i]], state)) return false;
  }
  return true;
}

bool has_serial_order(const History& history) {
  std::vector<size_t> order(history.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    if (is_serial(history, order)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

// A random transaction that believes in `state`; tells what it would find there.
class Author {
 public:
  explicit Author(uint64_t seed) : random_(seed) {}

  // `keys` keys; `most` statements at most.
  Transaction transaction(State state, int keys, int most, int64_t at, int64_t slack) {
    Transaction made = committed({}, at - random(slack + 1), at + random(slack + 1));
    made.committed = random(8) != 0;
    State marked;
    for (int left = 1 + random(most); left > 0; --left) {
      bool undone = random(6) == 0;
      if (undone) made.operations.push_back(mark), marked = state;
      statement(state, keys, made.operations);
      if (undone) made.operations.push_back(back), state = marked;
    }
    return made;
  }
  int random(int64_t bound) {
    return static_cast<int>(random_.below(static_cast<uint64_t>(bound)));
  }

 private:
  void statement(State& state, int keys, std::vector<Operation>& told) {
    Key key = random(keys);
    int attribute = random(2);
    auto row = state.find(key);
    if (random(4) == 0) {
      Operation met = some(0, keys - 1, attribute);
      if (agrees(state, met)) {
        told.push_back(met);
      } else {
        for (Key each = 0; each < keys; ++each) told.push_back(none(each, attribute));
      }
      return;
    }
    told.push_back(row == state.end() ? none(key) : read(key, row->second.version));
    if (random(2) == 0) return;
    if (row != state.end() && random(2) == 0) {
      told.push_back(erase(key));
      state.erase(row);
    } else {
      told.push_back(write(key, ++version_, attribute));
      state[key] = {version_, attribute};
    }
  }

  Random random_;
  Version version_ = 0;
};

// Whether it agrees or not.
State after(const Transaction& transaction, State state) {
  State next = state, marked;
  for (const Operation& operation : transaction.operations) {
    if (operation.kind == Kind::mark) marked = next;
    if (operation.kind == Kind::back) next = marked;
    if (operation.kind != Kind::write) continue;
    next.erase(operation.key);
    if (operation.version != no_version)
      next[operation.key] = {operation.version, operation.attribute};
  }
  return transaction.committed ? next : state;
}

// Each transaction believes in the newest state or in one that is up to two transactions old.
TEST(HistoryChecker, AgreesWithTheDefinitionOnSmallHistories) {
  int good = 0, bad = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Author author(seed);
    std::vector<State> states(1);
    History history;
    for (int i = 0; i < 6; ++i) {
      size_t age = author.random(3) == 0 ? static_cast<size_t>(author.random(3)) : 0;
      const State& believed = states[states.size() - 1 - std::min(age, states.size() - 1)];
      history.push_back(author.transaction(believed, 3, 3, 10 * i, 40));
      states.push_back(after(history.back(), states.back()));
    }
    std::string found = violation(history);
    bool serial = has_serial_order(history);
    ++(serial ? good : bad);
    ASSERT_EQ(found.empty(), serial) << "seed " << seed << ": " << found;
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

TEST(HistoryChecker, AcceptsLongSerialHistories) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Author author(seed);
    State state;
    History history;
    for (int i = 0; i < 1000; ++i) {
      history.push_back(
          author.transaction(state, 8, 4, 10 * i, author.random(20) == 0 ? 3000 : 30));
      ASSERT_TRUE(perform(history.back(), state));
    }
    EXPECT_EQ(violation(history), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace pgsilo::history
