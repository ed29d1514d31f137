// The operations behind operators and functions give PostgreSQL 15's recorded answers.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "sql/types/date_time.h"
#include "sql/types/float.h"
#include "sql/types/integer.h"
#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/text.h"
#include "tests/unit/sql/types/type_test_support.h"

namespace pgsilo {
namespace {

// The arguments of one line, read as the operation wants them, and the ways to print a result.
class Call {
 public:
  Call(TypeTester& tester, std::vector<std::string> arguments)
      : tester_(tester), arguments_(std::move(arguments)) {}

  Arena& arena() { return tester_.arena; }
  const TimeZone& zone() { return tester_.context.time_zone; }
  std::string_view text(size_t i) { return arguments_[i]; }
  Datum read(size_t i, Oid type) {
    return type_info(type).parse(arguments_[i], no_typmod, tester_.context);
  }
  Datum number(size_t i) { return read(i, type_oid::numeric); }
  int64_t int8(size_t i) { return read(i, type_oid::int8).i64; }
  int32_t int4(size_t i) { return static_cast<int32_t>(read(i, type_oid::int4).i64); }
  int16_t int2(size_t i) { return static_cast<int16_t>(read(i, type_oid::int2).i64); }
  double float8(size_t i) { return read(i, type_oid::float8).f64; }
  float float4(size_t i) { return static_cast<float>(read(i, type_oid::float4).f64); }
  int64_t date(size_t i) { return read(i, type_oid::date).i64; }
  int64_t time(size_t i) { return read(i, type_oid::time).i64; }
  int64_t timestamp(size_t i) { return read(i, type_oid::timestamp).i64; }
  int64_t timestamptz(size_t i) { return read(i, type_oid::timestamptz).i64; }
  Interval interval(size_t i) { return interval_of(read(i, type_oid::interval)); }

  std::string show(Datum value, Oid type) { return tester_.print(value, type); }
  std::string number(Datum value) { return show(value, type_oid::numeric); }
  std::string integer(int64_t value) { return std::to_string(value); }
  std::string integer(Datum value) { return show(value, type_oid::int8); }
  std::string float8_text(double value) { return show(Datum::of_float(value), type_oid::float8); }
  std::string float4_text(double value) { return show(Datum::of_float(value), type_oid::float4); }
  std::string boolean(bool value) { return value ? "t" : "f"; }
  std::string date_text(int64_t value) { return show(Datum::of_int(value), type_oid::date); }
  std::string time_text(int64_t value) { return show(Datum::of_int(value), type_oid::time); }
  std::string timestamp_text(int64_t value) {
    return show(Datum::of_int(value), type_oid::timestamp);
  }
  std::string timestamptz_text(int64_t value) {
    return show(Datum::of_int(value), type_oid::timestamptz);
  }
  std::string interval_text(const Interval& value) {
    return show(interval_datum(value, arena()), type_oid::interval);
  }
  std::string string(std::string_view value) { return std::string(value); }

