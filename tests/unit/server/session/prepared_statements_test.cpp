#include "server/session/prepared_statements.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/memory_budget.h"
#include "server/limits.h"
#include "server/statistics/statement_table.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::shared_ptr<PreparedStatement> made(std::string_view text = "") {
  auto syntax = std::make_shared<CachedText::Syntax>();
  syntax->text = text;
  auto statement = std::make_shared<PreparedStatement>();
  statement->text = std::make_shared<CachedText>();
  statement->text->syntax = std::move(syntax);
  return statement;
}

TEST(PreparedStatementsTest, RewindRestoresWhatStoodAtTheReplayPoint) {
  PreparedStatements statements;
  auto unnamed = made(), stays = made(), goes = made();
  statements.add("", unnamed);
  statements.add("stays", stays);
  statements.add("goes", goes);
  for (int run = 0; run < 2; ++run) {
    if (run == 0) statements.set_replay_point();
    statements.add("", made());
    statements.add("", made());
    EXPECT_TRUE(statements.remove("goes"));
    statements.add("goes", made());
    EXPECT_TRUE(statements.remove("goes"));
    statements.add("new", made());
    EXPECT_THROW(statements.add("stays", made()), SqlError);
    statements.rewind();
    EXPECT_EQ(statements.find(""), unnamed);
    EXPECT_EQ(statements.find("stays"), stays);
    EXPECT_EQ(statements.find("goes"), goes);
    EXPECT_EQ(statements.find("new"), nullptr);
  }
}

// However many came between.
TEST(PreparedStatementsTest, KeepsNothingElse) {
  PreparedStatements statements;
  statements.set_replay_point();
  auto first = made(), second = made();
  statements.add("", first);
  statements.add("", second);
  statements.add("", made());
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
  auto named = made();
  statements.add("named", named);
  statements.remove("named");
  EXPECT_EQ(named.use_count(), 1);
}

TEST(PreparedStatementsTest, ForgetsWhatWasBeforeAReplayPoint) {
  PreparedStatements statements;
  auto unnamed = made(), named = made();
  statements.add("", unnamed);
  statements.add("named", named);
  statements.set_replay_point();
  statements.add("", made());
  statements.remove_all();
  EXPECT_EQ(unnamed.use_count(), 2);
  EXPECT_EQ(named.use_count(), 2);
  statements.set_replay_point();
  EXPECT_EQ(unnamed.use_count(), 1);
  EXPECT_EQ(named.use_count(), 1);
  auto later = made();
  statements.add("", later);
  statements.add("", made());
  EXPECT_EQ(later.use_count(), 1);
}

// What was taken back or undone is not counted any more.
TEST(PreparedStatementsTest, AsksForRoomBeyondALittle) {
  MemoryCeiling ceiling(64 << 20, 1, [] { return MemoryUsage{1 << 30, 1 << 30}; });
  MemoryBudget budget(ceiling, 0);
  MemoryBudget::Use use(budget);
  std::string most(limits::free_statement_bytes * 3 / 4, ' ');
  PreparedStatements statements;
  for (int round = 0; round < 3; ++round) {
    statements.add("", made(most));
    statements.add("first", made(most));
    EXPECT_THROW(statements.add("second", made(most)), MemoryLimitReached);
    EXPECT_EQ(statements.find("second"), nullptr);
    statements.set_replay_point();
    statements.remove("first");
    statements.add("second", made(most));
    statements.rewind();
    EXPECT_THROW(statements.add("second", made(most)), MemoryLimitReached);
    statements.set_replay_point();
    if (round == 0) {
      statements.remove_all();
    } else {
      statements.remove("first");
    }
  }
}

// Found at another worker, a statement lets go of what is that of its old worker; once.
TEST(PreparedStatementsTest, TextsAreLeftBehind) {
  PreparedStatements statements;
  auto named = made(), unnamed = made();
  std::shared_ptr<CachedText> texts[] = {named->text, unnamed->text};
  for (auto& text : texts) {
    text->declared_types = {23};
    text->counters = std::make_shared<StatementCounters>(1, "");
  }
  statements.add("named", named);
  statements.add("", unnamed);
  statements.set_replay_point();
  EXPECT_FALSE(statements.find("named")->is_unsettled);
  EXPECT_EQ(named->text, texts[0]);

  PreparedStatements elsewhere = std::move(statements);
  elsewhere.arrive();
  for (const auto& [name, statement, text] :
       {std::tuple("named", named, texts[0]), std::tuple("", unnamed, texts[1])}) {
    EXPECT_EQ(statement->text, text) << "before it is used";
    EXPECT_EQ(elsewhere.find(name), statement);
    EXPECT_TRUE(statement->is_unsettled);
    EXPECT_NE(statement->text, text);
    EXPECT_EQ(statement->text->syntax, text->syntax);
    EXPECT_EQ(statement->text->declared_types, text->declared_types);
    EXPECT_EQ(statement->text->plans.size(), text->syntax->statements.size());
    EXPECT_EQ(statement->text->counters, nullptr);
    std::shared_ptr<CachedText> own = statement->text;
    EXPECT_EQ(elsewhere.find(name)->text, own);
  }
  // What comes later is of here.
  auto later = made();
  elsewhere.add("later", later);
  EXPECT_FALSE(elsewhere.find("later")->is_unsettled);
}

}  // namespace
}  // namespace pgsilo
