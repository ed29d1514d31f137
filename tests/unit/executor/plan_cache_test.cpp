#include "executor/plan_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "executor/executable_plan.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

std::string key_of(std::string_view text, std::span<const Oid> types = {},
                   std::string_view settings = {}) {
  std::string key;
  PlanCache::make_key(text, types, settings, &key);
  return key;
}

TEST(PlanCacheTest, KeysTellEverythingApart) {
  std::array<Oid, 1> int4 = {23};
  std::array<Oid, 1> int8 = {20};
  EXPECT_EQ(key_of("select $1", int4), key_of("select $1", int4));
  EXPECT_NE(key_of("select $1", int4), key_of("select $1", int8));
  EXPECT_NE(key_of("select $1", int4), key_of("select $1"));
  EXPECT_NE(key_of("select 1", {}, "a"), key_of("select 1", {}, "b"));
  EXPECT_NE(key_of("bc", {}, "a"), key_of("c", {}, "ab"));
}

TEST(PlanCacheTest, KeepsWhatWasUsedLast) {
  PlanCache cache(2, 100);
  auto first = std::make_shared<CachedText>();
  auto second = std::make_shared<CachedText>();
  auto third = std::make_shared<CachedText>();
  cache.insert("first", first);
  cache.insert("second", second);
  EXPECT_EQ(cache.find("first"), first);
  cache.insert("third", third);
  EXPECT_EQ(cache.find("second"), nullptr);
  EXPECT_EQ(cache.find("first"), first);
  EXPECT_EQ(cache.find("third"), third);
  EXPECT_EQ(cache.size(), 2u);
  cache.insert("first", second);
  EXPECT_EQ(cache.find("first"), second);
  EXPECT_EQ(cache.size(), 2u);
  cache.insert(std::string(101, 'x'), first);
  EXPECT_EQ(cache.size(), 2u);
}

TEST(PlanCacheTest, ParsesTextsOfSeveralStatements) {
  std::shared_ptr<CachedText> text = parse_text("select 1; begin;", {});
  ASSERT_EQ(text->syntax->statements.size(), 2u);
  EXPECT_EQ(text->syntax->statements[1].statement->kind, ast::NodeKind::transaction_stmt);
  EXPECT_EQ(text->plans.size(), 2u);
  EXPECT_EQ(parse_text(" -- nothing\n", {})->syntax->statements.size(), 0u);
  EXPECT_THROW(parse_text("selec 1", {}), SqlError);
}

}  // namespace
}  // namespace pgsilo
