#include "catalog/key_layout.h"

#include <gtest/gtest.h>

#include <string>

#include "base/byte_buffer.h"
#include "catalog/definition/object_names.h"
#include "sql/sql_error.h"

namespace pgsilo {
namespace {

RowLayout layout() {
  std::vector<RowColumn> columns(2);
  columns[0].type = &type_info(type_oid::int4);
  columns[0].width = 4;
  columns[1].type = &type_info(type_oid::text);
  return RowLayout(columns);
}

KeyLayout key(bool unique, bool nulls_distinct = true) {
  return KeyLayout({{&type_info(type_oid::text), true, false, false},
                    {&type_info(type_oid::int4), true, false, false}},
                   {1, 0}, unique, nulls_distinct);
}

std::string entry(const KeyLayout& key, Datum number, Datum text, std::string_view primary_key) {
  std::vector<Datum> values = {number, text};
  ByteBuffer from_values;
  key.encode_entry(values, primary_key, from_values);
  // The encoded row gives the same.
  ByteBuffer row;
  layout().encode(values, row);
  ByteBuffer from_row;
  key.encode_entry(layout(), row.view(), primary_key, from_row);
  EXPECT_EQ(from_row.view(), from_values.view());
  return std::string(from_values.view());
}

TEST(KeyLayoutTest, EntriesEndInThePrimaryKeyUnlessTheirColumnsAreUnique) {
  Datum one = Datum::of_int(1);
  Datum a = Datum::of_bytes("a");
  auto carries = [&](const KeyLayout& layout, Datum number) {
    return entry(layout, number, a, "PK").ends_with("PK");
  };
  EXPECT_TRUE(carries(key(false), one));
  EXPECT_FALSE(carries(key(true), one));
  EXPECT_TRUE(carries(key(true), Datum()));
  EXPECT_FALSE(carries(key(true, false), Datum()));
  EXPECT_FALSE(key(true).columns_are_key());
  EXPECT_TRUE(key(true, false).columns_are_key());
  EXPECT_FALSE(key(false).columns_are_key());
}

TEST(KeyLayoutTest, APrimaryKeyIsThePayloadOrTheEndOfTheEntry) {
  KeyLayout layout = key(false);
  std::string whole = entry(layout, Datum::of_int(5), Datum::of_bytes("b"), "PRIMARY");
  EXPECT_EQ(layout.payload_of("PRIMARY"), "PRIMARY");
  EXPECT_EQ(layout.primary_key_of(whole, "PRIMARY"), "PRIMARY");
  layout.set_suffix_bytes(7);
  EXPECT_EQ(layout.payload_of("PRIMARY"), "");
  EXPECT_EQ(layout.primary_key_of(whole, ""), "PRIMARY");
}

TEST(KeyLayoutTest, TellsHowLongPrimaryKeysAre) {
  KeyColumn number{&type_info(type_oid::int4), false, false, false};
  KeyColumn text{&type_info(type_oid::text), false, false, false};
  EXPECT_EQ(KeyLayout().primary_key_bytes(), hidden_row_id_bytes);
  EXPECT_EQ(KeyLayout({number, number}, {0, 1}, true).primary_key_bytes(), 8u);
  EXPECT_EQ(KeyLayout({number, text}, {0, 1}, true).primary_key_bytes(), 0u);
}

TEST(KeyLayoutTest, ValuesOfTheKeyArePrefixesOfEntries) {
  std::string whole = entry(key(false), Datum::of_int(5), Datum::of_bytes("b"), "PK");
  for (size_t count = 1; count <= 2; ++count) {
    Datum values[] = {Datum::of_bytes("b"), Datum::of_int(5)};
    ByteBuffer prefix;
    key(false).encode_prefix({values, count}, prefix);
    EXPECT_TRUE(whole.starts_with(prefix.view()));
  }
  EXPECT_LT(whole, entry(key(false), Datum::of_int(6), Datum::of_bytes("b"), "PK"));
  EXPECT_LT(whole, entry(key(false), Datum::of_int(0), Datum::of_bytes("c"), "PK"));
}

TEST(KeyLayoutTest, RefusesLongKeys) {
  std::string text(9000, 'x');
  try {
    entry(key(false), Datum::of_int(1), Datum::of_bytes(text), "PK");
    FAIL() << "no error";
  } catch (const SqlError& error) {
    EXPECT_EQ(error.state(), sqlstate::program_limit_exceeded);
  }
}

TEST(ObjectNamesTest, ShortenTheLongerPart) {
  EXPECT_EQ(make_object_name("t", "a_b", "idx"), "t_a_b_idx");
  EXPECT_EQ(make_object_name("t", "", "pkey"), "t_pkey");
  std::string table(60, 't');
  std::string column(20, 'c');
  std::string name = make_object_name(table, column, "key");
  EXPECT_EQ(name.size(), 63u);
  EXPECT_EQ(name, std::string(38, 't') + "_" + column + "_key");
  // Not in the middle of a character.
  std::string umlauts;
  for (int i = 0; i < 40; ++i) umlauts += "ä";
  EXPECT_EQ(make_object_name(umlauts, "", "pkey"), umlauts.substr(0, 58) + "_pkey");
  int tries = 0;
  EXPECT_EQ(choose_object_name("t", "a", "idx", [&](const std::string&) { return ++tries < 3; }),
            "t_a_idx2");
}

}  // namespace
}  // namespace pgsilo
