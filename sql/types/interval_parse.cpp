// Reading intervals: "1 year 2 mons", "3 4:05:06", "1-2", "-1 day ago", ISO 8601 "P1Y2M3DT4H5M6S", "P0001-02-03T04:05:06".
//
// typmod is PostgreSQL's: precision in the low 16 bits (0xFFFF: none), a mask of fields above. A number without a unit
// means the last field of the mask, seconds without one.
#include <charconv>
#include <cmath>

#include "sql/sql_error.h"
#include "sql/types/date_time.h"
#include "sql/types/date_time_units.h"
#include "sql/types/interval.h"
#include "sql/types/scan.h"

namespace pgsilo {
namespace {

constexpr int32_t full_range = 0x7fff;
constexpr int32_t full_precision = 0xffff;
// Bits of the field mask, as PostgreSQL numbers them.
constexpr int32_t month_field = 1 << 1;
constexpr int32_t year_field = 1 << 2;
constexpr int32_t day_field = 1 << 3;
constexpr int32_t hour_field = 1 << 10;
constexpr int32_t minute_field = 1 << 11;
constexpr int32_t second_field = 1 << 12;

struct Failure {};
struct Overflow {};

// The sum of what was read, wide enough that only the end has to check.
class Total {
 public:
  // `value` units; what is not whole goes to the next smaller field: months to days of 30, days to microseconds.
  void add(TimeUnit unit, int64_t whole, double fraction) {
    switch (unit) {
      case TimeUnit::microsecond: return add_time(whole, fraction, 1);
      case TimeUnit::millisecond: return add_time(whole, fraction, 1000);
      case TimeUnit::second: return add_time(whole, fraction, usecs_per_second);
      case TimeUnit::minute: return add_time(whole, fraction, usecs_per_minute);
      case TimeUnit::hour: return add_time(whole, fraction, usecs_per_hour);
      case TimeUnit::day: return add_days(whole, fraction);
      case TimeUnit::week: return add_days(whole * 7, fraction * 7);
      case TimeUnit::month: return add_months(whole, fraction);
      case TimeUnit::quarter: throw Failure();
      case TimeUnit::year: return add_years(whole, fraction);
      case TimeUnit::decade: return add_years(whole * 10, fraction * 10);
      case TimeUnit::century: return add_years(whole * 100, fraction * 100);
      case TimeUnit::millennium: return add_years(whole * 1000, fraction * 1000);
      default: throw Failure();
    }
  }
  void add_time(int64_t whole, double fraction, int64_t unit) {
    time_ += static_cast<__int128>(whole) * unit + static_cast<__int128>(std::rint(fraction * static_cast<double>(unit)));
  }
  void negate() {
    months_ = -months_;
    days_ = -days_;
    time_ = -time_;
  }
  Interval finish() const {
    if (months_ > INT32_MAX || months_ < INT32_MIN || days_ > INT32_MAX || days_ < INT32_MIN || time_ > INT64_MAX ||
        time_ < INT64_MIN) {
      throw Overflow();
    }
    return {static_cast<int64_t>(time_), static_cast<int32_t>(days_), static_cast<int32_t>(months_)};
  }

 private:
  void add_years(int64_t whole, double fraction) {
    months_ += static_cast<__int128>(whole) * 12 + static_cast<__int128>(std::rint(fraction * 12));
  }
  void add_months(int64_t whole, double fraction) {
    months_ += whole;
    double days = fraction * 30;
    add_days(static_cast<int64_t>(days), days - std::trunc(days));
  }
  void add_days(int64_t whole, double fraction) {
    double rest = fraction;
    days_ += static_cast<__int128>(whole) + static_cast<__int128>(std::trunc(rest));
    add_time(0, rest - std::trunc(rest), usecs_per_day);
  }

  __int128 months_ = 0;
  __int128 days_ = 0;
  __int128 time_ = 0;
};

// A number: sign, whole part, fraction with the same sign.
struct Number {
  bool negative = false;
  int64_t whole = 0;
  double fraction = 0;
};

class Reader {
 public:
  Reader(std::string_view text, int32_t fields, IntervalStyle style) : text_(text), fields_(fields), style_(style) {}

  Interval read() {
    skip_space();
    if (text_.empty()) throw Failure();
    if (lower_letter(text_.front()) == 'p' && text_.size() > 1 && !is_letter(text_[1])) {
      read_iso();
      return total_.finish();
    }
    bool any = false;
    if (text_.front() == '@') text_.remove_prefix(1);
    // In the SQL style a leading minus holds for all fields that have no sign of their own.
    sql_negative_ = style_ == IntervalStyle::sql_standard && single_leading_minus();
    for (skip_space(); !text_.empty(); skip_space()) {
      read_piece(any);
      any = true;
    }
    if (!any) throw Failure();
    return total_.finish();
  }

