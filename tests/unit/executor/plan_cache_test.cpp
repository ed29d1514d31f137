#include "executor/plan_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
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
  PlanCache cache({.texts = 2, .text_bytes = 100});
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

// What a text takes: its tree most of all.
TEST(PlanCacheTest, BoundsBytes) {
  std::string long_text = "select 1";
  for (int i = 0; i < 1000; ++i) long_text += ", 1";
  auto parsed = [&] { return parse_text(long_text, {}); };
  PlanCache unbounded({.bytes = SIZE_MAX});
  unbounded.insert("one", parsed());
  size_t one = unbounded.bytes();
  EXPECT_GT(one, 10000u);
  PlanCache cache({.bytes = 10 * one});
  for (int i = 0; i < 100; ++i) {
    cache.insert("key " + std::to_string(i), parsed());
    EXPECT_LE(cache.bytes(), 10 * one);
  }
  EXPECT_GE(cache.size(), 9u);
  EXPECT_NE(cache.find("key 99"), nullptr);
  EXPECT_EQ(cache.find("key 80"), nullptr);
  // One text alone does not drive all others out.
  PlanCache small({.bytes = 4 * one});
  small.insert("one", parsed());
  EXPECT_EQ(small.size(), 0u);
}

TEST(PlanCacheTest, GivesBackWhatIsWorthIt) {
  PlanCache cache({.least_given_back = 10000});
  EXPECT_FALSE(cache.give_back());
  cache.insert("small", std::make_shared<CachedText>());
  EXPECT_FALSE(cache.give_back());
  for (int i = 0; i < 100; ++i) cache.insert(std::to_string(i), parse_text("select 1", {}));
  EXPECT_TRUE(cache.give_back());
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PlanCacheTest, TakesAPartOfMemoryLimit) {
  constexpr size_t megabyte = size_t{1} << 20;
  EXPECT_EQ(PlanCache::bounds_of(64 * megabyte, 4).bytes, megabyte);
  EXPECT_EQ(PlanCache::bounds_of(100000 * megabyte, 4).bytes, limits::kept_plans_bytes);
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
