// Two or three threads with one to three operations each on a small tree, under every schedule with
// a bounded number of preemptions. Each run must be linearizable: some sequential order of the
// operations, in agreement with the order in which they began and ended, explains every answer and
// the final tree. A key goes when its record is marked, as for transactions. Scans count when their
// node set validates afterwards; then they must have been true at a moment behind their last read,
// or, if some of the records are gone by then, have missed no key that was there at that moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/tree_scenario.h"

namespace pgsilo {
namespace {

std::string key(int number) { return big_endian(static_cast<uint64_t>(number) * 10, 4); }
std::string between(int number) { return big_endian(static_cast<uint64_t>(number) * 10 + 5, 4); }

std::vector<std::string> keys_to(int count) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (int i = 0; i < count; ++i) keys.push_back(key(i));
  return keys;
}

// All but the first key of each full border node, so that nodes hold one key each.
std::vector<std::string> thinned(int count, std::vector<int> kept = {}) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) {
    bool keep = kept.empty() ? i % 15 == 0 : std::find(kept.begin(), kept.end(), i) != kept.end();
    if (!keep) keys.push_back(key(i));
  }
  return keys;
}

const std::string everything_low = "";
const std::string everything_high = std::string(24, '\xff');

std::vector<Scenario> scenarios() {
  std::vector<Scenario> list;
  auto add = [&](const char* name, std::vector<std::string> present,
                 std::vector<std::string> removed, std::vector<std::vector<Operation>> threads) {
    list.push_back({name, std::move(present), std::move(removed), std::move(threads)});
  };
  std::string low = everything_low, high = everything_high;

  add("InsertsInOneNode", keys_to(3), {},
      {{insert(between(0)), get(between(1))}, {insert(between(1)), get(between(0))}});
  add("TheSameInsertTwice", keys_to(3), {},
      {{insert(between(0))}, {insert(between(0)), get(between(0))}});
  add("InsertAgainstRemoveAndReuse", keys_to(3), {},
      {{remove(key(1)), insert(between(2))}, {get(key(1)), guarded_get(between(2))}});
  add("InsertAgainstScans", keys_to(4), {},
      {{insert(between(0)), insert(between(2))}, {scan(low, high), scan_back(low, high)}});
  add("SplitAgainstInsert", keys_to(15), {},
      {{insert(between(7))}, {insert(between(3)), get(between(7))}});
  add("TwoSplits", keys_to(15), {},
      {{insert(between(2)), get(between(12))}, {insert(between(12)), get(between(2))}});
  add("SplitAgainstGets", keys_to(15), {},
      {{insert(between(7))}, {get(key(14)), guarded_get(between(7)), get(key(0))}});
  add("SplitAgainstScan", keys_to(15), {}, {{insert(between(7))}, {scan(key(2), key(12))}});
  add("SplitAgainstBackwardScan", keys_to(15), {},
      {{insert(between(7))}, {scan_back(key(2), key(12))}});
  add("SplitOfAMiddleNodeAgainstScan", keys_to(45), {},
      {{insert(between(20))}, {scan(key(10), key(40))}});
  add("SplitOfAMiddleNodeAgainstBackwardScan", keys_to(45), {},
      {{insert(between(20))}, {scan_back(key(10), key(40))}});
  add("SplitAgainstRemove", keys_to(15), {},
      {{insert(between(7))}, {remove(key(10)), remove(key(2))}});
  add("InteriorSplit", keys_to(15 * 16), {},
      {{insert(between(100))}, {get(key(200)), insert(between(130))}});
  add("InteriorSplitAgainstScan", keys_to(15 * 16), {},
      {{insert(between(100))}, {scan(key(95), key(130))}});
  add("InteriorSplitAgainstNodeRemoval", keys_to(15 * 16),
      thinned(15 * 16,
              [] {
                std::vector<int> kept;
                for (int i = 0; i < 15 * 16; ++i) {
                  if (i < 15 * 10 || i % 15 == 0) kept.push_back(i);
                }
                return kept;
              }()),
      {{insert(between(100))}, {remove(key(15 * 12)), get(key(15 * 13))}});

  add("RemovalOfANodeAgainstInsert", keys_to(45), thinned(45),
      {{remove(key(15))}, {insert(between(16)), get(key(30))}});
  add("RemovalOfANodeAgainstItsRevival", keys_to(45), thinned(45),
      {{remove(key(15)), insert(key(16))}, {insert(key(15)), get(key(16))}});
  add("RemovalOfANodeAgainstScan", keys_to(45), thinned(45),
      {{remove(key(15))}, {scan(low, high)}});
  add("RemovalOfANodeAgainstBackwardScan", keys_to(45), thinned(45),
      {{remove(key(15))}, {scan_back(low, high)}});
  add("RemovalAndInsertAgainstScan", keys_to(45), thinned(45),
      {{remove(key(15)), insert(between(17))}, {scan(key(5), key(35))}});
  add("RemovalAndInsertAgainstBackwardScan", keys_to(45), thinned(45),
      {{remove(key(15)), insert(between(17))}, {scan_back(key(5), key(35))}});
  add("RemovalAndInsertAgainstGuardedGet", keys_to(45), thinned(45),
      {{remove(key(15)), insert(between(17))}, {guarded_get(between(17))}});
  add("RemovalOfNeighbours", keys_to(60), thinned(60),
      {{remove(key(15)), get(key(30))}, {remove(key(30)), get(key(45))}});
  add("RemovalOfANodeAgainstSplitOfItsNeighbour", keys_to(45),
      [] {
        std::vector<std::string> removed;
        for (int i = 16; i < 30; ++i) removed.push_back(key(i));
        return removed;
      }(),
      {{remove(key(15)), get(between(12))}, {insert(between(12)), get(key(14))}});
  add("RemovalOfTheLeftmostsLastKey", keys_to(30), thinned(30),
      {{remove(key(0)), insert(key(1))}, {remove(key(15)), scan(low, high)}});
  // 16 full nodes and one more: two interior nodes under a root. The first node of the second one
  // goes.
  std::vector<int> few;
  few.reserve(17);
  for (int i = 0; i < 17; ++i) few.push_back(i * 15);
  add("RemovalOfAFirstChild", keys_to(15 * 17), thinned(15 * 17, few),
      {{remove(key(15 * 15))}, {insert(between(15 * 15)), get(between(15 * 15))}});
  add("RemovalOfAFirstChildAgainstGets", keys_to(15 * 17), thinned(15 * 17, few),
      {{remove(key(15 * 15)), insert(between(15 * 15 + 2))},
       {get(key(15 * 16)), guarded_get(between(15 * 15 + 2))}});
  add("RemovalOfAWholeInteriorNode", keys_to(15 * 17), thinned(15 * 17, few),
      {{remove(key(15 * 15)), remove(key(15 * 16))},
       {insert(between(15 * 16)), scan(key(15 * 14), high)}});

  // Two nodes become one.
  add("MergeAgainstGets", keys_to(45), thinned(45),
      {{merge(key(15))}, {get(key(15)), guarded_get(between(15)), get(key(0))}});
  add("MergeAgainstInserts", keys_to(45), thinned(45),
      {{merge(key(15))}, {insert(between(15)), get(key(15)), insert(between(0))}});
  add("MergeAgainstRemoval", keys_to(45), thinned(45),
      {{merge(key(15))}, {remove(key(15)), insert(key(16)), get(key(30))}});
  add("MergeAgainstRemovalOfTheHeirsKey", keys_to(45), thinned(45),
      {{merge(key(30))}, {remove(key(15)), get(key(30))}});
  add("MergeAndInsertAgainstScan", keys_to(45), thinned(45),
      {{merge(key(15)), insert(between(17))}, {scan(key(5), key(35))}});
  add("MergeAndInsertAgainstBackwardScan", keys_to(45), thinned(45),
      {{merge(key(15)), insert(between(17))}, {scan_back(key(5), key(35))}});
  add("MergeAndInsertAgainstGuardedGet", keys_to(45), thinned(45),
      {{merge(key(15)), insert(between(17))}, {guarded_get(between(17))}});
  add("MergeAndInsertAgainstScanAndInsert", keys_to(45), thinned(45),
      {{merge(key(15)), insert(key(17))}, {scan_and_insert(key(15), key(20), key(16))}});
  add("MergeAndInsertIntoTheHeirAgainstScanAndInsert", keys_to(45), thinned(45),
      {{merge(key(15)), insert(key(3))}, {scan_and_insert(key(15), key(20), key(16))}});
  add("MergesOfNeighbours", keys_to(60), thinned(60),
      {{merge(key(15)), get(key(30))}, {merge(key(45)), get(key(15))}});
  add("TheSameMergeTwice", keys_to(45), thinned(45),
      {{merge(key(15)), get(key(15))}, {merge(key(15)), get(key(30))}});
  std::vector<int> eight_and_two = {15, 16, 30};
  for (int i = 0; i < 8; ++i) eight_and_two.push_back(i);
  std::vector<Operation> six_inserts;
  for (int i = 0; i < 6; ++i) six_inserts.push_back(insert(between(i)));
  add("MergeAgainstInsertsThatFillTheHeir", keys_to(45), thinned(45, eight_and_two),
      {{merge(key(16)), get(key(16))}, six_inserts});
  add("MergeOfAFirstChild", keys_to(15 * 17), thinned(15 * 17, few),
      {{merge(key(15 * 15))}, {insert(between(15 * 15)), get(key(15 * 15))}});
  std::vector<std::string> most;
  for (int i = 1; i < 14; ++i) most.push_back(key(i * 15));
  add("MergeOfInteriorNodesAgainstGets", keys_to(15 * 17), thinned(15 * 17, few),
      {{merge(key(15 * 15))}, {get(key(15 * 16)), guarded_get(between(15 * 16)), get(key(0))}});
  list.back().merged = most;
  add("MergeOfInteriorNodesAgainstRemovals", keys_to(15 * 17), thinned(15 * 17, few),
      {{merge(key(15 * 15))}, {remove(key(15 * 16)), scan(key(15 * 12), high)}});
  list.back().merged = most;

  // A node goes, and its heir answers for its keys.
  add("ScanAndInsertAgainstRemovalOfANode", keys_to(45), thinned(45),
      {{remove(key(15))}, {scan_and_insert(key(15), key(20), key(3))}});
  add("ScanAndInsertAgainstRemovalAndInsert", keys_to(45), thinned(45),
      {{remove(key(15)), insert(key(16))}, {scan_and_insert(key(15), key(20), key(3))}});
  add("ScanAndInsertIntoTheHeirAgainstInsert", keys_to(45), thinned(45),
      {{remove(key(15)), insert(key(17))}, {scan_and_insert(key(14), key(20), key(16))}});
  add("RemovalOfNodesOneByOneAgainstGuardedGet", keys_to(45), thinned(45),
      {{remove(key(30)), remove(key(15)), insert(key(32))}, {guarded_get(key(32))}});
  add("RemovalOfNodesOneByOneAgainstScan", keys_to(45), thinned(45),
      {{remove(key(30)), remove(key(15)), insert(key(32))}, {scan(key(14), key(40))}});
  std::vector<std::string> heir_full;
  for (int i = 16; i < 45; ++i) {
    if (i != 30) heir_full.push_back(key(i));
  }
  add("ScanAndInsertThatSplitsTheHeir", keys_to(45), heir_full,
      {{remove(key(15)), insert(key(17))}, {scan_and_insert(key(15), key(20), between(7))}});
  add("ScanAndInsertAgainstSplitOfTheHeir", keys_to(45), heir_full,
      {{remove(key(15)), insert(between(7))}, {scan_and_insert(key(15), key(20), key(16))}});

  std::string p = "prefix--";
  add("GuardedGetAgainstLayerRemovalAndInsert", {p + "one", p + "two"}, {p + "two"},
      {{remove(p + "one"), insert(p + "three")}, {guarded_get(p + "three"), get(p + "one")}});
  add("ScanAndInsertAgainstLayerRemoval", {"a", p + "one", p + "two"}, {p + "two"},
      {{remove(p + "one"), insert(p + "x")}, {scan_and_insert(p, p + "~", p + "three")}});
  add("ScanAndInsertIntoALayerThatWent", {"a", p + "one", p + "two"}, {p + "two"},
      {{remove(p + "one")}, {scan_and_insert(p, p + "~", p + "three"), insert(p + "x")}});
  add("LayerCreationTwice", {p + "one"}, {},
      {{insert(p + "two"), get(p + "three")}, {insert(p + "three"), get(p + "two")}});
  add("LayerCreationAgainstGets", {p + "one"}, {},
      {{insert(p + "two")}, {get(p + "one"), guarded_get(p + "two")}});
  add("LayerCreationAgainstScans", {"a", p + "one", "z"}, {},
      {{insert(p + "two")}, {scan(low, high), scan_back(low, high)}});
  add("LayerCreationAgainstRemoval", {p + "one"}, {},
      {{insert(p + "two")}, {remove(p + "one"), get(p + "two")}});
  add("ChainOfLayersAgainstInsert", {p + p + p + "one"}, {},
      {{insert(p + p + p + "two")}, {insert(p + "x"), get(p + p + p + "two")}});
  add("LayerRemovalAgainstInsert", {p + "one", p + "two"}, {p + "two"},
      {{remove(p + "one")}, {insert(p + "two"), get(p + "two")}});
  add("LayerRemovalAgainstItsRevival", {p + "one", p + "two"}, {p + "two"},
      {{remove(p + "one"), insert(p + "one")}, {get(p + "two"), insert(p + "two")}});
  add("LayerRemovalAgainstScans", {"a", p + "one", p + "two", "z"}, {p + "two"},
      {{remove(p + "one"), insert(p + "0")}, {scan(low, high)}});
  add("LayerRemovalAgainstBackwardScans", {"a", p + "one", p + "two", "z"}, {p + "two"},
      {{remove(p + "one"), insert(p + "0")}, {scan_back(low, high)}});
  add("NestedLayerRemoval", {p + p + "one", p + p + "two"}, {p + p + "two"},
      {{remove(p + p + "one")}, {insert(p + "x"), get(p + p + "one")}});
  add("NestedLayerRemovals", {p + p + "one", p + p + "two", p + "three"}, {p + p + "two"},
      {{remove(p + p + "one")}, {remove(p + "three"), insert(p + p + "two")}});
  std::vector<std::string> layered, layered_thin;
  for (int i = 0; i < 15; ++i) layered.push_back(p + key(i));
  add("ALayerGrowsAgainstGets", layered, {},
      {{insert(p + between(7))}, {get(p + key(14)), guarded_get(p + between(7))}});
  add("ALayerGrowsAgainstInserts", layered, {},
      {{insert(p + between(7)), get(p + key(3))}, {insert(p + between(2))}});
  add("ALayerGrowsAgainstScan", layered, {}, {{insert(p + between(7))}, {scan(low, high)}});
  layered.push_back(p + key(15));
  for (int i = 0; i < 16; ++i) {
    if (i != 0 && i != 15) layered_thin.push_back(p + key(i));
  }
  add("ALayerOfTwoNodesVanishes", layered, layered_thin,
      {{remove(p + key(0)), insert(p + "x")}, {remove(p + key(15)), get(p + "x")}});

  // Where the key before went may have got another key, split, gone or become another's meanwhile.
  add("AppendsAgainstInsert", keys_to(3), {},
      {{append(key(5)), append(key(6))}, {insert(between(5)), get(key(6))}});
  add("AppendsOfTheSameKeys", keys_to(3), {},
      {{append(key(5)), append(key(6))}, {insert(key(6)), append(key(5))}});
  add("AppendsThatSplitAgainstInsert", keys_to(14), {},
      {{append(key(20)), append(key(21)), append(key(22))},
       {insert(between(20)), guarded_get(key(21))}});
  add("AppendsAgainstSplit", keys_to(14), {},
      {{append(key(20)), append(between(12))}, {insert(between(7)), get(key(20))}});
  add("AppendsAgainstScans", keys_to(4), {},
      {{append(key(5)), append(key(6))}, {scan(low, high), scan_back(low, high)}});
  add("AppendsAgainstGuardedGet", keys_to(4), {},
      {{append(key(5)), append(key(6))}, {guarded_get(key(6)), guarded_get(key(5))}});
  add("AppendsAgainstRemovalOfTheNode", keys_to(45), thinned(45),
      {{append(key(31)), append(key(32))}, {remove(key(30)), remove(key(31)), scan(low, high)}});
  add("AppendsAgainstMerge", keys_to(45), thinned(45),
      {{append(key(16)), append(key(17))}, {merge(key(15)), get(key(17))}});
  add("AppendsAgainstMergeAndScan", keys_to(45), thinned(45),
      {{append(key(16)), append(key(17))}, {merge(key(15)), scan(key(5), key(35))}});
  add("AppendsAgainstLayerRemoval", {"a", p + "one", p + "two"}, {p + "two"},
      {{append(p + "x"), append(p + "y")}, {remove(p + "one"), remove(p + "x"), get(p + "y")}});
  layered.pop_back();
  add("AppendsToALayerThatGrows", layered, {},
      {{append(p + key(20)), append(p + key(21))}, {insert(p + between(7)), get(p + key(20))}});

  add("ThreeThreads", keys_to(15), {},
      {{insert(between(7))}, {remove(key(8))}, {scan(key(5), key(10))}});
  return list;
}

class TreeInterleavingTest : public ::testing::TestWithParam<Scenario> {};

TEST_P(TreeInterleavingTest, IsLinearizableUnderEverySchedule) {
  const Scenario& scenario = GetParam();
  // PGSILO_PREEMPTIONS=3 makes a campaign of it.
  const char* wanted = std::getenv("PGSILO_PREEMPTIONS");
  int preemptions = wanted != nullptr ? std::atoi(wanted) : 2;
  if (scenario.threads.size() > 2) --preemptions;
  Interleaver interleaver(static_cast<int>(scenario.threads.size()), preemptions,
                          [&] { return new ScenarioRun(scenario); });
  EXPECT_EQ(interleaver.explore(), "");
  EXPECT_GT(interleaver.runs(), 100u);
  RecordProperty("runs", static_cast<int>(interleaver.runs()));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, TreeInterleavingTest, ::testing::ValuesIn(scenarios()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace pgsilo
