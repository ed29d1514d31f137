#include "catalog/row_layout.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/byte_buffer.h"
#include "sql/sql_error.h"
#include "sql/types/text.h"

namespace pgsilo {
namespace {

RowColumn column(Oid type) {
  RowColumn made;
  made.type = &type_info(type);
  made.width = stored_width(*made.type);
  return made;
}

RowColumn dropped(uint8_t width) {
  RowColumn made;
  made.width = width;
  made.dropped = true;
  return made;
}

std::string encode(const RowLayout& layout, const std::vector<Datum>& values) {
  ByteBuffer out;
  layout.encode(values, out);
  return std::string(out.view());
}

TEST(RowLayoutTest, KeepsEveryForm) {
  Arena padding;
  std::string interval(16, 'i');
  RowLayout layout({column(type_oid::boolean), column(type_oid::text), column(type_oid::int2),
                    column(type_oid::int4), column(type_oid::int8), column(type_oid::float4),
                    column(type_oid::float8), column(type_oid::oid), column(type_oid::interval),
                    column(type_oid::name), column(type_oid::single_char), column(type_oid::date),
                    column(type_oid::numeric)});
  std::vector<Datum> values = {
      Datum::of_bool(true),       Datum::of_bytes("text"),   Datum::of_int(-2),
      Datum::of_int(-2147483648), Datum::of_int(INT64_MIN),  Datum::of_float(1.5),
      Datum::of_float(-0.0),      Datum::of_int(4294967295), Datum::of_bytes(interval),
      Datum::of_bytes("a_name"),  Datum::of_int(200),        Datum::of_int(-5),
      Datum::of_bytes("\x01\x02")};
  std::string row = encode(layout, values);
  ASSERT_TRUE(layout.is_valid(row));
  for (size_t i = 0; i < values.size(); ++i) {
    Datum read = layout.get(row, i, padding);
    ASSERT_FALSE(read.null) << i;
    if (layout.column(i).type->by_reference) {
      EXPECT_EQ(read.bytes(), values[i].bytes()) << i;
    } else {
      EXPECT_EQ(read.i64, values[i].i64) << i;
    }
  }
  EXPECT_LT(row.size(), 120u);
}

TEST(RowLayoutTest, EqualRowsAreEqualBytes) {
  RowLayout layout({column(type_oid::int4), column(type_oid::text)});
  Datum null_with_remains;
  null_with_remains.i64 = 77;
  EXPECT_EQ(encode(layout, {null_with_remains, Datum::of_bytes("a")}),
            encode(layout, {Datum(), Datum::of_bytes("a")}));
}

TEST(RowLayoutTest, ShortRowsReadWhatIsMissing) {
  Arena padding;
  RowLayout before({column(type_oid::int4), column(type_oid::text)});
  std::string row = encode(before, {Datum::of_int(1), Datum::of_bytes("old")});
  RowColumn added_number = column(type_oid::int4);
  added_number.missing = Datum::of_int(9);
  RowColumn added_text = column(type_oid::text);
  RowLayout after({column(type_oid::int4), column(type_oid::text), added_number, added_text});
  ASSERT_TRUE(after.is_valid(row));
  EXPECT_EQ(after.get(row, 0, padding).i64, 1);
  EXPECT_EQ(after.get(row, 1, padding).bytes(), "old");
  EXPECT_EQ(after.get(row, 2, padding).i64, 9);
  EXPECT_TRUE(after.get(row, 3, padding).null);
  std::string longer =
      encode(after, {Datum::of_int(1), Datum::of_bytes("a"), Datum(), Datum::of_bytes("b")});
  EXPECT_TRUE(after.get(longer, 2, padding).null);
  EXPECT_EQ(after.get(longer, 3, padding).bytes(), "b");
  EXPECT_FALSE(before.is_valid(longer));
}

// Whoever reads beside a definition meets such rows, and none of their columns.
TEST(RowLayoutTest, RowsOfALaterLayoutAreRefused) {
  Arena padding;
  RowLayout before({column(type_oid::int4), column(type_oid::text)});
  RowLayout after({column(type_oid::int4), column(type_oid::text), column(type_oid::int8)});
  std::string row = encode(after, {Datum::of_int(1), Datum::of_bytes("a"), Datum::of_int(2)});
  auto is_refused = [](auto look) {
    try {
      look();
    } catch (const SqlError& error) {
      return error.state() == sqlstate::data_corrupted;
    }
    return false;
  };
  std::vector<Datum> decoded(2);
  EXPECT_TRUE(is_refused([&] { before.get(row, 0, padding); }));
  EXPECT_TRUE(is_refused([&] { before.get_unpadded(row, 1); }));
  EXPECT_TRUE(is_refused([&] { before.decode(row, decoded, padding); }));
  EXPECT_TRUE(is_refused([&] { RowLayout::Row(before, row); }));
  EXPECT_FALSE(is_refused([&] { after.get_unpadded(row, 1); }));
}

TEST(RowLayoutTest, DroppedColumnsKeepTheirPlace) {
  Arena padding;
  RowLayout before({column(type_oid::int4), column(type_oid::text), column(type_oid::int8),
                    column(type_oid::text)});
  std::string old_row = encode(before, {Datum::of_int(1), Datum::of_bytes("gone"), Datum::of_int(3),
                                        Datum::of_bytes("stays")});
  RowLayout after({dropped(4), dropped(0), column(type_oid::int8), column(type_oid::text)});
  EXPECT_EQ(after.get(old_row, 2, padding).i64, 3);
  EXPECT_EQ(after.get(old_row, 3, padding).bytes(), "stays");
  std::string new_row = encode(after, {Datum::of_int(1), Datum::of_bytes("ignored"),
                                       Datum::of_int(4), Datum::of_bytes("new")});
  EXPECT_EQ(new_row.find("ignored"), std::string::npos);
  std::vector<Datum> decoded(4);
  after.decode(new_row, decoded, padding);
  EXPECT_TRUE(decoded[0].null && decoded[1].null);
  EXPECT_EQ(decoded[2].i64, 4);
}

TEST(RowLayoutTest, KeepsNoBlanksThatFillUp) {
  RowColumn filler = column(type_oid::bpchar);
  filler.padded_length = 12;
  RowLayout layout({filler, column(type_oid::bpchar), column(type_oid::text), filler});
  const std::string_view values[] = {
      "", " ", "a", "a  b", "\u00e4\u00f6", "twelve bytes", "          12"};
  for (std::string_view value : values) {
    Arena arena;
    Datum full = Datum::of_bytes(bpchar_pad(value, 12, arena));
    // Blanks at the end of other types' values count.
    std::string row = encode(layout, {full, Datum::of_bytes("x  "), Datum::of_bytes("y  "), full});
    ASSERT_TRUE(layout.is_valid(row));
    EXPECT_EQ(layout.get_unpadded(row, 0).bytes(), bpchar_trim(value));
    EXPECT_EQ(layout.get(row, 0, arena).bytes(), full.bytes());
    EXPECT_EQ(layout.get(row, 1, arena).bytes(), "x  ");
    EXPECT_EQ(layout.get(row, 2, arena).bytes(), "y  ");
    std::vector<Datum> decoded(4);
    layout.decode(row, decoded, arena);
    EXPECT_EQ(decoded[3].bytes(), full.bytes());
    // How the value was filled up makes no difference to the row.
    EXPECT_EQ(encode(layout, {Datum::of_bytes(value), decoded[1], decoded[2], decoded[3]}), row);
  }
  Arena arena;
  std::string nulls = encode(layout, std::vector<Datum>(4));
  EXPECT_TRUE(layout.get(nulls, 0, arena).null);
}

// The last column of variable width ends with the row: of the columns that are stored.
TEST(RowLayoutTest, TheLastVariableColumnOfEachRowEndsWithIt) {
  Arena padding;
  RowLayout before({column(type_oid::text), column(type_oid::text)});
  std::string old_row = encode(before, {Datum::of_bytes("a"), Datum::of_bytes("old")});
  RowLayout wider({column(type_oid::text), column(type_oid::text), column(type_oid::int4),
                   column(type_oid::text)});
  EXPECT_EQ(wider.get(old_row, 0, padding).bytes(), "a");
  EXPECT_EQ(wider.get(old_row, 1, padding).bytes(), "old");
  EXPECT_TRUE(wider.get(old_row, 3, padding).null);
  std::string new_row = encode(wider, {Datum::of_bytes("b"), Datum::of_bytes("new"),
                                       Datum::of_int(1), Datum::of_bytes("last")});
  RowLayout narrower(
      {column(type_oid::text), column(type_oid::text), column(type_oid::int4), dropped(0)});
  EXPECT_EQ(narrower.get(new_row, 1, padding).bytes(), "new");
  std::string newest = encode(narrower, {Datum::of_bytes("c"), Datum::of_bytes("newest"),
                                         Datum::of_int(1), Datum::of_bytes("ignored")});
  EXPECT_EQ(narrower.get(newest, 1, padding).bytes(), "newest");
  EXPECT_TRUE(narrower.is_valid(old_row) && narrower.is_valid(new_row) &&
              narrower.is_valid(newest));
}

TEST(RowLayoutTest, RefusesMalformedRows) {
  RowLayout layout({column(type_oid::int4), column(type_oid::text), column(type_oid::text)});
  std::string row =
      encode(layout, {Datum::of_int(1), Datum::of_bytes("ab"), Datum::of_bytes("cd")});
  size_t last_column = row.size() - 2;
  for (size_t bytes = 0; bytes < last_column; ++bytes)
    EXPECT_FALSE(layout.is_valid(row.substr(0, bytes))) << bytes;
  EXPECT_TRUE(layout.is_valid(row));
  RowLayout three({column(type_oid::text), column(type_oid::text), column(type_oid::text)});
  row = encode(three, {Datum::of_bytes("a"), Datum::of_bytes("bc"), Datum::of_bytes("d")});
  ASSERT_TRUE(three.is_valid(row));
  std::swap(row[3], row[7]);  // the first column would end behind the second
  EXPECT_FALSE(three.is_valid(row));
  RowLayout fixed({column(type_oid::int4), column(type_oid::int2)});
  row = encode(fixed, {Datum::of_int(1), Datum::of_int(2)});
  EXPECT_TRUE(fixed.is_valid(row));
  EXPECT_FALSE(fixed.is_valid(row + "x"));
  row[0] = 3;  // more columns than there are
  EXPECT_FALSE(fixed.is_valid(row));
}

// Random layouts and rows against what was put in.
TEST(RowLayoutTest, RandomRows) {
  std::mt19937 random(1);
  const Oid types[] = {type_oid::int2, type_oid::text, type_oid::int8, type_oid::boolean,
                       type_oid::bytea};
  for (int round = 0; round < 300; ++round) {
    std::vector<RowColumn> columns;
    for (size_t i = random() % 40; i > 0; --i)
      columns.push_back(column(types[random() % std::size(types)]));
    RowLayout layout(columns);
    Arena arena;
    std::vector<Datum> values;
    for (const RowColumn& made : columns) {
      if (random() % 4 == 0) {
        values.emplace_back();
      } else if (made.type->by_reference) {
        values.push_back(Datum::of_bytes(arena.copy_string(std::string(random() % 20, 'a'))));
      } else {
        values.push_back(Datum::of_int(static_cast<int64_t>(random() % 2)));
      }
    }
    std::string row = encode(layout, values);
    ASSERT_TRUE(layout.is_valid(row));
    std::vector<Datum> decoded(columns.size());
    layout.decode(row, decoded, arena);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(decoded[i].null, values[i].null);
      if (values[i].null) continue;
      if (columns[i].type->by_reference) {
        ASSERT_EQ(decoded[i].bytes(), values[i].bytes());
      } else {
        ASSERT_EQ(decoded[i].i64, values[i].i64);
      }
    }
  }
}

}  // namespace
}  // namespace pgsilo
