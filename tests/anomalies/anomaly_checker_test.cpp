// The checkers find an anomaly of each class where one was planted, and nothing where there is
// none.
#include "tests/anomalies/anomaly_checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <sstream>

namespace pgsilo::anomalies {
namespace {

using Kind = MicroOperation::Kind;
using Operations = std::vector<MicroOperation>;

MicroOperation append(Key key, Element element) { return {Kind::append, key, true, {element}}; }
MicroOperation write(Key key, Element element) { return {Kind::write, key, true, {element}}; }
MicroOperation read(Key key, std::vector<Element> elements) {
  return {Kind::read, key, true, std::move(elements)};
}

// Each gets a process and, unless told, a time in which all others run.
class Notes {
 public:
  Notes& ok(Operations operations) { return add(Outcome::ok, std::move(operations), 0, 1000000); }
  Notes& ok(int64_t from, int64_t to, Operations operations) {
    return add(Outcome::ok, std::move(operations), from, to);
  }
  Notes& fail(Operations operations) {
    return add(Outcome::fail, std::move(operations), 0, 1000000);
  }
  Notes& info(int64_t from, Operations operations) {
    return add(Outcome::info, std::move(operations), from, 1000000);
  }
  std::string lists() const { return names(check_lists(history_)); }
  std::string registers() const { return names(check_registers(history_)); }
  const ObservedHistory& history() const { return history_; }