 private:
  char at(size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  void skip_space() {
    while (!text_.empty() && is_space(text_.front())) text_.remove_prefix(1);
  }
  bool single_leading_minus() {
    skip_space();
    if (at(0) != '-') return false;
    for (size_t i = 1; i < text_.size(); ++i) {
      bool sign = text_[i] == '-' || text_[i] == '+';
      if (sign && !is_digit(text_[i - 1])) return false;
    }
    return true;
  }

  int64_t take_digits() {
    int64_t value = 0;
    size_t digits = 0;
    for (; is_digit(at(0)); text_.remove_prefix(1), ++digits) {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, at(0) - '0', &value)) {
        throw Overflow();
      }
    }
    if (digits == 0) throw Failure();
    return value;
  }
  double take_fraction() {
    if (at(0) != '.') return 0;
    size_t length = 1;
    while (is_digit(at(length))) ++length;
    if (length == 1) {
      text_.remove_prefix(1);
      return 0;
    }
    double value = 0;
    std::string_view digits = text_.substr(0, length);
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    text_.remove_prefix(length);
    return value;
  }
  Number take_number() {
    Number number;
    if (at(0) == '-' || at(0) == '+') {
      number.negative = at(0) == '-';
      text_.remove_prefix(1);
    } else {
      number.negative = sql_negative_;
    }
    if (at(0) != '.') number.whole = take_digits();
    number.fraction = take_fraction();
    if (number.negative) {
      number.whole = -number.whole;
      number.fraction = -number.fraction;
    }
    return number;
  }

  void read_piece(bool any) {
    if (is_letter(at(0))) {
      std::string_view word = take_word();
      if (!equal_ignoring_case(word, "ago") || !any) throw Failure();
      skip_space();
      if (!text_.empty()) throw Failure();
      total_.negate();
      return;
    }
    Number number = take_number();
    if (at(0) == ':') return read_clock(number);
    if (at(0) == '-' && is_digit(at(1))) return read_year_month(number);
    skip_space();
    if (is_letter(at(0)) && !ago_follows()) {
      std::string_view word = take_word();
      TimeUnit unit = find_interval_unit(word);
      total_.add(unit, number.whole, number.fraction);
      return;
    }
    total_.add(unit_without_word(), number.whole, number.fraction);
  }
  bool ago_follows() const { return starts_with_ignoring_case(text_, "ago") && !is_letter(at(3)); }
  std::string_view take_word() {
    size_t length = 0;
    while (is_letter(at(length))) ++length;
    std::string_view word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }
  static TimeUnit find_interval_unit(std::string_view word) {
    TimeUnit unit = find_time_unit(word);
    if (unit == TimeUnit::none || unit > TimeUnit::millennium) throw Failure();
    return unit;
  }

  // "3 4:05:06": a number before a clock reading is days.
  TimeUnit unit_without_word() const {
    std::string_view rest = text_;
    while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
    size_t digits = !rest.empty() && (rest.front() == '-' || rest.front() == '+') ? 1 : 0;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    if (digits < rest.size() && rest[digits] == ':') return TimeUnit::day;
    switch (fields_) {
      case year_field: return TimeUnit::year;
      case month_field:
      case year_field | month_field: return TimeUnit::month;
      case day_field: return TimeUnit::day;
      case hour_field:
      case day_field | hour_field: return TimeUnit::hour;
      case minute_field:
      case hour_field | minute_field:
      case day_field | hour_field | minute_field: return TimeUnit::minute;
      default: return TimeUnit::second;
    }
  }

  // h:mm[:ss[.f]], or with the fields MINUTE TO SECOND m:ss
  void read_clock(const Number& first) {
    if (first.fraction != 0) throw Failure();
    text_.remove_prefix(1);
    int64_t parts[3] = {first.whole, take_digits(), 0};
    double fraction = 0;
    bool minutes_seconds = fields_ == (minute_field | second_field);
    if (at(0) == ':') {
      text_.remove_prefix(1);
      parts[2] = take_digits();
      fraction = take_fraction();
      minutes_seconds = false;
    } else if (at(0) == '.') {
      fraction = take_fraction();
      minutes_seconds = true;
    }
    if (parts[1] > 59 || parts[2] > 60) throw Overflow();
    int sign = first.negative ? -1 : 1;
    int64_t hour = minutes_seconds ? 0 : parts[0];
    int64_t minute = minutes_seconds ? parts[0] : sign * parts[1];
    int64_t second = minutes_seconds ? sign * parts[1] : sign * parts[2];
    total_.add_time(hour, 0, usecs_per_hour);
    total_.add_time(minute, 0, usecs_per_minute);
    total_.add_time(second, sign * fraction, usecs_per_second);
  }

