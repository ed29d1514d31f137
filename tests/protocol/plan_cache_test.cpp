// Texts that differ only in their literals share a plan from their third run on. Cached and
// uncached runs must give the same messages: rows, types, names, tags, errors and their positions.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/protocol/raw_client.h"

namespace pgsilo::protocol_test {
namespace {

constexpr const char* templates[] = {
    "select * from plan_cache_test where a = %s",
    "select a, b from plan_cache_test where a < %s order by 1 desc limit 3",
    "select a + %s, %s as x from plan_cache_test where a = 2",
    "select b || %s from plan_cache_test where a = 3",
    "select %s",
    "select %s, pg_typeof(%s)",
    "select * from plan_cache_test where b = %s",
    "select * from plan_cache_test where c > %s order by a",
    "select * from plan_cache_test where e = %s",
    "select * from plan_cache_test where a in (%s, 4, %s) order by a",
    "select count(*) from plan_cache_test where f between %s and 5 group by a > %s",
    ("select coalesce(null, %s), case when a = 1 then %s end from plan_cache_test where a < 3 "
     "order by a"),
    "update plan_cache_test set d = %s where a = 5 returning *",
    "update plan_cache_test set c = %s where a = 6",
    "insert into plan_cache_test (a, b) values (1, %s)",
    "values (%s), (%s)",
    "select 1 / (a - 1) from plan_cache_test where a = %s",
    "select nosuch from plan_cache_test where a = %s",
    "select cast(%s as int)",
    "select -%s, - %s",
    "select %s::numeric(4, 1)",
    "select length(%s)",
    "select substr('abcdef', %s)",
};
constexpr const char* literals[] = {"1",          "7",   "'7'",        "2.5",
                                    "3000000000", "'x'", "'it''s'",    "'2024-01-04'",
                                    "-4",         "1e3", "'abcdefgh'", "99999999999999999999",
                                    "null",       "''"};

std::string filled(std::string form, std::string_view literal) {
  for (size_t at = form.find("%s"); at != std::string::npos; at = form.find("%s"))
    form.replace(at, 2, literal);
  return form;
}

class PlanCacheProtocolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client.start();
    client.ask(query("drop table if exists plan_cache_test"));
    ASSERT_EQ(client.ask(query("create table plan_cache_test (a int primary key, b text, c "
                               "numeric(8, 2), d varchar(5), "
                               "e date, f float8)")),
              "CZI");
    ASSERT_EQ(client.ask(query("insert into plan_cache_test select g, 'b' || g, g / 4.0, 'd' || g, "
                               "date '2024-01-01' + g, "
                               "g * 0.5 from generate_series(1, 20) g")),
              "CZI");
  }
  void TearDown() override { client.ask(query("drop table if exists plan_cache_test")); }

  // Everything the server says to a text, byte by byte; but columns that are told and then nothing
  // of them: what cannot be computed of constants is told before, of a plan's parameters behind.
  std::string transcript(std::string_view sql) {
    client.send(query(sql));
    std::string said;
    std::string columns;
    for (const Message& each : client.read_answer()) {
      if (each.type != 'E') said += columns;
      columns.clear();
      (each.type == 'T' ? columns : said) += each.type + each.body;
    }
    return said;
  }
  // A comment makes the text one of its own, which is planned as it is.
  std::string uncached(const std::string& sql) {
    return transcript(sql + " -- once " + std::to_string(++once_));
  }

  RawClient client;
  int once_ = 0;
};

