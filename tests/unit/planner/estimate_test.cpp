// How many rows are expected where it is known what the columns hold.
#include <cmath>

#include "base/arena.h"
#include "catalog/statistics/column_values.h"
#include "sql/limits.h"
#include "sql/types/numeric.h"
#include "sql/types/type.h"
#include "tests/unit/planner/planner_fixture.h"

namespace pgsilo::testing {
namespace {

struct Estimate : Planner {
  Estimate() {
    define(
        "create table s (k int primary key, i int, x text, f float8, n numeric, d date, "
        "m timestamp, z timestamptz, g bool, j bigint, y varchar(20), h char(4))");
    define("create table r (k int primary key, i int, x text)");
  }

  // The column's sample, from all of its values: null where there is none.
  void tell(const std::string& column, Oid type, const std::vector<Datum>& all) {
    size_t at = column.find('.');
    ColumnValues values(&type_info(type), 0, limits::statistics_target);
    uint32_t place = 0;
    for (Datum value : all) {
      if (value.null) {
        values.add_null();
      } else {
        values.add(value, type_info(type).hash(value), place++, memory_);
      }
    }
    statistics.columns[column] =
        values.describe(static_cast<double>(all.size()), memory_, limits::table_statistics_bytes);
    statistics.rows[column.substr(0, at)] = static_cast<double>(all.size());
  }
  void tell_ints(const std::string& column, Oid type, int64_t count, int64_t (*value)(int64_t)) {
    std::vector<Datum> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(Datum::of_int(value(i)));
    tell(column, type, all);
  }
  void tell_texts(const std::string& column, int64_t count, std::string (*value)(int64_t)) {
    std::vector<Datum> all;
    for (int64_t i = 0; i < count; ++i)
      all.push_back(Datum::of_bytes(memory_.copy_string(value(i))));
    tell(column, type_oid::text, all);
  }
  // 600 ones, 200 twos, 200 that are different, from 1,001 on.
  void tell_skewed(const std::string& column = "s.i") {
    tell_ints(column, type_oid::int4, 1000, [](int64_t i) {
      return i < 600 ? int64_t{1} : i < 800 ? int64_t{2} : i + 201;
    });
  }

  double rows(std::string_view condition, std::span<const Oid> types = {}) {
    return plan(concat("select * from s where ", condition), types)->root->rows;
  }
  double rows_of(std::string_view sql) { return plan(sql)->root->rows; }

