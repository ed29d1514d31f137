// What the values that a sample has met say about a column.
#include "catalog/statistics/column_values.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/limits.h"
#include "sql/types/numeric.h"
#include "sql/types/type.h"

namespace pgsilo::testing {
namespace {

struct ColumnValuesTest : ::testing::Test {
  Arena arena;
  Arena kept;

  void add(ColumnValues& values, Datum value, uint32_t place) {
    values.add(value, values.type()->hash(value), place, arena);
  }
  ColumnSample describe(Oid type, const std::vector<Datum>& all, double rows,
                        size_t most_bytes = limits::table_statistics_bytes) {
    ColumnValues values(&type_info(type), 0, limits::statistics_target);
    uint32_t place = 0;
    for (Datum value : all) {
      if (value.null) {
        values.add_null();
      } else {
        add(values, value, place);
      }
      ++place;
    }
    return values.describe(rows, kept, most_bytes);
  }
  static std::vector<Datum> ints(size_t count, int64_t (*value)(size_t)) {
    std::vector<Datum> all;
    for (size_t i = 0; i < count; ++i) all.push_back(Datum::of_int(value(i)));
    return all;
  }
};

TEST_F(ColumnValuesTest, OfFewValuesAllAreCommon) {
  ColumnSample sample = describe(
      type_oid::int4, ints(1000, [](size_t i) { return int64_t(i % 10 == 0 ? 7 : 3); }), 50000);
  ASSERT_EQ(sample.common.size(), 2u);
  EXPECT_EQ(sample.common[0].i64, 3);
  EXPECT_EQ(sample.common[1].i64, 7);
  EXPECT_EQ(sample.frequencies[0], 0.9);
  EXPECT_EQ(sample.frequencies[1], 0.1);
  EXPECT_EQ(sample.common_in_order[0], 0u);
  EXPECT_TRUE(sample.bounds.empty());
  EXPECT_EQ(sample.distinct, 2);
  EXPECT_EQ(sample.width, 4);
}

TEST_F(ColumnValuesTest, DifferentValuesHaveBoundsOnly) {
  ColumnSample sample =
      describe(type_oid::int4, ints(2000, [](size_t i) { return int64_t(i) * 3; }), 1e6);
  EXPECT_TRUE(sample.common.empty());
  ASSERT_EQ(sample.bounds.size(), 101u);
  EXPECT_EQ(sample.bounds.front().i64, 0);
  EXPECT_EQ(sample.bounds[50].i64, 999 * 3);
  EXPECT_EQ(sample.bounds.back().i64, 1999 * 3);
  EXPECT_NEAR(*sample.correlation, 1, 1e-9);
  EXPECT_NEAR(sample.distinct, 1e6, 1);
}

// That some values came twice among so many others says nothing.
TEST_F(ColumnValuesTest, ASampleOfEqualsHasNoCommonValues) {
  ColumnSample sample =
      describe(type_oid::int4, ints(2000, [](size_t i) { return int64_t(i * 48271 % 1009); }), 1e6);
  EXPECT_LT(sample.common.size(), 3u);
  EXPECT_GT(sample.bounds.size(), 90u);
}

TEST_F(ColumnValuesTest, WhatStandsOutOfManyIsCommon) {
  ColumnSample sample = describe(
      type_oid::int4,
      ints(2000, [](size_t i) { return i % 20 == 0 ? int64_t{-5} : int64_t(i * 48271 % 1009); }),
      1e6);
  ASSERT_GE(sample.common.size(), 1u);
  EXPECT_EQ(sample.common[0].i64, -5);
  EXPECT_NEAR(sample.frequencies[0], 0.05, 0.001);
  EXPECT_GT(sample.bounds.front().i64, -5);  // the bounds are of the others
}

TEST_F(ColumnValuesTest, OfAWholeTableWhatComesAgainIsCommon) {
  ColumnSample sample = describe(
      type_oid::int4, ints(100, [](size_t i) { return int64_t(i < 4 ? 9 : i + 10); }), 100);
  ASSERT_EQ(sample.common.size(), 1u);
  EXPECT_EQ(sample.common[0].i64, 9);
  EXPECT_EQ(sample.bounds.size(), 96u);
}

TEST_F(ColumnValuesTest, NullsAreNoValues) {
  std::vector<Datum> all(300);
  for (int64_t i = 0; i < 100; ++i) all.push_back(Datum::of_int(i % 2));
  ColumnSample sample = describe(type_oid::int4, all, 400);
  EXPECT_EQ(sample.null_fraction, 0.75);
  EXPECT_EQ(sample.distinct, 2);
  EXPECT_EQ(sample.frequencies[0], 0.125);
  ColumnSample nothing = describe(type_oid::int4, std::vector<Datum>(10), 10);
  EXPECT_EQ(nothing.null_fraction, 1);
  EXPECT_EQ(nothing.distinct, 0);
  EXPECT_FALSE(nothing.correlation.has_value());
}

TEST_F(ColumnValuesTest, RowsAgainstTheOrderCorrelateNegatively) {
  ColumnSample sample =
      describe(type_oid::int8, ints(500, [](size_t i) { return -int64_t(i); }), 500);
  EXPECT_NEAR(*sample.correlation, -1, 1e-9);
  ColumnSample other = describe(
      type_oid::int8, ints(2000, [](size_t i) { return int64_t(i * 48271 % 2003); }), 2000);
  EXPECT_LT(std::abs(*other.correlation), 0.1);
}

TEST_F(ColumnValuesTest, EveryTypesOrderIsItsOwn) {
  std::vector<Datum> texts;
  std::vector<Datum> numerics;
  std::vector<Datum> floats;
  for (int i = 0; i < 300; ++i) {
    // Alike in more than eight bytes; a blank and what lies below it.
    texts.push_back(
        Datum::of_bytes(arena.copy_string("the same beginning " + std::to_string(i * 7919 % 307))));
    numerics.push_back(numeric_from_float8((i * 7919 % 307) - 150.5, arena));
    floats.push_back(Datum::of_float((i * 7919 % 307) - 150.0));
  }
  for (auto& [type, all] :
       {std::pair(type_oid::text, texts), std::pair(type_oid::numeric, numerics),
        std::pair(type_oid::float8, floats)}) {
    ColumnSample sample = describe(type, all, 300);
    ASSERT_EQ(sample.bounds.size(), 101u);
    for (size_t i = 1; i < sample.bounds.size(); ++i)
      EXPECT_LT(type_info(type).compare(sample.bounds[i - 1], sample.bounds[i]), 0);
  }
}

TEST_F(ColumnValuesTest, NegativeZeroIsZeroAndNotANumberTheLast) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Datum> all;
  for (double value : {nan, 1.0, -0.0, 0.0, -1.0, nan}) all.push_back(Datum::of_float(value));
  ColumnSample sample = describe(type_oid::float8, all, 6);
  EXPECT_EQ(sample.distinct, 4);
  ASSERT_EQ(sample.common.size(), 2u);
  EXPECT_EQ(sample.bounds.front().f64, -1.0);
}

TEST_F(ColumnValuesTest, LongValuesCountButAreNotKept) {
  std::vector<Datum> all;
  for (int i = 0; i < 100; ++i) {
    std::string text(i % 2 == 0 ? 5000 : 10, static_cast<char>('a' + i / 2 % 25));
    all.push_back(Datum::of_bytes(arena.copy_string(text)));
  }
  ColumnSample sample = describe(type_oid::text, all, 100);
  EXPECT_EQ(sample.distinct, 50);
  EXPECT_NEAR(sample.width, (5004.0 + 11) / 2, 0.1);
  for (Datum value : sample.common) EXPECT_LE(value.length, limits::sampled_value_bytes);
}

TEST_F(ColumnValuesTest, TakeNoMoreThanTheyMay) {
  std::vector<Datum> all;
  for (int i = 0; i < 1000; ++i) {
    std::string text = std::to_string(i / 2 * 100003) + std::string(1000, 'x');
    all.push_back(Datum::of_bytes(arena.copy_string(text)));
  }
  ColumnSample sample = describe(type_oid::text, all, 1000, 16384);
  size_t bytes = 0;
  for (Datum value : sample.common) bytes += value.length;
  for (Datum value : sample.bounds) bytes += value.length;
  EXPECT_LT(bytes, 16384u);
  EXPECT_GE(sample.common.size(), 5u);
  EXPECT_GE(sample.bounds.size(), 4u);
}

}  // namespace
}  // namespace pgsilo::testing
