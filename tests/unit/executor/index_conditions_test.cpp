// Conditions that indexes answer, against the same rows without an index: random ANDs and ORs of
// lists, arrays, ranges, row comparisons and NULL tests give the same rows in the same order.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "tests/unit/executor/sql_session.h"

namespace pgsilo::testing {
namespace {

class ConditionAuthor {
 public:
  explicit ConditionAuthor(uint64_t seed) : random_(seed) {}

  std::string condition(int depth = 0) {
    int kind = below(depth >= 3 ? 7 : 10);
    if (kind >= 7) {
      std::string text = condition(depth + 1);
      std::string word = below(3) == 0 ? " and " : " or ";
      for (int more = 1 + below(3); more > 0; --more) text += word + condition(depth + 1);
      return (below(12) == 0 ? "not (" : "(") + text + ")";
    }
    std::string column = one_of({"a", "b", "c", "id"});
    switch (kind) {
      case 0:
        return column + one_of({" = ", " = ", " < ", " <= ", " > ", " >= ", " <> "}) + number();
      case 1:
        return column + " in (" + numbers(1 + below(4)) + ")";
      case 2:
        return column + " = any(array[" + numbers(below(5)) +
               "]::" + one_of({"int", "int8", "int2"}) + "[])";
      case 3:
        return "t" + one_of({" = ", " < ", " > ", " like "}) + "'" + letters() + one_of({"", "%"}) +
               "'";
      case 4:
        return one_of({"a", "b", "t"}) + one_of({" is null", " is not null"});
      case 5:
        return row_comparison();
      default:
        return column + " between " + number() + " and " + number();
    }
  }
  std::string order() {
    return one_of({"id", "id desc", "a, b, c, id", "a desc, b desc, c desc, id desc",
                   "b, a desc, id", "c desc, a, id", "t, id", "t desc nulls last, id",
                   "a desc nulls last, id"});
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

 private:
  std::string row_comparison() {
    bool three = below(2) == 0;
    std::string columns =
        three ? one_of({"c, a, id", "a, b, c"}) : one_of({"a, b", "b, a", "b, c", "c, a"});
    int size = three ? 3 : 2;
    if (below(3) == 0) {
      std::string rows;
      for (int i = 0; i <= below(3); ++i) rows += (i == 0 ? "(" : ", (") + numbers(size) + ")";
      return "(" + columns + ") in (" + rows + ")";
    }
    return "(" + columns + ")" + one_of({" < ", " <= ", " > ", " >= ", " = "}) + "(" +
           numbers(size) + ")";
  }
  std::string one_of(std::initializer_list<const char*> words) {
    return words.begin()[below(static_cast<int>(words.size()))];
  }
  std::string number() { return below(25) == 0 ? "null" : std::to_string(below(9) - 1); }
  std::string numbers(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + number();
    return text;
  }
  std::string letters() { return one_of({"", "x", "xa", "xb", "y", "xab"}); }

  std::mt19937_64 random_;
};

struct IndexConditions : ::testing::Test {
  CatalogEngine engine;
  SqlSession session{engine};