TEST_F(PlanCacheProtocolTest, CachedRunsSayWhatUncachedOnesSay) {
  int compared = 0;
  for (const char* form : templates) {
    for (const char* literal : literals) {
      std::string sql = filled(form, literal);
      std::string expected = uncached(sql);
      for (int run = 1; run <= 4; ++run) {
        ASSERT_EQ(transcript(sql), expected) << "run " << run << " of: " << sql;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 23 * 14 * 4);
}

// Among others in one text they share plans, too, and errors have their positions in all of it.
TEST_F(PlanCacheProtocolTest, StatementsAmongOthersSayWhatUncachedOnesSay) {
  int texts = 0;
  for (const char* form : templates) {
    for (const char* literal : literals) {
      std::string before = "select 'é' as first; " + filled(form, literal);
      std::string expected =
          transcript(before + " /* once " + std::to_string(++texts) + " */; select 2 as last");
      for (int run = 1; run <= 4; ++run) {
        std::string end = "; select 2 as last -- text " + std::to_string(++texts);
        ASSERT_EQ(transcript(before + end), expected) << "run " << run << " of: " << before;
      }
    }
  }
}

TEST_F(PlanCacheProtocolTest, StatementsOfABlockInOneTextSeeWhatThoseBeforeThemDid) {
  for (int a = 1; a <= 8; ++a) {
    std::string at = " where a = " + std::to_string(a);
    EXPECT_EQ(client.ask(query("begin; update plan_cache_test set f = f + 100" + at +
                               "; update plan_cache_test set f = f * 2" + at + "; commit")),
              "CCCCZI");
    EXPECT_EQ(client.first_value("select f from plan_cache_test" + at), std::to_string(200 + a));
  }
  for (int i = 0; i < 4; ++i) {
    std::string type = i % 2 == 0 ? "int" : "text";
    EXPECT_EQ(client.ask(query("create table plan_cache_new (x " + type +
                               "); insert into plan_cache_new values ('7'); select x from "
                               "plan_cache_new; drop table plan_cache_new")),
              "CCTDCCZI");
  }
}

TEST_F(PlanCacheProtocolTest, SharedPlansFollowTheCatalogAndTheSettings) {
  auto first = [&](const std::string& sql) { return client.first_value(sql); };
  for (int a = 1; a <= 5; ++a) {
    EXPECT_EQ(first("select b from plan_cache_test where a = " + std::to_string(a)),
              "b" + std::to_string(a));
  }
  EXPECT_EQ(client.ask(query("alter table plan_cache_test drop column b; alter table "
                             "plan_cache_test add column b int")),
            "CCZI");
  EXPECT_EQ(first("select b from plan_cache_test where a = 3"), "\\N");
  EXPECT_EQ(client.ask(query("update plan_cache_test set b = 42 where a = 3")), "CZI");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first("select b from plan_cache_test where a = 3"), "42");
  EXPECT_EQ(client.ask(query("drop table plan_cache_test")), "CZI");
  EXPECT_EQ(first("select b from plan_cache_test where a = 3"), "42P01");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(first("select date '2024-02-01' + " + std::to_string(i)).substr(0, 8), "2024-02-");
  EXPECT_EQ(client.ask(query("set datestyle = 'german'")), "CZI");
  EXPECT_EQ(first("select date '2024-02-01' + 3"), "04.02.2024");
}

// It is planned anew by what its session has set meanwhile; who reads the text under the settings
// of before must not get that.
TEST_F(PlanCacheProtocolTest, APlanUnderOtherSettingsIsNotShared) {
  const std::string drop =
      "drop table if exists plan_path_1.t, plan_path_2.t, plan_path_2.other; "
      "drop schema if exists plan_path_1; drop schema if exists plan_path_2";
  client.ask(query(drop));
  ASSERT_EQ(
      client.ask(query("create schema plan_path_1; create schema plan_path_2; create table "
                       "plan_path_1.t (a int); create table plan_path_2.t (a int); insert "
                       "into plan_path_1.t values (1); insert into plan_path_2.t values (2)")),
      "CCCCCCZI");
  constexpr int sessions = 6;  // on each worker there are some
  for (int i = 0; i < sessions; ++i) {
    RawClient other;
    other.start();
    ASSERT_EQ(other.ask(query("set search_path = plan_path_1")), "CZI");
    ASSERT_EQ(other.ask(parse("x", "select * from t") + sync()), "1ZI");
    EXPECT_EQ(other.column("execute x"), "1 ");
    ASSERT_EQ(other.ask(query("set search_path = plan_path_2")), "CZI");
    ASSERT_EQ(other.ask(query("create table other (a int); drop table other")), "CCZI");
    other.column("execute x");
  }
  for (int i = 0; i < sessions; ++i) {
    RawClient fresh;
    fresh.start();
    ASSERT_EQ(fresh.ask(query("set search_path = plan_path_1")), "CZI");
    ASSERT_EQ(fresh.ask(parse("y", "select * from t") + sync()), "1ZI");
    EXPECT_EQ(fresh.column("execute y"), "1 ");
  }
  client.ask(query(drop));
}

}  // namespace
}  // namespace pgsilo::protocol_test
