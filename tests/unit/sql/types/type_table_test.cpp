// The table of types says what PostgreSQL's pg_type says.
#include <gtest/gtest.h>

#include "sql/types/array.h"
#include "sql/types/interval_internal.h"
#include "sql/types/numeric.h"
#include "sql/types/text.h"
#include "tests/unit/sql/types/type_test_support.h"

namespace pgsilo {
namespace {

std::string flag(bool value) { return value ? "t" : "f"; }

TEST(TypeTable, AgreesWithPgType) {
  size_t known = 0;
  for (const std::vector<std::string>& line : recorded_lines("pg_type.txt")) {
    const TypeInfo* type = find_type(static_cast<Oid>(std::stoul(line[0])));
    if (type == nullptr) continue;
    ++known;
    std::vector<std::string> ours = {
        line[0],
        std::string(type->name),
        format_type(type->oid),
        std::to_string(type->typlen),
        flag(type->typbyval),
        std::string(1, type->typtype),
        std::string(1, type->category),
        flag(type->preferred),
        std::string(1, type->delimiter),
        std::to_string(type->element),
        std::to_string(type->array),
        std::string(1, type->alignment),
        std::string(1, type->storage),
        std::to_string(type->collation),
    };
    EXPECT_EQ(ours, line);
    EXPECT_EQ(find_type_by_name(type->name), type);
  }
  EXPECT_EQ(known, all_types().size());
}

TEST(TypeTable, ElementsAndArraysPointAtEachOther) {
  for (const TypeInfo& type : all_types()) {
    if (is_array_type(type)) {
      EXPECT_EQ(type_info(type.element).array, type.oid) << type.name;
    }
    if (type.key_form != KeyForm::none) {
      EXPECT_TRUE(type.is_ordered()) << type.name;
      EXPECT_TRUE(type.is_hashable()) << type.name;
    }
    if (type.is_ordered()) {
      EXPECT_TRUE(type.has_equality()) << type.name;
    }
  }
  EXPECT_EQ(find_type(0), nullptr);
  EXPECT_EQ(find_type(UINT32_MAX), nullptr);
}

TEST(TypeTable, ModifiersAreChecked) {
  struct Case {
    Oid type;
    std::vector<int32_t> modifiers;
    const char* error;
  };
  for (const Case& c : {
           Case{type_oid::varchar, {0}, "!22023 length for type varchar must be at least 1"},
           Case{type_oid::varchar,
                {10485761},
                "!22023 length for type varchar cannot exceed 10485760"},
           Case{type_oid::bpchar, {-1}, "!22023 length for type char must be at least 1"},
           Case{type_oid::numeric, {0, 0}, "!22023 NUMERIC precision 0 must be between 1 and 1000"},
           Case{type_oid::numeric,
                {1001},
                "!22023 NUMERIC precision 1001 must be between 1 and 1000"},
           Case{type_oid::numeric,
                {5, 1001},
                "!22023 NUMERIC scale 1001 must be between -1000 and 1000"},
           Case{type_oid::numeric, {5, 2, 1}, "!22023 invalid NUMERIC type modifier"},
           Case{type_oid::interval, {1 << 20}, "!22023 invalid INTERVAL type modifier"},
       }) {
    try {
      type_info(c.type).modifiers.make(c.modifiers);
      ADD_FAILURE() << c.error;
    } catch (const SqlError& error) {
      EXPECT_EQ(error_text(error), c.error);
    }
  }
}

TEST(TypeTable, AssignmentRefusesWhatACastCuts) {
  TypeTester tester;
  struct Case {
    const char* type;
    const char* text;
    const char* assigned;
  };
  for (const Case& c :
       {Case{"character varying(3)", "ab   ", "ab "},
        Case{"character varying(3)", "abcd", "!22001 value too long for type character varying(3)"},
        Case{"character(3)", "a", "a  "}, Case{"character(3)", "abc  ", "abc"},
        Case{"character(3)", "abcd", "!22001 value too long for type character(3)"},
        Case{"character varying(2)", "éé", "éé"},
        Case{"numeric(3,1)", "99.95", "!22003 numeric field overflow"}}) {
    TypeAndModifier target = tester.type(c.type);
    std::string assigned;
    try {
      assigned =
          tester.print(target.type->parse(c.text, target.typmod, tester.context), *target.type);
    } catch (const SqlError& error) {
      assigned = error_text(error);
    }
    EXPECT_EQ(assigned, c.assigned) << c.type << " '" << c.text << "'";
  }
}

TEST(TypeTable, BinaryInputIsChecked) {
  TypeTester tester;
  struct Case {
    Oid type;
    const char* hex;
    const char* error;
  };
  for (const Case& c : {
           Case{type_oid::int4, "000001", "!08P01 insufficient data left in message"},
           Case{type_oid::int4, "0000000001", "!22P03 incorrect binary data format"},
           Case{type_oid::text, "61ff", "!22021 invalid byte sequence for encoding \"UTF8\": 0xff"},
           Case{type_oid::text, "6100", "!22021 invalid byte sequence for encoding \"UTF8\": 0x00"},
           Case{type_oid::date, "7ffffffe", "!22008 date out of range"},
           Case{type_oid::timestamp, "7ffffffffffffffe", "!22008 timestamp out of range"},
           Case{type_oid::time, "ffffffffffffffff", "!22008 time out of range"},
           Case{type_oid::numeric, "0001000000002710", "!08P01 insufficient data left in message"},
           Case{type_oid::numeric, "00010000000000002710",
                "!22P03 invalid digit in external \"numeric\" value"},
           Case{type_oid::numeric, "00010000100000000001",
                "!22P03 invalid sign in external \"numeric\" value"},
           Case{type_oid::numeric, "00010000000040000001",
                "!22P03 invalid scale in external \"numeric\" value"},
           Case{type_oid::int4_array, "000000010000000000000017",
                "!08P01 insufficient data left in message"},
           Case{type_oid::int4_array, "0000000100000000000000177fffffff00000001",
                "!54000 array size exceeds the maximum allowed (134217727)"},
           Case{type_oid::int4_array, "000000000000000000000019",
                "!42804 binary data has array element type 25 (text) instead of expected 23 "
                "(integer)"},
       }) {
    std::string bytes = from_hex(c.hex);
    try {
      type_info(c.type).receive(bytes, no_typmod, tester.context);
      ADD_FAILURE() << c.hex;
    } catch (const SqlError& error) {
      EXPECT_EQ(error_text(error), c.error) << c.hex;
    }
  }
}

TEST(Arrays, Elements) {
  TypeTester tester;
  Datum array = tester.value("integer[]", "{10,20,30}");
  EXPECT_EQ(array_element(array, 2).i64, 20);
  EXPECT_TRUE(array_element(array, 0).null);
  EXPECT_TRUE(array_element(array, 4).null);
}

// pg_type says 12 bytes of an aclitem; here it is a text.
TEST(Arrays, OfAccessRights) {
  TypeTester tester;
  std::string_view text = "{=c/postgres,postgres=CTc/postgres,a=r/b}";
  const TypeInfo& type = type_info(type_oid::aclitem_array);
  Datum array = type.parse(text, no_typmod, tester.context);
  EXPECT_EQ(tester.print(array, type), text);
}

// What was stored before arrays had dimensions is read for ever.
TEST(Arrays, OfTheOldFormAreRead) {
  TypeTester tester;
  const TypeInfo& integers = type_info(type_oid::int4_array);
  // Element type, count, lower bound, then each element's length and bytes.
  std::string numbers = from_hex(
      "17000000"
      "03000000"
      "00000000"
      "08000000"
      "f9ffffffffffffff"
      "ffffffff"
      "08000000"
      "0900000000000000");
  Datum array = Datum::of_bytes(numbers);
  Datum same = tester.value("integer[]", "[0:2]={-7,NULL,9}");
  EXPECT_EQ(tester.print(array, integers), "[0:2]={-7,NULL,9}");
  EXPECT_TRUE(integers.equal(array, same));
  EXPECT_EQ(integers.hash(array), integers.hash(same));
  EXPECT_EQ(array_element(array, 2).i64, 9);
  EXPECT_EQ(array_element(array, 0).i64, -7);
  EXPECT_TRUE(array_element(array, 1).null);
  std::string words = from_hex(
      "19000000"
      "02000000"
      "01000000"
      "01000000"
      "61"
      "02000000"
      "6263");
  EXPECT_EQ(tester.print(Datum::of_bytes(words), type_oid::text_array), "{a,bc}");
  std::string nothing = from_hex(
      "19000000"
      "00000000"
      "01000000");
  EXPECT_EQ(tester.print(Datum::of_bytes(nothing), type_oid::text_array), "{}");
}

TEST(NumericAccumulator, AddsWhatFitsAndWhatDoesNot) {
  TypeTester tester;
  struct Case {
    std::vector<const char*> values;
    const char* sum;
    const char* average;
  };
  for (const Case& c : {
           Case{{"1", "2.50", "-0.125"}, "3.375", "1.1250000000000000"},
           Case{{"99999999999999999999999999999999999999", "99999999999999999999999999999999999999",
                 "0.5"},
                "199999999999999999999999999999999999998.5",
                "66666666666666666666666666666666666666.2"},
           Case{{"1e100", "1", "-1e100"}, "1", "0.33333333333333333333"},
           Case{{"NaN", "1"}, "NaN", "NaN"},
           Case{{"Infinity", "1"}, "Infinity", "Infinity"},
           Case{{"Infinity", "-Infinity"}, "NaN", "NaN"},
           Case{{"0.00", "0"}, "0.00", "0.00000000000000000000"},
       }) {
    NumericAccumulator total;
    NumericAccumulator halves[2];
    int i = 0;
    for (const char* value : c.values) {
      Datum number = tester.value("numeric", value);
      total.add(number, tester.arena);
      halves[i++ % 2].add(number, tester.arena);
    }
    EXPECT_EQ(tester.print(total.sum(tester.arena), type_oid::numeric), c.sum);
    EXPECT_EQ(numeric_compare(total.average(tester.arena), tester.value("numeric", c.average)), 0)
        << tester.print(total.average(tester.arena), type_oid::numeric);
    halves[0].add(halves[1], tester.arena);
    EXPECT_EQ(tester.print(halves[0].sum(tester.arena), type_oid::numeric), c.sum);
    EXPECT_EQ(halves[0].count(), total.count());
  }
}

TEST(NumericAccumulator, IntegersNeverOverflow) {
  TypeTester tester;
  NumericAccumulator total;
  for (int i = 0; i < 1000; ++i) total.add_integer(INT64_MAX, tester.arena);
  EXPECT_EQ(tester.print(total.sum(tester.arena), type_oid::numeric), "9223372036854775807000");
  EXPECT_EQ(total.count(), 1000);
}

TEST(Text, LikePrefixIsTheLiteralStart) {
  Arena arena;
  struct Case {
    const char* pattern;
    const char* prefix;
    bool exact;
  };
  for (const Case& c :
       {Case{"abc%", "abc", false}, Case{"abc", "abc", true}, Case{"a\\%b_", "a%b", false},
        Case{"%", "", false}, Case{"", "", true}, Case{"a\\\\", "a\\", true}}) {
    bool exact = !c.exact;
    EXPECT_EQ(like_prefix(c.pattern, arena, &exact), c.prefix) << c.pattern;
    EXPECT_EQ(exact, c.exact) << c.pattern;
  }
}

TEST(SqlError, CarriesWhatItWasGiven) {
  try {
    throw SqlError(sqlstate::division_by_zero, concat("a", 1, '-', -2, std::string("z")))
        .detail("d")
        .hint("h")
        .at(7);
  } catch (const SqlError& error) {
    EXPECT_STREQ(error.what(), "a1--2z");
    EXPECT_EQ(error.state().text(), "22012");
    EXPECT_EQ(error.state().condition_class(), "22");
    EXPECT_EQ(error.diagnostic().detail, "d");
    EXPECT_EQ(error.diagnostic().hint, "h");
    EXPECT_EQ(error.diagnostic().position, 7);
  }
}

}  // namespace
}  // namespace pgsilo
