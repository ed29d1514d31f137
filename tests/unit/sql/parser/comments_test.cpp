#include "sql/parser/comments.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/arena.h"
#include "sql/parser/parser.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::string flattened(std::string sql) {
  flatten_comments(sql);
  return sql;
}

TEST(CommentsTest, InsideOfOthersAreBlanked) {
  EXPECT_EQ(flattened("select/*a/*b*/c*/1/*/**/*/"), "select/*a  b  c*/1/*    */");
  EXPECT_EQ(flattened("/* /* /* */ */ ä */ 1"), "/*             ä */ 1");
  EXPECT_EQ(flattened("/***/ /*/*/ */ */ 1"), "/***/ /*  /    */ 1");
}

TEST(CommentsTest, OthersStay) {
  for (const char* sql : {
           "select 1 /* a */ /* b */",
           "select '/* /* */ */', $$/*/**/*/$$, \"/*/**/*/\"",
           "select 1 -- /* /* \n /* a */",
           "select 1 /* /* */",  // it does not end
           "select 'a /* /* */ */",
           "",
       }) {
    EXPECT_EQ(flattened(sql), sql);
  }
}

TEST(CommentsTest, TakeLinearTime) {
  std::string sql = "select 1 ";
  constexpr int depth = 200'000;
  for (int i = 0; i < depth; ++i) sql += "/*";
  for (int i = 0; i < depth; ++i) sql += "*/";
  Arena arena;
  auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(sql, arena).size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(CommentsTest, LeaveErrorsWhereTheyAre) {
  Arena arena;
  try {
    parse("select /* ä /* b */ */ 1 fromm /* /* */ */ where", arena);
    FAIL();
  } catch (const SqlError& error) {
    EXPECT_EQ(error.diagnostic().message, "syntax error at end of input");
    EXPECT_EQ(error.diagnostic().position, 49);
  }
}

}  // namespace
}  // namespace pgsilo