  std::string run(const std::string& sql) { return session.run(sql); }
  void SetUp() override {
    for (const char* table : {"indexed", "plain"}) {
      run(concat("create table ", table, " (id int, a int, b int2, c int8 not null, t text)"));
      run(concat("insert into ", table,
                 " select g, case when g % 11 = 0 then null else g * 7 % 8 end,"
                 " case when g % 5 = 0 then null else g * 3 % 7 end, g * 5 % 6,"
                 " case when g % 9 = 0 then null else substr('xabyxb', 1 + g % 5, g % 4) end"
                 " from generate_series(1, 400) g"));
    }
    run("alter table indexed add primary key (id)");
    run("create index on indexed (a, b desc, c)");
    run("create index on indexed (b nulls first, a)");
    run("create unique index on indexed (c desc, a nulls first, id)");
    run("create index on indexed (t desc nulls last)");
  }
};

TEST_F(IndexConditions, GiveTheRowsOfATableWithoutIndexes) {
  const char* given = std::getenv("PGSILO_SEED");
  uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  ConditionAuthor author(seed);
  size_t by_index = 0;
  size_t by_several = 0;
  for (int i = 0; i < 400; ++i) {
    std::string limit = author.below(3) == 0 ? " limit 5" : "";
    std::string rest = " where " + author.condition() + " order by " + author.order() + limit;
    std::string sql = "select id, a, b, c, t from indexed" + rest;
    std::string expected = run("select id, a, b, c, t from plain" + rest);
    ASSERT_EQ(expected.find("ERROR"), std::string::npos) << expected << "\n" << sql;
    ASSERT_EQ(run(sql), expected) << "seed " << seed << ": " << sql;
    std::string plan = run("explain " + sql);
    by_index += plan.find("Index") != std::string::npos;
    by_several += plan.find("BitmapOr") != std::string::npos;
  }
  EXPECT_GT(by_index, 100u);
  EXPECT_GT(by_several, 10u);
}

// What is not read is not in the way of others either.
TEST_F(IndexConditions, ReadNothingElse) {
  for (const char* condition :
       {"id = any('{3,5,7}')", "id = 3 or id = 7", "(c, a, id) in ((3, 5, 3), (5, 1, 7))"}) {
    session.begin_block();
    run(concat("select * from indexed where ", condition));
    SqlSession other(engine);
    EXPECT_EQ(other.run("update indexed set t = 'new' where id = 6"), "UPDATE 1");
    EXPECT_EQ(other.run("insert into indexed values (1000, 7, 7, 7, null)"), "INSERT 0 1");
    run("insert into plain values (0, 0, 0, 0, '')");
    EXPECT_EQ(session.commit_block(), "ok") << condition;
    EXPECT_EQ(other.run("delete from indexed where id = 1000"), "DELETE 1");
  }
}

TEST_F(IndexConditions, LongListsTakeLinearTime) {
  std::string many = "array(select g % 3000 from generate_series(1, 100000) g)";
  EXPECT_EQ(run("select count(*), sum(id) from indexed where id = any(" + many + ")"), "400|80200");
  std::string text = "select count(*) from indexed where id = -1";
  for (int i = 0; i < 3000; ++i) text += " or id = " + std::to_string(i * 3);
  EXPECT_EQ(run(text), "133");
}

// `part` so many times, N in it a number that no row has.
std::string repeated(const std::string& part, const std::string& between, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i != 0) text += between;
    for (char c : part) text += c == 'N' ? std::to_string(1000 + i) : std::string(1, c);
  }
  return text;
}

TEST_F(IndexConditions, LongConditionsTakeLinearTime) {
  struct Shape {
    const char* before;
    const char* part;
    const char* between;
    const char* behind;
  };
  for (const Shape& shape : {
           Shape{"indexed where (a, t) not in (", "(N, 'N')", ", ", ")"},
           Shape{"indexed where (a, c) not in (", "(N, N)", ", ", ")"},
           Shape{"indexed where ", "(a <> N or t <> 'N')", " and ", ""},
           Shape{"indexed where not (", "(id = N or b = N)", " and ", ")"},
           Shape{"indexed where id <> 1 and ", "(id = N or c = N)", " and ", ""},
           Shape{"indexed where ", "id = N", " and ", ""},
           Shape{"indexed x, plain y where x.id = y.id and ", "x.a = N", " and ", ""},
           Shape{"indexed where b is not null and ", "b is not null", " and ", ""},
       }) {
    auto seconds = [&](int count) {
      std::string sql = concat("select count(*) from ", shape.before,
                               repeated(shape.part, shape.between, count), shape.behind);
      std::clock_t begin = std::clock();
      EXPECT_EQ(run(sql).find("ERROR"), std::string::npos) << shape.part;
      return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    seconds(1000);  // memory, and whatever comes once
    double few = seconds(1000);
    EXPECT_LT(seconds(32'000), few * 32 * 3 + 0.1) << shape.part << ": " << few;
  }
}

// As are two long lists of conditions: each value of one with each condition of the other.
TEST_F(IndexConditions, LongConditionsBesideALongOrTakeLinearTime) {
  auto seconds = [&](int count) {
    std::string sql =
        concat("select count(*) from indexed where ", repeated("c < N", " and ", count), " and (",
               repeated("id = N", " or ", count), ")");
    std::clock_t begin = std::clock();
    EXPECT_EQ(run(sql), "0");
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  seconds(500);
  double few = seconds(500);
  EXPECT_LT(seconds(8000), few * 16 * 3 + 0.1) << few;
}

TEST_F(IndexConditions, TheMostSelectiveOfManyOrsIsFound) {
  std::string plan =
      run(concat("explain select * from indexed where ", repeated("(b < N or c = N)", " and ", 100),
                 " and (id = 3 or id = 7) and ", repeated("(b < N or a = N)", " and ", 100)));
  EXPECT_NE(plan.find("Index Scan using indexed_pkey"), std::string::npos) << plan;
}

}  // namespace
}  // namespace pgsilo::testing