 private:
  Notes& add(Outcome outcome, Operations operations, int64_t from, int64_t to) {
    history_.push_back(
        {static_cast<int>(history_.size()), from, to, outcome, std::move(operations)});
    return *this;
  }
  static std::string names(const Judgement& judgement) {
    std::string names;
    for (const Anomaly& each : judgement.anomalies)
      names += (names.empty() ? "" : ", ") + each.name;
    return names;
  }
  ObservedHistory history_;
};

TEST(ListCheckerTest, AValidHistoryIsValid) {
  Notes notes;
  notes.ok(0, 10, {append(1, 1), append(2, 1)})
      .ok(20, 30, {read(1, {1}), append(1, 2), read(1, {1, 2})})
      .fail({append(1, 9), read(1, {5})})
      .info(25, {append(2, 2)})
      .info(25, {append(2, 3)})
      .ok(40, 50, {read(2, {1, 3}), read(1, {1, 2}), append(3, 1)});
  EXPECT_EQ(notes.lists(), "");
}

TEST(ListCheckerTest, WritesInTwoOrdersAreG0) {
  Notes notes;
  notes.ok({append(1, 1), append(2, 1)})
      .ok({append(1, 2), append(2, 2)})
      .ok({read(1, {1, 2}), read(2, {2, 1})});
  EXPECT_NE(notes.lists().find("G0"), std::string::npos) << notes.lists();
}

TEST(ListCheckerTest, AWriteThatWasTakenBackIsG1a) {
  EXPECT_EQ(Notes().fail({append(1, 1)}).ok({read(1, {1})}).lists(), "G1a");
}

TEST(ListCheckerTest, AWriteInBetweenIsG1b) {
  EXPECT_EQ(Notes().ok({append(1, 1), append(1, 2)}).ok({read(1, {1})}).lists().substr(0, 3),
            "G1b");
}

TEST(ListCheckerTest, TwoThatReadEachOtherAreG1c) {
  Notes notes;
  notes.ok({append(1, 1), read(2, {1})}).ok({append(2, 1), read(1, {1})});
  EXPECT_EQ(notes.lists(), "G1c");
}

TEST(ListCheckerTest, AReadSkewIsGSingle) {
  Notes notes;
  notes.ok({append(1, 1), append(2, 1)}).ok({read(1, {1}), read(2, {})}).ok({read(2, {1})});
  EXPECT_EQ(notes.lists(), "G-single");
}

TEST(ListCheckerTest, ALostUpdateIsGSingle) {
  Notes notes;
  notes.ok({read(1, {}), append(1, 1)}).ok({read(1, {}), append(1, 2)}).ok({read(1, {1, 2})});
  EXPECT_EQ(notes.lists(), "G-single");
}

TEST(ListCheckerTest, AWriteSkewIsG2) {
  Notes notes;
  notes.ok({read(1, {}), append(2, 1)})
      .ok({read(2, {}), append(1, 1)})
      .ok({read(1, {1}), read(2, {1})});
  EXPECT_EQ(notes.lists(), "G2");
}

TEST(ListCheckerTest, ALongForkIsG2) {
  Notes notes;
  notes.ok({append(1, 1)})
      .ok({append(2, 1)})
      .ok({read(1, {1}), read(2, {})})
      .ok({read(1, {}), read(2, {1})});
  EXPECT_EQ(notes.lists(), "G2");
}

TEST(ListCheckerTest, AStaleReadBreaksRealTime) {
  Notes notes;
  notes.ok(0, 10, {append(1, 1)}).ok(20, 30, {read(1, {})}).ok(40, 50, {read(1, {1})});
  EXPECT_EQ(notes.lists(), "G-single-realtime");
}

TEST(ListCheckerTest, WritesAgainstRealTime) {
  Notes notes;
  notes.ok(0, 10, {append(1, 1)}).ok(20, 30, {append(1, 2)}).ok(25, 50, {read(1, {2, 1})});
  EXPECT_EQ(notes.lists(), "G0-realtime");
}

TEST(ListCheckerTest, ALostAppendBreaksRealTime) {
  Notes notes;
  notes.ok(0, 10, {append(1, 1)}).ok(5, 15, {append(1, 2)}).ok(20, 30, {read(1, {1})});
  EXPECT_EQ(notes.lists(), "G-single-realtime");
}

TEST(ListCheckerTest, HalfOfATransactionWithoutAnAnswerIsLost) {
  // Its append to 1 was seen, so that to 2 happened, too.
  Notes notes;
  notes.info(0, {append(1, 1), append(2, 1)}).ok(20, 30, {read(1, {1})}).ok(40, 50, {read(2, {})});
  EXPECT_EQ(notes.lists(), "G-single-realtime");
  EXPECT_EQ(Notes().info(0, {append(1, 1), append(2, 1)}).ok(40, 50, {read(2, {})}).lists(), "");
}

TEST(ListCheckerTest, AnOrderThatReadsDoNotShare) {
  Notes notes;
  notes.ok({append(1, 1)}).ok({append(1, 2)}).ok({read(1, {1, 2})}).ok({read(1, {2})});
  EXPECT_EQ(notes.lists(), "incompatible order");
}

TEST(ListCheckerTest, DuplicatesGarbageAndOnesOwnWrites) {
  EXPECT_NE(Notes().ok({append(1, 1)}).ok({read(1, {1, 1})}).lists().find("duplicate element"),
            std::string::npos);
  EXPECT_EQ(Notes().ok({read(1, {7})}).lists(), "garbage read");
  EXPECT_EQ(Notes().ok({append(1, 1), read(1, {})}).lists().substr(0, 8), "internal");
  EXPECT_EQ(Notes().ok({append(1, 1)}).ok({read(1, {}), read(1, {1})}).lists().substr(0, 8),
            "internal");
}

TEST(RegisterCheckerTest, AValidHistoryIsValid) {
  Notes notes;
  notes.ok(0, 10, {write(1, 1), write(2, 1)})
      .ok(20, 30, {read(1, {1}), write(1, 2), read(1, {2})})
      .fail({write(1, 9)})
      .info(25, {write(2, 2)})
      .info(25, {write(2, 3)})
      .ok(40, 50, {read(2, {3}), read(1, {2})})
      .ok(60, 70, {read(3, {}), read(2, {3})});
  EXPECT_EQ(notes.registers(), "");
}

TEST(RegisterCheckerTest, WritesThatWereTakenBackOrInBetween) {
  EXPECT_EQ(Notes().fail({write(1, 1)}).ok({read(1, {1})}).registers(), "G1a");
  EXPECT_EQ(Notes().ok({write(1, 1), write(1, 2)}).ok({read(1, {1})}).registers(), "G1b");
  EXPECT_EQ(Notes().ok({read(1, {7})}).registers(), "garbage read");
  EXPECT_EQ(Notes().ok({write(1, 1), read(1, {})}).registers(), "internal");
}

TEST(RegisterCheckerTest, WritesInTwoOrdersAreG0) {
  Notes notes;  // the orders follow from who read what he replaced
  notes.ok({write(1, 1), write(2, 2)})
      .ok({write(1, 2), write(2, 1)})
      .ok(0, 10, {write(3, 1)})
      .ok(20, 30, {read(1, {1})})
      .ok(40, 50, {read(1, {2})})
      .ok(20, 30, {read(2, {1})})
      .ok(40, 50, {read(2, {2})});
  EXPECT_EQ(notes.registers(), "G0");
}

TEST(RegisterCheckerTest, TwoThatReadEachOtherAreG1c) {
  Notes notes;
  notes.ok({write(1, 1), read(2, {1})}).ok({write(2, 1), read(1, {1})});
  EXPECT_EQ(notes.registers(), "G1c");
}

TEST(RegisterCheckerTest, SkewsAndLostUpdates) {
  Notes read_skew;
  read_skew.ok({write(1, 1), write(2, 1)}).ok({read(1, {1}), read(2, {})});
  EXPECT_EQ(read_skew.registers(), "G-single");
  Notes lost;
  lost.ok({write(1, 1)}).ok({read(1, {1}), write(1, 2)}).ok({read(1, {1}), write(1, 3)});
  EXPECT_EQ(lost.registers(), "G2");
  Notes write_skew;
  write_skew.ok({read(1, {}), write(2, 1)}).ok({read(2, {}), write(1, 1)});
  EXPECT_EQ(write_skew.registers(), "G2");
}

TEST(RegisterCheckerTest, StaleReadsAndWritesThatComeBack) {
  Notes stale;
  stale.ok(0, 10, {write(1, 1)}).ok(20, 30, {write(1, 2)}).ok(40, 50, {read(1, {1})});
  EXPECT_EQ(stale.registers(), "cyclic versions");
  Notes nothing;
  nothing.ok(0, 10, {write(1, 1)}).ok(20, 30, {read(1, {})});
  EXPECT_EQ(nothing.registers(), "cyclic versions");
  Notes half;  // of one without an answer
  half.info(0, {write(1, 1), write(2, 1)}).ok(20, 30, {read(1, {1})}).ok(40, 50, {read(2, {})});
  EXPECT_EQ(half.registers(), "G-single-realtime");
}

TEST(RegisterCheckerTest, ManyKeysAgainstRealTime) {
  Notes notes;  // no key is stale by itself
  notes.ok(5, 8, {write(1, 1)}).ok(0, 60, {read(1, {1}), write(2, 1)}).ok(1, 3, {read(2, {1})});
  EXPECT_EQ(notes.registers(), "G1c-realtime");
}

TEST(ObservedHistoryTest, ComesBackFromItsFile) {
  Notes notes;
  notes.ok({append(1, 1), read(1, {1}), read(2, {})});
  MicroOperation unknown = read(1, {});
  unknown.is_answered = false;
  notes.info(3, {append(2, 5), unknown}).fail({append(7, 1)});
  std::stringstream file;
  write_history(notes.history(), file);
  ObservedHistory again = read_history(file);
  ASSERT_EQ(again.size(), 3U);
  for (const ObservedTransaction& each : notes.history()) {
    auto same = [&](const ObservedTransaction& other) { return text_of(other) == text_of(each); };
    EXPECT_TRUE(std::any_of(again.begin(), again.end(), same)) << text_of(each);
  }
}

// Histories of one database that runs its transactions one by one, noted with some delay; then with
// one answer changed.
ObservedHistory serial_history(int transactions, bool lists, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<Key, std::vector<Element>> state;
  ObservedHistory history;
  int64_t now = 1000000;
  Element next = 0;
  for (int i = 0; i < transactions; ++i) {
    now += 10;
    ObservedTransaction made{i % 20,
                             now - static_cast<int64_t>(random() % 90),
                             now + 1 + static_cast<int64_t>(random() % 90),
                             Outcome::ok,
                             {}};
    for (uint64_t operations = 1 + random() % 6; operations > 0; --operations) {
      Key key = static_cast<Key>(i / 60 + static_cast<int>(random() % 12));
      if (random() % 2 == 0) {
        made.operations.push_back(read(key, state[key]));
        continue;
      }
      made.operations.push_back(lists ? append(key, ++next) : write(key, ++next));
      if (!lists) state[key].clear();
      state[key].push_back(next);
    }
    history.push_back(std::move(made));
  }
  return history;
}

TEST(CheckersTest, ManySerialHistoriesAreValidAndAChangedAnswerIsSeen) {
  for (bool lists : {true, false}) {
    auto check = lists ? check_lists : check_registers;
    size_t changed = 0, noticed = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      ObservedHistory history = serial_history(400, lists, seed);
      Judgement judgement = check(history);
      ASSERT_TRUE(judgement.is_valid())
          << judgement.anomalies[0].name << judgement.anomalies[0].text;
      // A read in the middle loses its newest element, or tells of the state before.
      for (size_t i = 200; i < 400; ++i) {
        auto& operations = history[i].operations;
        if (operations[0].kind != Kind::read || operations[0].elements.empty()) continue;
        operations[0].elements.pop_back();
        ++changed;
        noticed += check(history).is_valid() ? 0 : 1;
        break;
      }
    }
    EXPECT_EQ(changed, 60U);
    EXPECT_GT(noticed, changed / 2);  // some may have read so by right, as far as anybody was told
  }
}

TEST(CheckersTest, TimeIsLinear) {
  for (bool lists : {true, false}) {
    auto seconds = [&](int transactions) {
      ObservedHistory history = serial_history(transactions, lists, 1);
      auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE((lists ? check_lists : check_registers)(history).is_valid());
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    double few = seconds(10000), many = seconds(80000);
    EXPECT_LT(many, few * 8 * 4 + 1) << few << " seconds for an eighth";
  }
}

}  // namespace
}  // namespace pgsilo::anomalies