  // "1-2": years and months
  void read_year_month(const Number& years) {
    if (years.fraction != 0) throw Failure();
    text_.remove_prefix(1);
    int64_t months = take_digits();
    if (months >= 12) throw Overflow();
    total_.add(TimeUnit::year, years.whole, 0);
    total_.add(TimeUnit::month, years.negative ? -months : months, 0);
  }

  void read_iso() {
    text_.remove_prefix(1);
    bool in_time = false;
    if (text_.empty()) throw Failure();
    while (!text_.empty()) {
      if (lower_letter(at(0)) == 't') {
        in_time = true;
        text_.remove_prefix(1);
        if (text_.empty()) throw Failure();
        continue;
      }
      Number number = take_number();
      char unit = lower_letter(at(0));
      if (unit == '-' || unit == ':' || unit == '\0' || unit == 't') {
        read_iso_alternative(number, in_time);
        continue;
      }
      text_.remove_prefix(1);
      total_.add(iso_unit(unit, in_time), number.whole, number.fraction);
    }
  }
  static TimeUnit iso_unit(char unit, bool in_time) {
    switch (unit) {
      case 'y': return in_time ? throw Failure() : TimeUnit::year;
      case 'm': return in_time ? TimeUnit::minute : TimeUnit::month;
      case 'w': return in_time ? throw Failure() : TimeUnit::week;
      case 'd': return in_time ? throw Failure() : TimeUnit::day;
      case 'h': return in_time ? TimeUnit::hour : throw Failure();
      case 's': return in_time ? TimeUnit::second : throw Failure();
      default: throw Failure();
    }
  }
  // P0001-02-03T04:05:06
  void read_iso_alternative(const Number& first, bool in_time) {
    constexpr TimeUnit date_units[] = {TimeUnit::year, TimeUnit::month, TimeUnit::day};
    constexpr TimeUnit time_units[] = {TimeUnit::hour, TimeUnit::minute, TimeUnit::second};
    const TimeUnit* units = in_time ? time_units : date_units;
    char separator = in_time ? ':' : '-';
    total_.add(units[0], first.whole, first.fraction);
    for (int i = 1; i < 3 && at(0) == separator; ++i) {
      text_.remove_prefix(1);
      Number number = take_number();
      total_.add(units[i], number.whole, number.fraction);
    }
    if (!text_.empty() && lower_letter(at(0)) != 't') throw Failure();
  }

  std::string_view text_;
  int32_t fields_;
  IntervalStyle style_;
  Total total_;
  bool sql_negative_ = false;
};

}  // namespace

Interval parse_interval(std::string_view text, int32_t typmod, IntervalStyle style) {
  int32_t fields = typmod < 0 ? full_range : typmod >> 16 & full_range;
  Interval value;
  enum { read, invalid, overflow } outcome = read;
  try {
    value = Reader(text, fields, style).read();
  } catch (const Failure&) {
    outcome = invalid;
  } catch (const Overflow&) {
    outcome = overflow;
  }
  if (outcome == invalid) {
    throw SqlError(sqlstate::invalid_datetime_format,
                   concat("invalid input syntax for type interval: \"", text, "\""));
  }
  if (outcome == overflow) {
    throw SqlError(sqlstate::interval_field_overflow, concat("interval field value out of range: \"", text, "\""));
  }
  return interval_apply_typmod(value, typmod);
}

Interval interval_apply_typmod(const Interval& value, int32_t typmod) {
  if (typmod < 0) return value;
  int32_t fields = typmod >> 16 & full_range;
  int32_t precision = typmod & full_precision;
  Interval result = value;
  auto cut_time = [&](int64_t unit) { result.time = result.time / unit * unit; };
  if (fields != full_range) {
    bool below_month = (fields & (day_field | hour_field | minute_field | second_field)) != 0;
    if (!below_month) {
      result = {0, 0, (fields & month_field) != 0 ? value.month : value.month / 12 * 12};
    } else if ((fields & second_field) == 0) {
      if ((fields & minute_field) != 0) {
        cut_time(usecs_per_minute);
      } else if ((fields & hour_field) != 0) {
        cut_time(usecs_per_hour);
      } else {
        result.time = 0;
      }
    }
  }
  if (precision != full_precision) result.time = timestamp_apply_typmod(result.time, precision);
  return result;
}

}  // namespace pgsilo