 private:
  TypeTester& tester_;
  std::vector<std::string> arguments_;
};

using Operation = std::function<std::string(Call&)>;
using Operations = std::map<std::string, Operation>;

using BinaryNumeric = Datum (*)(Datum, Datum, Arena&);
Operation of_two(BinaryNumeric function) {
  return [function](Call& c) { return c.number(function(c.number(0), c.number(1), c.arena())); };
}
using UnaryNumeric = Datum (*)(Datum, Arena&);
Operation of_one(UnaryNumeric function) {
  return [function](Call& c) { return c.number(function(c.number(0), c.arena())); };
}

void add_numeric(Operations& all) {
  all["numeric+"] = of_two(numeric_add);
  all["numeric-"] = of_two(numeric_sub);
  all["numeric*"] = of_two(numeric_mul);
  all["numeric/"] = of_two(numeric_div);
  all["numeric%"] = of_two(numeric_mod);
  all["numeric_div"] = of_two(numeric_div_trunc);
  all["numeric_log"] = of_two(numeric_log);
  all["numeric_power"] = of_two(numeric_power);
  all["numeric_gcd"] = of_two(numeric_gcd);
  all["numeric_lcm"] = of_two(numeric_lcm);
  all["numeric_neg"] = of_one(numeric_negate);
  all["numeric_abs"] = of_one(numeric_abs);
  all["numeric_sign"] = of_one(numeric_sign);
  all["numeric_ceil"] = of_one(numeric_ceil);
  all["numeric_floor"] = of_one(numeric_floor);
  all["numeric_sqrt"] = of_one(numeric_sqrt);
  all["numeric_exp"] = of_one(numeric_exp);
  all["numeric_ln"] = of_one(numeric_ln);
  all["numeric_trim_scale"] = of_one(numeric_trim_scale);
  all["numeric_round"] = [](Call& c) {
    return c.number(numeric_round(c.number(0), c.int4(1), c.arena()));
  };
  all["numeric_trunc"] = [](Call& c) {
    return c.number(numeric_trunc(c.number(0), c.int4(1), c.arena()));
  };
  all["numeric_factorial"] = [](Call& c) {
    return c.number(numeric_factorial(c.int8(0), c.arena()));
  };
  all["numeric_scale"] = [](Call& c) { return c.integer(numeric_scale(c.number(0))); };
  all["numeric_min_scale"] = [](Call& c) { return c.integer(numeric_min_scale(c.number(0))); };
  all["numeric_width_bucket"] = [](Call& c) {
    return c.integer(
        numeric_width_bucket(c.number(0), c.number(1), c.number(2), c.int4(3), c.arena()));
  };
  all["numeric_cmp"] = [](Call& c) {
    Datum left = c.number(0);
    Datum right = c.number(1);
    int order = numeric_compare(left, right);
    EXPECT_EQ(numeric_equal(left, right), order == 0);
    if (order == 0) {
      EXPECT_EQ(numeric_hash(left), numeric_hash(right));
    }
    return c.integer(order);
  };
  all["numeric_int2"] = [](Call& c) { return c.integer(numeric_to_integer(c.number(0), 2)); };
  all["numeric_int4"] = [](Call& c) { return c.integer(numeric_to_integer(c.number(0), 4)); };
  all["numeric_int8"] = [](Call& c) { return c.integer(numeric_to_integer(c.number(0), 8)); };
  all["numeric_float8"] = [](Call& c) { return c.float8_text(numeric_to_float8(c.number(0))); };
  all["numeric_float4"] = [](Call& c) {
    return c.float4_text(static_cast<double>(numeric_to_float4(c.number(0))));
  };
}

void add_floats_and_integers(Operations& all) {
  all["float8_numeric"] = [](Call& c) {
    return c.number(numeric_from_float8(c.float8(0), c.arena()));
  };
  all["float4_numeric"] = [](Call& c) {
    return c.number(numeric_from_float4(c.float4(0), c.arena()));
  };
  all["float8_int4"] = [](Call& c) { return c.integer(float_to_integer(c.float8(0), 4)); };
  all["float8_int8"] = [](Call& c) { return c.integer(float_to_integer(c.float8(0), 8)); };
  all["float8_float4"] = [](Call& c) { return c.float4_text(float8_to_float4(c.float8(0))); };
  all["float8_power"] = [](Call& c) {
    return c.float8_text(float8_power(c.float8(0), c.float8(1)));
  };
  all["float8+"] = [](Call& c) { return c.float8_text(float_add(c.float8(0), c.float8(1))); };
  all["float8*"] = [](Call& c) { return c.float8_text(float_mul(c.float8(0), c.float8(1))); };
  all["float8/"] = [](Call& c) { return c.float8_text(float_div(c.float8(0), c.float8(1))); };
  all["float4*"] = [](Call& c) {
    return c.float4_text(static_cast<double>(float_mul(c.float4(0), c.float4(1))));
  };
  all["float8_exp"] = [](Call& c) { return c.float8_text(float8_exp(c.float8(0))); };
  all["float8_ln"] = [](Call& c) { return c.float8_text(float8_ln(c.float8(0))); };
  all["float8_sqrt"] = [](Call& c) { return c.float8_text(float8_sqrt(c.float8(0))); };
  all["float8_asin"] = [](Call& c) { return c.float8_text(float8_asin(c.float8(0))); };
  all["int4+"] = [](Call& c) { return c.integer(int_add(c.int4(0), c.int4(1))); };
  all["int4*"] = [](Call& c) { return c.integer(int_mul(c.int4(0), c.int4(1))); };
  all["int4/"] = [](Call& c) { return c.integer(int_div(c.int4(0), c.int4(1))); };
  all["int4%"] = [](Call& c) { return c.integer(int_mod(c.int4(0), c.int4(1))); };
  all["int2*"] = [](Call& c) { return c.integer(int_mul(c.int2(0), c.int2(1))); };
  all["int8-"] = [](Call& c) { return c.integer(int_sub(c.int8(0), c.int8(1))); };
  all["int8/"] = [](Call& c) { return c.integer(int_div(c.int8(0), c.int8(1))); };
  all["int4_gcd"] = [](Call& c) { return c.integer(int_gcd(c.int4(0), c.int4(1))); };
  all["int4_lcm"] = [](Call& c) { return c.integer(int_lcm(c.int4(0), c.int4(1))); };
  all["int4<<"] = [](Call& c) { return c.integer(int_shift_left(c.int4(0), c.int4(1))); };
  all["int4>>"] = [](Call& c) { return c.integer(int_shift_right(c.int4(0), c.int4(1))); };
}

void add_dates(Operations& all) {
  all["date+"] = [](Call& c) { return c.date_text(date_add_days(c.date(0), c.int4(1))); };
  all["date-date"] = [](Call& c) { return c.integer(date_sub_dates(c.date(0), c.date(1))); };
  all["date+time"] = [](Call& c) {
    return c.timestamp_text(date_time_to_timestamp(c.date(0), c.time(1)));
  };
  all["date_timestamp"] = [](Call& c) { return c.timestamp_text(date_to_timestamp(c.date(0))); };
  all["date_timestamptz"] = [](Call& c) {
    return c.timestamptz_text(date_to_timestamptz(c.date(0), c.zone()));
  };
  all["timestamp_date"] = [](Call& c) { return c.date_text(timestamp_to_date(c.timestamp(0))); };
  all["timestamptz_date"] = [](Call& c) {
    return c.date_text(timestamptz_to_date(c.timestamptz(0), c.zone()));
  };
  all["timestamp_timestamptz"] = [](Call& c) {
    return c.timestamptz_text(timestamp_to_timestamptz(c.timestamp(0), c.zone()));
  };
  all["timestamptz_timestamp"] = [](Call& c) {
    return c.timestamp_text(timestamptz_to_timestamp(c.timestamptz(0), c.zone()));
  };
  all["timestamp_time"] = [](Call& c) {
    return c.show(timestamp_to_time(c.timestamp(0)), type_oid::time);
  };
  all["timestamptz_time"] = [](Call& c) {
    return c.show(timestamptz_to_time(c.timestamptz(0), c.zone()), type_oid::time);
  };
  all["interval_time"] = [](Call& c) { return c.time_text(interval_to_time(c.interval(0))); };
  all["date_cmp_timestamp"] = [](Call& c) {
    return c.integer(date_compare_timestamp(c.date(0), c.timestamp(1)));
  };
  all["make_date"] = [](Call& c) {
    return c.date_text(make_date(c.int4(0), c.int4(1), c.int4(2)));
  };
  all["make_time"] = [](Call& c) {
    return c.time_text(make_time(c.int4(0), c.int4(1), c.float8(2)));
  };
  all["make_timestamp"] = [](Call& c) {
    return c.timestamp_text(
        make_timestamp(c.int4(0), c.int4(1), c.int4(2), c.int4(3), c.int4(4), c.float8(5)));
  };
  all["to_timestamp"] = [](Call& c) {
    return c.timestamptz_text(timestamptz_of_unix_seconds(c.float8(0)));
  };
  all["extract_date"] = [](Call& c) {
    return c.number(extract_date(c.text(0), c.date(1), c.arena()));
  };
  all["extract_time"] = [](Call& c) {
    return c.number(extract_time(c.text(0), c.time(1), c.arena()));
  };
}

void add_timestamps(Operations& all) {
  all["timestamp+"] = [](Call& c) {
    return c.timestamp_text(timestamp_add_interval(c.timestamp(0), c.interval(1)));
  };
  all["timestamp-"] = [](Call& c) {
    return c.timestamp_text(timestamp_sub_interval(c.timestamp(0), c.interval(1)));
  };
  all["timestamptz+"] = [](Call& c) {
    return c.timestamptz_text(timestamptz_add_interval(c.timestamptz(0), c.interval(1), c.zone()));
  };
  all["timestamptz-"] = [](Call& c) {
    return c.timestamptz_text(timestamptz_sub_interval(c.timestamptz(0), c.interval(1), c.zone()));
  };
  all["timestamp-timestamp"] = [](Call& c) {
    return c.interval_text(timestamp_sub_timestamps(c.timestamp(0), c.timestamp(1)));
  };
  all["timestamp_age"] = [](Call& c) {
    return c.interval_text(timestamp_age(c.timestamp(0), c.timestamp(1)));
  };
  all["timestamptz_age"] = [](Call& c) {
    return c.interval_text(timestamptz_age(c.timestamptz(0), c.timestamptz(1), c.zone()));
  };
  all["time+"] = [](Call& c) { return c.time_text(time_add_interval(c.time(0), c.interval(1))); };
  all["time-"] = [](Call& c) { return c.time_text(time_sub_interval(c.time(0), c.interval(1))); };
  all["time-time"] = [](Call& c) { return c.interval_text(time_sub_times(c.time(0), c.time(1))); };
  all["extract_timestamp"] = [](Call& c) {
    return c.number(extract_timestamp(c.text(0), c.timestamp(1), c.arena()));
  };
  all["extract_timestamptz"] = [](Call& c) {
    return c.number(extract_timestamptz(c.text(0), c.timestamptz(1), c.zone(), c.arena()));
  };
  all["trunc_timestamp"] = [](Call& c) {
    return c.timestamp_text(timestamp_trunc(c.text(0), c.timestamp(1)));
  };
  all["trunc_timestamptz"] = [](Call& c) {
    return c.timestamptz_text(timestamptz_trunc(c.text(0), c.timestamptz(1), c.zone()));
  };
  all["date_bin"] = [](Call& c) {
    return c.timestamp_text(timestamp_bin(c.interval(0), c.timestamp(1), c.timestamp(2)));
  };
}

void add_intervals(Operations& all) {
  all["interval+"] = [](Call& c) {
    return c.interval_text(interval_add(c.interval(0), c.interval(1)));
  };
  all["interval-"] = [](Call& c) {
    return c.interval_text(interval_sub(c.interval(0), c.interval(1)));
  };
  all["interval_neg"] = [](Call& c) { return c.interval_text(interval_negate(c.interval(0))); };
  all["interval*"] = [](Call& c) {
    return c.interval_text(interval_mul(c.interval(0), c.float8(1)));
  };
  all["interval/"] = [](Call& c) {
    return c.interval_text(interval_div(c.interval(0), c.float8(1)));
  };
  all["interval_cmp"] = [](Call& c) {
    return c.integer(interval_compare(c.interval(0), c.interval(1)));
  };
  all["justify_hours"] = [](Call& c) { return c.interval_text(justify_hours(c.interval(0))); };
  all["justify_days"] = [](Call& c) { return c.interval_text(justify_days(c.interval(0))); };
  all["justify_interval"] = [](Call& c) {
    return c.interval_text(justify_interval(c.interval(0)));
  };
  all["extract_interval"] = [](Call& c) {
    return c.number(extract_interval(c.text(0), c.interval(1), c.arena()));
  };
  all["trunc_interval"] = [](Call& c) {
    return c.interval_text(interval_trunc(c.text(0), c.interval(1)));
  };
}

void add_text(Operations& all) {
  all["substring"] = [](Call& c) { return c.string(text_substring(c.text(0), c.int4(1))); };
  all["substring3"] = [](Call& c) {
    return c.string(text_substring(c.text(0), c.int4(1), c.int4(2)));
  };
  all["left"] = [](Call& c) { return c.string(text_left(c.text(0), c.int4(1))); };
  all["right"] = [](Call& c) { return c.string(text_right(c.text(0), c.int4(1))); };
  all["position"] = [](Call& c) { return c.integer(text_position(c.text(0), c.text(1))); };
  all["overlay"] = [](Call& c) {
    return c.string(text_overlay(c.text(0), c.text(1), c.int4(2), c.int4(3), c.arena()));
  };
  all["btrim"] = [](Call& c) { return c.string(text_trim(c.text(0), c.text(1), true, true)); };
  all["ltrim"] = [](Call& c) { return c.string(text_trim(c.text(0), c.text(1), true, false)); };
  all["rtrim"] = [](Call& c) { return c.string(text_trim(c.text(0), c.text(1), false, true)); };
  all["lpad"] = [](Call& c) {
    return c.string(text_pad_left(c.text(0), c.int4(1), c.text(2), c.arena()));
  };
  all["rpad"] = [](Call& c) {
    return c.string(text_pad_right(c.text(0), c.int4(1), c.text(2), c.arena()));
  };
  all["repeat"] = [](Call& c) { return c.string(text_repeat(c.text(0), c.int4(1), c.arena())); };
  all["replace"] = [](Call& c) {
    return c.string(text_replace(c.text(0), c.text(1), c.text(2), c.arena()));
  };
  all["translate"] = [](Call& c) {
    return c.string(text_translate(c.text(0), c.text(1), c.text(2), c.arena()));
  };
  all["reverse"] = [](Call& c) { return c.string(text_reverse(c.text(0), c.arena())); };
  all["split_part"] = [](Call& c) {
    return c.string(text_split_part(c.text(0), c.text(1), c.int4(2)));
  };
  all["upper"] = [](Call& c) { return c.string(text_upper(c.text(0), c.arena())); };
  all["lower"] = [](Call& c) { return c.string(text_lower(c.text(0), c.arena())); };
  all["initcap"] = [](Call& c) { return c.string(text_initcap(c.text(0), c.arena())); };
  all["ascii"] = [](Call& c) { return c.integer(text_ascii(c.text(0))); };
  all["chr"] = [](Call& c) { return c.string(text_chr(c.int4(0), c.arena())); };
  all["length"] = [](Call& c) { return c.integer(text_length(c.text(0))); };
  all["quote_ident"] = [](Call& c) { return c.string(quote_identifier(c.text(0), c.arena())); };
  all["quote_literal"] = [](Call& c) { return c.string(quote_literal(c.text(0), c.arena())); };
  all["like"] = [](Call& c) {
    return c.boolean(text_like(c.text(0), c.text(1), false, c.arena()));
  };
  all["ilike"] = [](Call& c) {
    return c.boolean(text_like(c.text(0), c.text(1), true, c.arena()));
  };
  all["like_escape"] = [](Call& c) {
    return c.string(like_escape(c.text(0), c.text(1), c.arena()));
  };
  all["encode"] = [](Call& c) {
    return c.string(bytea_encode(decode_hex(c.text(0), c.arena()), c.text(1), c.arena()));
  };
  all["decode"] = [](Call& c) { return to_hex(bytea_decode(c.text(0), c.text(1), c.arena())); };
  all["format_type"] = [](Call& c) {
    ByteBuffer out;
    format_type(static_cast<Oid>(c.int8(0)), c.int4(1), out);
    return c.string(out.view());
  };
}

TEST(Functions, AnswerAsRecorded) {
  Operations operations;
  add_numeric(operations);
  add_floats_and_integers(operations);
  add_dates(operations);
  add_timestamps(operations);
  add_intervals(operations);
  add_text(operations);
  for (const std::vector<std::string>& line : recorded_lines("functions.txt")) {
    auto operation = operations.find(line[0]);
    ASSERT_NE(operation, operations.end()) << line[0];
    TypeTester tester;
    tester.set(line[1]);
    std::vector<std::string> arguments(line.begin() + 2, line.end() - 2);
    Call call(tester, arguments);
    std::string answer;
    try {
      answer = operation->second(call);
    } catch (const SqlError& error) {
      answer = error_text(error);
    }
    std::string shown;
    for (const std::string& argument : arguments) shown += " '" + argument + "'";
    EXPECT_EQ(answer, unescape(line.back())) << line[0] << " [" << line[1] << "]" << shown;
  }
}

}  // namespace
}  // namespace pgsilo
