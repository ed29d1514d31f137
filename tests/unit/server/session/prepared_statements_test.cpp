#include "server/session/prepared_statements.h"

#include <gtest/gtest.h>

#include <memory>

#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::shared_ptr<PreparedStatement> made() { return std::make_shared<PreparedStatement>(); }

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

TEST(PreparedStatementsTest, KeepsNothingWithoutAReplayPoint) {
  PreparedStatements statements;
  auto unnamed = made(), named = made();
  statements.add("", unnamed);
  statements.add("named", named);
  statements.set_replay_point();
  statements.add("", made());
  statements.remove_all();
  EXPECT_EQ(unnamed.use_count(), 2);
  EXPECT_EQ(named.use_count(), 2);
  statements.drop_replay_point();
  EXPECT_EQ(unnamed.use_count(), 1);
  EXPECT_EQ(named.use_count(), 1);
  auto later = made();
  statements.add("", later);
  statements.add("", made());
  EXPECT_EQ(later.use_count(), 1);
}

}  // namespace
}  // namespace pgsilo