  Arena memory_;
};

TEST_F(Estimate, ACommonValueIsAsFrequentAsInTheSample) {
  tell_skewed();
  EXPECT_EQ(rows("i = 1"), 600);
  EXPECT_EQ(rows("1 = i"), 600);
  EXPECT_EQ(rows("i = 2::bigint"), 200);
  EXPECT_EQ(rows("i <> 1"), 400);
  EXPECT_EQ(rows("i is distinct from 2"), 800);
  EXPECT_EQ(rows("i is not distinct from 2"), 200);
}

TEST_F(Estimate, OthersShareWhatIsLeft) {
  tell_skewed();
  EXPECT_EQ(rows("i = 1100"), 1);
  EXPECT_EQ(rows("i = 77777"), 1);
  EXPECT_EQ(rows("i <> 1100"), 999);
}

TEST_F(Estimate, AValueThatIsNotKnownIsAnAverageOne) {
  tell_skewed();
  Oid types[] = {type_oid::int4};
  EXPECT_EQ(rows("i = $1", types), 5);  // 1,000 of 202
  EXPECT_EQ(rows("i <> $1", types), 995);
  EXPECT_EQ(rows("i = any ($1)"), 50);  // ten of them
  EXPECT_EQ(rows("i < $1", types), 333);
}

TEST_F(Estimate, NoValueIsMoreFrequentThanTheCommonest) {
  tell_ints("s.i", type_oid::int4, 10000, [](int64_t i) { return i / 2; });
  statistics.columns["s.i"].distinct = 10;  // as if it were from another day
  Oid types[] = {type_oid::int4};
  EXPECT_EQ(rows("i = $1", types), 2);
  EXPECT_EQ(rows("i = 123456", types), 2);
}

TEST_F(Estimate, RangesGoByTheBounds) {
  tell_ints("s.i", type_oid::int4, 10000, [](int64_t i) { return i; });
  EXPECT_NEAR(rows("i < 2500"), 2500, 2);
  EXPECT_NEAR(rows("i >= 2500"), 7500, 2);
  EXPECT_NEAR(rows("7000 < i"), 3000, 2);
  EXPECT_EQ(rows("i < -5"), 1);
  EXPECT_EQ(rows("i > 20000"), 1);
  EXPECT_EQ(rows("i <= 20000"), 9999);
}

TEST_F(Estimate, RangesHaveTheCommonValuesThatLieInThem) {
  tell_skewed();
  EXPECT_NEAR(rows("i <= 1"), 600, 1);
  EXPECT_NEAR(rows("i < 2"), 600, 1);
  EXPECT_NEAR(rows("i > 1"), 400, 1);
  EXPECT_NEAR(rows("i > 2"), 200, 1);
  EXPECT_NEAR(rows("i >= 1101"), 100, 2);
}

TEST_F(Estimate, TwoBoundsOfAValueGoTogether) {
  tell_ints("s.i", type_oid::int4, 10000, [](int64_t i) { return i; });
  EXPECT_NEAR(rows("i > 5000 and i < 5100"), 100, 3);
  EXPECT_NEAR(rows("i between 100 and 199"), 100, 3);
  EXPECT_NEAR(rows("i < 5100 and 5000 < i"), 100, 3);
  EXPECT_NEAR(rows("i > 100 and i > 9000 and i > 200"), 1000, 3);
  EXPECT_NEAR(rows("(i > 5000 and i < 5100) or i = 7"), 101, 3);
  EXPECT_EQ(rows("i > 5000 and i < 100"), 50);  // nothing can be said
  Oid types[] = {type_oid::int4, type_oid::int4};
  EXPECT_EQ(rows("i > $1 and i < $2", types), 50);
}

TEST_F(Estimate, BoundsOfDifferentValuesDoNot) {
  tell_ints("s.i", type_oid::int4, 10000, [](int64_t i) { return i; });
  tell_ints("s.j", type_oid::int8, 10000, [](int64_t i) { return i; });
  EXPECT_NEAR(rows("i > 5000 and j < 5000"), 2500, 5);
}

TEST_F(Estimate, RangesOfTextGoByTheirCharacters) {
  tell_texts("s.x", 10000, [](int64_t i) {
    std::string digits = std::to_string(i);
    return "key-" + std::string(5 - digits.size(), '0') + digits;
  });
  EXPECT_NEAR(rows("x < 'key-05000'"), 5000, 30);
  EXPECT_NEAR(rows("x >= 'key-09000'"), 1000, 30);
  EXPECT_NEAR(rows("x between 'key-02000' and 'key-02500'"), 500, 30);
  EXPECT_EQ(rows("x < 'a'"), 1);
}

TEST_F(Estimate, RangesOfOtherTypesGoByNumbers) {
  std::vector<Datum> floats;
  std::vector<Datum> numerics;
  for (int i = 0; i < 10000; ++i) {
    floats.push_back(Datum::of_float(i / 100.0));
    numerics.push_back(numeric_from_float8(i / 100.0, memory_));
  }
  tell("s.f", type_oid::float8, floats);
  tell("s.n", type_oid::numeric, numerics);
  tell_ints("s.d", type_oid::date, 10000, [](int64_t i) { return i; });
  tell_ints("s.m", type_oid::timestamp, 10000, [](int64_t i) { return i * 86400000000; });
  EXPECT_NEAR(rows("f < 25"), 2500, 5);
  EXPECT_NEAR(rows("n < 25.5"), 2550, 5);
  EXPECT_NEAR(rows("d < '2000-04-10'"), 100, 3);
  EXPECT_NEAR(rows("m < '2000-04-10'"), 100, 3);
  EXPECT_NEAR(rows("m < date '2000-04-10'"), 100, 3);
  EXPECT_NEAR(rows("d >= timestamp '2000-04-10'"), 9900, 3);
  EXPECT_NEAR(rows("m between '2000-04-10' and '2000-04-20'"), 10, 3);
}

TEST_F(Estimate, TheClockIsReadForIt) {
  std::vector<Datum> all;
  int64_t now = session.context.transaction_timestamp_us;
  for (int64_t i = 0; i < 1000; ++i) all.push_back(Datum::of_int(now + (i - 500) * 86400000000));
  tell("s.z", type_oid::timestamptz, all);
  EXPECT_NEAR(rows("z > now()"), 500, 10);
  EXPECT_NEAR(rows("z > now() - interval '100 days'"), 600, 10);
  EXPECT_NEAR(rows("z > current_timestamp and z < now() + interval '10 days'"), 10, 5);
  EXPECT_EQ(rows("z > clock_timestamp()"), 333);
}

TEST_F(Estimate, ListsAddUp) {
  tell_skewed();
  EXPECT_EQ(rows("i in (1, 2)"), 800);
  EXPECT_EQ(rows("i = any (array[2, 1500])"), 201);
  EXPECT_EQ(rows("i not in (1, 2)"), 200);
  EXPECT_EQ(rows("i <> all (array[2])"), 800);
  EXPECT_EQ(rows("i in (1, null)"), 600);
}

TEST_F(Estimate, NullsAreCounted) {
  std::vector<Datum> all(700);
  for (int64_t i = 0; i < 300; ++i) all.push_back(Datum::of_int(i % 3));
  tell("s.i", type_oid::int4, all);
  EXPECT_EQ(rows("i is null"), 700);
  EXPECT_EQ(rows("i is not null"), 300);
  EXPECT_EQ(rows("i = 1"), 100);
  EXPECT_EQ(rows("i <> 1"), 200);
  EXPECT_EQ(rows("i > 0"), 200);
  EXPECT_EQ(rows_of("select i from s group by i"), 3);
}

TEST_F(Estimate, BooleansAreValues) {
  tell_ints("s.g", type_oid::boolean, 1000, [](int64_t i) { return int64_t{i < 50}; });
  EXPECT_EQ(rows("g"), 50);
  EXPECT_EQ(rows("not g"), 950);
  EXPECT_EQ(rows("g is true"), 50);
  EXPECT_EQ(rows("g is not true"), 950);
  EXPECT_EQ(rows("g is false"), 950);
  EXPECT_EQ(rows("g is unknown"), 1);
  EXPECT_EQ(rows("g = false"), 950);
}

TEST_F(Estimate, PatternsAreTriedOnWhatIsKnown) {
  tell_texts("s.x", 10000, [](int64_t i) {
    return i < 4000 ? "common" : (i % 2 != 0 ? "odd " : "even ") + std::to_string(i);
  });
  EXPECT_NEAR(rows("x like 'com%'"), 4000, 100);
  EXPECT_NEAR(rows("x not like 'com%'"), 6000, 100);
  EXPECT_NEAR(rows("x like 'odd%'"), 3000, 200);
  EXPECT_NEAR(rows("x like '%o%'"), 7000, 200);
  EXPECT_NEAR(rows("x ilike 'ODD%'"), 3000, 200);
  EXPECT_NEAR(rows("x ~ '^odd'"), 3000, 200);
  EXPECT_NEAR(rows("x !~ 'mm'"), 6000, 200);
  EXPECT_EQ(rows("x like 'common'"), 4000);
  EXPECT_EQ(rows("x ~ '^common$'"), 4000);
}

TEST_F(Estimate, WithFewBoundsAPatternsLooksCount) {
  tell_texts("s.x", 40, [](int64_t i) {
    return std::string(1, static_cast<char>('a' + i % 20)) + std::to_string(i);
  });
  statistics.rows["s"] = 40000;
  statistics.columns["s.x"].bounds = statistics.columns["s.x"].bounds.first(5);
  double beginning = rows("x like 'a%'");
  EXPECT_GT(rows("x like '%'"), 30000);
  EXPECT_LT(rows("x like 'a%xyz'"), beginning / 5);
  EXPECT_LT(rows("x ~ '^a[0-9]bc'"), beginning);
}

TEST_F(Estimate, CommonValuesOfBothSidesMeet) {
  tell_skewed("s.i");
  tell_skewed("r.i");
  // 600 * 600 + 200 * 200 + one each of the others.
  EXPECT_NEAR(rows_of("select * from s join r on s.i = r.i"), 400200, 300);
  // Without them: all values as frequent as one another.
  statistics.columns["r.i"].common = {};
  statistics.columns["r.i"].frequencies = {};
  statistics.columns["r.i"].common_in_order = {};
  EXPECT_NEAR(rows_of("select * from s join r on s.i = r.i"), 1e6 / 202, 5);
}

TEST_F(Estimate, ASemiJoinKeepsWhatFindsSomething) {
  tell_skewed("s.i");
  tell_ints("r.i", type_oid::int4, 1000, [](int64_t i) { return i < 900 ? int64_t{1} : i + 201; });
  // The ones, and of the 201 other values (400 rows) as many as there are there.
  EXPECT_NEAR(rows_of("select * from s where exists (select from r where r.i = s.i)"), 799, 3);
  EXPECT_NEAR(rows_of("select * from s where not exists (select from r where r.i = s.i)"), 201, 3);
  // With fewer rows on the other side there are fewer values.
  EXPECT_LT(rows_of("select * from s where exists (select from r where r.i = s.i and r.k < 5)"),
            rows_of("select * from s where exists (select from r where r.i = s.i)") + 1);
}

TEST_F(Estimate, GroupsAreWhatIsLeftOfTheValues) {
  tell_skewed("s.i");
  tell_ints("s.j", type_oid::int8, 1000, [](int64_t i) { return i % 10; });
  EXPECT_EQ(rows_of("select i from s group by i"), 202);
  EXPECT_EQ(rows_of("select distinct i from s"), 202);
  EXPECT_EQ(rows_of("select i, j from s group by i, j"), 202);  // not all combinations
  EXPECT_EQ(rows_of("select j from s where i = 1 group by j"), 10);
  EXPECT_LT(rows_of("select i from s where j = 1 group by i"), 100);
}

TEST_F(Estimate, GoThroughSubqueriesAndCastsThatChangeNothing) {
  tell_skewed();
  tell_texts("s.y", 1000, [](int64_t i) { return std::string(i < 900 ? "a" : "b"); });
  EXPECT_EQ(rows("y = 'a'"), 900);
  EXPECT_EQ(rows_of("select * from (select i, x from s offset 0) q where i = 1"), 600);
  EXPECT_EQ(rows_of("select * from (select distinct i from s offset 0) q where i = 1"), 1);
}

TEST_F(Estimate, ChooseTheIndexForRareValuesOnly) {
  define("create index s_i on s (i)");
  tell_skewed();
  statistics.rows["s"] = 100000;
  EXPECT_EQ(explain("select * from s where i = 1"), "Seq Scan on s\n  Filter: (i = 1)");
  EXPECT_NE(explain("select * from s where i = 1500").find("Index Scan using s_i"),
            std::string::npos);
}

// An index's idea of columns that go together does not make a rare value common.
TEST_F(Estimate, ARareValueStaysRareTogetherWithOthers) {
  define("create index s_ij on s (i, j)");
  tell_skewed();
  tell_ints("s.j", type_oid::int8, 1000, [](int64_t i) { return int64_t{i < 20}; });
  statistics.rows["s"] = 100000;
  statistics.prefixes["s"] = {{{2, 10}, 2}};
  EXPECT_EQ(rows("i = 1500 and j = 0"), 100);
  // Of 404 combinations that could be there are 20: each that there is comes twenty times as often.
  statistics.prefixes["s"] = {{{2, 10}, 20}};
  EXPECT_EQ(rows("i = 1500 and j = 1"), 40);
  EXPECT_EQ(rows("i = 1 and j = 0"), 58800);
  Oid types[] = {type_oid::int4, type_oid::int8};
  EXPECT_EQ(rows("i = $1 and j = $2", types), 495);  // no more than of the first
}

}  // namespace
}  // namespace pgsilo::testing
