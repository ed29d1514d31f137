#include "server/statistics/statement_table.h"

#include <gtest/gtest.h>

#include <string>

#include "server/limits.h"

namespace pgsilo {
namespace {

StatementTable::Sums sums_of(const StatementTable& table) {
  StatementTable::Sums sums;
  table.add_to(sums);
  return sums;
}

TEST(StatementTable, FindsATextAgainThatLeftThePlanCache) {
  StatementTable table;
  std::shared_ptr<StatementCounters> kept, again;
  table.list(kept, "select $1").calls.add();
  table.list(again, "select $1").calls.add();
  EXPECT_EQ(kept, again);
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(sums_of(table).begin()->second.calls, 2);
  EXPECT_EQ(sums_of(table).begin()->second.text, "select $1");
}

TEST(StatementTable, SumsTheTablesOfSeveralWorkers) {
  StatementTable tables[2];
  StatementTable::Sums sums;
  for (StatementTable& table : tables) {
    std::shared_ptr<StatementCounters> kept;
    StatementCounters& counters = table.list(kept, "commit");
    counters.calls.add(3);
    counters.retries.add();
    counters.exclusive_runs.add();
    counters.aborts[static_cast<size_t>(TransactionStatus::conflict_node)].add();
    counters.aborts[static_cast<size_t>(TransactionStatus::must_wait)].add(2);
    table.add_to(sums);
  }
  ASSERT_EQ(sums.size(), 1u);
  const StatementStatistics& sum = sums.begin()->second;
  EXPECT_EQ(sum.calls, 6);
  EXPECT_EQ(sum.retries, 2);
  EXPECT_EQ(sum.exclusive_runs, 2);
  EXPECT_EQ(sum.aborts.node, 2);
  EXPECT_EQ(sum.aborts.intent, 4);
  EXPECT_EQ(sum.aborts.record, 0);
}

TEST(StatementTable, RareTextsMakeRoomAndAreListedAgainWhenTheyRun) {
  StatementTable table;
  std::shared_ptr<StatementCounters> often, rare;
  table.list(often, "often").calls.add(1000);
  table.list(rare, "rare");
  for (size_t i = 0; i < 3 * limits::counted_statements; ++i) {
    std::shared_ptr<StatementCounters> once;
    table.list(once, "select " + std::to_string(i)).calls.add();
    ASSERT_LE(table.size(), limits::counted_statements);
  }
  EXPECT_TRUE(often->listed);
  ASSERT_FALSE(rare->listed);
  table.list(rare, "rare").calls.add(7);
  int64_t calls = 0;
  for (const auto& [id, sum] : sums_of(table)) {
    if (sum.text == "rare") calls = sum.calls;
  }
  EXPECT_EQ(calls, 7);
}

TEST(StatementTable, ClearedCountsBeginAtZero) {
  StatementTable table;
  std::shared_ptr<StatementCounters> kept;
  table.list(kept, "select 1").calls.add(5);
  table.clear();
  EXPECT_EQ(table.size(), 0u);
  table.list(kept, "select 1").calls.add();
  EXPECT_EQ(sums_of(table).begin()->second.calls, 1);
}

TEST(StatementTable, KeepsTheBeginningOfALongText) {
  StatementTable table;
  std::shared_ptr<StatementCounters> first, second;
  std::string text(3 * limits::counted_statement_bytes, 'x');
  table.list(first, text + "1");
  table.list(second, text + "2");
  EXPECT_NE(first, second);
  EXPECT_EQ(first->text.size(), limits::counted_statement_bytes);
}

}  // namespace
}  // namespace pgsilo
