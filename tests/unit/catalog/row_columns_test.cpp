#include "catalog/row_columns.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/byte_buffer.h"

namespace pgsilo {
namespace {

constexpr Oid types[] = {type_oid::int4, type_oid::text, type_oid::int8, type_oid::numeric,
                         type_oid::boolean};

RowColumn column(Oid type) {
  RowColumn made;
  made.type = &type_info(type);
  made.width = stored_width(*made.type);
  return made;
}

std::string encode(const RowLayout& layout, const std::vector<Datum>& values) {
  ByteBuffer out;
  layout.encode(values, out);
  return std::string(out.view());
}

bool contains(std::string_view row, const RowPart& part, std::string_view of) {
  if (part.row_bytes != 0 && part.row_bytes != row.size()) return false;
  for (RowRange range : part.ranges) {
    if (size_t{range.offset} + range.bytes > row.size() ||
        row.substr(range.offset, range.bytes) != of.substr(range.offset, range.bytes)) {
      return false;
    }
  }
  return true;
}

bool equals(Datum a, Datum b, const TypeInfo& type) {
  if (a.null || b.null) return a.null == b.null;
  return type.by_reference ? a.bytes() == b.bytes() : a.i64 == b.i64;
}

class RowColumnsTest : public ::testing::Test {
 protected:
  Datum random_value(const TypeInfo& type) {
    static const char bytes[] = "aabab";
    if (random() % 5 == 0) return Datum();
    if (type.by_reference) return Datum::of_bytes({bytes + random() % 3, random() % 3});
    return Datum::of_int(static_cast<int64_t>(random() % 2));
  }
  size_t random() { return random_(); }

  std::mt19937 random_{1};
  Arena padding;
  std::vector<RowRange> memory;
};

// Rows that have the same bytes in the parts have the same values, whatever else they have.
TEST_F(RowColumnsTest, EqualPartsAreEqualValues) {
  size_t equal = 0, different = 0;
  for (int round = 0; round < 50000; ++round) {
    std::vector<RowColumn> columns(1 + random() % 6);
    for (RowColumn& each : columns) each = column(types[random() % std::size(types)]);
    RowLayout layout(columns);
    std::vector<int32_t> used;
    std::vector<Datum> a, b;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (random() % 2 != 0) used.push_back(static_cast<int32_t>(i));
      a.push_back(random_value(*columns[i].type));
      b.push_back(random() % 2 != 0 ? a.back() : random_value(*columns[i].type));
    }
    std::string row_a = encode(layout, a), row_b = encode(layout, b);
    RowColumns part(layout, used);
    std::optional<RowPart> found = part.find(row_a, &memory);
    ASSERT_TRUE(found);
    ASSERT_TRUE(contains(row_a, *found, row_a));
    if (!contains(row_b, *found, row_a)) {
      ++different;
      continue;
    }
    ++equal;
    for (int32_t index : used) {
      auto i = static_cast<size_t>(index);
      ASSERT_TRUE(
          equals(layout.get(row_a, i, padding), layout.get(row_b, i, padding), *columns[i].type))
          << "round " << round << ", column " << i;
    }
  }
  EXPECT_GT(equal, 5000u);
  EXPECT_GT(different, 5000u);
}

TEST_F(RowColumnsTest, OtherColumnsMayChange) {
  RowLayout layout({column(type_oid::int4), column(type_oid::text), column(type_oid::int8),
                    column(type_oid::text), column(type_oid::text)});
  auto row = [&](int64_t number, std::string_view second, std::string_view last) {
    return encode(layout, {Datum::of_int(1), Datum::of_bytes("first"), Datum::of_int(number),
                           Datum::of_bytes(second), Datum::of_bytes(last)});
  };
  std::string before = row(1, "second", "last");
  auto stays = [&](std::vector<int32_t> used, const std::string& after) {
    RowColumns columns(layout, used);
    std::optional<RowPart> part = columns.find(before, &memory);
    return part && contains(after, *part, before);
  };
  EXPECT_TRUE(stays({0, 1}, row(2, "another", "one")));
  EXPECT_TRUE(stays({3}, row(2, "second", "other")));
  EXPECT_TRUE(stays({0, 4}, row(2, "second", "last")));
  EXPECT_FALSE(stays({0, 4}, row(1, "second", "last one")));
  EXPECT_FALSE(stays({0, 4}, row(1, "another", "last")));  // it lies elsewhere
  EXPECT_FALSE(stays({2}, row(2, "second", "last")));
}

TEST_F(RowColumnsTest, FewOrAll) {
  RowLayout layout({column(type_oid::int4), column(type_oid::text)});
  const int32_t both[] = {0, 1};
  EXPECT_FALSE(RowColumns(layout, both).are_few());
  EXPECT_TRUE(RowColumns(layout, {both, 1}).are_few());
  std::optional<RowPart> none = RowColumns(layout, {}).find("", &memory);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->ranges.empty());
}

TEST_F(RowColumnsTest, ARowOfFewerColumnsIsUsedAsAWhole) {
  RowLayout before({column(type_oid::int4)});
  RowLayout layout({column(type_oid::int4), column(type_oid::int4)});
  const int32_t first[] = {0};
  EXPECT_FALSE(RowColumns(layout, first).find(encode(before, {Datum::of_int(1)}), &memory));
}

}  // namespace
}  // namespace pgsilo
