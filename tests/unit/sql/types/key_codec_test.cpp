// The order of encoded keys is the order of the values, for every type, direction and place of
// nulls.
#include "sql/types/key_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "sql/types/array.h"
#include "tests/unit/sql/types/type_test_support.h"

namespace pgsilo {
namespace {

std::string key_of(const KeyColumn& column, Datum value) {
  ByteBuffer out;
  encode_key(column, value, out);
  return std::string(out.view());
}

int sign(int value) { return value < 0 ? -1 : value > 0; }

bool is_prefix(const std::string& prefix, const std::string& text) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// Values of each type that has an order, from the recorded binary forms.
class RecordedValues {
 public:
  RecordedValues() {
    for (const std::vector<std::string>& line : recorded_lines("text_forms.txt")) {
      if (line[4].empty()) continue;
      const TypeInfo& type = *tester_.type(line[0]).type;
      if (type.key_form == KeyForm::none) continue;
      Datum value =
          type.receive(tester_.arena.copy_string(from_hex(line[4])), no_typmod, tester_.context);
      values_[type.oid].push_back(value);
    }
  }
  const std::map<Oid, std::vector<Datum>>& all() const { return values_; }

 private:
  TypeTester tester_;
  std::map<Oid, std::vector<Datum>> values_;
};

const RecordedValues& recorded_values() {
  static const RecordedValues values;
  return values;
}

void expect_ordered(const KeyColumn& column, Datum left, Datum right) {
  std::string a = key_of(column, left);
  std::string b = key_of(column, right);
  int order = column.type->compare(left, right);
  if (column.descending) order = -order;
  ASSERT_EQ(sign(a.compare(b)), order) << column.type->name << " " << to_hex(a) << " " << to_hex(b);
  ASSERT_EQ(order == 0, column.type->equal(left, right)) << column.type->name;
  if (order != 0) {
    ASSERT_FALSE(is_prefix(a, b) || is_prefix(b, a)) << column.type->name;
  } else {
    ASSERT_EQ(column.type->hash(left), column.type->hash(right)) << column.type->name;
  }
}

TEST(KeyCodec, OrdersValuesOfEveryTypeBothWays) {
  std::mt19937 random(1);
  for (const auto& [oid, values] : recorded_values().all()) {
    ASSERT_GE(values.size(), 1u) << type_info(oid).name;
    for (bool descending : {false, true}) {
      KeyColumn column{&type_info(oid), false, descending, false};
      for (int i = 0; i < 3000; ++i) {
        expect_ordered(column, values[random() % values.size()], values[random() % values.size()]);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(KeyCodec, TellsWhichTypesHaveKeysOfOneLength) {
  size_t fixed = 0;
  for (const auto& [oid, values] : recorded_values().all()) {
    KeyColumn column{&type_info(oid), false, false, false};
    size_t bytes = encoded_bytes(column);
    if (bytes == 0) continue;
    ++fixed;
    for (const Datum& value : values)
      ASSERT_EQ(key_of(column, value).size(), bytes) << type_info(oid).name;
    column.nullable = true;
    ASSERT_EQ(encoded_bytes(column), 0u);
  }
  EXPECT_GE(fixed, 14u);
  EXPECT_EQ(encoded_bytes({&type_info(type_oid::text), false, false, false}), 0u);
}

TEST(KeyCodec, PutsNullsWhereAsked) {
  for (const auto& [oid, values] : recorded_values().all()) {
    for (bool descending : {false, true}) {
      for (bool first : {false, true}) {
        KeyColumn column{&type_info(oid), true, descending, first};
        std::string null_key = key_of(column, Datum::null_value());
        ByteBuffer prefix;
        encode_not_null_prefix(column, prefix);
        for (const Datum& value : values) {
          std::string key = key_of(column, value);
          ASSERT_EQ(null_key < key, first);
          ASSERT_TRUE(is_prefix(std::string(prefix.view()), key));
          ASSERT_FALSE(is_prefix(null_key, key));
        }
      }
    }
  }
}

// Rows of three columns compare column by column, whatever their types, directions and nulls.
TEST(KeyCodec, OrdersRowsColumnByColumn) {
  std::mt19937 random(2);
  std::vector<Oid> types;
  for (const auto& [oid, values] : recorded_values().all()) types.push_back(oid);
  for (int round = 0; round < 400; ++round) {
    KeyColumn columns[3];
    for (KeyColumn& column : columns) {
      column = {&type_info(types[random() % types.size()]), true, random() % 2 == 0,
                random() % 2 == 0};
    }
    auto pick = [&](const KeyColumn& column) {
      const std::vector<Datum>& values = recorded_values().all().at(column.type->oid);
      // Few different values, so that rows often agree in their first columns.
      return random() % 4 == 0 ? Datum::null_value()
                               : values[random() % std::min<size_t>(values.size(), 3)];
    };
    for (int i = 0; i < 20; ++i) {
      Datum left[3];
      Datum right[3];
      int order = 0;
      for (int c = 0; c < 3; ++c) {
        left[c] = pick(columns[c]);
        right[c] = pick(columns[c]);
        if (order != 0) continue;
        if (left[c].null || right[c].null) {
          if (left[c].null != right[c].null)
            order = left[c].null == columns[c].nulls_first ? -1 : 1;
        } else {
          order = columns[c].type->compare(left[c], right[c]);
          if (columns[c].descending) order = -order;
        }
      }
      ByteBuffer a;
      ByteBuffer b;
      encode_key(columns, left, a);
      encode_key(columns, right, b);
      ASSERT_EQ(sign(a.view().compare(b.view())), order);
    }
  }
}

TEST(KeyCodec, EqualValuesGiveEqualKeys) {
  TypeTester tester;
  struct Pair {
    const char* type;
    const char* left;
    const char* right;
  };
  for (const Pair& pair :
       {Pair{"numeric", "1.0", "1.000"}, Pair{"numeric", "100", "1e2"},
        Pair{"numeric", "0", "0.000"}, Pair{"numeric", "-0.50", "-0.5"},
        Pair{"double precision", "0", "-0"}, Pair{"real", "0", "-0"},
        Pair{"interval", "1 day", "24 hours"}, Pair{"interval", "1 mon", "30 days"},
        Pair{"character", "a", "a  "}, Pair{"numeric[]", "{1.0}", "{1.00}"}}) {
    KeyColumn column{tester.type(pair.type).type, true, false, false};
    EXPECT_EQ(key_of(column, tester.value(pair.type, pair.left)),
              key_of(column, tester.value(pair.type, pair.right)))
        << pair.type << " " << pair.left << " " << pair.right;
  }
}

// What is on disk: a change here needs a new format version.
TEST(KeyCodec, KeepsItsFormat) {
  TypeTester tester;
  struct Case {
    const char* type;
    const char* value;
    bool nullable;
    bool descending;
    const char* hex;
  };
  for (const Case& c :
       {Case{"integer", "1", false, false, "80000001"},
        Case{"integer", "-1", true, false, "017fffffff"},
        Case{"bigint", "1", false, true, "7ffffffffffffffe"},
        Case{"smallint", "-32768", false, false, "0000"},
        Case{"oid", "4294967295", false, false, "ffffffff"},
        Case{"boolean", "t", false, false, "01"}, Case{"text", "ab", false, false, "616200"},
        Case{"text", "ab", false, true, "9e9dff"},
        Case{"bytea", "\\x6100", false, false, "6100ff0000"},
        Case{"date", "2000-01-02", false, false, "80000001"},
        Case{"double precision", "1", false, false, "bff0000000000000"},
        Case{"double precision", "-1", false, false, "400fffffffffffff"},
        Case{"interval", "1 us", false, false, "80000000000000000001"},
        Case{"oidvector", "1 2", false, false, "000000020000000100000002"}}) {
    KeyColumn column{tester.type(c.type).type, c.nullable, c.descending, false};
    EXPECT_EQ(to_hex(key_of(column, tester.value(c.type, c.value))), c.hex)
        << c.type << " " << c.value;
  }
}

TEST(KeyCodec, AdvancesPastEveryKeyWithAPrefix) {
  ByteBuffer key;
  key.append(std::string_view("a\xff\xff", 3));
  ASSERT_TRUE(advance_past_prefix(key));
  EXPECT_EQ(key.view(), "b");
  ByteBuffer last;
  last.append(std::string_view("\xff\xff", 2));
  EXPECT_FALSE(advance_past_prefix(last));
  ByteBuffer empty;
  EXPECT_FALSE(advance_past_prefix(empty));
}

}  // namespace
}  // namespace pgsilo
