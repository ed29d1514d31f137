// Changes whose answers told nothing, by what others have found.
#include <gtest/gtest.h>

#include "tests/history/history_checker.h"

namespace pgsilo::history {
namespace {

using Kind = Operation::Kind;

Operation read(Key key, Version version) { return {Kind::read, key, key, version}; }
Operation none(Key key) { return {Kind::absent, key, key}; }
Operation write(Key key, Version version) { return {Kind::write, key, key, version}; }

// Overlaps with all others unless told otherwise.
Transaction committed(std::vector<Operation> operations, int64_t begin = 10,
                      int64_t end = INT64_MAX) {
  return {0, begin, end, true, std::move(operations), {}};
}
bool accepted(const History& history) { return HistoryChecker(history).check().violation.empty(); }

// Rows 1 and 2, versions 1 and 2.
Transaction setup() { return committed({none(1), none(2), write(1, 1), write(2, 2)}, 0, 1); }

// Key 1 was changed to `version` without a word about what was there.
Transaction changed(Version version, bool commits) {
  Recorder recorder(0);
  recorder.begin();
  recorder.change(1, version);
  recorder.acknowledge();
  commits ? recorder.commit() : recorder.abort();
  Transaction transaction = recorder.history().front();
  transaction.begin = 10;
  return transaction;
}

TEST(Findings, TellWhatAChangeReplacedAndUsed) {
  Findings findings;
  findings.add(3, {{1, 1}, {2, 2}});
  History history{setup(), changed(3, true)};
  EXPECT_EQ(findings.complete(&history), "");
  EXPECT_TRUE(accepted(history));
  EXPECT_FALSE(accepted({history[0], history[1], committed({read(1, 1), write(1, 4)})}));
  // Each used what the other replaced.
  EXPECT_FALSE(
      accepted({history[0], history[1], committed({read(1, 1), read(2, 2), write(2, 4)})}));
}

TEST(Findings, AreWhatTheWriterWasTold) {
  Findings findings;
  findings.add(4, {{1, 3}});
  History history{setup(), committed({read(1, 1), write(1, 3), write(1, 4)})};
  EXPECT_EQ(findings.complete(&history), "");
  EXPECT_TRUE(accepted(history));
  findings.add(3, {{1, 2}});
  history.pop_back();
  history.push_back(committed({read(1, 1), write(1, 3)}));
  EXPECT_EQ(findings.complete(&history), "");
  EXPECT_FALSE(accepted(history));
}

TEST(Findings, MustAgreeAndMustBeThere) {
  History history{setup(), changed(3, true)};
  EXPECT_NE(Findings().complete(&history), "");
  Findings findings, others;
  findings.add(3, {{1, 1}});
  others.add(3, {{1, 1}});
  findings.add(others);
  EXPECT_EQ(findings.complete(&history), "");
  others.add(3, {{1, 2}});
  findings.add(others);
  EXPECT_NE(findings.complete(&history), "");
}

TEST(Findings, NobodyFindsWhatDidNotHappen) {
  History history{setup(), changed(3, false)};
  EXPECT_EQ(Findings().complete(&history), "");
  EXPECT_TRUE(accepted(history));
  EXPECT_FALSE(accepted({history[0], history[1], committed({read(1, 3)})}));
  for (bool happened : {false, true}) {
    Recorder recorder(0);
    recorder.begin();
    recorder.attempt(3, 4, /*row=*/1);
    recorder.doubt(9);
    recorder.settle({9});
    Findings findings;
    if (happened) findings.add(4, {{3, no_version}});
    history = {setup(), recorder.history().front()};
    EXPECT_EQ(findings.complete(&history), "");
    // If not, its row was not there.
    EXPECT_EQ(accepted(history), happened);
  }
}

}  // namespace
}  // namespace pgsilo::history
