#include "catalog/key_reading.h"

#include <gtest/gtest.h>

#include "base/byte_buffer.h"
#include "sql/types/type.h"
#include "sql/types/type_context.h"

namespace pgsilo {
namespace {

TableDescriptor table_of(const std::vector<std::string>& names) {
  TableDescriptor table;
  for (const std::string& name : names) table.columns.emplace_back().name = name;
  return table;
}

KeyColumn column(Oid type, bool nullable = false, bool descending = false) {
  return {.type = &type_info(type), .nullable = nullable, .descending = descending};
}

TEST(KeyReading, ColumnsComeBackAsText) {
  TableDescriptor table = table_of({"flag", "small", "number", "large", "name"});
  std::vector<KeyColumn> columns = {column(type_oid::boolean), column(type_oid::int2),
                                    column(type_oid::int4, true), column(type_oid::int8),
                                    column(type_oid::text)};
  table.primary_key = KeyLayout(columns, {0, 1, 2, 3, 4}, /*unique=*/true);
  ByteBuffer key;
  table.primary_key.encode_prefix(
      std::vector<Datum>{Datum::of_bool(true), Datum::of_int(-7), Datum::of_int(70'000),
                         Datum::of_int(int64_t{-5'000'000'000}), Datum::of_bytes("it's")},
      key);
  EXPECT_EQ(readable_key(table, key.view(), TypeContext()),
            "(flag, small, number, large, name)=(t, -7, 70000, -5000000000, it's)");
}

TEST(KeyReading, DescendingAndNull) {
  TableDescriptor table = table_of({"a", "b", "c"});
  IndexDescriptor index;
  index.key = KeyLayout({column(type_oid::int4, true, true), column(type_oid::text, false, true),
                         column(type_oid::int4, true)},
                        {2, 0, 1}, /*unique=*/false);
  ByteBuffer key;
  Datum null;
  null.null = true;
  index.key.encode_prefix(std::vector<Datum>{Datum::of_int(12), Datum::of_bytes("text"), null},
                          key);
  key.append("the primary key");
  EXPECT_EQ(readable_key(table, index, key.view(), TypeContext()), "(c, a, b)=(12, text, null)");
}

TEST(KeyReading, ExpressionsByTheirNames) {
  TableDescriptor table = table_of({"a", "b"});
  IndexDescriptor index;
  index.columns = {{.number = 0}, {.number = 2}, {.number = 0}};
  index.expressions.resize(2);
  index.expressions[0].name = "lower";
  index.expressions[1].name = "expr";
  index.key = KeyLayout(
      {column(type_oid::text, true), column(type_oid::int4, true), column(type_oid::int4, true)},
      {KeyLayout::no_column, 1, KeyLayout::no_column}, /*unique=*/false);
  ByteBuffer key;
  index.key.encode_values(
      std::vector<Datum>{Datum::of_bytes("x"), Datum::of_int(1), Datum::of_int(2)}, key);
  EXPECT_EQ(readable_key(table, index, key.view(), TypeContext()), "(lower, b, expr)=(x, 1, 2)");
}

// Whatever lies there, it ends with the bytes.
TEST(KeyReading, WhatCannotBeReadIsShownAsItLies) {
  TableDescriptor table = table_of({"a", "b"});
  table.primary_key = KeyLayout({column(type_oid::int4), column(type_oid::numeric)}, {0, 1}, true);
  std::string key("\x80\x00\x00\x05\x2a\xff", 6);
  EXPECT_EQ(readable_key(table, key, TypeContext()), "(a, b)=(5, \\x2aff)");
  EXPECT_EQ(readable_key(table, key.substr(0, 2), TypeContext()), "(a, b)=(\\x8000)");
  EXPECT_EQ(readable_key(table, "", TypeContext()), "(a, b)=(\\x)");
}

TEST(KeyReading, HiddenRowIds) {
  TableDescriptor table = table_of({"a"});
  EXPECT_EQ(readable_key(table, std::string("\0\0\0\0\0\0\1\2", 8), TypeContext()), "(row)=(258)");
  EXPECT_EQ(readable_key(table, "abc", TypeContext()), "\\x616263");
}

}  // namespace
}  // namespace pgsilo
